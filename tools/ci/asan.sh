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
