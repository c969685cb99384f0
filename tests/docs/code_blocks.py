#!/usr/bin/env python3
"""code_blocks <compiler>: compiles every ```cpp block of the README and the user's documentation.

A block with an #include is a whole file and must stand by itself; any other is the inside of a function, with weft and the
usual headers at hand. docs/design and docs/adr talk about internals and are not compiled.

weft's headers take far longer than any block. So they are compiled once (a precompiled header, used only for blocks that include
weft/weft.hpp themselves, so that none gets by with what another includes), and all insides of functions are one file. #line names
the document either way.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEFT = "#include <weft/weft.hpp>\n"
USUAL = WEFT + "#include <chrono>\n#include <iostream>\n#include <string>\n#include <vector>\n"


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


def sources():
    """Returns the number of blocks, and the files that they make."""
    count = 0
    files = []
    insides = USUAL
    for page in pages():
        for line, code in blocks(page):
            count += 1
            code = f'#line {line} "{page.relative_to(ROOT)}"\n{code}'
            if "#include" in code:
                files.append(code)
            else:
                insides += f"[[maybe_unused]] static void block_{count}() {{\n{code}}}\n"
    return count, [insides, *files]


class Compiler:
    def __init__(self, program, folder):
        self.command = [program, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "include")]
        self.header = pathlib.Path(folder) / "weft_once.hpp"
        self.header.write_text(WEFT)
        # Not found or of no use to this compiler, it is the plain header that is included.
        subprocess.run([*self.command, "-x", "c++-header", str(self.header), "-o", f"{self.header}.gch"], check=False)

    def compile(self, source):
        """Returns what the compiler says of it, or nothing."""
        once = ["-include", str(self.header)] if WEFT in source else []
        command = [*self.command, *once, "-fsyntax-only", "-x", "c++", "-"]
        ended = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
        return (ended.stderr or f"{self.command[0]} failed") if ended.returncode != 0 else ""


def main():
    count, files = sources()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(Compiler(sys.argv[1], folder).compile, files) if text]
    for text in complaints:
        print(text, file=sys.stderr)
    print(f"{count} code blocks compiled, in {len(files)} files, of which {len(complaints)} failed")
    return 1 if complaints or not count else 0


if __name__ == "__main__":
    sys.exit(main())
