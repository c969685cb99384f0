#!/usr/bin/env bash
# extras: what is slow to compile and quick to run: each public header alone, with and without RTTI; what must
# not compile; the benchmarks; forced migration and the network on io_uring with one processor; HTTP on Boost.Beast, and
# programs that others wrote against it; users built in every way, system calls that fail, what fuzzers have found; what is
# called inside the runtime (tests/bracket); handlers that are wrong on purpose (tests/controls).
source "$(dirname "$0")/lib.sh"
build release
run_tests release -L "headers|bench|interop|compile_fail|uring_extras|migrate_extras|platform|faults|fuzz|bracket|controls" -LE faults_extras "$@"
