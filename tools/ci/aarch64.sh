#!/usr/bin/env bash
# aarch64: cross build for 64-bit ARM; the core suites run under qemu's user emulation, which is too slow for the others.
source "$(dirname "$0")/lib.sh"
build aarch64 --target weft_unit_tests weft_conformance_tests weft_death_tests weft_platform_tests
run_tests aarch64 -L 'unit|conformance|death|platform' "$@"
