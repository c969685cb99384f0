#!/usr/bin/env bash
# all: runs lanes one after another (the ones named, or all), goes on after a failure, and ends with a line per lane.
set -euo pipefail
cd "$(dirname "$0")/../.."

lanes=("$@")
[[ ${#lanes[@]} -gt 0 ]] || lanes=(style release install dev asan clang tsan aarch64 model tidy race)

summary=()
failed=0
for lane in "${lanes[@]}"; do
  printf '\n######## lane %s\n' "$lane"
  start=$SECONDS
  if "tools/ci/$lane.sh" </dev/null; then verdict=ok; else verdict=FAILED; failed=1; fi
  summary+=("$(printf '%-8s  %-6s  %4d s' "$lane" "$verdict" $((SECONDS - start)))")
  echo "######## lane ${summary[-1]}"
done

printf '\nlane      result    time\n'
printf '%s\n' "${summary[@]}"
exit $failed
