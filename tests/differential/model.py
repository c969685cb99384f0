"""model: runs a program by Go's rules under one random schedule, and says how it ends.

It is the third opinion beside Go and weft: it gives the class of a program without running anything (--stats), and running it
under several schedules shows whether the outcome depends on the schedule, which would be the generator's fault.

Each goroutine is a Python generator that yields what it waits for and is sent the answer. At each step one of those
whose wait can end is drawn. Nothing here keeps waiters in order: no program may depend on it.
"""

import random
from collections import deque

import ir
from ir import mix

MAX_STEPS = 200_000


class Panic(Exception):
    """One that Guard catches."""


class Fatal(Exception):
    """One that ends the process in weft, whatever Go does."""


class Channel:
    def __init__(self, cap):
        self.cap = cap
        self.buffer = deque()
        self.is_closed = False


class Counter:
    def __init__(self):
        self.n = self.sum = self.squares = 0


class Goroutine:
    def __init__(self, number, acc, is_audible):
        self.number, self.acc, self.is_audible = number, acc, is_audible
        self.seen = set()
        self.code = None
        self.wait = None  # what it waits for: see `Model.attempt`

    def __repr__(self):
        return f"g{self.number}"


class Outcome:
    """How a program ends: "ok", "deadlock", "panic: ..."; or "racy": that depends on the schedule (two panic, or one panics
    and main may be back before); or "spin": somebody spins for ever. culprit: who panicked.
    lines: of each goroutine all that it can ever say, also after the process would have ended."""

    def __init__(self, cls, lines, culprit=None):
        self.cls, self.culprit = cls, culprit
        self.lines = {}
        for line in lines:
            self.lines.setdefault(line.split()[0], []).append(line)


class Model:
    def __init__(self, program, schedule):
        self.program = program
        self.random = random.Random(schedule)
        self.chans = {c.name: Channel(c.cap) for c in program.chans.values()}
        self.locked = dict.fromkeys(program.mutexes, False)
        self.counters = {c: Counter() for c in program.counters}
        self.wgs = dict.fromkeys(program.wgs, 0)
        self.lines = []
        self.goroutines = []

    # ---- the scheduler

    def run(self):
        """Goes on until nobody can: past the end of main, and past a panic, whose goroutine stops. Every goroutine's history is
        the same in all schedules (README.md says why), so whoever panics here may panic in any other schedule, and first."""
        main = self.spawn("g0", 0, 0, {}, True)
        panics = []
        for _ in range(MAX_STEPS):
            ready = [g for g in self.goroutines if self.is_ready(g)]
            if not ready:
                return self.outcome(main, panics)
            g = self.random.choice(ready)
            try:
                self.step(g)
            except StopIteration:
                self.goroutines.remove(g)
            except (Panic, Fatal) as panic:
                self.goroutines.remove(g)
                panics.append((g, str(panic)))
        raise RuntimeError(f"seed {self.program.seed}: no end after {MAX_STEPS} steps")

    def outcome(self, main, panics):
        is_main_back = main not in self.goroutines and not any(g is main for g, _ in panics)
        if any(g.wait[0] == "spin" for g in self.goroutines):
            return Outcome("spin", self.lines)
        if len(panics) > 1 or (panics and is_main_back):
            return Outcome("racy", self.lines)
        if panics:
            culprit, text = panics[0]
            return Outcome(f"panic: {text}", self.lines, culprit.number)
        return Outcome("ok" if is_main_back else "deadlock", self.lines)

    def spawn(self, func, number, acc, names, is_audible):
        g = Goroutine(number, acc, is_audible)
        g.code = self.execute(g, self.program.funcs[func].body, names)
        g.wait = ("step",)
        self.goroutines.append(g)
        return g

    def step(self, g):
        try:
            answer = self.attempt(g)
        except Panic as panic:
            g.wait = g.code.throw(panic)
        else:
            g.wait = g.code.send(answer)

    def is_ready(self, g):
        kind = g.wait[0]
        if kind == "lock":
            return not self.locked[g.wait[1]]
        if kind == "wait":
            return self.wgs[g.wait[1]] == 0
        if kind in ("select", "spin"):
            return bool(self.ready_cases(g))
        return kind != "never"

    def attempt(self, g):
        kind = g.wait[0]
        if kind == "given":  # its partner has done it
            return g.wait[1]
        if kind == "lock":
            self.locked[g.wait[1]] = True
        elif kind in ("select", "spin", "try"):
            cases = self.ready_cases(g)
            return self.perform(g, self.random.choice(cases)) if cases else (None, 0, False)
        return None

    # ---- channels. A case is (way, channel's name, value).

    def partner(self, g, way, ch):
        """(goroutine, index) of one parked at an unbuffered channel to do the opposite."""
        found = [
            (other, i)
            for other in self.goroutines
            if other is not g and other.wait[0] == "select"
            for i, (its_way, its_ch, _) in enumerate(other.wait[1])
            if its_way != way and its_ch == ch
        ]
        return self.random.choice(found) if found else None

    def ready_cases(self, g):
        return [i for i, (way, ch, _) in enumerate(g.wait[1]) if self.is_case_ready(g, way, ch)]

    def is_case_ready(self, g, way, ch):
        c = self.chans[ch]
        if c.cap is None:
            return False
        if c.is_closed or (c.buffer if way == "recv" else len(c.buffer) < c.cap):
            return True
        return c.cap == 0 and self.partner(g, way, ch) is not None

    def perform(self, g, index):
        """Returns (index, value, ok)."""
        way, ch, value = g.wait[1][index]
        c = self.chans[ch]
        if way == "send":
            if c.is_closed:
                raise Panic("send on closed channel")
            if c.cap > 0:
                c.buffer.append(value)
            else:
                other, i = self.partner(g, way, ch)
                other.wait = ("given", (i, value, True))
            return index, 0, True
        if c.buffer:
            return index, c.buffer.popleft(), True
        if c.is_closed:
            return index, 0, False
        other, i = self.partner(g, way, ch)
        value = other.wait[1][i][2]
        other.wait = ("given", (i, 0, True))
        return index, value, True

    # ---- statements

    def execute(self, g, body, names):
        """names: what the function's parameters and loop variables stand for."""
        for s in body:
            yield from getattr(self, "do_" + type(s).__name__.lower())(g, s, names)

    def evaluate(self, g, value, names):
        if value[0] == "const":
            return value[1]
        if value[0] == "acc":
            return (g.acc + value[1]) % 1000
        return names[value[1]] + value[2]

    def sends(self, names, ch, value):
        """A signal carries nothing."""
        real = names.get(ch, ch)
        return real, 0 if self.program.chans[real].kind == "void" else value

    def case_of(self, g, s, names):
        real, value = self.sends(names, s.ch, self.evaluate(g, s.value, names))
        return s.way, real, value

    def say(self, g, text):
        if g.is_audible:
            self.lines.append(f"g{g.number} {text}")

    def got(self, g, ch, value, ok):
        if ok:
            g.acc = mix(g.acc, value)
        self.say(g, f"{ch} -> {value} {'true' if ok else 'false'}")

    def do_send(self, g, s, names):
        yield "select", [self.case_of(g, ir.Case("send", s.ch, s.value), names)]
        self.say(g, f"{s.ch} <-")

    def do_recv(self, g, s, names):
        _, value, ok = yield "select", [("recv", names.get(s.ch, s.ch), 0)]
        self.got(g, s.ch, value, ok)

    def do_range(self, g, s, names):
        while True:
            _, value, ok = yield "select", [("recv", names.get(s.ch, s.ch), 0)]
            if not ok:
                break
            self.got(g, s.ch, value, ok)
            yield from self.execute(g, s.body, names)
        self.say(g, f"{s.ch} ended")

    def do_close(self, g, s, names):
        yield ("step",)
        c = self.chans[names.get(s.ch, s.ch)]
        if c.cap is None:
            raise Panic("close of nil channel")
        if c.is_closed:
            raise Panic("close of closed channel")
        c.is_closed = True
        self.say(g, f"{s.ch} closed")

    def do_len(self, g, s, names):
        yield ("step",)
        c = self.chans[names.get(s.ch, s.ch)]
        self.say(g, f"{s.ch} has {len(c.buffer)} of {c.cap or 0}")

    def do_try(self, g, s, names):
        index, value, ok = yield "try", [self.case_of(g, s, names)]
        if s.silent:
            return
        if index is None:
            self.say(g, f"{s.ch} not now")
        elif s.way == "send":
            self.say(g, f"{s.ch} <-")
        else:
            self.got(g, s.ch, value, ok)

    def do_spin(self, g, s, names):
        _, value, ok = yield "spin", [self.case_of(g, s, names)]
        if s.way == "send":
            self.say(g, f"{s.ch} <-")
        else:
            self.got(g, s.ch, value, ok)

    def do_select(self, g, s, names):
        cases = [self.case_of(g, c, names) for c in s.cases]
        index, value, ok = yield ("select" if s.default is None else "try"), cases
        if index is None:
            self.say(g, "default")
            yield from self.execute(g, s.default, names)
            return
        if s.mark == "seen":
            g.seen.add(index)
            return
        if s.mark == "which":
            self.say(g, f"case {index}")
        chosen = s.cases[index]
        if chosen.way == "send":
            self.say(g, f"{chosen.ch} <-")
        else:
            self.got(g, chosen.ch, value, ok)
        yield from self.execute(g, chosen.body, names)

    def do_tellseen(self, g, s, names):
        yield ("step",)
        self.say(g, "seen" + "".join(f" {i}" for i in sorted(g.seen)))
        g.seen = set()

    def do_pump(self, g, s, names):
        done = [0] * len(s.arms)
        digests = [[0, 0, 0] for _ in s.arms]
        live = set(range(len(s.arms)))
        while live:
            order = sorted(live)
            cases = [self.sends(names, s.arms[i].ch, s.arms[i].base + done[i]) for i in order]
            ways = ["send" if s.arms[i].way == "send" else "recv" for i in order]
            index, value, ok = yield "select", [(w, c, v) for w, (c, v) in zip(ways, cases)]
            i = order[index]
            done[i] += 1
            if s.arms[i].way != "send" and ok:
                n, total, mixed = digests[i]
                digests[i] = [n + 1, total + value, mix(mixed, value)]
            if not ok if s.arms[i].way == "drain" else done[i] == s.arms[i].n:
                live.remove(i)
        for arm, (n, total, mixed) in zip(s.arms, digests):
            self.say(g, f"{arm.ch} pumped {n} {total}" + (f" {mixed}" if s.ordered else ""))

    def do_lock(self, g, s, names):
        yield "lock", s.mutex
        self.say(g, f"{s.mutex} locked")

    def do_unlock(self, g, s, names):
        yield ("step",)
        self.release(s.mutex)
        self.say(g, f"{s.mutex} unlocked")

    def release(self, mutex):
        if not self.locked[mutex]:
            raise Fatal("unlock of unlocked mutex")
        self.locked[mutex] = False

    def do_trylock(self, g, s, names):
        yield ("step",)
        if self.locked[s.mutex]:
            self.say(g, f"{s.mutex} not now")
        else:
            self.locked[s.mutex] = True
            self.say(g, f"{s.mutex} locked")

    def do_pass(self, g, s, names):
        yield "lock", s.mutex
        yield ("step",)
        self.release(s.mutex)
        self.say(g, f"{s.mutex} passed")

    def do_add(self, g, s, names):
        yield ("step",)
        value = self.evaluate(g, s.value, names)
        c = self.counters[s.counter]
        c.n, c.sum, c.squares = c.n + 1, c.sum + value, c.squares + value * value

    def do_total(self, g, s, names):
        yield ("step",)
        c = self.counters[s.counter]
        self.say(g, f"{s.counter} = {c.n} {c.sum} {c.squares}")

    def change(self, wg, n):
        self.wgs[wg] += n
        if self.wgs[wg] < 0:
            raise Fatal("negative WaitGroup counter")

    def do_wgadd(self, g, s, names):
        yield ("step",)
        self.change(s.wg, s.n)
        self.say(g, f"{s.wg} added {s.n}")

    def do_wgdone(self, g, s, names):
        yield ("step",)
        self.say(g, f"{s.wg} done")
        self.change(s.wg, -1)

    def do_wgwait(self, g, s, names):
        yield "wait", s.wg
        self.say(g, f"{s.wg} waited")

    def do_spawn(self, g, s, names):
        yield ("step",)
        params = self.program.funcs[s.func].params
        args = {p.name: names.get(a, a) for p, a in zip(params, s.args)}
        self.spawn(s.func, s.number, self.evaluate(g, s.acc, names), args, s.is_audible)

    def do_yield(self, g, s, names):
        yield ("step",)

    def do_forever(self, g, s, names):
        yield ("never",)

    def do_say(self, g, s, names):
        yield ("step",)
        self.say(g, f"{s.text} {g.acc}")

    def do_loop(self, g, s, names):
        for i in range(s.n):
            yield from self.execute(g, s.body, {**names, s.var: i})

    def do_if(self, g, s, names):
        is_even = self.evaluate(g, s.value, names) % 2 == 0
        yield from self.execute(g, s.then if is_even else s.otherwise, names)

    def do_call(self, g, s, names):
        func = self.program.funcs[s.func]
        args = {p.name: names.get(a, a) for p, a in zip(func.params, s.args)}
        yield from self.execute(g, func.body, args)

    def do_guard(self, g, s, names):
        try:
            yield from self.execute(g, s.body, names)
        except Panic as panic:
            self.say(g, f"caught {panic}")
        else:
            return
        yield from self.execute(g, s.caught, names)


def run(program, schedule=0):
    return Model(program, schedule).run()
