// vm.hpp: address space and pages, as thin wrappers over mmap, mprotect, madvise and mincore.
//
// Why wrappers: errors come back by value, because `errno`'s address must not be cached across a switch of stacks, and no system
// header reaches the callers. Nothing here allocates or locks; all of it is async-signal-safe.
//
// Reserving takes two steps. First the range is mapped without access: in that state it may be trimmed to its alignment, is not
// charged under strict overcommit, and mlockall(MCL_FUTURE) does not fill it with pages. Then it is unlocked and opened for
// reading and writing: the whole range stays one VMA.

#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::os {

struct mapping {
  std::byte* base;  // nullptr on failure
  int error;        // errno value
};

std::size_t page_size() noexcept;

// `bytes` of readable and writable, zero, unreserved memory whose address is a multiple of `align`, without huge pages.
// Both are powers of two and at least a page. A retry with a smaller size is the caller's.
mapping reserve(std::size_t bytes, std::size_t align) noexcept;
// Gives address space back. Only for what reserve() returned.
int unmap(std::byte* base, std::size_t bytes) noexcept;

// The range faults from now on, by a marker in the page table: no new VMA. Linux 6.13; EINVAL from older kernels.
int install_guard(std::byte* base, std::size_t bytes) noexcept;
// The range faults from now on, by its own VMA. ENOMEM when vm.max_map_count is reached.
int protect_none(std::byte* base, std::size_t bytes) noexcept;
// Undoes protect_none().
int protect_read_write(std::byte* base, std::size_t bytes) noexcept;

// The page that holds this address is there from now on, as if it had been written to; its content stays. A fault costs twice as much as the
// call (3.0 us against 1.5 on a virtual machine, page and all). What cannot be done now is done by the first write: nothing is reported.
void populate(std::byte* addr) noexcept;

// Gives the pages back; they read as zero afterwards. Guards installed inside the range stay.
int discard(std::byte* base, std::size_t bytes) noexcept;
// How many bytes of the page-aligned range are resident. 0 when the kernel does not say.
std::size_t resident(const std::byte* base, std::size_t bytes) noexcept;

// Whether the kernel can read this byte on our behalf: write(2) from it into a pipe, where a guard answers EFAULT. A plain load
// would kill us; trusting madvise's return value would not do, since emulators answer 0 and install nothing.
enum class readable : std::uint8_t {
  yes,
  no,
  unknown
};  // unknown: no descriptor left for the pipe
readable probe_readable(const std::byte* addr) noexcept;

// The soft RLIMIT_AS, or SIZE_MAX when there is none.
std::size_t address_space_limit() noexcept;
// vm.overcommit_memory is 2: every private writable page of address space is charged, MAP_NORESERVE or not.
bool is_overcommit_strict() noexcept;
// vm.max_map_count, or the kernel's default of 65530 when /proc does not say.
std::size_t max_map_count() noexcept;

}  // namespace weft::os
