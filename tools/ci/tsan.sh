#!/usr/bin/env bash
# tsan: ThreadSanitizer, by clang. Not the bracket's tests: they interpose the very functions that the sanitizer does.
# Quick: units and conformance, on one and two processors.
source "$(dirname "$0")/lib.sh"
if is_quick; then
  build tsan --target weft_unit_tests weft_conformance_tests
  run_tests tsan -L 'unit|conformance' -E '_on_4_ps' "$@"
  exit
fi
build tsan --target weft_unit_tests weft_conformance_tests weft_stress_tests weft_death_tests weft_platform_tests weft_explore_tests weft_seeds_tests
run_tests tsan -L 'unit|conformance|stress|race|death|platform|explore|seeds|migrate' "$@"
