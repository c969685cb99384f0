#!/usr/bin/env bash
# all: runs lanes one after another (the ones named, or all), goes on after a failure, and ends with what failed and a line per lane.
# Each lane's whole log is kept in build/lanes/. How lanes are named, "lane:quick" and "a+b" too, says lanes.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/ci/lanes.sh

lanes=("$@")
[[ ${#lanes[@]} -gt 0 ]] || mapfile -t lanes < <(all_lanes)

show=${WEFT_FAILURES_LATER:-now}  # or later: then the caller shows them, and the summary
export WEFT_FAILURES_LATER=1
mkdir -p build/lanes
summary=()
failed=0

# One lane; what it prints, and in the end how long it took and how it ended, as $lane.log and $lane.end.
run_lane() { # lane[:quick]
  local lane=${1%:quick} start=$SECONDS verdict=ok
  if [[ $1 == *:quick ]]; then export WEFT_QUICK=1; else unset WEFT_QUICK; fi
  if ! "tools/ci/$lane.sh" </dev/null 2>&1 | tee "build/lanes/$lane.log"; then
    verdict=FAILED
    [[ -s build/failures/$lane.txt ]] || tools/ci/failures tail "$lane" "build/lanes/$lane.log"
  fi
  printf '%-16s  %-6s  %4d s\n' "$1" "$verdict" $((SECONDS - start)) >"build/lanes/$lane.end"
}

trees_of() { sed -n 's/^ *build \([a-z0-9]*\).*/\1/p' "tools/ci/$1.sh"; }

# Two lanes at once, each with its share of the cores. Their logs are shown one after the other.
run_both() { # lane lane
  local lane clash jobs=$(((${JOBS:-$(nproc)} + 1) / 2))
  clash=$(comm -12 <(trees_of "${1%:quick}" | sort) <(trees_of "${2%:quick}" | sort))
  if [[ -n $clash ]]; then
    echo "all.sh: $1 and $2 cannot run at once: both build $clash" >&2
    exit 2
  fi
  local running=()
  for lane in "$@"; do
    (
      export JOBS=$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs
      run_lane "$lane" >/dev/null
    ) &
    running+=($!)
  done
  wait "${running[@]}"
  cat "build/lanes/${1%:quick}.log" "build/lanes/${2%:quick}.log"
}

for word in "${lanes[@]}"; do
  printf '\n######## lane %s\n' "$word"
  if [[ $word == *+* ]]; then
    run_both "${word%%+*}" "${word#*+}"
  else
    (run_lane "$word")
  fi
  for lane in ${word//+/ }; do
    end=$(cat "build/lanes/${lane%:quick}.end")
    [[ $end != *FAILED* ]] || failed=1
    summary+=("$end")
    echo "######## lane $end"
  done
done

{
  printf '\nlane              result    time\n'
  printf '%s\n' "${summary[@]}"
} >build/lanes/summary.txt
if [[ $show == now ]]; then
  names=()
  for lane in ${lanes[*]//+/ }; do names+=("${lane%:quick}"); done
  tools/ci/failures show "${names[@]}"
  cat build/lanes/summary.txt
fi
exit $failed
