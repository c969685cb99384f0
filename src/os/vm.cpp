// vm.cpp: see vm.hpp.
//
// Mapping calls go through libc, where sanitizers and Valgrind keep their books; descriptors through syscall(), because libc's
// write() may be somebody's that parks the goroutine, or a sanitizer's that would look at the guard itself.

#include "os/vm.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>

#include "os/line_reader.hpp"
#include "os/system_call.hpp"

namespace weft::os {
namespace {

constexpr int kMadvGuardInstall =
    102;  // MADV_GUARD_INSTALL; libc headers of today do not have it yet
constexpr int kMadvPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14; nor this, some of them

int as_error(int rc) noexcept { return rc == 0 ? 0 : errno; }

std::byte* align_up(std::byte* p, std::size_t align) noexcept {
  return p + (-reinterpret_cast<std::uintptr_t>(p) & (align - 1));
}

// Cuts [got, got + bytes + slack) down to the aligned stretch inside it. Unmapping the rim of a mapping of our own does not fail
// for lack of VMAs (it makes none), so nothing is checked.
std::byte* trim_to_alignment(std::byte* got, std::size_t bytes, std::size_t slack,
                             std::size_t align) noexcept {
  std::byte* const base = align_up(got, align);
  const auto front = static_cast<std::size_t>(base - got);
  if (front != 0) call(site::reserve_trim, ::munmap, got, front);
  if (slack != front) call(site::reserve_trim, ::munmap, base + bytes, slack - front);
  return base;
}

// The number a /proc file starts with, or `otherwise`.
std::size_t read_number(const char* path, std::size_t otherwise) noexcept {
  char buffer[64];
  const auto text = read_small_file(path, buffer);
  if (!text || text->empty() || text->front() < '0' || text->front() > '9') return otherwise;
  std::size_t value = 0;
  for (char c : *text) {
    if (c < '0' || c > '9') break;
    value = value * 10 + static_cast<std::size_t>(c - '0');
  }
  return value;
}

}  // namespace

// No system call: libc answers from the auxiliary vector. No function-local static, whose first use would take libstdc++'s lock.
std::size_t page_size() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

mapping reserve(std::size_t bytes, std::size_t align) noexcept {
  const std::size_t slack = align > page_size() ? align - page_size() : 0;
  void* const got = call(site::reserve_map, ::mmap, nullptr, bytes + slack, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return {nullptr, errno};
  std::byte* const base = trim_to_alignment(static_cast<std::byte*>(got), bytes, slack, align);

  // Huge pages would commit 2 MiB where a goroutine needs one page. Kernels built without them answer EINVAL: as good.
  call(site::reserve_no_huge, ::madvise, base, bytes, MADV_NOHUGEPAGE);
  call(site::reserve_unlock, ::munlock, base,
       bytes);  // else opening it under mlockall(MCL_FUTURE) would fill all of it
  if (const int error = protect_read_write(base, bytes); error != 0) {
    ::munmap(base, bytes);
    return {nullptr, error};
  }
  return {base, 0};
}

int unmap(std::byte* base, std::size_t bytes) noexcept { return as_error(::munmap(base, bytes)); }

int install_guard(std::byte* base, std::size_t bytes) noexcept {
  int rc;
  do
    rc = call(site::guard_install, ::madvise, base, bytes,
              kMadvGuardInstall);  // a repeated install is harmless
  while (rc != 0 && errno == EINTR);
  return as_error(rc);
}

int protect_none(std::byte* base, std::size_t bytes) noexcept {
  return as_error(call(site::guard_protect, ::mprotect, base, bytes, PROT_NONE));
}

int protect_read_write(std::byte* base, std::size_t bytes) noexcept {
  return as_error(call(site::reserve_open, ::mprotect, base, bytes, PROT_READ | PROT_WRITE));
}

void populate(std::byte* addr) noexcept {
  static constinit std::atomic<bool> is_unknown{false};    // to this kernel
  if (is_unknown.load(std::memory_order_relaxed)) return;  // a matter of speed only
  const auto page = reinterpret_cast<std::uintptr_t>(addr) & ~(page_size() - 1);
  if (call(site::populate, ::madvise, reinterpret_cast<void*>(page), page_size(),
           kMadvPopulateWrite) != 0 &&
      errno == EINVAL)
    is_unknown.store(true, std::memory_order_relaxed);
}

int discard(std::byte* base, std::size_t bytes) noexcept {
  return as_error(call(site::discard, ::madvise, base, bytes, MADV_DONTNEED));
}

std::size_t resident(const std::byte* base, std::size_t bytes) noexcept {
  constexpr std::size_t kPages =
      512;  // one page table's worth at a time; the vector is on our stack
  unsigned char is_in[kPages];
  const std::size_t page = page_size();
  std::size_t npages = 0;
  for (std::size_t done = 0; done < bytes; done += kPages * page) {
    const std::size_t step = bytes - done < kPages * page ? bytes - done : kPages * page;
    if (call(site::resident, ::mincore, const_cast<std::byte*>(base) + done, step, is_in) != 0)
      return 0;
    for (std::size_t i = 0; i < step / page; ++i) npages += is_in[i] & 1u;
  }
  return npages * page;
}

readable probe_readable(const std::byte* addr) noexcept {
  int fds[2];
  if (call(site::probe_pipe, ::syscall, SYS_pipe2, fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return readable::unknown;
  long n;
  do n = call(site::probe_write, ::syscall, SYS_write, fds[1], addr, std::size_t{1});
  while (n < 0 && errno == EINTR);
  const readable answer = n == 1            ? readable::yes
                          : errno == EFAULT ? readable::no
                                            : readable::unknown;
  ::syscall(SYS_close, fds[0]);
  ::syscall(SYS_close, fds[1]);
  return answer;
}

std::size_t address_space_limit() noexcept {
  rlimit limit{};
  if (call(site::limit_of_memory, ::getrlimit, RLIMIT_AS, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  return static_cast<std::size_t>(limit.rlim_cur);
}

bool is_overcommit_strict() noexcept {
  return read_number("/proc/sys/vm/overcommit_memory", 0) == 2;
}

std::size_t max_map_count() noexcept { return read_number("/proc/sys/vm/max_map_count", 65530); }

}  // namespace weft::os
