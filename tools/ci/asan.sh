#!/usr/bin/env bash
# asan: AddressSanitizer and UndefinedBehaviorSanitizer. Not what one processor shows in the other modes: lane extras has it.
source "$(dirname "$0")/lib.sh"
build asan
run_tests asan -LE "$once_only|$per_compiler|migrate_extras|uring_extras" "$@"
