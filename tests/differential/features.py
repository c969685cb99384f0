"""features: what is in a program, by name, so that one can see that the generator reaches everything it should."""

import collections

from compare import CLASSES
from ir import *  # noqa: F403
from parts import Scenes


def of_select(s, chans):
    yield "select: default" if s.default is not None else "select: waits"
    yield f"select: {['handlers', 'index', 'select_list'][s.style]}"
    used = [(c.way, c.ch) for c in s.cases]
    if len(set(used)) < len(used):
        yield "select: the same case twice"
    if any(("recv", ch) in used and ("send", ch) in used for _, ch in used):
        yield "select: sends and receives on one channel"
    if any(ch in chans and chans[ch].cap is None for _, ch in used):
        yield "select: nil case"
    if any(c.body for c in s.cases):
        yield "select: a case that does more"
    yield from {f"select: {way}" for way, _ in used}


def of_statement(s, chans):
    name = type(s).__name__
    if isinstance(s, Select):
        yield from of_select(s, chans)
    elif isinstance(s, (Try, Spin)):
        yield f"{name.lower()} {s.way}" + (f" ({['select', 'member'][s.style]})" if name == "Try" else "")
    elif isinstance(s, Pump):
        yield from {f"pump: {arm.way}" for arm in s.arms}
    elif isinstance(s, (Send, Recv)):
        yield f"{name.lower()} ({['member', 'shift'][s.style]})"
    elif isinstance(s, (Case, Arm)):
        pass
    else:
        yield name.lower()


def of(program, outcome):
    found = set(program.features)
    for c in program.chans.values():
        found.add(f"channel of {c.kind}")
        found.add("channel: nil" if c.cap is None else "channel: buffered" if c.cap else "channel: unbuffered")
    for func in program.funcs.values():
        found.update(f"one end as a parameter: {p.direction}" for p in func.params)
    for s in all_statements(program):
        found.update(of_statement(s, program.chans))
    for lines in outcome.lines.values():
        found.update(line.split(" ", 1)[1] for line in lines if " caught " in line)
        found.update("received from a closed channel" for line in lines if line.endswith(" false"))
    return found


# What must occur, besides every class: a kind of statement that is no longer drawn is no longer compared.
EXPECTED = {
    *(f"scene: {name}" for name in Scenes.ALL),
    *("bell", "dead", "gate", "door", "not joined", "started by another"),
    *("channel of int", "channel of text", "channel of void", "channel: nil", "channel: buffered", "channel: unbuffered"),
    *("one end as a parameter: recv", "one end as a parameter: send"),
    *("send (member)", "send (shift)", "recv (member)", "recv (shift)", "range", "close", "len", "spin send", "spin recv"),
    *("try send (select)", "try send (member)", "try recv (select)", "try recv (member)"),
    *("select: default", "select: waits", "select: handlers", "select: index", "select: select_list", "select: nil case"),
    *("select: the same case twice", "select: sends and receives on one channel", "select: recv", "select: send"),
    "select: a case that does more",
    *("pump: send", "pump: recv", "pump: drain", "tellseen"),
    *("lock", "unlock", "trylock", "pass", "add", "total", "wgadd", "wgdone", "wgwait"),
    *("spawn", "yield", "forever", "say", "loop", "if", "call", "guard"),
    *("caught send on closed channel", "caught close of closed channel", "caught close of nil channel", "received from a closed channel"),
}


def count(made):
    """Of pairs (program, outcome): programs by class, programs by feature, and sums."""
    classes = collections.Counter(dict.fromkeys(CLASSES, 0))
    found = collections.Counter(dict.fromkeys(EXPECTED, 0))
    total = collections.Counter()
    for program, outcome in made:
        classes[outcome.cls] += 1
        found.update(of(program, outcome))
        total["statements"] += sum(1 for s in all_statements(program) if not isinstance(s, (Case, Arm)))
        total["goroutines"] += sum(1 for name in program.funcs if name[0] == "g" and name[1:].isdigit())
        total["lines"] += sum(len(lines) for lines in outcome.lines.values())
    return classes, found, total
