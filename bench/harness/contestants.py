"""contestants: finding, building and running the programs that are measured.

A contestant is a program that takes `<workload> <procs> <n> [seconds]` and prints one line of JSON. It may be a
server as well: see servers.py.
weft must be there; a peer that cannot be had is named in one line and left out.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
RUN_LIMIT_S = 300
HTTP_SERVER = "bench_http_server"  # weft's, on Boost.Beast: a program of its own, where Beast is installed


class Unavailable(Exception):
    """Why a contestant is not there, in one line."""


class RunFailed(Exception):
    """Why one run gave no figures, in one line."""


@dataclass
class Contestant:
    name: str
    title: str
    program: Path

    only_serves = False  # it is a server and nothing else

    def server(self, service, procs):
        """The words that start its server on any free port."""
        return [str(self.program), f"serve_{service}", str(procs), "0"]

    def run(self, arguments):
        try:
            done = subprocess.run(
                [str(self.program), *arguments], capture_output=True, text=True, timeout=RUN_LIMIT_S
            )
        except subprocess.TimeoutExpired:
            raise RunFailed(f"no result within {RUN_LIMIT_S} s") from None
        except OSError as error:
            raise RunFailed(str(error)) from None
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            raise RunFailed(f"exit code {done.returncode}" + (f": {said[0]}" if said else ""))
        try:
            result = json.loads(done.stdout)
        except ValueError:
            raise RunFailed(f"printed no JSON: {done.stdout.strip()[:80]!r}") from None
        if "seconds" in result and "bytes_per_item" in result:
            # Contestants may differ in n; the time for one is what can be compared.
            result["us_each"] = result["seconds"] * 1e6 / result["n"]
        return result

    def version(self):
        try:
            return str(self.run(["version"]).get("version", ""))
        except RunFailed:
            return ""


class Weft(Contestant):
    def server(self, service, procs):
        if service != "http":
            return super().server(service, procs)
        program = self.program.with_name(HTTP_SERVER)
        if not os.access(program, os.X_OK):
            raise Unavailable(f"there is no {HTTP_SERVER} beside {self.program.name}")
        return [str(program), str(procs), "0"]


class WeftUring(Weft):
    """The same program, told to wait for descriptors by io_uring."""

    only_serves = True  # nothing else has to do with descriptors

    def server(self, service, procs):
        return ["env", "WEFT_DEBUG=poller=uring", *super().server(service, procs)]


class Epoll(Contestant):
    only_serves = True

    def server(self, service, procs):
        return [str(self.program), "0", str(procs)]


def _call(words, quietly=False, **options):
    """Runs a build step and shows what it says on stderr; quietly: only when it fails."""
    words = [str(word) for word in words]
    sink = subprocess.PIPE if quietly else sys.stderr
    try:
        done = subprocess.run(words, stdout=sink, stderr=subprocess.STDOUT, text=True, **options)
    except FileNotFoundError:
        raise Unavailable(f"there is no `{words[0]}`") from None
    if done.returncode != 0:
        sys.stderr.write(done.stdout or "")
        raise Unavailable(f"`{' '.join(words)}` failed")


def _configure():
    # A tree of its own: the release preset's flags, without changing what `make test` builds.
    _call(["cmake", "--preset", "release", "-B", BUILD, "-DWEFT_BUILD_BENCH=ON",
           "-DWEFT_BUILD_TESTS=OFF", "-DWEFT_BUILD_EXAMPLES=OFF"], quietly=True, cwd=ROOT)  # fmt: skip


def _has_target(target):
    known = subprocess.run(
        ["cmake", "--build", BUILD, "--target", "help"], capture_output=True, text=True, cwd=ROOT
    )
    return re.search(rf"\b{target}\b", known.stdout) is not None


def _build(target, quietly=False):
    _call(["cmake", "--build", BUILD, "--target", target], quietly=quietly, cwd=ROOT)
    return BUILD / "bench" / target


def build_weft():
    _configure()
    program = _build("bench_workloads")
    if _has_target(HTTP_SERVER):
        _build(HTTP_SERVER)
    return Weft("weft", "weft", program)


def build_weft_uring():
    return WeftUring("weft_uring", TITLES["weft_uring"], build_weft().program)


def build_without(name):
    """weft once more, with preemption compiled out: only for counting what that costs."""
    _configure()
    target = "bench_" + TITLES[name].replace(" ", "_")
    return Contestant(name, TITLES[name], _build(target, quietly=True))


def build_boost():
    _configure()
    if not _has_target("bench_boost_fiber"):
        raise Unavailable("not installed (Debian: libboost-fiber-dev)")
    return Contestant("boost", "Boost.Fiber", _build("bench_boost_fiber"))


def build_epoll():
    _configure()
    if not _has_target("epoll_echo"):
        raise Unavailable("there is no C compiler")
    return Epoll("epoll", "epoll", _build("epoll_echo"))


def build_echo_load():
    """The client of the echo servers; not a contestant."""
    _configure()
    if not _has_target("echo_load"):
        raise Unavailable("there is no C compiler")
    return _build("echo_load", quietly=True)


def _go_version(go):
    try:
        said = subprocess.run(
            [go, "env", "GOVERSION"], capture_output=True, text=True, env=go_env(), cwd="/"
        )
    except OSError:
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", said.stdout))[:3]


def go_env():
    # GOTOOLCHAIN: never fetch another one. The caches stay in the build tree. CGO_ENABLED: package net would
    # otherwise make it a program with C in it, whose threads are made and entered in another way.
    return {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "GO111MODULE": "on", "CGO_ENABLED": "0",
            "GOCACHE": str(BUILD / "go-cache"), "GOPATH": str(BUILD / "go-path")}  # fmt: skip


def newest_go():
    """The newest of the Go commands on PATH and where Debian's versioned packages put theirs."""
    found = [shutil.which("go"), *glob.glob("/usr/lib/go-*/bin/go"), "/usr/local/go/bin/go"]
    known = [(_go_version(go), go) for go in found if go]
    known = [entry for entry in known if entry[0] >= (1, 21)]
    if not known:
        raise Unavailable("no Go 1.21 or newer found (tools/setup-go installs one)")
    return max(known)[1]


def build_go():
    go = newest_go()
    program = BUILD / "peers" / "go_peer"
    program.parent.mkdir(parents=True, exist_ok=True)
    sources = ROOT / "bench" / "peers" / "go"
    _call([go, "build", "-buildvcs=false", "-o", program, "."], cwd=sources, env=go_env())
    return Contestant("go", "Go", program)


BUILDERS = {"weft": build_weft, "go": build_go, "boost": build_boost, "epoll": build_epoll, "weft_uring": build_weft_uring}
DEFAULTS = [name for name in BUILDERS if name != "weft_uring"]  # who wants to know asks for it
SERVERS = {"epoll", "weft_uring"}  # which only serve
TITLES = {"weft": "weft", "weft_uring": "weft on io_uring", "go": "Go", "boost": "Boost.Fiber", "epoll": "epoll",
          "unpreempted": "without preemption", "unbracketed": "without bracket"}  # fmt: skip


def given(name, program):
    """A contestant that somebody has built already, for instance an older weft."""
    path = Path(program)
    if not os.access(path, os.X_OK):
        raise Unavailable(f"{program} is not a program")
    kind = {"go": Contestant, "boost": Contestant, "epoll": Epoll, "weft_uring": WeftUring}.get(name, Weft)
    return kind(name, TITLES.get(name, name), path.resolve())
