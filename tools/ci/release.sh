#!/usr/bin/env bash
# release: what `make test` runs. Everything but the install tests and those under foreign signals, which have lanes of their own.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -LE "install|signals" "$@"
