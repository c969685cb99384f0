#!/usr/bin/env bash
# dev: unoptimised, with the runtime's own checks switched on.
source "$(dirname "$0")/lib.sh"
build dev
run_tests dev -LE "$once_only|$per_compiler" "$@"
