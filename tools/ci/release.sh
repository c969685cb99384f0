#!/usr/bin/env bash
# release: what `make test` runs. Everything but the install tests, those under foreign signals, headers and benchmarks, which have lanes
# of their own.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -LE "install|signals|headers|bench" "$@"
