# flags.cmake: the compiler flags of weft's own code, as two interface targets.
#
#   weft_public_flags    what users of the library need as well; the library passes it on
#   weft_private_flags   what weft's layers, tests and benches are compiled with
#
# Why -fstack-clash-protection is public: a goroutine's stack ends in a guard region. A frame larger than the
# guard could step over it; with the flag the compiler touches every page on the way, so overflow always hits it.

include(CheckCXXCompilerFlag)

check_cxx_compiler_flag(-fstack-clash-protection WEFT_HAS_STACK_CLASH_PROTECTION)
check_cxx_compiler_flag(-fcf-protection=branch WEFT_HAS_CF_PROTECTION)

# The name of the folder under src/arch that belongs to the target processor.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(WEFT_ARCH x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(WEFT_ARCH aarch64)
else()
  message(FATAL_ERROR "weft runs on x86-64 and aarch64, not on '${CMAKE_SYSTEM_PROCESSOR}'")
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "weft runs on Linux, not on '${CMAKE_SYSTEM_NAME}'")
endif()

add_library(weft_public_flags INTERFACE)
target_compile_features(weft_public_flags INTERFACE cxx_std_20)
set(WEFT_PUBLIC_COMPILE_OPTIONS "")
if(WEFT_HAS_STACK_CLASH_PROTECTION)
  list(APPEND WEFT_PUBLIC_COMPILE_OPTIONS -fstack-clash-protection)
endif()
target_compile_options(weft_public_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${WEFT_PUBLIC_COMPILE_OPTIONS}>")
if(WEFT_DEBUG_CHECKS)
  target_compile_definitions(weft_public_flags INTERFACE WEFT_DEBUG_CHECKS=1)
endif()

# A program is either instrumented as a whole or not at all, hence public.
if(NOT WEFT_SANITIZE STREQUAL "none")
  string(REPLACE "," ";" weft_sanitizers "${WEFT_SANITIZE}")
  foreach(sanitizer IN LISTS weft_sanitizers)
    if(NOT sanitizer MATCHES "^(address|thread|undefined)$")
      message(FATAL_ERROR "WEFT_SANITIZE: unknown sanitizer '${sanitizer}' (known: address, thread, undefined)")
    endif()
  endforeach()
  target_compile_options(weft_public_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
  target_link_options(weft_public_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
  if("undefined" IN_LIST weft_sanitizers)
    target_compile_options(weft_public_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

# libFuzzer counts where a program has been; only the fuzzers themselves get its main().
if(WEFT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "WEFT_FUZZ needs clang, which brings libFuzzer (preset fuzz)")
  endif()
  target_compile_options(weft_public_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(weft_private_flags INTERFACE)
target_link_libraries(weft_private_flags INTERFACE weft_public_flags)
target_include_directories(weft_private_flags INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_options(weft_private_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-fno-omit-frame-pointer>"
  "$<$<BOOL:${WEFT_WERROR}>:$<$<COMPILE_LANGUAGE:CXX>:-Werror>>")
# Messages name src/sched/park.cpp, wherever the tree lay when it was built.
target_compile_options(weft_private_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>")
# Landing pads for indirect branches (IBT); return addresses stay unprotected, because a
# switch of stacks is exactly what a shadow stack forbids.
if(WEFT_ARCH STREQUAL "x86_64" AND WEFT_HAS_CF_PROTECTION)
  target_compile_options(weft_private_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:-fcf-protection=branch>")
endif()
