#!/usr/bin/env bash
# mutants: faults planted in the protocols (tests/model/mutants), each of which the explorer must find.
source "$(dirname "$0")/lib.sh"
build model --target weft_explorer
run_tests model -L mutants "$@"
figure killed "$(ctest --preset model -N -L mutants | sed -n 's/^Total Tests: //p')" 'planted faults, all found by the explorer'
