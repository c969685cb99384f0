"""compare: runs one program in both languages, and says whether they did the same.

What must be the same: how it ended (the class), and what goroutines said. The lines of one goroutine are in order; of how those of several
interleave nothing is asked. A goroutine's lines must be exactly what the model says of it if it had to come to its end
before the process did, and else the first few of them:

  ok         exact for main and for those it waited for
  deadlock   exact for all: everybody has come as far as it can
  panic      exact for the culprit

"end" is said before a goroutine tells main that it is done; what it says after that races with main's return, and is dropped.
"""

import os
import re
import signal
import subprocess
from dataclasses import dataclass

TIME_LIMIT_S = 30

# The line that says why the process died, in Go's words and in weft's.
CAUSES = [
    ("deadlock", r"all goroutines are asleep - deadlock!"),
    ("panic: send on closed channel", r"send on closed channel"),
    ("panic: close of closed channel", r"close of closed channel"),
    ("panic: close of nil channel", r"close of nil channel"),
    ("panic: negative WaitGroup counter", r"negative (WaitGroup|wait_group) counter"),
    ("panic: unlock of unlocked mutex", r"unlock of unlocked mutex"),
]
CLASSES = ("ok", *(cls for cls, _ in CAUSES))
CAUSE_LINE = re.compile(r"^(fatal error|panic|terminate called)\b.*$", re.MULTILINE)
DEATHS = {"go": {2}, "weft": {2, -signal.SIGABRT}}  # an exception that leaves a goroutine ends in std::terminate


@dataclass
class Ran:
    cls: str
    lines: dict  # goroutine's name -> lines
    out: str
    err: str


def up_to_end(lines):
    """By goroutine, without what it says after its end."""
    kept = {}
    for line in lines:
        name, *words = line.split()
        mine = kept.setdefault(name, [])
        if not mine or mine[-1].split()[1] != "end":
            mine.append(line)
    return kept


def class_of(language, code, err):
    if code == 0:
        return "ok"
    said = CAUSE_LINE.search(err)
    if said and code in DEATHS[language]:
        for cls, pattern in CAUSES:
            if re.search(pattern, said.group()):
                return cls
    return f"exit {code}: {said.group() if said else err[:200]!r}"


def run(language, program, seed, procs):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "GO"))}
    if os.environ.get("WEFT_DEBUG"):
        env["WEFT_DEBUG"] = os.environ["WEFT_DEBUG"]
    env["GOMAXPROCS" if language == "go" else "WEFT_MAXPROCS"] = str(procs)
    try:
        done = subprocess.run([program, str(seed)], capture_output=True, text=True, timeout=TIME_LIMIT_S, env=env)
    except subprocess.TimeoutExpired as late:
        out = (late.stdout or b"").decode()
        return Ran(f"no end within {TIME_LIMIT_S} s", up_to_end(out.splitlines()), out, (late.stderr or b"").decode())
    return Ran(class_of(language, done.returncode, done.stderr), up_to_end(done.stdout.splitlines()), done.stdout, done.stderr)


def exact_goroutines(program, outcome):
    if outcome.cls == "ok":
        return {"g0", *(f"g{n}" for n in program.joined)}
    if outcome.cls == "deadlock":
        return set(outcome.lines)
    return {f"g{outcome.culprit}"}


def complaints(program, outcome, ran):
    """What is not as the model says."""
    if ran.cls != outcome.cls:
        return [f"ended with '{ran.cls}' instead of '{outcome.cls}'"]
    exact = exact_goroutines(program, outcome)
    expected = up_to_end(line for lines in outcome.lines.values() for line in lines)
    found = []
    for name in sorted(expected.keys() | ran.lines.keys()):
        must, did = expected.get(name, []), ran.lines.get(name, [])
        if did != (must if name in exact else must[: len(did)]):
            at = next((i for i, (a, b) in enumerate(zip(must, did)) if a != b), min(len(must), len(did)))
            found.append(f"{name}, line {at + 1}: said {(did + ['nothing'] * (at + 1))[at]!r}, "
                         f"expected {(must + ['nothing'] * (at + 1))[at]!r}")  # fmt: skip
    return found


@dataclass
class Verdict:
    seed: int
    is_ok: bool
    text: str


def compare(program, outcome, programs, procs):
    """programs: language -> path."""
    ran = {language: run(language, path, program.seed, procs) for language, path in programs.items()}
    wrong = {language: complaints(program, outcome, r) for language, r in ran.items()}
    if not any(wrong.values()):
        return Verdict(program.seed, True, "")
    if wrong["weft"] and not wrong["go"]:
        head = "weft differs from Go"
    elif ran["weft"].cls == ran["go"].cls and ran["weft"].lines == ran["go"].lines:
        head = "weft and Go agree, and the model is wrong"
    else:
        head = "Go is not as the model says" + (", nor is weft" if wrong["weft"] else "")
    text = [f"seed {program.seed} on {procs} processors: {head}"]
    for language, found in wrong.items():
        text += [f"  {language}: {line}" for line in found]
    for language, r in ran.items():
        text += [f"---- {language} ended with '{r.cls}', and said:", r.out.rstrip(), "---- and on stderr:", r.err[:4000].rstrip()]
    return Verdict(program.seed, False, "\n".join(text))
