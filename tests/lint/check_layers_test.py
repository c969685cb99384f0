#!/usr/bin/env python3
"""check_layers_test: feeds tools/check_layers small trees, each with one fault, and expects that fault to be found.

A checker that never complains would pass on any tree; this is its negative control.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers"

LAYERS = """
weft_layer(base)
weft_layer(os DEPENDS base)
weft_layer(rt DEPENDS base os)
weft_layer(sched DEPENDS base os
                 rt)
"""


class check_layers(unittest.TestCase):
    def run_on(self, files, layers=LAYERS):
        """The exit code and the complaints about a tree with these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"src/CMakeLists.txt": layers, "include/weft/ok.hpp": "#include <vector>\n", **files}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, CHECKER, root], capture_output=True, text=True, check=False)
            return done.returncode, done.stderr

    def expect_complaint(self, text, files, layers=LAYERS):
        code, complaints = self.run_on(files, layers)
        self.assertEqual(code, 1, complaints)
        self.assertIn(text, complaints)

    def test_accepts_a_tree_in_order(self):
        code, complaints = self.run_on({
            "src/base/a.hpp": "#include <atomic>\n#include <weft/detail/config.hpp>\n",
            "src/os/b.cpp": '#include "base/a.hpp"\n#include <unistd.h>\n',
            "src/sched/c.cpp": '#include "rt/g.hpp"\n  #  include "os/b.hpp"\n#include <weft/go.hpp>\n',
            "src/sched/c_test.cpp": '#include <unistd.h>\n#include "support/procs.hpp"\n#include <gtest/gtest.h>\n',
        })
        self.assertEqual((code, complaints), (0, ""))

    def test_finds_an_upward_include(self):
        self.expect_complaint("src/base/a.hpp:2: \"sched/c.hpp\": layer base may not use layer sched",
                              {"src/base/a.hpp": '\n#include "sched/c.hpp"\n'})

    def test_finds_an_upward_include_in_a_unit_test(self):
        self.expect_complaint("layer os may not use layer rt", {"src/os/a_test.cpp": '#include "rt/g.hpp"\n'})

    def test_finds_an_undeclared_dependency(self):
        self.expect_complaint("layer rt may not use layer os", {"src/rt/g.hpp": '#include "os/a.hpp"\n'},
                              "weft_layer(base)\nweft_layer(os)\nweft_layer(rt DEPENDS base)\n")

    def test_finds_a_dependency_declared_upside_down(self):
        self.expect_complaint("layer base depends on os", {}, "weft_layer(base DEPENDS os)\nweft_layer(os)\n")

    def test_finds_a_folder_that_is_no_layer(self):
        self.expect_complaint("no declared layer", {"src/extra/a.cpp": "\n"})

    def test_finds_an_include_without_its_layer(self):
        self.expect_complaint('write internal includes as "layer/file.hpp"', {"src/rt/g.cpp": '#include "g.hpp"\n'})

    def test_finds_system_headers_above_os(self):
        for header in ("unistd.h", "sys/mman.h", "linux/futex.h", "pthread.h", "sched.h", "signal.h", "csignal"):
            with self.subTest(header):
                self.expect_complaint(f"<{header}>: system headers", {"src/sched/c.cpp": f"#include <{header}>\n"})

    def test_finds_platform_headers_in_public_headers(self):
        self.expect_complaint("no platform headers", {"include/weft/x.hpp": "#include <sys/types.h>\n"})

    def test_finds_internal_headers_in_public_headers(self):
        self.expect_complaint("public headers include <weft/..> only", {"include/weft/x.hpp": '#include "rt/g.hpp"\n'})

    def test_finds_the_public_interface_below_rt(self):
        self.expect_complaint("may not know the public interface", {"src/os/a.cpp": "#include <weft/go.hpp>\n"})


if __name__ == "__main__":
    unittest.main()
