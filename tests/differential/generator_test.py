#!/usr/bin/env python3
"""generator_test: the generator reaches every class and every feature, and what it makes has one outcome. Runs neither Go nor C++.

A comparison that is always green may be one that compares nothing; so the comparison itself is tried with outcomes that are wrong.
"""

import copy
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import compare  # noqa: E402
import emit_cpp  # noqa: E402
import emit_go  # noqa: E402
import features  # noqa: E402
import model  # noqa: E402
import plan  # noqa: E402
from ir import Close, Func, Chan, Program, Recv, Say, Send, Spawn  # noqa: E402

SEEDS = range(1, 1001)
SCHEDULES = range(1, 2)  # beside the one it was made with


def said(outcome):
    """What is compared of an outcome."""
    return outcome.cls, outcome.culprit, compare.up_to_end(line for lines in outcome.lines.values() for line in lines)


class generator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = {seed: plan.generate(seed) for seed in SEEDS}

    def test_every_class_and_every_feature_occurs(self):
        classes, found, total = features.count(self.made.values())
        for name, n in classes.items():
            self.assertIn(name, compare.CLASSES)
            self.assertGreaterEqual(n, 20, name)
        for name in features.EXPECTED:
            self.assertGreaterEqual(found[name], 5, name)
        self.assertLessEqual(found.keys(), features.EXPECTED, "a feature that nobody expects")
        self.assertGreaterEqual(total["goroutines"], 3 * len(SEEDS))
        self.assertGreaterEqual(total["statements"], 20 * len(SEEDS))

    def test_the_outcome_does_not_depend_on_the_schedule(self):
        for seed, (program, outcome) in self.made.items():
            for schedule in SCHEDULES:
                self.assertEqual(said(model.run(program, schedule)), said(outcome), f"seed {seed}, schedule {schedule}")

    def test_a_seed_always_gives_the_same_program(self):
        for seed in list(SEEDS)[:20]:
            for emit in (emit_go.emit, emit_cpp.emit):
                self.assertEqual(emit(plan.generate(seed)[0]), emit(self.made[seed][0]))

    def test_two_that_panic_are_racy(self):
        program = Program(0, {"nil": Chan("nil", "int", None)})
        program.funcs = {"g0": Func("g0", [Spawn("g1", 1), Close("nil")]), "g1": Func("g1", [Close("nil")])}
        self.assertEqual(model.run(program).cls, "racy")
        program.funcs["g0"].body.pop()
        self.assertEqual(model.run(program).cls, "racy", "main may be back before the other panics")


class comparison(unittest.TestCase):
    """main receives from g1, which it does not wait for, and g2 waits for ever."""

    def setUp(self):
        self.program = Program(0, {"c": Chan("c", "int", 0), "d": Chan("d", "int", 0)}, joined=set())
        self.program.funcs = {
            "g0": Func("g0", [Spawn("g1", 1), Spawn("g2", 2), Recv("c"), Say("end")]),
            "g1": Func("g1", [Say("begin"), Send("c", ("const", 5)), Say("end")]),
            "g2": Func("g2", [Recv("d")]),
        }
        self.outcome = model.run(self.program)
        self.lines = compare.up_to_end(line for lines in self.outcome.lines.values() for line in lines)

    def complaints(self, cls="ok", **lines):
        ran = compare.Ran(cls, {**copy.deepcopy(self.lines), **lines}, "", "")
        return compare.complaints(self.program, self.outcome, ran)

    def test_the_same_is_the_same(self):
        self.assertEqual(self.outcome.cls, "ok")
        self.assertEqual(self.complaints(), [])

    def test_another_class_differs(self):
        self.assertTrue(self.complaints("deadlock"))
        self.assertTrue(self.complaints("no end within 30 s"))

    def test_another_line_differs(self):
        first, *rest = self.lines["g0"]
        self.assertTrue(self.complaints(g0=[first.replace("true", "false"), *rest]))
        self.assertTrue(self.complaints(g1=["g1 begin 1"]))
        self.assertTrue(self.complaints(g2=["g2 d -> 0 false"]))
        self.assertTrue(self.complaints(g3=["g3 who is this"]))

    def test_main_must_come_to_its_end_and_others_need_not(self):
        self.assertTrue(self.complaints(g0=self.lines["g0"][:-1]))
        self.assertEqual(self.complaints(g1=self.lines["g1"][:-1]), [])
        self.program.joined = {1}
        self.assertTrue(self.complaints(g1=self.lines["g1"][:-1]))

    def test_of_a_deadlock_every_line_counts(self):
        self.program.funcs["g0"].body[2] = Recv("d")
        self.outcome = model.run(self.program)
        self.assertEqual(self.outcome.cls, "deadlock")
        self.assertTrue(self.complaints("deadlock", g0=[], g1=[]))
        self.assertEqual(self.complaints("deadlock", g0=[], g1=["g1 begin 0"]), [])

    def test_deaths_are_told_apart(self):
        for err, cls in {
            "panic: send on closed channel\n\ngoroutine 1 [running]:\n": "panic: send on closed channel",
            "fatal error: sync: unlock of unlocked mutex\n": "panic: unlock of unlocked mutex",
            "panic: sync: negative WaitGroup counter\n": "panic: negative WaitGroup counter",
            "fatal error: all goroutines are asleep - deadlock!\n": "deadlock",
        }.items():
            self.assertEqual(compare.class_of("go", 2, err), cls)
            self.assertNotIn(compare.class_of("go", 1, err), compare.CLASSES)
        self.assertNotIn(compare.class_of("weft", -11, "Segmentation fault"), compare.CLASSES)
        self.assertNotIn(compare.class_of("weft", 2, "fatal error: something else\n"), compare.CLASSES)


if __name__ == "__main__":
    unittest.main()
