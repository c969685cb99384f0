#!/usr/bin/env bash
# run.sh <source tree> <work folder> <compiler> <step> [static|shared]: one step of the install tests.
#
#   install            builds weft, installs both kinds, each into a prefix of its own, and moves the prefixes
#   find_package       builds and runs consumer/ against a moved prefix with CMake
#   pkg_config         the same with one line of compiler and pkg-config
#   default_stacks     programs compiled with and without optimisation get the stacks that suit them
#   add_subdirectory   the same with weft's sources as a part of the project
set -euo pipefail

source_tree=$1 work=$2 compiler=$3 step=$4 kind=${5:-}
try_tls=${WEFT_TRY_TLS:-OFF}  # with weft::tls, which needs OpenSSL
consumer=$source_tree/tests/install/consumer
mkdir -p "$work"
cd "$work"
prefix=$work/moved/$kind
unset CXXFLAGS LDFLAGS CMAKE_PREFIX_PATH LD_LIBRARY_PATH

shared_switch() { [[ $1 == shared ]] && echo ON || echo OFF; }

configure() { # build folder, source folder, further arguments
  cmake -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -S "$2" -B "$1" "${@:3}" >"$1.log" ||
    { cat "$1.log"; return 1; }
}

# Fails when a text file of the tree names a folder of this build.
expect_no_trace_of_the_build() {
  if grep -rIlF -e "$work/" -e "$source_tree/" "$1"; then
    echo 'these installed files hold a path of the build' >&2
    return 1
  fi
}

# The program must have been linked against the kind of library that was asked for.
expect_linked() { # program
  local dynamic=no
  if readelf -d "$1" | grep -q 'NEEDED.*libweft'; then dynamic=yes; fi
  if [[ $kind == shared && $dynamic == no ]] || [[ $kind == static && $dynamic == yes ]]; then
    echo "$1: not linked with the $kind library" >&2
    return 1
  fi
}

# Users are compiled with -fstack-clash-protection wherever the compiler has it.
expect_stack_clash_protection() { # text that must hold the flag
  if echo | "$compiler" -x c++ -Werror -fstack-clash-protection -c - -o /dev/null 2>/dev/null; then
    grep -q -e -fstack-clash-protection <<<"$1" || { echo 'weft did not pass -fstack-clash-protection on' >&2; return 1; }
  fi
}

run_consumer() { # program
  expect_linked "$1"
  local said
  said=$("$1")
  echo "$said"
  [[ $said == 'weft works: 42' ]]
  # weft alone knows nothing of OpenSSL.
  if readelf -d "$1" | grep -q 'NEEDED.*libssl'; then
    echo "$1 needs OpenSSL, though it does not use weft::tls" >&2
    return 1
  fi
}

run_tls_consumer() { # program
  local said
  [[ $try_tls == ON ]] || return 0
  expect_linked "$1"
  said=$("$1")
  echo "$said"
  [[ $said == 'weft::tls works: 42' ]]
}

# Links these objects, and says how large a goroutine's stack is in that program.
stack_in() { # objects... [-- argument]
  local objects=()
  while [[ $# -gt 0 && $1 != -- ]]; do objects+=("$1") && shift; done
  shift || true
  # shellcheck disable=SC2046
  "$compiler" "${objects[@]}" -o stack -Wl,--gc-sections $(pkg-config --libs weft) -Wl,-rpath,"$(pkg-config --variable=libdir weft)"
  expect_linked ./stack
  (ulimit -c 0; ./stack "$@" 2>&1; true) 2>/dev/null | sed -n 's/.*stack exceeds \([0-9]*\)-byte limit.*/\1/p'
}

expect_stack() { # bytes, of which weft needs a few; then as for stack_in
  local found
  found=$(stack_in "${@:2}")
  echo "${*:2}: $found bytes"
  [[ -n $found ]] && ((found <= $1 && found > $1 - 1024))
}

case $step in
  install)
    rm -rf installed moved
    mkdir moved
    for kind in static shared; do
      configure build "$source_tree" -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_BENCH=OFF -DWEFT_BUILD_EXAMPLES=OFF \
        -DBUILD_SHARED_LIBS="$(shared_switch "$kind")" -DWEFT_TLS="$try_tls"
      cmake --build build
      cmake --install build --prefix "$work/installed/$kind" >/dev/null
      mv "installed/$kind" "moved/$kind"
      expect_no_trace_of_the_build "moved/$kind"
    done
    ;;
  find_package)
    configure "found-$kind" "$consumer" -DCMAKE_PREFIX_PATH="$prefix" -DTRY_TLS="$try_tls"
    cmake --build "found-$kind"
    expect_stack_clash_protection "$(cat "found-$kind/build.ninja")"
    run_consumer "./found-$kind/consumer"
    run_tls_consumer "./found-$kind/tls_consumer"
    ;;
  pkg_config)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc)")
    export PKG_CONFIG_PATH
    expect_stack_clash_protection "$(pkg-config --cflags weft)"
    libdir=$(pkg-config --variable=libdir weft)
    # shellcheck disable=SC2046  # the words of pkg-config are meant to be split
    "$compiler" -std=c++20 -O2 -Wall -Wextra -Werror "$consumer/main.cpp" -o "by-pkg-config-$kind" \
      $(pkg-config --cflags --libs weft) -Wl,-rpath,"$libdir"
    run_consumer "./by-pkg-config-$kind"
    if [[ $try_tls == ON ]]; then
      # shellcheck disable=SC2046
      "$compiler" -std=c++20 -O2 -Wall -Wextra -Werror "$consumer/tls.cpp" -o "tls-by-pkg-config-$kind" \
        $(pkg-config --cflags --libs weft-tls) -Wl,-rpath,"$libdir"
      run_tls_consumer "./tls-by-pkg-config-$kind"
    fi
    ;;
  default_stacks)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc)")
    export PKG_CONFIG_PATH
    mkdir -p "stacks-$kind"
    cd "stacks-$kind"
    for unit in stack stack_beside; do
      for level in 0 2; do
        # shellcheck disable=SC2046
        "$compiler" -std=c++20 "-O$level" -ffunction-sections -fdata-sections -Wall -Wextra -Werror -c "$consumer/$unit.cpp" -o "$unit-O$level.o" \
          $(pkg-config --cflags weft)
      done
    done
    ordinary=$((192 << 10)) larger=$((448 << 10))
    expect_stack $ordinary stack-O2.o stack_beside-O2.o
    expect_stack $larger stack-O0.o stack_beside-O0.o
    expect_stack $larger stack-O0.o stack_beside-O2.o
    expect_stack $larger stack-O2.o stack_beside-O0.o
    expect_stack $larger stack_beside-O0.o stack-O2.o
    expect_stack $ordinary stack-O0.o -- $ordinary
    expect_stack $((960 << 10)) stack-O0.o -- $((960 << 10))
    ;;
  add_subdirectory)
    configure subdirectory "$consumer" -DWEFT_SOURCE_TREE="$source_tree" -DBUILD_SHARED_LIBS="$(shared_switch "$kind")" -DTRY_TLS="$try_tls"
    cmake --build subdirectory
    expect_stack_clash_protection "$(cat subdirectory/build.ninja)"
    run_consumer ./subdirectory/consumer
    run_tls_consumer ./subdirectory/tls_consumer
    ;;
  *)
    echo "unknown step: $step" >&2
    exit 2
    ;;
esac
