"""faults: what plan.py puts into a program that would end well, so that it does not, or not so.

The rules in plan.py still hold afterwards: a goroutine may then wait for ever or die, but which one does depends on the program alone.
If two may die the model says so, and the program is not used.
"""

from ir import *  # noqa: F403

FATAL = ("send on closed", "close of closed", "close of nil", "negative wait group", "unlock of unlocked")


@dataclass
class Unit:
    """Operations of one goroutine that a fault does not part. kind: who put them there."""

    kind: str
    statements: list


class Faults:
    """The part of a Plan that spoils it."""

    def insert(self, g, *statements):
        self.units[g].insert(self.random.randint(0, len(self.units[g])), Unit("fault", list(statements)))

    def stick(self):
        g = self.random.randrange(self.n)
        units = self.units[g]
        way = self.random.choice(["drop", "drop", "swap", "wait", "wait", "extra"])
        if way == "drop":
            places = [i for i, u in enumerate(units) if u.kind in ("net", "join")]
            if places:
                del units[self.random.choice(places)]
        elif way == "swap":
            places = [i for i in range(len(units) - 1) if units[i].kind == units[i + 1].kind == "net"]
            if places:
                i = self.random.choice(places)
                units[i], units[i + 1] = units[i + 1], units[i]
        elif way == "extra":
            mine = [p for p in self.pipes if g in p[1:3]]
            if mine:
                ch, sender, _, _ = self.random.choice(mine)
                self.insert(g, Send(ch, ("const", 1)) if sender == g else Recv(ch))
        else:
            self.insert(g, *self.wait_for_nothing(g))

    def wait_for_nothing(self, g):
        way = self.random.randrange(6)
        if way == 0:
            return [Forever()]
        if way == 1:
            return [Recv(self.nil_chan())]
        if way == 2:
            return [Send(self.nil_chan(), ("const", 1))]
        if way == 3:
            return [Select([self.never_case(g) for _ in range(self.random.randint(1, 4))], None, "which", self.select_style())]
        if way == 4:
            mutex = self.new_mutex(f"twice{g}")
            return [Lock(mutex), Lock(mutex)]
        wg = self.new_wg(f"never{g}")
        return [WgAdd(wg, 1), WgWait(wg)]

    def kill(self):
        g = self.random.randrange(self.n) if self.program.joined else 0
        way = self.random.choice(FATAL)
        if way == "send on closed":
            ch = self.new_chan(f"fatal{g}", self.random.choice([0, 1, 3]))
            send = self.random.choice([Send(ch, ("const", 1)), Try("send", ch, ("const", 1), self.random.randrange(2)),
                                       Select([Case("send", ch), self.never_case(g)], None, "which", self.select_style())])  # fmt: skip
            self.insert(g, Close(ch), send)
        elif way == "close of closed":
            ch = self.new_chan(f"fatal{g}", self.random.choice([0, 1]))
            self.insert(g, Close(ch), Close(ch))
        elif way == "close of nil":
            self.insert(g, Close(self.nil_chan()))
        elif way == "negative wait group":
            wg = self.new_wg(f"fatal{g}")
            self.insert(g, *([WgAdd(wg, 1), WgDone(wg), WgDone(wg)] if self.chance(0.5) else [WgAdd(wg, -self.random.randint(1, 3))]))
        else:
            mutex = self.new_mutex(f"fatal{g}")
            self.insert(g, *([Lock(mutex), Unlock(mutex)] if self.chance(0.5) else []), Unlock(mutex))
