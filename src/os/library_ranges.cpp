// library_ranges.cpp: see library_ranges.hpp.
#include "os/library_ranges.hpp"

#include <elf.h>
#include <link.h>

#include <atomic>

#include "os/lock.hpp"

namespace weft::os {
namespace {

struct range {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
};

// A program has five to eight; what does not fit is stopped in like user code.
constexpr std::size_t kMostRanges = 24;

struct range_table {
  range ranges[kMostRanges];
  std::size_t size = 0;

  void add(range more) noexcept {
    if (size < kMostRanges && more.low < more.high) ranges[size++] = more;
  }
};

constinit lock<lock_rank::libraries> finding;
constinit range_table table;  // written once, under `finding`, before...
constinit std::atomic<const range_table*> found{nullptr};  // ...this says so (seq_cst)

// Names without their version: "libc" is libc.so.6, libc-2.31.so and libc.musl-x86_64.so.1, and not libcurl.so.
constexpr std::string_view kNames[] = {"libc",
                                       "ld-linux",
                                       "ld-linux-x86-64",
                                       "ld-linux-aarch64",
                                       "ld-musl",
                                       "ld",
                                       "libstdc++",
                                       "libc++",
                                       "libc++abi",
                                       "libunwind",
                                       "libgcc_s",
                                       "libpthread",
                                       "libm",
                                       "libmvec",
                                       "libdl",
                                       "librt",
                                       "libresolv",
                                       "libatomic",
                                       "libasan",
                                       "libtsan",
                                       "libubsan",
                                       "liblsan",
                                       "libjemalloc",
                                       "libtcmalloc",
                                       "libmimalloc",
                                       "libtcmalloc_minimal"};

constexpr bool ends_name(std::string_view rest) noexcept {
  return rest.starts_with(".so") || rest.starts_with(".musl-") ||
         (rest.size() > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9');
}

int add_segments(dl_phdr_info* module, std::size_t, void* into) {
  if (module->dlpi_name == nullptr || !is_system_library(module->dlpi_name)) return 0;
  for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t low = module->dlpi_addr + segment.p_vaddr;
    static_cast<range_table*>(into)->add({low, low + segment.p_memsz});
  }
  return 0;
}

}  // namespace

bool is_system_library(std::string_view path) noexcept {
  const std::string_view file = path.substr(path.rfind('/') + 1);  // npos + 1 == 0
  if (file.starts_with("ld-musl-")) return true;                   // the processor's name follows
  for (const std::string_view name : kNames) {
    if (file.starts_with(name) && ends_name(file.substr(name.size()))) return true;
  }
  return false;
}

void find_system_libraries() noexcept {
  const lock_guard hold(finding);
  if (found.load() != nullptr) return;
  ::dl_iterate_phdr(&add_segments, &table);
  found.store(&table);
}

bool is_in_system_library(const void* pc) noexcept {
  const range_table* const known = found.load();
  if (known == nullptr) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(pc);
  for (std::size_t i = 0; i < known->size; ++i) {
    const range& r = known->ranges[i];
    if (address - r.low < r.high - r.low) return true;  // below low it wraps, and is too much
  }
  return false;
}

std::size_t nsystem_ranges() noexcept {
  const range_table* const known = found.load();
  return known == nullptr ? 0 : known->size;
}

}  // namespace weft::os
