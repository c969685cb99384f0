#!/usr/bin/env bash
# asan: AddressSanitizer and UndefinedBehaviorSanitizer.
source "$(dirname "$0")/lib.sh"
build asan
run_tests asan -LE "$once_only|$per_compiler" "$@"
