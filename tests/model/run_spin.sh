#!/usr/bin/env bash
# run_spin.sh <work folder> <model> HOLDS|FAILS|LIVE|STALLS [-Ddefine...]: explores a Promela model to the end.
#
#   HOLDS   no assertion fails and no process is stuck
#   FAILS   one of these must be found: a negative control
#   LIVE    besides, the model's ltl formula holds under weak fairness
#   STALLS  an execution that violates the formula must be found: a negative control of LIVE
#
# Under fairness Spin takes a state in which nobody can move for no execution at all, so that a formula would hold of it whatever it says. For LIVE
# and STALLS there is one more process, which always can: then those who are stuck are seen to be.
#
# An error counts only if it is one of the model's: a search that was cut short, or an index out of range, is a fault of the check.
set -euo pipefail
work=$1 model=$2 verdict=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
cd "$work"

case $verdict in
  LIVE | STALLS) compile=(-DNFAIR=4) run=(-a -f) clock='bool tick; active proctype time_passes() { do :: tick = !tick od }' ;;
  HOLDS | FAILS) compile=(-DSAFETY) run=() clock='' ;;
  *) echo "run_spin.sh: no such verdict: $verdict" >&2; exit 2 ;;
esac
{ cat "$model" && echo "$clock"; } >model.pml
spin "$@" -a model.pml
${CC:-cc} -O2 -w -DCOLLAPSE -DVECTORSZ=4096 "${compile[@]}" -o pan pan.c
TIMEFORMAT='%U s of processor time'
time ./pan "${run[@]}" -m1000000 | tee pan.log
if grep -q 'max search depth too small\|out of memory\|invalid array index' pan.log; then
  echo 'the search was cut short, or the model is at fault' >&2
  exit 1
fi
case $verdict in
  HOLDS | LIVE) wanted='errors: 0$' ;;
  FAILS) wanted='^pan:1: assertion violated\|^pan:1: invalid end state' ;;
  STALLS) wanted='^pan:1: acceptance cycle' ;;
esac
grep -q "$wanted" pan.log || { echo "expected: $verdict" >&2; exit 1; }
