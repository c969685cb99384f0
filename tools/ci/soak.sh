#!/usr/bin/env bash
# soak: random programs for so many seconds (600 unless told), with a line every few of them; fails when a token is lost, a wake-up is, or
# memory, descriptors or threads grow. `make soak MINUTES=30`. SOAK_DEBUG=chaos=all,conserve=1 for WEFT_DEBUG.
source "$(dirname "$0")/lib.sh"
build release --target weft_soak
WEFT_DEBUG=${SOAK_DEBUG:-conserve=1} build/release/tests/soak/weft_soak --seconds "${1:-600}"
