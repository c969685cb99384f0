"""plan: makes a random program of which every schedule has the same outcome.

How: events are drawn one after another, and each adds operations to the bodies of those goroutines that take part in it, so the
events in the order they were drawn are a schedule in which nobody waits for ever. Then, perhaps, a fault is put in: an operation
is left out, two are exchanged, somebody waits for nothing, or does what Go answers with a panic.

Why the outcome is the same: what a goroutine sees never depends on who is quicker. Each thing that goroutines share is of one of
these kinds, and each goroutine's history is then a function of the program alone, also when it ends in waiting for ever:

  pipe     one goroutine sends (and closes), one receives: Kahn's networks
  bell     nobody sends; one closes, any number receive, and find it closed now or later
  dead     nobody receives, no buffer; one closes, any number send, and panic now or later
  gate     a wait group: added to before anybody starts, then only counted down
  door     a mutex: locked before anybody starts, unlocked once, then passed by those who unlock it at once
  counter  a mutex around sums
  own      used by one goroutine only (parts.Private)
"""

import random

import model
from faults import Faults, Unit
from ir import *  # noqa: F403
from parts import Private, Scenes


class Plan(Faults):
    def __init__(self, seed, attempt):
        self.random = random.Random(f"{seed}/{attempt}")
        self.program = Program(seed)
        self.n = self.random.randint(3, 6)  # goroutines, main among them
        self.units = [[] for _ in range(self.n)]
        self.prelude = []  # main's, before anybody starts
        self.private = [Private(self, g) for g in range(self.n)]
        self.scenes = Scenes(self)
        self.pipes = []  # [name, sender, receiver, closed]
        self.ncalls = 0
        self.fault = self.random.choices(["none", "stuck", "fatal"], [45, 30, 25])[0]

    # ---- names

    def new_chan(self, name, cap, kind=None):
        kind = kind or self.random.choices(["int", "text", "void"], [6, 3, 1])[0]
        while name in self.program.chans:
            name += "x"
        self.program.chans[name] = Chan(name, kind, cap)
        return name

    def new_mutex(self, name):
        self.program.mutexes.append(name)
        return name

    def new_counter(self, name):
        self.program.counters.append(name + "_sum")
        return name + "_sum"

    def new_wg(self, name):
        self.program.wgs.append(name + "_wg")
        return name + "_wg"

    def nil_chan(self):
        kind = self.random.choice(["int", "int", "text", "void"])
        name = f"nil_{kind}"
        if name not in self.program.chans:
            self.program.chans[name] = Chan(name, kind, None)
        return name

    def idle_chan(self, g):
        """Unbuffered, and in nobody's hands but g's: a select that both sends and receives does not meet itself."""
        name = f"idle{g}"
        if name not in self.program.chans:
            self.program.chans[name] = Chan(name, self.random.choice(["int", "text"]), 0)
        return name

    # ---- small pieces

    def add(self, g, kind, *statements):
        self.units[g].append(Unit(kind, list(statements)))

    def chance(self, p):
        return self.random.random() < p

    def some_value(self):
        return ("const", self.random.randrange(1000)) if self.chance(0.5) else ("acc", self.random.randrange(1000))

    def select_style(self):
        return self.random.choices([0, 1, 2], [1, 2, 4])[0]

    def never_case(self, g):
        """One that is never ready. g None: whoever runs it, so nil."""
        way = self.random.choice(["recv", "send"])
        ch = self.nil_chan() if g is None or self.chance(0.5) else self.idle_chan(g)
        return Case(way, ch, self.some_value())

    def one(self, g, way, ch, value, may_spin):
        """A send or receive of g, said in one of many ways."""
        plain = Send(ch, value, self.random.randrange(2)) if way == "send" else Recv(ch, self.random.randrange(2))
        how = self.random.choices(["plain", "select", "twice", "if", "spin", "call"], [8, 4, 2, 1, 2 if may_spin else 0, 2])[0]
        if how == "plain":
            return plain
        if how == "spin":
            return Spin(way, ch, value)
        if how == "if":
            return If(("acc", 0), [plain], [self.one(g, way, ch, value, False)])
        if how == "call":
            return self.call(ch, way, [Send("p0", value) if way == "send" else Recv("p0")])
        cases = [self.never_case(g) for _ in range(self.random.randint(0, 3))] + [Case(way, ch, value)]
        if how == "twice":
            cases.append(Case(way, ch, value))
        self.random.shuffle(cases)
        return Select(cases, None, "none" if how == "twice" else "which", self.select_style())

    def many(self, g, way, ch, n, may_spin=False):
        """n of them. What is sent depends on the loop or on what was received."""
        value = ("var", "i0", self.random.randrange(100)) if self.chance(0.6) else self.some_value()
        how = self.random.choice(["loop", "unrolled", "call"])
        if how == "unrolled" or n == 1:
            return [self.one(g, way, ch, self.some_value(), may_spin) for _ in range(n)]
        if how == "loop":
            return [Loop("i0", n, [self.one_without_call(g, way, ch, value)])]
        return [self.call(ch, way, [Loop("i0", n, [Send("p0", value) if way == "send" else Recv("p0")])])]

    def one_without_call(self, g, way, ch, value):
        if self.chance(0.3):
            return Select([Case(way, ch, value), self.never_case(g)], None, "which", self.select_style())
        return Send(ch, value, self.random.randrange(2)) if way == "send" else Recv(ch, self.random.randrange(2))

    def call(self, ch, way, body):
        """A function that is given one end of ch; sometimes one that calls another."""
        kind = self.program.chans[ch].kind
        self.ncalls += 1
        name = f"f{self.ncalls}"
        self.program.funcs[name] = Func(name, body, [Param("p0", kind, way)])
        if self.chance(0.3):
            self.program.funcs[name + "_outer"] = Func(name + "_outer", [Call(name, ("p0",)), Say("back")], [Param("p0", kind, way)])
            name += "_outer"
        return Call(name, (ch,))

    # ---- events

    def pair(self):
        return self.random.sample(range(self.n), 2)

    def live_pipe(self):
        live = [p for p in self.pipes if not p[3]]
        if len(live) < 2 or (len(self.pipes) < 8 and self.chance(0.2)):
            sender, receiver = self.pair()
            p = [self.new_chan(f"c{len(self.pipes)}", self.random.choice([0, 0, 0, 1, 2, 4])), sender, receiver, False]
            self.pipes.append(p)
            return p
        return self.random.choice(live)

    def message(self):
        ch, sender, receiver, _ = self.live_pipe()
        spins = self.random.choice([sender, receiver, None]) if self.fault != "stuck" else None
        n = self.random.choice([1, 1, 1, 2, 3, 5])
        self.add(sender, "net", *self.many(sender, "send", ch, n, spins == sender))
        self.add(receiver, "net", *self.many(receiver, "recv", ch, n, spins == receiver))

    def stream(self):
        """Some values, then the end."""
        p = self.live_pipe()
        ch, sender, receiver, _ = p
        p[3] = True
        n = self.random.randint(0, 5)
        if n:
            self.add(sender, "net", *self.many(sender, "send", ch, n))
        self.add(sender, "net", Close(ch))
        extra = [Add(self.some_counter(), ("acc", 0))] if self.chance(0.4) else []
        if self.chance(0.3) and n:
            self.add(receiver, "net", *self.many(receiver, "recv", ch, n))
        if self.chance(0.7):
            self.add(receiver, "net", Range(ch, extra))
        else:
            self.add(receiver, "net", Pump([Arm("drain", ch)]))

    def after_the_end(self):
        closed = [p for p in self.pipes if p[3]]
        if not closed:
            return self.stream()
        ch, sender, receiver, _ = self.random.choice(closed)
        way = self.random.choice(["recv", "send", "close"])
        if way == "recv":
            self.add(receiver, "net", self.one(receiver, "recv", ch, ("const", 0), False))
        elif way == "send":
            self.add(sender, "net", Guard([self.one(sender, "send", ch, self.some_value(), False), Say("not reached")]))
        else:
            self.add(sender, "net", Guard([Close(ch)]))
        return None

    def pump(self):
        """One goroutine serves several pipes by one select."""
        self.live_pipe()
        hosts = {g: [p for p in self.pipes if g in p[1:3] and not p[3]] for g in range(self.n)}
        g = max(hosts, key=lambda g: (len(hosts[g]), self.random.random()))
        arms = []
        for p in self.random.sample(hosts[g], min(len(hosts[g]), self.random.randint(2, 3))):
            ch, sender, receiver, _ = p
            n = self.random.randint(1, 4)
            if sender == g:
                arms.append(Arm("send", ch, n, self.random.randrange(100)))
                self.add(receiver, "net", *self.many(receiver, "recv", ch, n))
                continue
            self.add(sender, "net", *self.many(sender, "send", ch, n))
            if self.chance(0.4):
                p[3] = True
                self.add(sender, "net", Close(ch))
                arms.append(Arm("drain", ch))
            else:
                arms.append(Arm("recv", ch, n))
        self.add(g, "net", Pump(arms))

    def relay(self):
        """One function receives on one pipe and sends on another."""
        a, b, c = self.random.sample(range(self.n), 3)
        first = [self.new_chan(f"c{len(self.pipes)}", self.random.choice([0, 1])), a, b, False]
        self.pipes.append(first)
        second = [self.new_chan(f"c{len(self.pipes)}", self.random.choice([0, 2])), b, c, False]
        self.pipes.append(second)
        n = self.random.randint(1, 3)
        kinds = [self.program.chans[p[0]].kind for p in (first, second)]
        self.ncalls += 1
        name = f"relay{self.ncalls}"
        self.program.funcs[name] = Func(name, [Loop("i0", n, [Recv("in"), Send("out", ("acc", 3))])],
                                        [Param("in", kinds[0], "recv"), Param("out", kinds[1], "send")])  # fmt: skip
        self.add(a, "net", *self.many(a, "send", first[0], n))
        self.add(b, "net", Call(name, (first[0], second[0])))
        self.add(c, "net", *self.many(c, "recv", second[0], n))

    def others(self, at_least=1):
        return self.random.sample(range(self.n), self.random.randint(at_least, self.n))

    def bell(self):
        ch = self.new_chan(f"bell{len(self.program.chans)}", self.random.choice([0, 0, 2]))
        closer, *hear = self.others(2)
        self.add(closer, "net", Close(ch))
        for g in hear:
            self.add(g, "net", Range(ch, []) if self.chance(0.2) else self.one(g, "recv", ch, ("const", 0), self.fault != "stuck"))
        self.program.features.add("bell")

    def dead(self):
        ch = self.new_chan(f"dead{len(self.program.chans)}", 0)
        closer, *senders = self.others(2)
        self.add(closer, "net", Close(ch))
        for g in senders:
            self.add(g, "net", Guard([self.one(g, "send", ch, self.some_value(), self.fault != "stuck")]))
        self.program.features.add("dead")

    def gate(self):
        wg = self.new_wg(f"gate{len(self.program.wgs)}")
        done = self.others()
        self.prelude.append(WgAdd(wg, len(done)))
        for g in done:
            self.add(g, "net", WgDone(wg))
        for g in self.others():
            self.add(g, "net", WgWait(wg))
        self.program.features.add("gate")

    def door(self):
        mutex = self.new_mutex(f"door{len(self.program.mutexes)}")
        self.prelude.append(Lock(mutex))
        opener, *rest = self.others(2)
        self.add(opener, "net", Unlock(mutex))
        for g in rest:
            self.add(g, "net", Pass(mutex))
        self.program.features.add("door")

    def some_counter(self):
        if not self.program.counters or self.program.counters[0] != "shared_sum":
            self.program.counters.insert(0, "shared_sum")
        return "shared_sum"

    def count(self):
        for g in self.others():
            self.add(g, "net", Add(self.some_counter(), self.some_value()))

    def alone(self):
        g = self.random.randrange(self.n)
        self.add(g, "private", *self.private[g].statements(self.random.randint(2, 6)))

    def scene(self):
        if self.scenes.nth < 2:
            self.add(self.random.randrange(self.n), "scene", *self.scenes.any())

    def pause(self):
        self.add(self.random.randrange(self.n), "net", *[Yield()] * self.random.randint(1, 3), Say("after a pause"))

    # ---- all together

    def build(self):
        kinds = {self.message: 8, self.stream: 3, self.after_the_end: 2, self.pump: 3, self.relay: 2, self.bell: 1, self.dead: 1,
                 self.gate: 1, self.door: 1, self.count: 2, self.alone: 4, self.scene: 2, self.pause: 1}  # fmt: skip
        for event in self.random.choices(list(kinds), list(kinds.values()), k=self.random.randint(6, 11)):
            event()
        ends = self.join()
        if self.fault == "stuck":
            for _ in range(self.random.randint(1, 2)):
                self.stick()
        elif self.fault == "fatal":
            self.kill()
        starts = self.starts()
        for g in range(self.n):
            body = starts[g] + [s for u in self.units[g] for s in u.statements]
            if g == 0:
                body = self.prelude + body + ends + [Say("end")]
            self.program.funcs[f"g{g}"] = Func(f"g{g}", body)
        self.drop_unused()
        return self.program

    def join(self):
        """How main learns that the others are at their end. Returns what main does then. Each says "end" before it tells main;
        what it says after that, if it still can, counts for nothing."""
        how = self.random.choices(["wait group", "channel", "bells", "none"], [4, 2, 2, 2])[0]
        workers = range(1, self.n)
        for g in workers:
            self.add(g, "end", Say("end"))
        if how == "none":
            self.program.features.add("not joined")
            return []
        self.program.joined = set(workers)
        ends = [Total("shared_sum")] if "shared_sum" in self.program.counters else []
        if how == "wait group":
            wg = self.new_wg("join")
            self.prelude.append(WgAdd(wg, self.n - 1))
            for g in workers:
                self.add(g, "join", WgDone(wg))
            return [WgWait(wg), *ends]
        if how == "channel":
            ch = self.new_chan("join", self.random.choice([0, 1, self.n]), "void")
            for g in workers:
                self.add(g, "join", Send(ch, ("const", 0)))
            return [Loop("i0", self.n - 1, [Recv(ch)]), *ends]
        bells = {g: self.new_chan(f"join{g}", 0) for g in workers}
        for g, ch in bells.items():
            self.add(g, "join", Close(ch))
        order = list(bells.values())
        self.random.shuffle(order)
        return [*(Recv(ch) for ch in order), *ends]

    def starts(self):
        """Who starts whom: some are started by others than main."""
        starts = [[] for _ in range(self.n)]
        for g in range(1, self.n):
            parent = self.random.randrange(g) if self.chance(0.3) else 0
            starts[parent].append(Spawn(f"g{g}", g, ("const", g * 7)))
            if parent:
                self.program.features.add("started by another")
        for s in starts:
            self.random.shuffle(s)
        return starts

    def drop_unused(self):
        """What only a dropped operation used."""
        called = {s.func for f in self.program.funcs.values() for s in walk(f.body) if isinstance(s, (Call, Spawn))} | {"g0"}
        self.program.funcs = {name: f for name, f in self.program.funcs.items() if name in called}


def generate(seed):
    """The program of a seed, and how it ends. A fault may make the outcome depend on the schedule (two goroutines that panic):
    then another is drawn."""
    for attempt in range(100):
        program = Plan(seed, attempt).build()
        outcome = model.run(program)
        if outcome.cls not in ("racy", "spin"):
            return program, outcome
    raise RuntimeError(f"seed {seed}: no program found")
