"""parts: what plan.py builds programs of that needs no more than one goroutine of the plan: a goroutine's own objects, and scenes.

`Private` writes operations on objects that only one goroutine uses. Their state is known at every point, so anything may be
done with them, also what does not wait: try, len, select with a default, double close.

A scene is a small crowd of goroutines that one starts and waits for. Within, the order is anybody's; what is said at the end is a digest that
does not depend on it.
"""

from ir import *  # noqa: F403


class Private:
    """The own objects of goroutine `number`."""

    def __init__(self, plan, number):
        self.plan, self.random, self.number = plan, plan.random, number
        self.chans = []  # [name, values inside, closed]
        self.mutex = None
        self.is_locked = False
        self.wg = None
        self.count = 0

    def statements(self, n):
        return [s for _ in range(n) for s in self.random.choices(
            [self.on_chan, self.on_select, self.on_mutex, self.on_wg], [5, 4, 2, 1])[0]()]  # fmt: skip

    def some_chan(self):
        if len(self.chans) < 2 or (self.random.random() < 0.1 and len(self.chans) < 4):
            name = self.plan.new_chan(f"own{self.number}", cap=self.random.choice([0, 1, 1, 2, 3]))
            self.chans.append([name, 0, False])
        return self.random.choice(self.chans)

    def cap(self, c):
        return self.plan.program.chans[c[0]].cap

    def on_chan(self):
        if self.random.random() < 0.06:
            return [Guard([Close(self.plan.nil_chan())])]
        c = self.some_chan()
        name, n, is_closed = c
        ways = ["len", "try recv", "try send" if not is_closed else "guarded send", "close"]
        if not is_closed and n < self.cap(c):
            ways += ["send", "send"]
        if n or is_closed:
            ways += ["recv", "recv"]
        if is_closed and n:
            ways += ["range"]
        way = self.random.choice(ways)
        style = self.random.randrange(2)
        if way == "len":
            return [Len(name)]
        if way == "try recv":
            c[1] = max(n - 1, 0)
            return [Try("recv", name, style=style)]
        if way == "try send":
            c[1] = min(n + 1, self.cap(c))
            return [Try("send", name, self.plan.some_value(), style)]
        if way == "guarded send":
            return [Guard([self.random.choice([Send(name, ("const", 1), style), Try("send", name, ("const", 2), style)])])]
        if way == "close":
            c[2] = True
            return [Guard([Close(name)]) if is_closed else Close(name)]
        if way == "send":
            c[1] += 1
            return [Send(name, self.plan.some_value(), style)]
        c[1] = max(n - 1, 0) if way == "recv" else 0
        return [Recv(name, style)] if way == "recv" else [Range(name, [])]

    def on_select(self):
        """At most one of the cases is ready, so it is known which will be chosen."""
        cases = [self.plan.never_case(self.number) for _ in range(self.random.randrange(3))]
        chosen = None
        for _ in range(self.random.randint(1, 3)):
            c = self.some_chan()
            way = self.random.choice(["send", "recv"])
            is_ready = c[2] or (c[1] > 0 if way == "recv" else c[1] < self.cap(c))
            if is_ready and chosen:
                continue
            cases.append(Case(way, c[0], self.plan.some_value()))
            if is_ready:
                chosen = (way, c, cases[-1])
        self.random.shuffle(cases)
        default = [] if not chosen or self.random.random() < 0.5 else None
        select = Select(cases, default, "which", self.plan.select_style())
        if not chosen:
            return [select]
        way, c, case = chosen
        if way == "send" and c[2]:
            return [Guard([select])]
        c[1] = c[1] + 1 if way == "send" else max(c[1] - 1, 0)
        if self.random.random() < 0.3:
            case.body = [Yield(), *self.on_chan()]
        return [select]

    def on_mutex(self):
        if not self.mutex:
            self.mutex = self.plan.new_mutex(f"lock{self.number}")
        if self.random.random() < 0.4:
            self.is_locked, was = True, self.is_locked
            return [TryLock(self.mutex)] + ([] if was else [TryLock(self.mutex)])
        self.is_locked = not self.is_locked
        return [Lock(self.mutex) if self.is_locked else Unlock(self.mutex)]

    def on_wg(self):
        if not self.wg:
            self.wg = self.plan.new_wg(f"own_wg{self.number}")
        if self.count == 0:
            self.count = self.random.randint(0, 2)
            return [WgWait(self.wg), WgAdd(self.wg, self.count)]
        self.count -= 1
        return [WgDone(self.wg)] if self.random.random() < 0.7 else [WgAdd(self.wg, -1)]


class Scenes:
    """Each method returns the statements of the goroutine that holds the scene."""

    ALL = ("bag", "bell_rings", "doomed_crowd", "quit", "pipeline", "counting", "choice", "fan_in", "semaphore")

    def __init__(self, plan):
        self.plan, self.random = plan, plan.random
        self.nth = 0

    def any(self):
        name = self.random.choice(self.ALL)
        self.nth += 1
        self.plan.program.features.add("scene: " + name)
        return getattr(self, name)(f"s{self.nth}")

    def func(self, name, body, params=()):
        self.plan.program.funcs[name] = Func(name, body, list(params))
        return name

    def crowd(self, func, n, args=()):
        return Loop("i0", n, [Spawn(func, 90, ("var", "i0", 1), args, is_audible=False)])

    def bag(self, s):
        """Several producers, several consumers, one channel, closed when all producers are done."""
        plan, r = self.plan, self.random
        ch = plan.new_chan(s, cap=r.choice([0, 1, 2, 5]), kind=r.choice(["int", "int", "text"]))
        counter, made, used = plan.new_counter(s), plan.new_wg(s + "_made"), plan.new_wg(s + "_used")
        np, nc, each = r.randint(1, 4), r.randint(1, 4), r.randint(1, 6)
        producer = self.func(s + "_produce", [Loop("i0", each, [Send(ch, ("var", "i0", 1)), Add(counter, ("acc", 0))]), WgDone(made)])
        consumer = self.func(s + "_consume", [Range(ch, [Add(counter, ("const", 3))]), WgDone(used)])
        closer = self.func(s + "_close", [WgWait(made), Close(ch)])
        return [WgAdd(made, np), WgAdd(used, nc), self.crowd(producer, np), self.crowd(consumer, nc),
                Spawn(closer, 90, is_audible=False), WgWait(used), Total(counter)]  # fmt: skip

    def bell_rings(self, s):
        """A close wakes everybody who waits to receive."""
        plan, r = self.plan, self.random
        ch, counter, wg = plan.new_chan(s, cap=r.choice([0, 2])), plan.new_counter(s), plan.new_wg(s)
        n = r.randint(2, 6)
        hear = [Select([Case("recv", ch), plan.never_case(None)], None, "none", 0), Recv(ch), Range(ch, [])][r.randrange(3)]
        func = self.func(s + "_hear", [hear, Add(counter, ("acc", 1)), WgDone(wg)])
        return [WgAdd(wg, n), self.crowd(func, n), *[Yield()] * r.randrange(4), Close(ch), WgWait(wg), Total(counter)]

    def doomed_crowd(self, s):
        """A close meets everybody who waits to send, or comes to send later."""
        plan, r = self.plan, self.random
        ch, counter, wg = plan.new_chan(s, cap=0), plan.new_counter(s), plan.new_wg(s)
        n = r.randint(2, 6)
        send = r.choice([Send(ch, ("acc", 0)), Select([Case("send", ch, ("acc", 0)), plan.never_case(None)], None, "none", 0)])
        func = self.func(s + "_send", [Guard([send], [Add(counter, ("acc", 1))]), WgDone(wg)])
        return [WgAdd(wg, n), self.crowd(func, n), *[Yield()] * r.randrange(4), Close(ch), WgWait(wg), Total(counter)]

    def quit(self, s):
        """Values over an unbuffered channel until another is closed: every value is in hand by then."""
        plan, r = self.plan, self.random
        ch, quit_, counter = plan.new_chan(s, cap=0), plan.new_chan(s + "_quit", cap=0), plan.new_counter(s)
        wg = plan.new_wg(s)
        n = r.randint(1, 8)
        take = [Select([Case("recv", ch, body=[Add(counter, ("acc", 0))]), plan.never_case(None)], None, "none", 0)]
        func = self.func(s + "_take", [Loop("i0", n, take), Recv(quit_), Add(counter, ("acc", 5)), WgDone(wg)])
        return [WgAdd(wg, 1), Spawn(func, 90, is_audible=False), Loop("i0", n, [Send(ch, ("var", "i0", 7))]),
                Close(quit_), WgWait(wg), Total(counter)]  # fmt: skip

    def pipeline(self, s):
        """Stages that pass on what they make of what they get."""
        plan, r = self.plan, self.random
        kind, n, nstages = r.choice(["int", "text"]), r.randint(2, 8), r.randint(1, 4)
        chans = [plan.new_chan(f"{s}_{i}", cap=r.choice([0, 0, 1, 3]), kind=kind) for i in range(nstages + 1)]
        stage = self.func(s + "_stage", [Range("from", [Send("to", ("acc", 1))]), Close("to")],
                          [Param("from", kind, "recv"), Param("to", kind, "send")])  # fmt: skip
        source = self.func(s + "_source", [Loop("i0", n, [Send("to", ("var", "i0", 11))]), Close("to")], [Param("to", kind, "send")])
        starts = [Spawn(stage, 90, ("const", i), (a, b), False) for i, (a, b) in enumerate(zip(chans, chans[1:]))]
        starts.append(Spawn(source, 90, ("const", 0), (chans[0],), False))
        r.shuffle(starts)
        return [*starts, Range(chans[-1], []), Say("out of the pipeline")]

    def counting(self, s):
        """A mutex that many want."""
        plan, r = self.plan, self.random
        counter, wg = plan.new_counter(s), plan.new_wg(s)
        n, each = r.randint(2, 6), r.randint(5, 40)
        body = [Add(counter, ("var", "i0", 1))] + ([Yield()] if r.random() < 0.5 else [])
        func = self.func(s + "_count", [Loop("i0", each, body), WgDone(wg)])
        return [WgAdd(wg, n), self.crowd(func, n), WgWait(wg), Total(counter)]

    def choice(self, s):
        """Of cases that are all ready each is chosen sooner or later."""
        plan, r = self.plan, self.random
        cases, before = [], []
        for i in range(r.randint(2, 4)):
            way = r.choice(["recv", "send", "closed", "again"])
            if way == "again" and cases:
                cases.append(Case(cases[-1].way, cases[-1].ch, cases[-1].value))
                continue
            ch = plan.new_chan(f"{s}_{i}", cap=1)
            if way == "closed":
                before.append((Close(ch), None))
                cases.append(Case("recv", ch))
                continue
            way = "recv" if way == "again" else way
            refill = Try("send" if way == "recv" else "recv", ch, ("const", i), style=1, silent=True)
            before.append((None, refill))
            cases.append(Case(way, ch, ("const", i)))
        once = [a for a, _ in before if a]
        each = [b for _, b in before if b]
        default = [] if r.random() < 0.3 else None
        return [*once, Loop("i0", 100, [*each, Select(cases, default, "seen", plan.select_style())]), TellSeen()]

    def fan_in(self, s):
        """One select drains channels that several fill, until all are closed."""
        plan, r = self.plan, self.random
        arms, starts, before = [], [], []
        for i in range(r.randint(2, 3)):
            ch, wg = plan.new_chan(f"{s}_{i}", cap=r.choice([0, 1, 4]), kind=r.choice(["int", "text", "void"])), plan.new_wg(f"{s}_{i}")
            n, each = r.randint(1, 3), r.randint(1, 5)
            fill = self.func(f"{s}_fill{i}", [Loop("i0", each, [Send(ch, ("acc", 2))]), WgDone(wg)])
            closer = self.func(f"{s}_close{i}", [WgWait(wg), Close(ch)])
            before.append(WgAdd(wg, n))
            starts += [self.crowd(fill, n), Spawn(closer, 90, is_audible=False)]
            arms.append(Arm("drain", ch))
        r.shuffle(starts)
        return [*before, *starts, Pump(arms, ordered=False)]

    def semaphore(self, s):
        """A buffered channel lets few in at a time."""
        plan, r = self.plan, self.random
        ch, counter, wg = plan.new_chan(s, cap=r.randint(1, 3), kind="void"), plan.new_counter(s), plan.new_wg(s)
        n = r.randint(2, 6)
        func = self.func(s + "_enter", [Send(ch, ("const", 0)), Add(counter, ("acc", 4)), Yield(), Recv(ch), WgDone(wg)])
        return [WgAdd(wg, n), self.crowd(func, n), WgWait(wg), Len(ch), Total(counter)]
