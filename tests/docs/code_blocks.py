#!/usr/bin/env python3
"""code_blocks <compiler>: compiles every ```cpp block of the README and the user's documentation.

A block with an #include is a whole file; any other is the inside of a function, with weft and the usual headers at
hand. docs/design and docs/adr talk about internals and are not compiled.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROLOGUE = """#include <chrono>
#include <iostream>
#include <string>
#include <vector>
#include <weft/weft.hpp>
[[maybe_unused]] static void snippet() {
"""


def pages():
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "HACKING.md"))
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if page.relative_to(ROOT).parts[1] not in ("design", "adr"):
            yield page


def blocks(page):
    """Yields (line number, code)."""
    text = page.read_text()
    for match in re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


def main():
    compiler = sys.argv[1]
    ncompiled = nfailed = 0
    for page in pages():
        for line, code in blocks(page):
            where = f'#line {line} "{page.relative_to(ROOT)}"\n'
            source = where + code if "#include" in code else PROLOGUE + where + code + "}\n"
            command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "include", "-x", "c++", "-"]
            ncompiled += 1
            nfailed += subprocess.run(command, input=source, text=True, check=False).returncode != 0
    print(f"{ncompiled} code blocks compiled, {nfailed} failed")
    return 1 if nfailed or not ncompiled else 0


if __name__ == "__main__":
    sys.exit(main())
