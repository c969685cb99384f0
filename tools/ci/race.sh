#!/usr/bin/env bash
# race: the tests labelled `race`, again and again: RACE_REPEATS times (500 unless told), or until one fails.
source "$(dirname "$0")/lib.sh"
repeats=${RACE_REPEATS:-500}
build release
log=build/release/race.log
for ((done = 0; done < repeats; done += step)); do
  step=$((repeats - done < 10 ? repeats - done : 10))
  if ! run_tests release -L race --repeat "until-fail:$step" "$@" >"$log" 2>&1; then
    cat "$log"
    exit 1
  fi
  echo "race: $(tail -n 100 "$log" | sed -n 's/.*out of //p') tests passed $((done + step)) of $repeats times"
done
figure repeats "$repeats" 'times each race was run, none failing'
