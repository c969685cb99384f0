#!/usr/bin/env python3
"""memory_test: what is brought in before a run is freed again, and is enough for it."""

import sys
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import catalogue, memory  # noqa: E402

MIB = 1 << 20


def of_this_process(key):
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


class WhatIsBroughtIn(unittest.TestCase):
    def test_was_resident_and_is_freed_again(self):
        before = of_this_process("VmRSS:")
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is counted anew
        self.assertEqual(memory.bring_in(64 * MIB), 64 * MIB)
        self.assertGreater(of_this_process("VmHWM:"), before + 60 * MIB)
        self.assertLess(of_this_process("VmRSS:"), before + 16 * MIB)

    def test_is_nothing_where_it_would_crowd_out_others(self):
        with mock.patch.object(memory, "available_bytes", return_value=64 * MIB):
            self.assertEqual(memory.bring_in(49 * MIB), 0)
            self.assertEqual(memory.bring_in(48 * MIB), 48 * MIB)

    def test_is_more_than_weft_may_take(self):
        for workload in catalogue.WORKLOADS:
            limits = [target.limit for figure in workload.figures if figure.key == "bytes_per_item"
                      for target in figure.targets_for(1)]  # fmt: skip
            if workload.memory_each:
                self.assertGreater(workload.memory_each, max(limits))
                self.assertEqual(workload.memory(quick=True), workload.memory_each * workload.quick_n)


if __name__ == "__main__":
    unittest.main()
