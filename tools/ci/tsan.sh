#!/usr/bin/env bash
# tsan: ThreadSanitizer, by clang. The suites that run goroutines in the test's own process.
source "$(dirname "$0")/lib.sh"
build tsan --target weft_unit_tests weft_conformance_tests weft_stress_tests
run_tests tsan -L 'unit|conformance|stress|race' "$@"
