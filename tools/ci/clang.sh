#!/usr/bin/env bash
# clang: the optimised build by clang++, warnings are errors.
source "$(dirname "$0")/lib.sh"
build clang
run_tests clang -LE "$once_only" "$@"
