#!/usr/bin/env bash
# release: what `make test` runs. Everything but the install tests, those under foreign signals, and what the lane extras compiles, which have lanes
# of their own.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -LE "install|signals|headers|bench|interop|compile_fail|uring_extras|migrate_extras|faults_extras|chaos_extras" "$@"
