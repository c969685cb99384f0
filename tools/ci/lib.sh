# lib.sh: what the lanes share. Sourced by the scripts beside it; each of those is one lane and can be run alone.
#
# On a terminal ninja and ctest draw their own progress. In a log they get a line per tenth of the way (tools/ci/tenths); what failed
# and what it said is kept in build/failures/<lane>.txt, and shown at the end: by the lane itself, or by whoever runs several of them
# and sets WEFT_FAILURES_LATER.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

lane=$(basename "$0" .sh)
rm -f "build/failures/$lane.txt"

jobs=${JOBS:-$(nproc)}
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$jobs}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$((2 * jobs))}  # half of what tests do is to wait
export NINJA_STATUS=${NINJA_STATUS:-'[%f/%t %es] '}

# The library is compiled in several trees with the same flags: where there is ccache, once.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi

# Set by "lane:quick" (lanes.sh): what finds most in the least time.
is_quick() { [[ -n ${WEFT_QUICK:-} ]]; }

# A figure of this lane's for docs/trust.md, if the whole lane runs (tools/ci/figure).
lane_is_whole=$(($# == 0))
figure() { # what value words...
  [[ $lane_is_whole == 0 ]] || is_quick || tools/ci/figure "$lane.$1" "${@:2}"
}

# Every lane runs what is cheap and specific to it; these have a lane of their own or one is enough.
readonly once_only="install|lint|signals|faults_extras|chaos_extras"
readonly per_compiler="compile_fail"  # the same for every kind of build by one compiler

say() { printf '\n== %s\n' "$*"; }

# Kinds of tests that a lane does not even build: see release.sh.
left_out=''

configure() { # preset
  say "$1: configure"
  cmake --preset "$1" -DWEFT_LEFT_OUT_TESTS="$left_out"
}

build() { # preset [cmake --build arguments]
  local preset=$1
  configure "$preset"
  say "$preset: build"
  if [[ -t 1 ]]; then
    cmake --build --preset "$preset" "${@:2}"
  else
    cmake --build --preset "$preset" "${@:2}" 2>&1 | tools/ci/tenths
  fi
}

# How many tests passed, skipped ones not counted, and how many failed.
figure_tests() { # preset
  local junit=build/$1/junit.xml name='' words=''
  if [[ $1 != "$lane" ]]; then name=_$1 words=" (build $1)"; fi
  of() { sed -n "1,15s/^\t*$1=\"\([0-9]*\)\".*/\1/p" "$junit"; }
  figure "passed$name" $(($(of tests) - $(of failures) - $(of skipped) - $(of disabled))) "tests that passed$words"
  figure "failed$name" "$(of failures)" "tests that failed$words"
}

run_tests() { # preset [ctest arguments]
  local preset=$1 status=0
  say "$preset: test"
  if [[ -t 1 ]]; then
    ctest --preset "$preset" --progress --output-junit junit.xml "${@:2}" || status=$?
  else
    ctest --preset "$preset" --output-junit junit.xml "${@:2}" 2>&1 | tools/ci/tenths || status=$?
  fi
  figure_tests "$preset"
  if [[ $status -ne 0 ]]; then
    tools/ci/failures collect "$lane" "build/$preset"
    [[ -n ${WEFT_FAILURES_LATER:-} ]] || tools/ci/failures show "$lane"
  fi
  return $status
}
