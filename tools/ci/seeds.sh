#!/usr/bin/env bash
# seeds: the scenarios of tests/seeds, each with WEFT_SEEDS seeds by each of two strategies (100 unless told). Which seed is the first is said by
# the commit: another one gets others, the same one the same again. WEFT_SEEDS_FIRST overrides it.
source "$(dirname "$0")/lib.sh"
readonly usual=100
readonly promised=2000
export WEFT_SEEDS=${WEFT_SEEDS:-$usual}
export WEFT_SEEDS_FIRST=${WEFT_SEEDS_FIRST:-$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)))}
export WEFT_SEEDS_TALLY=$PWD/build/release/seeds.txt
build release --target weft_seeds_tests
rm -f "$WEFT_SEEDS_TALLY"
say "seeds: $WEFT_SEEDS of each scenario and strategy, from $WEFT_SEEDS_FIRST on"
run_tests release -L '^seeds$' "$@"
[[ -e $WEFT_SEEDS_TALLY ]] || exit 0
total=$(awk '{ n += $2 } END { printf "%d", n }' "$WEFT_SEEDS_TALLY")
say "seeds: $total seeds of whole-runtime scenarios, none failing"
figure seeds "$total" 'seeds of whole-runtime scenarios, none failing'
if [[ $# -eq 0 && -z ${WEFT_SEED:-} && $WEFT_SEEDS -ge $usual && $total -lt $promised ]]; then
  say "seeds: fewer than the $promised that are promised"
  exit 1
fi
