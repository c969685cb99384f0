#!/usr/bin/env bash
# differential: random programs against Go (tests/differential): WEFT_DIFFERENTIAL_SEEDS of them (1000 unless told), from WEFT_DIFFERENTIAL_FIRST on.
# Without Go there is nothing to compare with, and the lane says so.
source "$(dirname "$0")/lib.sh"
tool=tests/differential/differential.py
if ! python3 "$tool" go-path >/dev/null; then
  echo 'differential: no Go 1.21 or newer here (tools/setup-go installs one): nothing is compared'
  exit 0
fi
# A tree of its own: `make test` keeps its fifty.
tree=build/differential
say 'differential: configure'
cmake --preset release -B "$tree" -DWEFT_BUILD_BENCH=OFF -DWEFT_BUILD_EXAMPLES=OFF \
  -DWEFT_DIFFERENTIAL_SEEDS="${WEFT_DIFFERENTIAL_SEEDS:-1000}" -DWEFT_DIFFERENTIAL_FIRST="${WEFT_DIFFERENTIAL_FIRST:-1}"
say 'differential: build'
cmake --build "$tree" --target weft_differential 2>&1 | tools/ci/tenths
say 'differential: test'
status=0
ctest --test-dir "$tree" -L differential --output-on-failure --no-tests=error "$@" || status=$?
if [[ $status -ne 0 ]]; then
  tools/ci/failures collect "$lane" "$tree"
  [[ -n ${WEFT_FAILURES_LATER:-} ]] || tools/ci/failures show "$lane"
fi
[[ $status -ne 0 ]] || figure programs "${WEFT_DIFFERENTIAL_SEEDS:-1000}" 'random programs that did as in Go, on one and on two processors'
exit $status
