#!/usr/bin/env bash
# long: loads for which the ordinary suite has half a second, for as long as they need to show what they are for. Half an hour.
#
#   WEFT_SHARE_SECONDS=60   goroutines that compute, each wherever it is when its time is up: within 20 % of an even share (from 5 on)
#   WEFT_CALLS_SECONDS=10   system calls beside them: fewer than one in a thousand is cut short (from 5 on)
#   WEFT_SPAWNS=10000       programs started beside them
#   WEFT_STORM_SECONDS=10   under other people's signals
#
# Not by ctest, which ends every test after a minute. Nothing else should run beside it: what is said of shares holds for a machine of one's
# own. Arguments: which of share, calls, spawns, storm; else all.
source "$(dirname "$0")/lib.sh"
export WEFT_SHARE_SECONDS=${WEFT_SHARE_SECONDS:-60} WEFT_CALLS_SECONDS=${WEFT_CALLS_SECONDS:-10}
export WEFT_SPAWNS=${WEFT_SPAWNS:-10000} WEFT_STORM_SECONDS=${WEFT_STORM_SECONDS:-10}
build release --target weft_stress_tests weft_conformance_tests

stress=build/release/tests/weft_stress_tests
conformance=build/release/tests/conformance/weft_conformance_tests
logs=build/release/long
mkdir -p "$logs"
failed=()

load() { # name binary filter
  [[ -z $wanted || $wanted == *" $1 "* ]] || return 0
  say "long: $1"
  "$2" --gtest_filter="$3" --gtest_brief=0 2>&1 | tee "$logs/$1.log" || failed+=("$1")
}

wanted=${*:+ $* }
rm -f "$logs"/*.log
load share "$stress" 'sharing.*_on_1_p:sharing.*_on_2_ps'
load calls "$conformance" 'interrupted_calls.*'
load spawns "$conformance" 'processes.thousands_*'
load storm "$conformance" 'foreign_signals_race.*'

if [[ ${#failed[@]} -gt 0 ]]; then
  say 'long: what failed'
  for each in "${failed[@]}"; do
    grep -hE '^\[  FAILED  \] [a-z_]+\.|: Failure$|^one had|compute at once|CPU time' "$logs/$each.log" | sort | uniq -c || true
  done
  exit 1
fi

# The shares stand before "at once", as parts of the mean.
off() {
  sed -n 's/^\[  SHARE   \]\(.*\)  at once.*/\1/p' "$logs/share.log" | tr -s ' ' '\n' |
    awk 'NF { d = $1 > 1 ? $1 - 1 : 1 - $1; if (d > most) most = d } END { printf "%d", 100 * most + 0.5 }'
}
calls() { # 1: made, 2: cut short
  sed -nE 's/^\[  CALLS   \] .* ([0-9]+) calls, *([0-9]+) cut short.*/\1 \2/p' "$logs/calls.log" |
    awk -v which="$1" '{ n += $which } END { print n + 0 }'
}
[[ ! -s $logs/share.log ]] || echo "share: nobody was farther than $(off) % from an even share"
[[ ! -s $logs/calls.log ]] || echo "calls: $(calls 2) of $(calls 1) were cut short"
[[ -z $wanted ]] || exit 0

figure share_seconds "${WEFT_SHARE_SECONDS%.*}" 'seconds for which goroutines that compute shared the processors, each way of computing'
figure share_off "$(off)" 'the farthest that one of them was from an even share, in percent'
figure calls "$(calls 1)" 'system calls made by goroutines that compute and sleep'
figure calls_cut "$(calls 2)" 'of these, cut short by the signal that stops goroutines'
figure spawns "$WEFT_SPAWNS" 'programs started beside goroutines that are stopped, on each number of processors, all ending well'
