#!/usr/bin/env bash
# demo: builds the release library and the showcase, and runs it.
source "$(dirname "$0")/lib.sh"
if [[ ! -f examples/showcase.cpp ]]; then
  echo 'demo: examples/showcase.cpp is missing: there is nothing to show' >&2
  exit 1
fi
build release --target example_showcase
say 'showcase'
build/release/examples/showcase
