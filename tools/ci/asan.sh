#!/usr/bin/env bash
# asan: AddressSanitizer and UndefinedBehaviorSanitizer. Not what one processor shows in the other modes: lane extras has it.
# Quick: units and conformance, on one and two processors.
source "$(dirname "$0")/lib.sh"
if is_quick; then
  build asan --target weft_unit_tests weft_conformance_tests weft_fuzz_tests
  run_tests asan -L 'unit|conformance|fuzz' -E '_on_4_ps' "$@"
  exit
fi
build asan
run_tests asan -LE "$once_only|$per_compiler|migrate_extras|uring_extras" "$@"

# Locals in the sanitizer's own frames, which each switch of stacks must hand over: a suite in one process (HAZARD 60).
say 'asan: a suite with fake stacks'
log=build/asan/fake_stacks.log
if ! ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 WEFT_DEBUG=conserve=1 \
  LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0 \
  timeout 600 build/asan/tests/conformance/weft_conformance_tests --gtest_filter='*_on_2_ps' >"$log" 2>&1; then
  grep -v '^\[ *\(RUN\|OK\) ' "$log" | tail -n 60
  exit 1
fi
sed -n '/^\[  PASSED  \]/p' "$log"
figure fake_stacks "$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\.$/\1/p' "$log")" 'tests that passed with locals in fake frames'
