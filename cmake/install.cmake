# install.cmake: headers, library, CMake package and pkg-config file. Nothing installed holds an absolute path,
# so the tree may be moved; tests/install moves it.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(weft_add_install_rules)
  if(NOT WEFT_INSTALL)
    return()
  endif()
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")

  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  install(TARGETS weft weft_public_flags EXPORT weftTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT weftTargets NAMESPACE weft:: DESTINATION "${package_dir}")
  if(TARGET weft_tls)
    # A file of its own: it is read only where OpenSSL is found.
    install(TARGETS weft_tls EXPORT weftTlsTargets
      LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT weftTlsTargets NAMESPACE weft:: DESTINATION "${package_dir}")
  endif()

  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/weftConfig.cmake" INSTALL_DESTINATION "${package_dir}")
  # Before 1.0 every minor version may change the interface.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
    DESTINATION "${package_dir}")

  # pkg-config finds the prefix from where weft.pc lies: as many steps up as the folder is deep.
  file(RELATIVE_PATH WEFT_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" WEFT_PC_PREFIX "${WEFT_PC_PREFIX}")
  list(JOIN WEFT_PUBLIC_COMPILE_OPTIONS " " WEFT_PC_CFLAGS)
  if(NOT WEFT_SANITIZE STREQUAL "none")
    string(APPEND WEFT_PC_CFLAGS " -fsanitize=${WEFT_SANITIZE}")
    set(WEFT_PC_LIBS " -fsanitize=${WEFT_SANITIZE}")
  endif()
  if(WEFT_DEBUG_CHECKS)
    string(APPEND WEFT_PC_CFLAGS " -DWEFT_DEBUG_CHECKS=1")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

  if(TARGET weft_tls)
    # A program linked with the static library needs OpenSSL itself.
    if(BUILD_SHARED_LIBS)
      set(WEFT_PC_OPENSSL_PRIVATE "Requires.private: libssl libcrypto")
    else()
      set(WEFT_PC_OPENSSL " libssl libcrypto")
    endif()
    configure_file("${PROJECT_SOURCE_DIR}/cmake/weft-tls.pc.in" "${PROJECT_BINARY_DIR}/weft-tls.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/weft-tls.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endif()
endfunction()
