#!/usr/bin/env bash
# model: the protocols under every interleaving. Says so when there is no model yet.
source "$(dirname "$0")/lib.sh"
if ! compgen -G 'tests/model/*_test.cpp' >/dev/null && ! compgen -G 'tests/model/*.pml' >/dev/null; then
  say 'model: tests/model holds no model yet, nothing to run'
  exit 0
fi
build model
run_tests model "$@"
