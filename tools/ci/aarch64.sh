#!/usr/bin/env bash
# aarch64: cross build for 64-bit ARM; the core tests run under qemu's user emulation, which is too slow for stress.
source "$(dirname "$0")/lib.sh"
build aarch64
run_tests aarch64 -LE "$once_only|bench|stress|example" "$@"
