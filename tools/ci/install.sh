#!/usr/bin/env bash
# install: outside projects against a moved install tree, static and shared.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -L install "$@"
