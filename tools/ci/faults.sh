#!/usr/bin/env bash
# faults: every fault case: each system call fails, once and for ever, with each number it may give; in release, and with AddressSanitizer.
source "$(dirname "$0")/lib.sh"
status=0
for preset in release asan; do
  build $preset --target weft_fault_tests
  run_tests $preset -L faults "$@" || status=1
done
exit $status
