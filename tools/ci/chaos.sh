#!/usr/bin/env bash
# chaos: whole suites under the chaos switches (tests/chaos), then random programs under all of them for CHAOS_SECONDS (60 unless told).
source "$(dirname "$0")/lib.sh"
build release --target weft_conformance_tests weft_stress_tests weft_soak
run_tests release -L 'chaos|chaos_extras' "$@"
say 'chaos: random programs'
WEFT_DEBUG=chaos=yield+order+delay,conserve=1 build/release/tests/soak/weft_soak --seconds "${CHAOS_SECONDS:-60}"
