#!/usr/bin/env bash
# extras: what only has to compile, or to run for a blink: each public header alone, with and without RTTI; the benchmarks.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -L "headers|bench" "$@"
