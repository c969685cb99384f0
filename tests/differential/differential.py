#!/usr/bin/env python3
"""differential: random programs, each as Go and as weft C++, must do the same. See README.md.

  differential.py go-path                              the Go that is used; exit code 1 if there is none
  differential.py emit FOLDER [--per-file N]           write the sources of a range of seeds
  differential.py build-go FOLDER                      build what emit has written: FOLDER/go_programs
  differential.py run --weft PROGRAM --go PROGRAM [--procs N]    run and compare a range of seeds
  differential.py show SEED                            print one program in both languages, and what it must do
  differential.py stats                                how a range of seeds ends, and what is in them

A range of seeds is --first N (1 unless told) and --count N (50), or --seed N for one.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import resource
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench")]

import compare  # noqa: E402
import emit_cpp  # noqa: E402
import emit_go  # noqa: E402
import features  # noqa: E402
import plan  # noqa: E402
from harness import contestants  # noqa: E402

MAX_SHOWN = 3


def files_of(seeds, per_file):
    return [seeds[i : i + per_file] for i in range(0, len(seeds), per_file)]


def emit(options):
    """FOLDER/programs_<i>.cpp, and a Go module in FOLDER/go."""
    folder = pathlib.Path(options.folder)
    go = folder / "go"
    go.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("programs_*.cpp"), *go.glob("programs_*.go")):
        old.unlink()
    for i, seeds in enumerate(files_of(options.seeds, options.per_file)):
        programs = [plan.generate(seed)[0] for seed in seeds]
        (folder / f"programs_{i}.cpp").write_text(emit_cpp.emit_all(programs))
        (go / f"programs_{i}.go").write_text(emit_go.emit_all(programs))
    (go / "go.mod").write_text("module weft.differential\n\ngo 1.21\n")
    (go / "peer.go").write_text((HERE / "peer.go").read_text())
    return 0


def build_go(options):
    folder = pathlib.Path(options.folder).resolve()
    env = {**contestants.go_env(), "GOCACHE": str(folder / "go-cache"), "GOPATH": str(folder / "go-path")}
    command = [contestants.newest_go(), "build", "-buildvcs=false", "-o", str(folder / "go_programs"), "."]
    return subprocess.run(command, cwd=folder / "go", env=env, check=False).returncode


def one(seed, options):
    program, outcome = plan.generate(seed)
    programs = {"weft": options.weft, "go": options.go}
    verdict = compare.compare(program, outcome, programs, options.procs)
    return outcome.cls, verdict


def sources(seed):
    program, outcome = plan.generate(seed)
    lines = [line for mine in outcome.lines.values() for line in mine]
    said = "\n".join(lines)
    return f"---- Go:\n{emit_go.emit(program)}\n---- C++:\n{emit_cpp.emit(program)}\n---- the model: '{outcome.cls}'\n{said}\n"


def replay(seed, options):
    return shlex.join([sys.executable, str(HERE / "differential.py"), "run", "--seed", str(seed), "--procs", str(options.procs),
                       "--weft", options.weft, "--go", options.go])  # fmt: skip


def run(options):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # programs die on purpose
    options.weft, options.go = os.path.abspath(options.weft), os.path.abspath(options.go)
    classes = collections.Counter()
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for cls, verdict in pool.map(lambda seed: one(seed, options), options.seeds):
            classes[cls] += 1
            if verdict.is_ok:
                continue
            failed.append(verdict)
            if len(failed) <= MAX_SHOWN:
                print(f"{verdict.text}\n{sources(verdict.seed)}\nonce more: {replay(verdict.seed, options)}\n", flush=True)
    for verdict in failed:
        print(verdict.text.splitlines()[0])
    counts = ", ".join(f"{n} {cls}" for cls, n in classes.most_common())
    print(f"{len(options.seeds)} programs on {options.procs} processors ({counts}): {len(failed)} differ")
    return 1 if failed or not options.seeds else 0


def stats(options):
    classes, found, total = features.count(map(plan.generate, options.seeds))
    print(f"{len(options.seeds)} programs, {total['goroutines'] / len(options.seeds):.1f} goroutines, "
          f"{total['statements'] / len(options.seeds):.0f} operations and {total['lines'] / len(options.seeds):.0f} lines each")  # fmt: skip
    for title, table in (("they end with", classes), ("of them have", found)):
        print(f"\n{title}")
        for name, n in sorted(table.items(), key=lambda entry: (-entry[1], entry[0])):
            print(f"{n:7}  {name}")
    return 0


def go_path(_):
    try:
        print(contestants.newest_go())
    except contestants.Unavailable:
        return 1
    return 0


def show(options):
    print(sources(options.seed))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (("go-path", go_path), ("emit", emit), ("build-go", build_go), ("run", run), ("show", show), ("stats", stats)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        if name in ("emit", "build-go"):
            command.add_argument("folder")
        if name == "emit":
            command.add_argument("--per-file", type=int, default=25)
        if name == "show":
            command.add_argument("seed", type=int)
        elif name in ("emit", "run", "stats"):
            command.add_argument("--first", type=int, default=1)
            command.add_argument("--count", type=int, default=50)
            command.add_argument("--seed", type=int)
        if name == "run":
            command.add_argument("--weft", required=True)
            command.add_argument("--go", required=True)
            command.add_argument("--procs", type=int, default=2)
    options = parser.parse_args()
    if hasattr(options, "first"):
        options.seeds = [options.seed] if options.seed else list(range(options.first, options.first + options.count))
    return options.function(options)


if __name__ == "__main__":
    sys.exit(main())
