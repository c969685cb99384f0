# layers.cmake: weft_layer(<name> [DEPENDS <layer>...]) makes the object library weft_<name> of src/<name>.
#
# DEPENDS lists every layer whose headers the layer may include. It is the one statement of the order:
# tools/check_layers reads the same lines out of src/CMakeLists.txt and fails on an include that is not covered.
#
# A layer with headers only becomes an interface library, so that a dependent need not know the difference.
# Beside each source may stand <file>_test.cpp and <file>_bench.cpp: not part of the layer, collected here
# for the unit tests and the micro benches. A folder named after a processor counts only on that processor; one with a CMakeLists.txt is a library of
# its own (net/tls).

# A file of the library is two thirds the standard's headers, by the time it takes to compile: they are read once for all of them. Only the
# standard's: a change of weft's own headers compiles what includes them, and no more. OFF shows what a file forgets to include: presets dev and clang.
option(WEFT_PRECOMPILE_LIBRARY "Precompile the standard headers that the library's files share" ${PROJECT_IS_TOP_LEVEL})
set(WEFT_LIBRARY_HEADERS <algorithm> <array> <atomic> <chrono> <functional> <memory> <mutex> <optional> <span> <stdexcept> <string>
  <string_view> <system_error> <thread> <type_traits> <utility> <vector>)

set_property(GLOBAL PROPERTY WEFT_LAYERS "")
set_property(GLOBAL PROPERTY WEFT_UNIT_TEST_SOURCES "")
set_property(GLOBAL PROPERTY WEFT_MICRO_BENCH_SOURCES "")

# How every file of the library is compiled. PIC in the static library too: it may end up inside somebody's shared object, and the
# objects then serve both kinds of library.
function(weft_compile_as_library target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE WEFT_BUILDING_LIBRARY=1)
  target_link_libraries(${target} PRIVATE weft_private_flags Threads::Threads)
endfunction()

# One precompiled header for all layers.
function(weft_precompile_for_library target)
  if(NOT WEFT_PRECOMPILE_LIBRARY)
    return()
  endif()
  if(NOT TARGET weft_library_headers)
    set(nothing "${PROJECT_BINARY_DIR}/weft_library_headers.cpp")
    file(CONFIGURE OUTPUT "${nothing}" CONTENT "")
    add_library(weft_library_headers OBJECT "${nothing}")
    weft_compile_as_library(weft_library_headers)
    target_precompile_headers(weft_library_headers PRIVATE ${WEFT_LIBRARY_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM weft_library_headers)
endfunction()

function(weft_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  set(root "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${root}/*.cpp" "${root}/*.S")
  file(GLOB apart CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*/CMakeLists.txt")
  foreach(listing IN LISTS apart)
    cmake_path(GET listing PARENT_PATH folder)
    list(FILTER sources EXCLUDE REGEX "/src/${name}/${folder}/")
  endforeach()
  foreach(processor x86_64 aarch64)
    if(NOT processor STREQUAL WEFT_ARCH)
      list(FILTER sources EXCLUDE REGEX "/${processor}/|[/_]${processor}\\.(cpp|S)$")
    endif()
  endforeach()
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  set_property(GLOBAL APPEND PROPERTY WEFT_UNIT_TEST_SOURCES ${tests})
  set_property(GLOBAL APPEND PROPERTY WEFT_MICRO_BENCH_SOURCES ${benches})

  list(TRANSFORM arg_DEPENDS PREPEND weft_ OUTPUT_VARIABLE depends)
  foreach(target IN LISTS depends)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "layer ${name} depends on ${target}, which stands above it or does not exist")
    endif()
  endforeach()

  if(sources)
    add_library(weft_${name} OBJECT ${sources})
    weft_compile_as_library(weft_${name})
    weft_precompile_for_library(weft_${name})
    set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS weft_${name})
  else()
    add_library(weft_${name} INTERFACE)
  endif()
endfunction()
