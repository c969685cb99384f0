#!/usr/bin/env bash
# valgrind: memcheck over a part of the unit and the conformance tests. It is told of every stack, so it knows the switches; it runs one
# thread at a time and some thirty times slower, so what maps gigabytes, repeats thousands of times, starts programs or measures processor time is left to others.
# It does not keep the floating point's sticky flags. Each suite is one process: what one case leaves behind another may find. Arguments: the names of binaries (unit, conformance).
source "$(dirname "$0")/lib.sh"

declare -A cases=(
  [unit]='-*_race.*:*thousand*:*survives*:arena.*:cache.*:child_process.*:fp_control_words.*:growable_region.*:guard*:lock.whoever_waits_long_sleeps:poller*:preempt_signal.*:read_environment.*:resident*:rng.*:scavenge.*:short_slice.*:stack.*:steal_order.*any_count*:thread*:timer_heap.armed*:timer_heap.behaves*:timer_heap.many*:timer_slack.*:trim.*:uring*:vm.*'
  [conformance]='chan*_on_2_ps:condition*_on_2_ps:context*_on_2_ps:event.*_on_2_ps:exceptions.*_on_2_ps:go*_on_2_ps:join*_on_2_ps:mutex.*_on_2_ps:once*_on_2_ps:pipe.*_on_2_ps:select*_on_2_ps:semaphore.*_on_2_ps:shared_mutex.*_on_2_ps:timer.*_on_2_ps:wait_group.*_on_2_ps:-*_race.*:*death*:*thousand*:*million*:*many*:*linear_time*'
)
declare -A programs=([unit]=tests/weft_unit_tests [conformance]=tests/conformance/weft_conformance_tests)
suites=("$@")
[[ ${#suites[@]} -gt 0 ]] || suites=(unit conformance)

build release --target weft_unit_tests weft_conformance_tests
mkdir -p build/release/valgrind

memcheck() { # suite
  timeout 900 valgrind --quiet --error-exitcode=9 --fair-sched=yes "build/release/${programs[$1]}" \
    "--gtest_filter=${cases[$1]}" >"build/release/valgrind/$1.log" 2>&1
}

say "valgrind: ${suites[*]}"
declare -A running=()
for suite in "${suites[@]}"; do
  memcheck "$suite" &
  running[$suite]=$!
done
status=0
passed=0
for suite in "${suites[@]}"; do
  log=build/release/valgrind/$suite.log
  verdict=ok
  wait "${running[$suite]}" || verdict="FAILED ($?)"
  n=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\.$/\1/p' "$log")
  # "client switching stacks?": it was not told about one
  if grep -q 'switching stacks' "$log"; then verdict='FAILED (it does not know a stack)'; fi
  echo "valgrind: $suite: $verdict, ${n:-0} tests passed"
  if [[ $verdict != ok || ${n:-0} == 0 ]]; then
    status=1
    grep -v '^\[ *\(RUN\|OK\) ' "$log" | tail -n 60
  fi
  passed=$((passed + ${n:-0}))
done
figure passed "$passed" 'tests that passed, and memcheck found nothing'
exit $status
