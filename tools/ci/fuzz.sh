#!/usr/bin/env bash
# fuzz: every fuzzer of tests/fuzz (or those named) for FUZZ_SECONDS (5 unless told), with AddressSanitizer and UndefinedBehaviorSanitizer.
# It starts from the corpus in the tree and from what earlier runs here have found worth keeping (build/fuzz/corpus). An input that breaks
# something is kept in build/fuzz/found; put it into tests/fuzz/corpus with the fix.
source "$(dirname "$0")/lib.sh"
seconds=${FUZZ_SECONDS:-5}
build fuzz --target weft_fuzz
cd build/fuzz
mkdir -p found logs
names=("$@")
[[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(find tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -executable -printf '%f\n' | sed 's/^fuzz_//' | sort)
say "fuzz: ${#names[@]} targets, $seconds s each"

run_one() { # name
  mkdir -p "corpus/$1"
  "tests/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=20 -max_len=4096 -print_final_stats=1 -artifact_prefix="found/$1-" \
    "corpus/$1" "../../tests/fuzz/corpus/$1" >"logs/$1.log" 2>&1
}
export -f run_one
export seconds
status=0
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'run_one "$1" || { echo "fuzz: $1: FAILED"; exit 1; }' _ || status=1

total=0
failed=0
for name in "${names[@]}"; do
  n=$(sed -n 's/^stat::number_of_executed_units: *//p' "logs/$name.log")
  printf 'fuzz: %-16s %10d inputs\n' "$name" "${n:-0}"
  total=$((total + ${n:-0}))
  if grep -q 'SUMMARY: \|^==.*ERROR: ' "logs/$name.log"; then
    failed=$((failed + 1))
    tail -n 60 "logs/$name.log"
  fi
done
echo "fuzz: $((${#names[@]} - failed)) passed, $failed failed, $total inputs"
cd ../..
figure inputs "$total" 'inputs given to the fuzzers'
figure targets "${#names[@]}" 'parsers that are fuzzed'
exit $status
