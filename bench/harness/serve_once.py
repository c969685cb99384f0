#!/usr/bin/env python3
"""serve_once: one server under load once, with the figures as a line of JSON.

    bench/harness/serve_once.py [--service echo|http] [--connections N] [--seconds S] PROGRAM ARGUMENT...

For trying a server by hand, and for the tests. Exit code: 0, or 1 when anything was wrong.
"""

import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import contestants, servers  # noqa: E402


def main():
    p = argparse.ArgumentParser(prog="serve_once.py", description="Puts load on one server.")
    p.add_argument("--service", choices=["echo", "http"], default="echo")
    p.add_argument("--connections", type=int, default=100)
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("--client", metavar="PATH", help="this echo_load or wrk, instead of building or finding one")
    p.add_argument("server", nargs=argparse.REMAINDER, metavar="PROGRAM ARGUMENT...", help="the server")
    opts = p.parse_args()
    if not opts.server:
        p.error("which server?")
    try:
        result = servers.measure(opts.server, opts.service, opts.connections, opts.seconds, opts.client)
    except (contestants.RunFailed, contestants.Unavailable) as why:
        print(f"serve_once: {why}", file=sys.stderr)
        return 1
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
