#!/usr/bin/env python3
"""version_test <version>: the headers, the change log and the build agree on weft's version."""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
expected = sys.argv[1]
header = (root / "include/weft/version.hpp").read_text()
changes = (root / "CHANGELOG.md").read_text()

found = {
    "WEFT_VERSION_MAJOR/MINOR/PATCH": ".".join(re.findall(r"#define WEFT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)),
    "WEFT_VERSION_STRING": "".join(re.findall(r'#define WEFT_VERSION_STRING "([^"]*)"', header)),
    "CHANGELOG.md": next(iter(re.findall(r"^## \[?(\d+\.\d+\.\d+)", changes, re.MULTILINE)), "none"),
}
wrong = {place: version for place, version in found.items() if version != expected}
for place, version in wrong.items():
    print(f"{place} says {version}, the build says {expected}", file=sys.stderr)
sys.exit(1 if wrong else 0)
