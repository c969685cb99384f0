"""catalogue: which workloads there are, how big, what is read from them and what weft must reach.

The one place to change for a new workload or target. A figure is a number in the JSON line that a
contestant (or the client of its server) prints; smaller is better, unless its target says `at_least`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """At most (or at least) `limit`: times the figure of contestant `of`, else in the figure's own unit."""

    limit: float
    of: str = ""
    at_least: bool = False

    def text(self, titles):
        sign = ">=" if self.at_least else "<="
        return f"{sign} {self.limit:.2f} of {titles[self.of]}" if self.of else f"{sign} {self.limit:,.10g}"

    def is_met(self, medians):
        """True or False, or None when a figure is missing. `medians`: {contestant: figure}"""
        weft, other = medians.get("weft"), medians.get(self.of) if self.of else 1
        if weft is None or not other:
            return None
        return weft >= self.limit * other if self.at_least else weft <= self.limit * other


@dataclass(frozen=True)
class Figure:
    key: str  # its name in the JSON line
    title: str
    unit: str
    targets: dict  # {procs: a Target, or several}; procs 0 stands for every other number
    digits: int = 1

    def targets_for(self, procs):
        found = self.targets.get(procs, self.targets.get(0, ()))
        return (found,) if isinstance(found, Target) else found

    def more_is_better(self):
        return any(target.at_least for procs in self.targets for target in self.targets_for(procs))


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    n: int
    quick_n: int
    figures: tuple
    procs: tuple = ()  # the only numbers of processors it makes sense for; empty: those asked for
    limits: dict = None  # {contestant: (its largest n, why)}
    max_rounds: int = 1000
    seconds: float = 0  # how long it lasts, for those that are told
    quick_seconds: float = 0
    without: dict = None  # {contestant: why it does not take part}
    is_counted: bool = False  # by callgrind, not by the clock: see instructions.py
    service: str = ""  # "echo" or "http": each is a server, and n are a client's connections: see servers.py
    memory_each: int = 0  # bytes, more than one of n takes; so much is brought in before each run: see memory.py
    growth_limit: float = 0  # what weft's first figure may be on two processors, times that on one; 0: not looked at

    def n_for(self, contestant, quick):
        n = self.quick_n if quick else self.n
        return min(n, (self.limits or {}).get(contestant, (n, ""))[0])

    def memory(self, quick):
        return self.memory_each * (self.quick_n if quick else self.n)

    def size(self, quick):
        seconds = self.quick_seconds if quick else self.seconds
        return f"n = {self.quick_n if quick else self.n:,}" + (f", {seconds} s" if seconds else "")

    def arguments(self, contestant, procs, quick):
        words = [self.name, str(procs), str(self.n_for(contestant, quick))]
        if self.seconds:
            words.append(str(self.quick_seconds if quick else self.seconds))
        return words


# The figures of what computes, and of what the calls that block reach, in hundredths.
def _percent(key, title, limit):
    return Figure(key, title, "%", {0: Target(limit, at_least=True)} if limit else {})


_GUARDED = {"boost": (20_000, "a guard page splits a mapping in two, and the kernel limits their number")}


def _time_per(what, targets):
    return (Figure("ns_per_op", f"time per {what}", "ns", targets),)


def _of_go(one, two=None):
    """At most these times what Go takes, on one processor and on more."""
    return {1: Target(one, of="go"), 0: Target(two or one, of="go")}


_ECHO_FIGURES = (
    Figure(
        "per_second",
        "requests per second",
        "1/s",
        {0: (Target(0.95, of="epoll", at_least=True), Target(1.15, of="go", at_least=True))},
        digits=0,
    ),
    Figure("p99_us", "time of a request, 99th of 100", "us", {0: Target(1, of="go")}, digits=0),
    Figure("server_us_each", "processor time of the server per request", "us", {}, digits=2),
)
_HTTP_FIGURES = (
    Figure("per_second", "requests per second", "1/s", {0: Target(1.3, of="go", at_least=True)}, digits=0),
    Figure("p99_us", "time of a request, 99th of 100", "us", {}, digits=0),
    Figure("server_us_each", "processor time of the server per request", "us", {}, digits=2),
)
_NO_NETWORK = "it has no network"


def _echo(connections):
    return Workload(
        f"echo_{connections}",
        "TCP echo to n connections, each with one request of 64 bytes in flight",
        n=connections,
        quick_n=connections,
        figures=_ECHO_FIGURES,
        seconds=2,
        quick_seconds=1,
        without={"boost": _NO_NETWORK},
        service="echo",
    )


_NO_SELECT = {"boost": "it has no select"}
_NO_COLLAPSE = 2.0  # far below what a wake-up across processors at each step would make of it

_NAPS = (
    _percent("calls_percent", "naps, of the ideal", 90),
    _percent("compute_percent", "the loops reach, of what plain threads reach", 85),
)

WORKLOADS = (
    Workload(
        "yield",
        "two goroutines per processor yield to one another n times each",
        n=2_000_000,
        quick_n=200_000,
        figures=_time_per("yield", {0: Target(0.12, of="go")}),
    ),
    Workload(
        "spawn_join",
        "start a goroutine and wait for its end n times, one such loop per processor",
        n=1_000_000,
        quick_n=100_000,
        figures=_time_per("goroutine", {1: Target(0.35, of="go"), 0: Target(0.45, of="go")}),
    ),
    Workload(
        "spawn_storm",
        "one goroutine starts n others and waits for them all",
        n=1_000_000,
        quick_n=100_000,
        figures=_time_per("goroutine", {}),
    ),
    Workload(
        "ping_pong",
        "two goroutines per processor send a number to and fro n times, over channels without a buffer",
        n=1_000_000,
        quick_n=100_000,
        figures=_time_per("round trip", _of_go(0.25)),
        growth_limit=_NO_COLLAPSE,
    ),
    Workload(
        "buffered_1x1",
        "n numbers through a channel with room for 128, one sender and one receiver",
        n=4_000_000,
        quick_n=400_000,
        figures=_time_per("number", _of_go(0.5)),
    ),
    Workload(
        "buffered_4x4",
        "n numbers through a channel with room for 128, four senders and four receivers",
        n=4_000_000,
        quick_n=400_000,
        figures=_time_per("number", _of_go(0.5)),
    ),
    Workload(
        "ring",
        "one token makes n hops round a ring of 503 goroutines, over channels without a buffer",
        n=2_000_000,
        quick_n=200_000,
        figures=_time_per("hop", _of_go(0.3)),
        growth_limit=_NO_COLLAPSE,
    ),
    Workload(
        "sieve",
        "the first n primes by a chain of goroutines, one for each prime",
        n=2_000,
        quick_n=600,
        figures=(Figure("ms", "time for all of them", "ms", _of_go(0.45)),),
    ),
    Workload(
        "skynet",
        "a tree of goroutines with n leaves, ten children each, sums over channels",
        n=1_000_000,
        quick_n=100_000,
        figures=_time_per("leaf", _of_go(0.5)),
        limits={"boost": (100_000, "a million take it seconds, and as long for each")},
    ),
    Workload(
        "select_2",
        "ping_pong with a select of 2 on either side that has to wait, n round trips per processor",
        n=500_000,
        quick_n=50_000,
        figures=_time_per("select", _of_go(0.4)),
        without=_NO_SELECT,
    ),
    Workload(
        "select_8",
        "ping_pong with a select of 8 on either side that has to wait, n round trips per processor",
        n=300_000,
        quick_n=30_000,
        figures=_time_per("select", _of_go(0.4)),
        without=_NO_SELECT,
    ),
    Workload(
        "select_ready",
        "choose among 8 channels that hold a value each and put it back, n times on each processor",
        n=2_000_000,
        quick_n=200_000,
        figures=_time_per("select", _of_go(0.15)),
        without=_NO_SELECT,
    ),
    Workload(
        "mutex",
        "four goroutines per processor add 1 to one number under one mutex, n times in all",
        n=10_000_000,
        quick_n=1_000_000,
        figures=_time_per("turn", _of_go(0.9, 0.5)),
    ),
    Workload(
        "parked",
        "n goroutines wait for one event",
        n=1_000_000,
        quick_n=100_000,
        figures=(
            Figure("bytes_per_item", "memory each", "bytes", {0: Target(4_900)}, digits=0),
            Figure("us_each", "time to create each", "us", {0: Target(2.0, of="go")}, digits=2),
        ),
        limits=_GUARDED,
        memory_each=5_500,
    ),
    Workload(
        "queued",
        "n goroutines are started and have not run yet",
        n=1_000_000,
        quick_n=100_000,
        figures=(Figure("bytes_per_item", "memory each", "bytes", {0: Target(256)}, digits=0),),
        procs=(1,),
        limits=_GUARDED,
        max_rounds=3,
    ),
    Workload(
        "idle",
        "n goroutines are parked and the main one sleeps",
        n=1_000,
        quick_n=1_000,
        figures=(Figure("cpu_ms", "processor time", "ms", {0: Target(2)}, digits=2),),
        procs=(2,),
        max_rounds=3,
        seconds=10,
        quick_seconds=2,
    ),
    Workload(
        "lateness",
        "a goroutine sleeps 1 ms in a loop while n tight loops run",
        n=4,
        quick_n=4,
        figures=(
            Figure("p50_us", "woken too late by, median", "us", {0: Target(100)}),
            Figure("p99_us", "woken too late by, 99th of 100", "us", {0: Target(4_000)}, digits=0),
            _percent("loops_percent", "the loops reach, of what plain threads reach", 95),
        ),
        procs=(2,),
        max_rounds=3,
        seconds=2.5,
        quick_seconds=1,
    ),
    Workload(
        "naps",
        "n goroutines block in nanosleep for 10 ms again and again, untold, while one per processor computes",
        n=64,
        quick_n=64,
        figures=_NAPS,
        procs=(2,),
        max_rounds=3,
        seconds=2,
        quick_seconds=1,
    ),
    Workload(
        "naps_blocking",
        "the same with weft::blocking() around the call",
        n=64,
        quick_n=64,
        figures=_NAPS,
        procs=(2,),
        max_rounds=3,
        seconds=2,
        quick_seconds=1,
    ),
    Workload(
        "interrupted",
        "n goroutines spin for 1 ms and wait in poll() for 1 ms, by turns, beside two loops per processor",
        n=8,
        quick_n=8,
        figures=(Figure("cut_per_mille", "calls that return EINTR, of 1,000", "", {0: Target(1)}, digits=2),),
        procs=(2,),
        without={"boost": "it stops nobody, so no call is cut short"},
        max_rounds=3,
        seconds=4,
        quick_seconds=2,
    ),
    Workload(
        "stop_world",
        "stop the world n times (by changing max_procs) while tight loops run on every processor",
        n=500,
        quick_n=100,
        figures=(
            Figure("p50_us", "time of the call, median", "us", {}),
            Figure("p99_us", "time of the call, 99th of 100", "us", {}),
        ),
        procs=(2,),
        max_rounds=3,
        seconds=3,
        quick_seconds=1,
        without={"boost": "its threads cannot be stopped"},
    ),
    Workload(
        "checkpoint",
        "a preemption point n times on each processor, nobody asking",
        n=50_000_000,
        quick_n=5_000_000,
        figures=_time_per("call", {0: Target(2)}),
        without={"go": "it needs none", "boost": "it has none"},
    ),
    Workload(
        "nap",
        "a goroutine sleeps 100 us in a loop, and nothing else happens",
        n=1,
        quick_n=1,
        figures=(
            Figure("p50_us", "woken too late by, median", "us", {}),
            Figure("p99_us", "woken too late by, 99th of 100", "us", {}),
            Figure("kernel_p50_us", "a thread in nanosleep() woken too late by, median", "us", {}),
        ),
        max_rounds=3,
        seconds=1,
        quick_seconds=0.3,
    ),
    Workload(
        "sleep",
        "n goroutines sleep 1 ms in a loop",
        n=1_000,
        quick_n=1_000,
        figures=(Figure("ns_per_op", "processor time per sleep", "ns", {}, digits=0),),
        max_rounds=3,
        seconds=1,
        quick_seconds=0.5,
    ),
    Workload(
        "timers",
        "n goroutines are parked, then sleep for some seconds, all at once",
        n=1_000_000,
        quick_n=100_000,
        figures=(
            Figure("us_each", "time to arm each", "us", {}, digits=2),
            Figure("cpu_us_each", "processor time each, until it has woken", "us", {0: Target(0.6, of="go")}, digits=2),
            Figure("late_p50_us", "woken too late by, median", "us", {}, digits=0),
            Figure("late_p99_us", "woken too late by, 99th of 100", "us", {0: Target(0.6, of="go")}, digits=0),
            Figure("bytes_per_item", "memory each", "bytes", {}, digits=0),
        ),
        procs=(2,),
        limits=_GUARDED,
        max_rounds=3,
        seconds=2.5,
        quick_seconds=2,
    ),
    _echo(100),
    _echo(1_000),
    Workload(
        "http_100",
        "HTTP/1.1 GET of 14 bytes of text by wrk, n connections that are kept",
        n=100,
        quick_n=100,
        figures=_HTTP_FIGURES,
        seconds=2,
        quick_seconds=1,
        without={"boost": _NO_NETWORK, "epoll": "it speaks no HTTP"},
        service="http",
    ),
    Workload(
        "instructions",
        "instructions of one operation, counted, against a weft without preemption",
        n=40_000,
        quick_n=10_000,
        figures=tuple(
            Figure(f"{load}_instructions", load, "instructions", {0: Target(1.03, of="unpreempted")})
            for load in ("yield", "spawn_join")
        ),
        procs=(1,),
        max_rounds=1,
        is_counted=True,
    ),
)


def by_name(name):
    return next((w for w in WORKLOADS if w.name == name), None)
