#!/usr/bin/env bash
# release: what `make test` runs. Everything but the install tests, which have a lane of their own.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -LE install "$@"
