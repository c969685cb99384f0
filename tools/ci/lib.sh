# lib.sh: what the lanes share. Sourced by the scripts beside it; each of those is one lane and can be run alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

jobs=${JOBS:-$(nproc)}
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$jobs}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$jobs}
export NINJA_STATUS=${NINJA_STATUS:-'[%f/%t %es] '}

# Every lane runs what is cheap and specific to it; these have a lane of their own or one is enough.
readonly once_only="install|lint"

say() { printf '\n== %s\n' "$*"; }

configure() { # preset
  say "$1: configure"
  cmake --preset "$1"
}

build() { # preset [cmake --build arguments]
  local preset=$1
  configure "$preset"
  say "$preset: build"
  cmake --build --preset "$preset" "${@:2}"
}

run_tests() { # preset [ctest arguments]
  local preset=$1
  say "$preset: test"
  ctest --preset "$preset" "${@:2}"
}
