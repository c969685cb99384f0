# dependencies.cmake: what weft looks for on the machine. The library itself needs only threads; everything else
# is optional, found automatically, and what is missing is named at the end of configure with what it would give.

find_package(Threads REQUIRED)

set(weft_dependency_table "")

# Adds a line to the table. `gives` says what is lost without it.
function(weft_note_dependency name is_found package gives)
  if(is_found)
    set(state "found")
  else()
    set(state "missing: install ${package} to get ${gives}")
  endif()
  set(padded "${name}                    ")
  string(SUBSTRING "${padded}" 0 20 padded)
  set(weft_dependency_table "${weft_dependency_table}\n--   ${padded} ${state}" PARENT_SCOPE)
endfunction()

function(weft_print_dependencies)
  message(STATUS "weft ${PROJECT_VERSION}, ${WEFT_ARCH}, ${CMAKE_BUILD_TYPE}, sanitizers: ${WEFT_SANITIZE}"
    "${weft_dependency_table}")
endfunction()

# Valgrind must be told about every stack, or it takes a switch for a wild stack pointer. Headers only.
include(CheckIncludeFileCXX)
if(NOT WEFT_HAVE_VALGRIND)
  unset(WEFT_HAVE_VALGRIND CACHE)  # it may have been installed since
endif()
check_include_file_cxx(valgrind/valgrind.h WEFT_HAVE_VALGRIND)
if(WEFT_HAVE_VALGRIND)
  target_compile_definitions(weft_private_flags INTERFACE WEFT_HAVE_VALGRIND=1)
endif()
weft_note_dependency("valgrind headers" "${WEFT_HAVE_VALGRIND}" valgrind "programs that run cleanly under Valgrind")

# Boost.Beast, for <weft/beast.hpp>: headers only, and not before 1.81. Nothing of weft's own needs it.
add_library(weft_boost_headers INTERFACE)
if(NOT CMAKE_CROSSCOMPILING)
  find_package(Boost 1.81 QUIET)
  if(Boost_FOUND)
    target_link_libraries(weft_boost_headers INTERFACE Boost::headers)
  endif()
endif()
weft_note_dependency("Boost 1.81" "${Boost_FOUND}" libboost1.81-dev "HTTP on Boost.Beast: its example and its tests")

# OpenSSL, for weft::tls. The library weft itself does not know it.
if(NOT WEFT_TLS MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "WEFT_TLS: '${WEFT_TLS}' is none of AUTO, ON and OFF")
endif()
set(WEFT_HAS_TLS OFF)
if(NOT WEFT_TLS STREQUAL "OFF" AND NOT WEFT_MODEL)
  if(NOT CMAKE_CROSSCOMPILING OR WEFT_TLS STREQUAL "ON")
    find_package(OpenSSL 3.0 QUIET)
  endif()
  if(OpenSSL_FOUND)
    set(WEFT_HAS_TLS ON)
  elseif(WEFT_TLS STREQUAL "ON")
    message(FATAL_ERROR "WEFT_TLS=ON needs OpenSSL 3.0 or newer (Debian: libssl-dev)")
  endif()
  weft_note_dependency("OpenSSL 3" "${WEFT_HAS_TLS}" libssl-dev "weft::tls (net::tls), its tests and HTTPS in the HTTP example")
endif()

# GoogleTest: the machine's own, or, for another processor, the sources that Debian ships in libgtest-dev.
set(WEFT_GTEST_SOURCE_DIR "/usr/src/googletest" CACHE PATH "GoogleTest's sources, used when cross-compiling")
if(WEFT_BUILD_TESTS OR WEFT_MODEL)
  if(CMAKE_CROSSCOMPILING)
    if(EXISTS "${WEFT_GTEST_SOURCE_DIR}/CMakeLists.txt")
      set(INSTALL_GTEST OFF)
      add_subdirectory("${WEFT_GTEST_SOURCE_DIR}" googletest EXCLUDE_FROM_ALL SYSTEM)
      foreach(target gtest gtest_main gmock)
        if(NOT TARGET GTest::${target})
          add_library(GTest::${target} ALIAS ${target})
        endif()
      endforeach()
      set(GTest_FOUND TRUE)
    endif()
  else()
    find_package(GTest QUIET)
  endif()
  weft_note_dependency("GoogleTest" "${GTest_FOUND}" libgtest-dev "the tests")
endif()

if(WEFT_BUILD_BENCH AND NOT WEFT_MODEL)
  if(NOT CMAKE_CROSSCOMPILING)
    find_package(benchmark QUIET)
  endif()
  weft_note_dependency("Google Benchmark" "${benchmark_FOUND}" libbenchmark-dev "the micro benchmarks")
endif()
