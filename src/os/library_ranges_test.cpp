#include "os/library_ranges.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

namespace weft::os {
namespace {

bool is_static_program() { return ::dlsym(RTLD_DEFAULT, "__tls_get_addr") == nullptr; }

// A function of a library that is loaded, null if there is none by that name.
const void* function_of(const char* library, const char* name) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  const void* const found = ::dlsym(handle, name);
  ::dlclose(handle);
  return found;
}

TEST(system_library, goes_by_the_name_of_the_file) {
  for (const std::string_view path : {"/lib/x86_64-linux-gnu/libc.so.6",
                                      "libc.so.6",
                                      "/lib/libc-2.31.so",
                                      "/lib/libc.musl-x86_64.so.1",
                                      "/lib/ld-musl-aarch64.so.1",
                                      "/lib64/ld-linux-x86-64.so.2",
                                      "/lib/ld-linux-aarch64.so.1",
                                      "/lib/ld-2.31.so",
                                      "/usr/lib/libstdc++.so.6",
                                      "/usr/lib/libstdc++.so.6.0.30",
                                      "/usr/lib/libc++.so.1",
                                      "/usr/lib/libc++abi.so.1",
                                      "/lib/libgcc_s.so.1",
                                      "/lib/libpthread.so.0",
                                      "/lib/libpthread-2.31.so",
                                      "/lib/libm.so.6",
                                      "/lib/libdl.so.2",
                                      "/lib/libunwind.so.8",
                                      "/usr/lib/libjemalloc.so.2",
                                      "/usr/lib/libtcmalloc_minimal.so.4",
                                      "/usr/lib/libasan.so.8"})
    EXPECT_TRUE(is_system_library(path)) << path;
  for (const std::string_view path :
       {"", "/", "linux-vdso.so.1", "/usr/bin/libc", "/usr/lib/libcurl.so.4",
        "/usr/lib/libcap.so.2", "/usr/lib/libmysql.so.1", "/opt/libc.so.6/libfoo.so",
        "/usr/lib/libweft.so.0", "/usr/lib/libc-client.so", "/usr/lib/libm17n.so.0",
        "/usr/lib/mylibc.so.6", "ld", "libc-", "/usr/lib/libdlib.so.1", "/usr/lib/librtmp.so.1"})
    EXPECT_FALSE(is_system_library(path)) << path;
}

TEST(library_ranges, hold_the_code_of_the_c_and_cpp_libraries) {
  find_system_libraries();
  if (is_static_program()) {
    EXPECT_EQ(nsystem_ranges(), 0U);
    GTEST_SKIP() << "a static program has no libraries";
  }
  const void* const strtoul_at = function_of("libc.so.6", "strtoul");
  const void* const terminate_at = function_of("libstdc++.so.6", "_ZSt9terminatev");
  const void* const unwind_at = function_of("libgcc_s.so.1", "_Unwind_GetIP");
  const void* const linker_at = ::dlsym(RTLD_DEFAULT, "_dl_allocate_tls");
  EXPECT_GE(nsystem_ranges(), 3U);
  int nfound = 0;
  for (const void* at : {strtoul_at, terminate_at, unwind_at, linker_at}) {
    if (at == nullptr) continue;
    ++nfound;
    EXPECT_TRUE(is_in_system_library(at)) << at;
  }
  EXPECT_GE(nfound, 3);
}

void of_the_program() {}
int data_of_the_program = 1;

TEST(library_ranges, hold_nothing_of_the_program) {
  find_system_libraries();
  const auto heap = std::make_unique<int>(1);
  for (const void* at :
       {static_cast<const void*>(nullptr), reinterpret_cast<const void*>(&of_the_program),
        static_cast<const void*>(&data_of_the_program), static_cast<const void*>(heap.get()),
        reinterpret_cast<const void*>(~std::uintptr_t{0})})
    EXPECT_FALSE(is_in_system_library(at)) << at;
}

struct bounds {
  std::uintptr_t header = 0;
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
};

// Asked again, in another way: the segment of the C library that is executable.
bounds code_of_libc() {
  bounds found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* into) {
        if (!std::string_view(module->dlpi_name).ends_with("/libc.so.6")) return 0;
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const auto& segment = module->dlpi_phdr[i];
          const std::uintptr_t low = module->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            *static_cast<bounds*>(into) = {module->dlpi_addr, low, low + segment.p_memsz};
        }
        return 1;
      },
      &found);
  return found;
}

TEST(library_ranges, end_where_the_code_ends) {
  find_system_libraries();
  const bounds libc = code_of_libc();
  if (libc.low == 0) GTEST_SKIP() << "no libc.so.6 here";
  const auto is_in = [](std::uintptr_t at) {
    return is_in_system_library(reinterpret_cast<const void*>(at));
  };
  EXPECT_TRUE(is_in(libc.low));
  EXPECT_TRUE(is_in(libc.high - 1));
  EXPECT_FALSE(is_in(libc.low - 1));
  // Mapped, but no code, where the linker has kept the two apart.
  EXPECT_EQ(is_in(libc.header), libc.header == libc.low);
  EXPECT_FALSE(is_in(libc.high));
}

TEST(library_ranges, are_looked_for_once) {
  find_system_libraries();
  const std::size_t n = nsystem_ranges();
  find_system_libraries();
  EXPECT_EQ(nsystem_ranges(), n);
}

}  // namespace
}  // namespace weft::os
