#!/usr/bin/env python3
"""run: explores a protocol with a planted fault, and expects that the explorer finds it.

    run.py --list
    run.py --check
    run.py --work FOLDER --explorer LIBRARY [--compiler C++] [--flags "..."] NAME

The header is copied to FOLDER with the passage changed, the protocol's scenarios are compiled with that folder before src/ and include/, and run. Exit
code 0: a scenario failed as it should, and the explorer printed how to have that execution again (or died of touching what is gone, where
the table says so). 1: nobody noticed. 2: it could not be tried.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(Path(__file__).resolve().parent))

from table import MUTANTS  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
FOUND = re.compile(r"^model: replay with WEFT_MODEL_REPLAY=(\w+):", re.MULTILINE)
SECONDS = 300


def cannot(text):
    print(f"mutant: {text}", file=sys.stderr)
    sys.exit(2)


def path_of(header):
    return next(path for path in (ROOT / "src" / header, ROOT / "include" / header) if path.exists())


def changed_header(mutant):
    path = path_of(mutant.header)
    text = path.read_text()
    for old, new in mutant.changes():
        n = text.count(old)
        if n != 1:
            cannot(f"{mutant.name}: a passage to change stands {n} times in {path.relative_to(ROOT)}; adapt tests/model/mutants/table.py")
        text = text.replace(old, new)
    return text


def plant(mutant, folder):
    """The changed header, below `folder` by the path it has below src/ or include/."""
    text = changed_header(mutant)
    changed = folder / mutant.header
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(text)


def compile_scenarios(mutant, folder, opts):
    program = folder / f"weft_mutant_{mutant.name}"
    model = ROOT / "tests" / "model"
    includes = [f"-I{path}" for path in (folder, model, ROOT / "src", ROOT / "include")]
    command = [*shlex.split(opts.compiler), "-std=c++20", "-O1", "-w", "-DWEFT_DEBUG_CHECKS=1", *shlex.split(opts.flags), *includes,
               str(model / f"{mutant.protocol}_test.cpp"), str(opts.explorer), "-lgtest_main", "-lgtest", "-pthread", "-o", str(program)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        cannot(f"{mutant.name} does not compile:\n{done.stderr[:4000]}")
    return program


def run_scenarios(mutant, program):
    environment = {**os.environ, "WEFT_MODEL_BUDGET": str(mutant.budget)}
    command = [str(program), f"--gtest_filter={mutant.scenario}", "--gtest_brief=1"]
    try:
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        cannot(f"{mutant.name}: its scenarios did not end in {SECONDS} s")


def main():
    p = argparse.ArgumentParser(prog="run.py", description="Explores a protocol with a planted fault.")
    p.add_argument("--list", action="store_true", help="names only")
    p.add_argument("--check", action="store_true", help="whether each passage to change still stands in its header, once")
    p.add_argument("--work", type=Path, help="where to put the changed header and the program")
    p.add_argument("--explorer", type=Path, help="the library weft_explorer")
    p.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    p.add_argument("--flags", default="")
    p.add_argument("name", nargs="?", choices=[m.name for m in MUTANTS], metavar="NAME")
    opts = p.parse_args()
    if opts.list:
        print("\n".join(m.name for m in MUTANTS))
        return 0
    if opts.check:
        for mutant in MUTANTS:
            changed_header(mutant)
        return 0
    if not (opts.name and opts.work and opts.explorer):
        p.error("a name, --work and --explorer are needed")

    mutant = next(m for m in MUTANTS if m.name == opts.name)
    folder = opts.work.resolve() / mutant.name
    plant(mutant, folder)
    done = run_scenarios(mutant, compile_scenarios(mutant, folder, opts))
    found = FOUND.findall(done.stdout + done.stderr)
    print(f"{mutant.name}: {mutant.why}")
    if done.returncode != 0 and found and mutant.memory in ("", *found):
        print(f"killed, in {', '.join(sorted(set(found)))}")
        return 0
    if done.returncode == -signal.SIGSEGV and mutant.crashes:
        print("killed: it touched what is gone")
        return 0
    wanted = f" in {mutant.memory}" if mutant.memory else ""
    print(f"SURVIVED{wanted} (exit code {done.returncode}, found in: {', '.join(found) or 'none'})\n{done.stdout[-2000:]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
