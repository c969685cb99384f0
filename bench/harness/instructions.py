"""instructions: what one operation costs in instructions, counted by callgrind.

A program is run twice, with n and 2 n operations on one processor; the difference is what n of them
cost, without the start and the end. Time plays no part, so one round is enough; the one thing that
depends on it is how often sysmon looks, which is left out: of each run only the thread that executed
most is counted, and that is the one the goroutines ran on.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.contestants import RUN_LIMIT_S, RunFailed, Unavailable

OPERATIONS = {"yield": 2, "spawn_join": 1}  # how many each of the n stands for


def require():
    if not shutil.which("valgrind"):
        raise Unavailable("there is no `valgrind`")


def _of_busiest_thread(program, load, n):
    with tempfile.TemporaryDirectory() as folder:
        words = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={folder}/out",
                 str(program), load, "1", str(n)]  # fmt: skip
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunFailed(str(error)) from None
        if done.returncode != 0:
            raise RunFailed(f"{load} under callgrind: exit code {done.returncode}")
        counts = [re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.M)
                  for path in Path(folder).iterdir()]  # fmt: skip
    counts = [int(found[1]) for found in counts if found]
    if not counts:
        raise RunFailed(f"{load}: callgrind counted nothing")
    return max(counts)


def count(program, n):
    """{"<load>_instructions": for one operation}"""
    result = {}
    for load, operations in OPERATIONS.items():
        more = _of_busiest_thread(program, load, 2 * n) - _of_busiest_thread(program, load, n)
        result[f"{load}_instructions"] = more / (operations * n)
    return result
