#!/usr/bin/env bash
# signals: whole suites under 1,000 foreign SIGURG, SIGCHLD and SIGWINCH a second each.
source "$(dirname "$0")/lib.sh"
build release
run_tests release -L signals "$@"
