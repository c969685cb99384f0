#!/usr/bin/env bash
# tidy: clang-tidy with the checks of .clang-tidy over the runtime's sources.
source "$(dirname "$0")/lib.sh"
configure clang
say 'tidy: src'
find src -name '*.cpp' ! -name '*_test.cpp' ! -name '*_bench.cpp' ! -path '*/aarch64/*' -print0 | sort -z |
  xargs -0 -n 1 -P "$jobs" clang-tidy-19 -p build/clang --quiet
