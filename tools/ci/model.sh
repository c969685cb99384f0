#!/usr/bin/env bash
# model: the protocols under every interleaving. tests/model/README.md says how.
#
# WEFT_MODEL_BUDGET is how many executions each scenario may have in each of the three memories. Whatever it is, the sum is said; with the
# usual one and all tests it must be what docs promise. Quickly: few executions, and no Promela.
source "$(dirname "$0")/lib.sh"
readonly usual_budget=250000
readonly quick_budget=20000
readonly promised=50000000
if is_quick; then budget=$quick_budget others='mutants|spin'; else budget=$usual_budget others=mutants; fi
export WEFT_MODEL_BUDGET=${WEFT_MODEL_BUDGET:-$budget}
export WEFT_MODEL_TALLY=$PWD/build/model/executions.txt
build model
rm -f "$WEFT_MODEL_TALLY"
run_tests model -LE "$others" "$@"
[[ -e $WEFT_MODEL_TALLY ]] || exit 0
total=$(awk '{ n += $3 } END { printf "%d", n }' "$WEFT_MODEL_TALLY")
awk '{ split($1, name, "."); n[name[1]] += $3 } END { for (p in n) printf "%12d  %s\n", n[p], p }' "$WEFT_MODEL_TALLY" | sort -k2
say "model: $total executions of the protocols, none failing"
figure executions "$total" 'executions of the protocols under the explorer, none failing'
figure spin "$(ctest --preset model -N -L spin | sed -n 's/^Total Tests: //p')" 'Promela models and variants explored to the end, each as expected'
if [[ $# -eq 0 && $WEFT_MODEL_BUDGET -ge $usual_budget && $total -lt $promised ]]; then
  say "model: fewer than the $promised that are promised"
  exit 1
fi
