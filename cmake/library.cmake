# library.cmake: the layers as one library, and what stands on it and needs more as libraries beside it.
#
#   weft         static, or shared with BUILD_SHARED_LIBS=ON; this is what is installed
#   weft_other   the other kind, made of the same objects, built only when something asks for it
#
# Inside the build both kinds have a steady name: weft::static and weft::shared. Users say weft::weft. weft_tls (src/net/tls) has the same two kinds:
# weft::tls for users, weft::tls_static and weft::tls_shared here.

# What is the same for all of them. name: what the file is called.
function(weft_make_library_of objects target kind name)
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:include>")
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(kind STREQUAL "SHARED")
    # Symbols are looked up when the library is loaded: a look-up takes the dynamic linker's locks, and must not happen inside
    # the runtime.
    target_link_options(${target} PRIVATE LINKER:-z,now)
    # dlclose() unloads nothing: handlers and threads point into it (src/os/keep_loaded.hpp does the same for the static library).
    target_link_options(${target} PRIVATE LINKER:-z,nodelete)
    # Nothing but weft's own names is exported.
    set(exports "${PROJECT_SOURCE_DIR}/cmake/exports.map")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}")
  endif()
endfunction()

function(weft_make_library target kind)
  get_property(layers GLOBAL PROPERTY WEFT_LAYERS)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  weft_make_library_of("${objects}" ${target} ${kind} weft)
  target_link_libraries(${target} PUBLIC Threads::Threads weft_public_flags)
endfunction()

# Sets kind and other_kind: what is built and installed, and what is built when something asks for it.
macro(weft_choose_kinds)
  if(BUILD_SHARED_LIBS)
    set(kind SHARED)
    set(other_kind STATIC)
  else()
    set(kind STATIC)
    set(other_kind SHARED)
  endif()
endmacro()

function(weft_build_on_demand target)
  set_target_properties(${target} PROPERTIES
    EXCLUDE_FROM_ALL ON
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/other"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/other")
endfunction()

function(weft_add_library)
  weft_choose_kinds()
  weft_make_library(weft ${kind})
  weft_make_library(weft_other ${other_kind})
  weft_build_on_demand(weft_other)
  add_library(weft::weft ALIAS weft)
  string(TOLOWER "weft::${kind}" kind_name)
  string(TOLOWER "weft::${other_kind}" other_name)
  add_library(${kind_name} ALIAS weft)
  add_library(${other_name} ALIAS weft_other)
endfunction()
