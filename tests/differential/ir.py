"""ir: what a generated program is made of, before it is Go or C++ or run by the model.

A program is a set of channels, mutexes, counters and wait groups, and functions over them. Function `g0` is main. Every function
runs for some goroutine `g`, which has a number, an accumulator that takes in each value received (so that what is sent later
depends on it), and says each thing that happens to it as one line `g<number> <text>`: these lines are what is compared.
A goroutine that is not audible says nothing; its work shows in counters.

Expressions are tuples: ("const", n), ("acc", k) for (acc + k) % 1000, ("var", "i0", k) for a loop's variable plus k.
Channels, parameters, mutexes and the rest are names. `style` chooses among ways to say the same in C++ (and is nothing in Go).
"""

from dataclasses import dataclass, field, fields

MODULUS = 1000003


def mix(acc, value):
    """How an accumulator takes in a value; depends on the order."""
    return (acc * 31 + value) % MODULUS


@dataclass
class Chan:
    name: str
    kind: str  # "int", "text" (travels on the heap in weft) or "void" (a signal)
    cap: int | None  # None: nil


@dataclass
class Param:
    name: str
    kind: str
    direction: str  # "recv" or "send"


@dataclass
class Func:
    name: str
    body: list
    params: list = field(default_factory=list)


@dataclass
class Send:
    ch: str
    value: tuple
    style: int = 0


@dataclass
class Recv:
    ch: str
    style: int = 0


@dataclass
class Range:
    ch: str
    body: list


@dataclass
class Close:
    ch: str


@dataclass
class Len:
    ch: str


@dataclass
class Try:
    """A send or receive that does not wait. Silent: says nothing of how it went."""

    way: str  # "send" or "recv"
    ch: str
    value: tuple = ("const", 0)
    style: int = 0
    silent: bool = False


@dataclass
class Spin:
    """A try, again and again until it succeeds, with a yield between: waiting by other means."""

    way: str
    ch: str
    value: tuple = ("const", 0)


@dataclass
class Case:
    way: str
    ch: str
    value: tuple = ("const", 0)
    body: list = field(default_factory=list)


@dataclass
class Select:
    """mark: "which" says the index chosen, "none" only what was received, "seen" collects indexes for TellSeen."""

    cases: list
    default: list | None = None
    mark: str = "which"
    style: int = 0


@dataclass
class TellSeen:
    """Says the set of indexes chosen since the last one."""


@dataclass
class Arm:
    way: str  # "send" n values, "recv" n values, or "drain" until closed
    ch: str
    n: int = 0
    base: int = 0


@dataclass
class Pump:
    """One select in a loop until every arm has done its work; an arm that has is set to nil. Whatever the order
    among the arms, each sees the same: it says each arm's digest at the end. ordered: one sender per arm."""

    arms: list
    ordered: bool = True


@dataclass
class Lock:
    mutex: str


@dataclass
class Unlock:
    mutex: str


@dataclass
class TryLock:
    mutex: str


@dataclass
class Pass:
    """Locks and unlocks: waits until a door is open."""

    mutex: str


@dataclass
class Add:
    """Adds to a counter, which is a mutex with a number of additions, their sum and the sum of their squares."""

    counter: str
    value: tuple


@dataclass
class Total:
    counter: str


@dataclass
class WgAdd:
    wg: str
    n: int


@dataclass
class WgDone:
    wg: str


@dataclass
class WgWait:
    wg: str


@dataclass
class Spawn:
    func: str
    number: int
    acc: tuple = ("const", 0)
    args: tuple = ()
    is_audible: bool = True


@dataclass
class Yield:
    pass


@dataclass
class Forever:
    """A select without a case."""


@dataclass
class Say:
    """Says the accumulator."""

    text: str


@dataclass
class Loop:
    var: str
    n: int
    body: list


@dataclass
class If:
    """Is the value even?"""

    value: tuple
    then: list
    otherwise: list


@dataclass
class Call:
    func: str
    args: tuple = ()


@dataclass
class Guard:
    """Catches a panic (an exception), says it, and then does `caught`."""

    body: list
    caught: list = field(default_factory=list)


@dataclass
class Program:
    seed: int
    chans: dict = field(default_factory=dict)
    mutexes: list = field(default_factory=list)
    counters: list = field(default_factory=list)
    wgs: list = field(default_factory=list)
    funcs: dict = field(default_factory=dict)
    joined: set = field(default_factory=set)  # goroutines whose end main waits for
    features: set = field(default_factory=set)  # the generator's own names for what it has put in


def walk(statements):
    """Every statement, also inside others."""
    for s in statements:
        yield s
        for f in fields(s):
            inner = getattr(s, f.name)
            if isinstance(inner, list):
                yield from walk(i for i in inner if i is not None)


def all_statements(program):
    for func in program.funcs.values():
        yield from walk(func.body)
