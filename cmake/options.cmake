# options.cmake: every switch of the build. As a part of another project weft builds its library and nothing else.

option(WEFT_BUILD_TESTS "Build weft's tests" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_BENCH "Build weft's benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_EXAMPLES "Build weft's examples" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_INSTALL "Add weft's install rules" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_WERROR "Treat warnings in weft's own code as errors" OFF)
option(WEFT_DEBUG_CHECKS "Check the runtime's invariants while it runs (slower)" OFF)
option(WEFT_MODEL "Build only the models of tests/model" OFF)
set(WEFT_SANITIZE "none" CACHE STRING
  "Sanitizers to build with: none, or a list of address, thread, undefined separated by commas")
option(WEFT_FUZZ "Build the fuzzers of tests/fuzz (target weft_fuzz); needs clang" OFF)
option(BUILD_SHARED_LIBS "Build weft as a shared library" OFF)
set(WEFT_TLS "AUTO" CACHE STRING "Build weft::tls, which needs OpenSSL 3: ON, OFF, or AUTO: where that is found")
set_property(CACHE WEFT_TLS PROPERTY STRINGS AUTO ON OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
