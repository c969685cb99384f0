# aarch64.cmake: toolchain file for a 64-bit ARM build on another machine; the tests run under qemu's user emulation.
# Debian packages: g++-aarch64-linux-gnu qemu-user.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

# Debian's cross libraries; elsewhere the compiler's own root.
set(WEFT_AARCH64_SYSROOT "/usr/aarch64-linux-gnu" CACHE PATH
  "Where the emulator finds the target's ld.so and libraries")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${WEFT_AARCH64_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH "${WEFT_AARCH64_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
