# testing.cmake: how tests become ctest tests.
#
# Tests see the internals: they link the static library (never the shared one, which hides them) and have src/
# on their include path. Every GoogleTest case is a ctest test of its own, so a hang or a crash names the case
# and cases run side by side; few binaries, so that the build is quick.
#
# Labels: the kind of test (unit, conformance, stress, death, ...) plus `race` for every case whose suite's name
# ends in _race. Those are the cases worth repeating hundreds of times.

set(WEFT_TEST_TIMEOUT 60 CACHE STRING "Seconds after which ctest ends a test")

# For tests that start programs themselves: what to put before the program's name, empty on the machine itself.
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " WEFT_TEST_EMULATOR)

# In every test a lost wake-up is fatal. Added to what the caller's WEFT_DEBUG says.
set(WEFT_TEST_ENVIRONMENT "WEFT_DEBUG=string_append:,conserve=1")

# The library is what is to be tested, and is optimised as users get it. A test takes twice as long to compile at -O1 as at -O0, with g++'s
# sanitizers three times. The preset `clang` compiles all of them with -O1.
set(WEFT_TEST_OPTIMISATION "-O0" CACHE STRING "How tests are optimised, whatever the library is")

# But these are about what a compiler keeps in registers and thread-local storage across a switch, are stopped between any two instructions of
# theirs, or put on load. They have no precompiled header: that is of the other kind.
set(WEFT_OPTIMISED_TESTS "/src/arch/|/tests/stress/|/conformance/(closures|exceptions|fp_control|identity|migration|preemption|unannounced)\\.cpp$")

# What every test reads anyway: a third of the time a test takes to compile. tests/headers shows that each header of weft's stands alone.
# OFF for ccache, which then does more.
option(WEFT_PRECOMPILE_TESTS "Precompile the headers that tests share" ON)
set(WEFT_TEST_HEADERS <gtest/gtest.h> <weft/weft.hpp> <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <mutex> <optional>
  <stdexcept> <string> <string_view> <thread> <tuple> <utility> <variant> <vector>)

# Half of the work on a test is reading the same headers and making the same instances of templates (std::string, EXPECT_EQ): files of one folder
# are compiled some at once. So their names, in anonymous namespaces too, must differ. OFF for whoever works on one file.
option(WEFT_UNITE_TESTS "Compile tests of one kind some files at once" ON)
set(WEFT_UNITED_TESTS 6)

# ctest begins with these: one that takes long and comes last keeps the other cores waiting.
set(WEFT_LONG_TESTS "thousand|_race[./]|storm|^connections|^processes")

# Adds a folder that may not be there.
function(weft_add_optional_subdirectory folder)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory(${folder})
  endif()
endfunction()

# How every test is compiled, and what it sees.
function(weft_compile_as_test target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE "WEFT_TEST_EMULATOR=\"${WEFT_TEST_EMULATOR}\"")
  if(TARGET weft_test_support)
    target_link_libraries(${target} PRIVATE weft_test_support)
  endif()
  target_link_libraries(${target} PRIVATE weft_private_flags GTest::gtest_main)
  if(TARGET weft::static)
    target_link_libraries(${target} PRIVATE weft::static)
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>" ${WEFT_TEST_OPTIMISATION})  # GCC 12 sees things in std::string at -O1
endfunction()

function(weft_unite target)
  if(WEFT_UNITE_TESTS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${WEFT_UNITED_TESTS})
  endif()
endfunction()

# Takes the sources that are to be optimised out of the list `sources` of the caller, and adds them to its list `objects`.
macro(weft_optimise_some name)
  set(optimised ${sources})
  list(FILTER optimised INCLUDE REGEX "${WEFT_OPTIMISED_TESTS}")
  if(optimised AND CMAKE_BUILD_TYPE STREQUAL "Release")
    list(REMOVE_ITEM sources ${optimised})
    add_library(${name}_optimised OBJECT ${optimised})
    weft_compile_as_test(${name}_optimised)
    target_compile_options(${name}_optimised PRIVATE -O2)
    weft_unite(${name}_optimised)
    set(objects $<TARGET_OBJECTS:${name}_optimised>)
  endif()
endmacro()

# One precompiled header for all tests: it belongs to a library of its own, so that nobody waits for another's tests.
function(weft_precompile_for target)
  if(NOT TARGET weft_test_headers)
    set(nothing "${PROJECT_BINARY_DIR}/weft_test_headers.cpp")
    file(CONFIGURE OUTPUT "${nothing}" CONTENT "")
    add_library(weft_test_headers OBJECT "${nothing}")
    weft_compile_as_test(weft_test_headers)
    target_precompile_headers(weft_test_headers PRIVATE ${WEFT_TEST_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM weft_test_headers)
endfunction()

# weft_test(<name> SOURCES <file>... LABELS <label>... [LIBS <target>...] [SERIAL] [UNITED]): one GoogleTest binary.
# SERIAL: no other test runs beside these, for those that measure time or memory. UNITED: its files can be compiled some at once.
function(weft_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;UNITED" "" "SOURCES;LABELS;LIBS")
  if(NOT arg_SOURCES OR NOT GTest_FOUND)
    return()
  endif()
  set(sources ${arg_SOURCES})
  set(objects "")
  weft_optimise_some(${name})
  add_executable(${name} ${sources} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  weft_compile_as_test(${name})
  if(arg_UNITED)
    weft_unite(${name})
  endif()
  list(LENGTH sources nsources)
  if(WEFT_PRECOMPILE_TESTS AND nsources GREATER 4)
    weft_precompile_for(${name})
  endif()
  if(arg_SERIAL)
    set(serial RUN_SERIAL ON)
  endif()
  weft_discover(${name} "${arg_LABELS}" TIMEOUT ${WEFT_TEST_TIMEOUT} ${serial})
endfunction()

# Makes every case of a binary a ctest test. The labels follow in a file of their own that ctest reads after the
# list of cases: they depend on the case's name, and gtest_discover_tests() cannot pass more than one.
function(weft_discover target labels)
  include(GoogleTest)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES ENVIRONMENT_MODIFICATION "${WEFT_TEST_ENVIRONMENT}" ${ARGN})
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake")
  file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT [[
foreach(test IN LISTS @target@_TESTS)
  set(labels "@labels@")
  if(test MATCHES "_race[./]")
    list(APPEND labels race)
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS "${labels}")
  if(test MATCHES "@WEFT_LONG_TESTS@")
    set_tests_properties("${test}" PROPERTIES COST 10)
  endif()
endforeach()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()

# weft_check(<name> LABELS <label>... COMMAND <command>...): a ctest test that is a command.
function(weft_check name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;COMMAND")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${WEFT_TEST_TIMEOUT})
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
  if(arg_TIMEOUT GREATER WEFT_TEST_TIMEOUT)
    set_tests_properties(${name} PROPERTIES COST 20)  # it takes long, and so begins early
  endif()
endfunction()

# weft_bench_check(<name> <target> <argument>...): a benchmark that runs for a blink as a test, so that it does not rot. Benchmarks are
# built by those tests and not with everything else.
function(weft_bench_check name target)
  if(NOT TEST bench.${target}_builds)
    weft_check(bench.${target}_builds LABELS bench TIMEOUT 600
      COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target ${target})
    set_tests_properties(bench.${target}_builds PROPERTIES FIXTURES_SETUP ${target} RESOURCE_LOCK weft_build)
  endif()
  weft_check(bench.${name} LABELS bench TIMEOUT 300 COMMAND ${target} ${ARGN})  # a million timers, unoptimised
  set_tests_properties(bench.${name} PROPERTIES FIXTURES_REQUIRED ${target})
endfunction()

# One binary of every src/**/*_bench.cpp.
function(weft_micro_benches)
  get_property(sources GLOBAL PROPERTY WEFT_MICRO_BENCH_SOURCES)
  if(NOT sources OR NOT benchmark_FOUND)
    return()
  endif()
  add_executable(weft_micro_bench EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(weft_micro_bench PRIVATE
    weft_private_flags weft::static benchmark::benchmark benchmark::benchmark_main)
  if(WEFT_BUILD_TESTS)
    weft_bench_check(micro_benches_run weft_micro_bench --benchmark_min_time=0.001)
  endif()
endfunction()
