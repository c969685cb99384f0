"""catalogue: which workloads there are, how big, what is read from them and what weft must reach.

The one place to change for a new workload or target. A figure is a number in the JSON line that a
contestant prints; smaller is better for all of them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """At most `limit`: times Go's figure when `of_go`, else in the figure's own unit."""

    limit: float
    of_go: bool = False

    def __str__(self):
        return f"<= {self.limit:.2f} of Go" if self.of_go else f"<= {self.limit:,.0f}"

    def is_met(self, weft, go):
        """True or False, or None when Go's figure is needed and missing."""
        if weft is None or (self.of_go and not go):
            return None
        return weft <= self.limit * (go if self.of_go else 1)


@dataclass(frozen=True)
class Figure:
    key: str  # its name in the JSON line
    title: str
    unit: str
    targets: dict  # {procs: Target}; procs 0 stands for every other number
    digits: int = 1

    def target(self, procs):
        return self.targets.get(procs, self.targets.get(0))


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

    def n_for(self, contestant, quick):
        n = self.quick_n if quick else self.n
        return min(n, (self.limits or {}).get(contestant, (n, ""))[0])

    def size(self, quick):
        seconds = self.quick_seconds if quick else self.seconds
        return f"n = {self.quick_n if quick else self.n:,}" + (f", {seconds} s" if seconds else "")

    def arguments(self, contestant, procs, quick):
        words = [self.name, str(procs), str(self.n_for(contestant, quick))]
        if self.seconds:
            words.append(str(self.quick_seconds if quick else self.seconds))
        return words


_GUARDED = {"boost": (20_000, "a guard page splits a mapping in two, and the kernel limits their number")}


def _time_per(what, targets):
    return (Figure("ns_per_op", f"time per {what}", "ns", targets),)


WORKLOADS = (
    Workload(
        "yield",
        "two goroutines per processor yield to one another n times each",
        n=2_000_000,
        quick_n=200_000,
        figures=_time_per("yield", {0: Target(0.12, of_go=True)}),
    ),
    Workload(
        "spawn_join",
        "start a goroutine and wait for its end n times, one such loop per processor",
        n=1_000_000,
        quick_n=100_000,
        figures=_time_per("goroutine", {1: Target(0.35, of_go=True), 0: Target(0.45, of_go=True)}),
    ),
    Workload(
        "spawn_storm",
        "one goroutine starts n others and waits for them all",
        n=1_000_000,
        quick_n=100_000,
        figures=_time_per("goroutine", {}),
    ),
    Workload(
        "parked",
        "n goroutines wait for one event",
        n=1_000_000,
        quick_n=100_000,
        figures=(
            Figure("bytes_per_item", "memory each", "bytes", {0: Target(4_900)}, digits=0),
            Figure("us_each", "time to create each", "us", {0: Target(2.0, of_go=True)}, digits=2),
        ),
        limits=_GUARDED,
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
)


def by_name(name):
    return next((w for w in WORKLOADS if w.name == name), None)
