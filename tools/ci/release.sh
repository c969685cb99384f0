#!/usr/bin/env bash
# release: what `make test` runs. Everything but the install tests, those under foreign signals, the scenarios of many seeds, and what the lane
# extras compiles, which have lanes of their own: the first that somebody runs should not take longer than the tests that tell him most.
source "$(dirname "$0")/lib.sh"
left_out='platform;faults;fuzz;seeds;bracket;controls'
build release
run_tests release -LE "install|signals|headers|bench|interop|compile_fail|uring_extras|migrate_extras|faults_extras|chaos_extras" "$@"
