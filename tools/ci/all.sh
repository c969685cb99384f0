#!/usr/bin/env bash
# all: runs lanes one after another (the ones named, or all), goes on after a failure, and ends with what failed and a line per lane.
# Each lane's whole log is kept in build/lanes/.
set -euo pipefail
cd "$(dirname "$0")/../.."

lanes=("$@")
[[ ${#lanes[@]} -gt 0 ]] || lanes=(style release extras install dev asan clang tsan aarch64 model tidy race signals faults chaos differential)

show=${WEFT_FAILURES_LATER:-now}  # or later: then the caller shows them, and the summary
export WEFT_FAILURES_LATER=1
mkdir -p build/lanes
summary=()
failed=0
for lane in "${lanes[@]}"; do
  printf '\n######## lane %s\n' "$lane"
  start=$SECONDS
  if "tools/ci/$lane.sh" </dev/null 2>&1 | tee "build/lanes/$lane.log"; then
    verdict=ok
  else
    verdict=FAILED
    failed=1
    [[ -s build/failures/$lane.txt ]] || tools/ci/failures tail "$lane" "build/lanes/$lane.log"
  fi
  summary+=("$(printf '%-12s  %-6s  %4d s' "$lane" "$verdict" $((SECONDS - start)))")
  echo "######## lane ${summary[-1]}"
done

{
  printf '\nlane          result    time\n'
  printf '%s\n' "${summary[@]}"
} >build/lanes/summary.txt
if [[ $show == now ]]; then
  tools/ci/failures show "${lanes[@]}"
  cat build/lanes/summary.txt
fi
exit $failed
