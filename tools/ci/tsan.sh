#!/usr/bin/env bash
# tsan: ThreadSanitizer, by clang++.
source "$(dirname "$0")/lib.sh"
build tsan
run_tests tsan -LE "$once_only" "$@"
