#!/usr/bin/env python3
"""check_docs_test: check_edges and check_named_tests pass a tree in order and find each kind of fault."""

import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
SOURCE = "src/rt/q.hpp"
PAGE = "docs/design/memory-model.md"
OTHER = "docs/design/acceptance.md"
LIST = "tests/conformance/README.md"
ROWS = "| id | test |\n|---|---|\n| B001 | %s |\n"
CASES = "tests/stress/q.cpp"

IN_ORDER = {
    SOURCE: "x.store(1, release);  // [q.publish]\nint lambda = [q.other];\n",
    PAGE: "| name | ends | test |\n|---|---|---|\n| `[q.publish]` | push, pop | `q.pops_what_was_pushed` |\n",
    OTHER: "| MUST | code | test |\n|---|---|---|\n| it | `q.hpp` | none yet |\n",
    LIST: ROWS % "`q.pops_what_was_pushed_on_2_ps`, `.pops_*`, `q.*`; `q.cpp`",
    CASES: "TEST_FOR_PROCS(q, pops_what_was_pushed) {}\n",
}


def passes(tool, changes=()):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**IN_ORDER, **dict(changes)}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([sys.executable, TOOLS / tool, root], capture_output=True, check=False)
        return run.returncode == 0


def main():
    verdicts = {
        "edges in order": passes("check_edges"),
        "an edge without a row": not passes("check_edges", {SOURCE: "// [q.publish] [q.consume]\n"}),
        "a row without an edge": not passes("check_edges", {SOURCE: "// [q.consume]\n"}),
        "an edge with two rows": not passes("check_edges", {PAGE: IN_ORDER[PAGE] + "| `[q.publish]` | again | |\n"}),
        "names in order": passes("check_named_tests"),
        "a test that is gone": not passes("check_named_tests", {CASES: "TEST(q, pops) {}\n"}),
        "a test of the list that is gone": not passes("check_named_tests", {LIST: ROWS % "`q.pushes`"}),
        "another of the same suite that is gone": not passes("check_named_tests", {LIST: ROWS % "`q.*`, `.pushes`"}),
        "nothing that begins like it": not passes("check_named_tests", {LIST: ROWS % "`q.push_*`"}),
        "no test at all": not passes("check_named_tests", {PAGE: "", LIST: "", CASES: ""}),
    }
    for what, is_right in verdicts.items():
        if not is_right:
            print(f"wrong verdict on: {what}", file=sys.stderr)
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
