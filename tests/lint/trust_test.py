#!/usr/bin/env python3
"""trust_test: tools/ci/figure and tools/trust: what is kept gets onto the page, and a page that somebody has typed at is refused."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("trust", str(ROOT / "tools" / "trust"))
trust = importlib.util.module_from_spec(importlib.util.spec_from_loader("trust", LOADER))
LOADER.exec_module(trust)

PAGE = f"# Trust\n\nbefore\n\n{trust.BEGIN}\n{trust.END}\n\nafter\n"


def figure(folder, *words):
    return subprocess.run([sys.executable, ROOT / "tools" / "ci" / "figure", *words], cwd=folder, capture_output=True, check=False)


def kept(*figures):
    with tempfile.TemporaryDirectory() as folder:
        for words in figures:
            assert figure(folder, *words).returncode == 0, words
        return trust.kept(pathlib.Path(folder) / "build" / "figures")


class trust_page(unittest.TestCase):
    def test_figures_get_onto_the_page_in_order_and_the_prose_stays(self):
        page = trust.written(PAGE, kept(("fuzz.inputs", "1234567", "inputs", "tried"), ("asan.tests", "7", "tests")))
        trust.check(page)
        self.assertTrue(page.startswith("# Trust\n\nbefore\n\n") and page.endswith("\n\nafter\n"))
        self.assertLess(page.index("| `asan` | tests | 7 |"), page.index("| `fuzz` | inputs tried | 1,234,567 |"))

    def test_a_lane_that_did_not_run_keeps_its_rows_and_one_that_did_loses_its_old_ones(self):
        page = trust.written(PAGE, kept(("fuzz.inputs", "1", "inputs"), ("asan.tests", "7", "tests"), ("asan.gone", "8", "gone")))
        page = trust.written(page, kept(("asan.tests", "9", "tests")))
        trust.check(page)
        self.assertIn("| `fuzz` | inputs | 1 |", page)
        self.assertIn("| `asan` | tests | 9 |", page)
        self.assertNotIn("gone", page)

    def test_writing_twice_changes_nothing(self):
        rows = kept(("fuzz.inputs", "1", "inputs"))
        page = trust.written(PAGE, rows)
        self.assertEqual(trust.written(page, rows), page)

    def test_a_page_that_was_typed_at_is_refused(self):
        good = trust.written(PAGE, kept(("a.b", "1000", "x"), ("b.c", "2", "y")))
        row = next(line for line in good.splitlines() if "`a`" in line)
        faults = {
            "no figures": trust.written(PAGE, {}),
            "no mark": good.replace(trust.END, ""),
            "a mark twice": good + trust.BEGIN,
            "marks in the wrong order": trust.END + good.replace(trust.END, ""),
            "no head": good.replace(trust.HEADER[0], ""),
            "not a number": good.replace("1,000", "many"),
            "a number in another form": good.replace("1,000", "1000"),
            "a row twice": good.replace(row, row + "\n" + row),
            "rows out of order": good.replace("`a`", "`z`"),
            "prose between": good.replace(row, row + "\nand more"),
        }
        for what, page in faults.items():
            with self.assertRaises(ValueError, msg=what):
                trust.check(page)

    def test_what_is_no_figure_is_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (("a.b", "1"), ("ab", "1", "x"), ("a.b", "-1", "x"), ("a.b", "1.5", "x"), ("a.b", "1", "x | y"), ("../a.b", "1", "x")):
                self.assertNotEqual(figure(folder, *words).returncode, 0, words)
            self.assertFalse((pathlib.Path(folder) / "build").exists())


if __name__ == "__main__":
    unittest.main()
