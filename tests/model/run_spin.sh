#!/usr/bin/env bash
# run_spin.sh <work folder> <model> HOLDS|FAILS|LIVE [-Ddefine...]: explores a Promela model to the end.
#
# HOLDS: no assertion fails and no process is stuck. LIVE: besides, the model's ltl formula holds under weak fairness.
# FAILS: an error must be found.
set -euo pipefail
work=$1 model=$2 verdict=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
cd "$work"

if [[ $verdict == LIVE ]]; then compile=(-DNFAIR=4); run=(-a -f); else compile=(-DSAFETY); run=(); fi
spin "$@" -a "$model"
${CC:-cc} -O1 -w -DCOLLAPSE -DVECTORSZ=4096 "${compile[@]}" -o pan pan.c
./pan "${run[@]}" -m1000000 | tee pan.log
if grep -q 'max search depth too small\|out of memory' pan.log; then
  echo 'the search was cut short' >&2
  exit 1
fi
if grep -q 'errors: 0' pan.log; then found=HOLDS; else found=FAILS; fi
[[ $verdict == LIVE ]] && verdict=HOLDS
[[ $found == "$verdict" ]] || { echo "expected: $verdict, found: $found" >&2; exit 1; }
