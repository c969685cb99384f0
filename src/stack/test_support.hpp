// test_support.hpp: how the tests of this layer look at the process from outside. Test code only.

#pragma once

#include <cstddef>
#include <cstdio>

#include "os/vm.hpp"
#include "stack/stack.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_TEST_SANITIZED 1
#endif
#endif

namespace weft::stack::test {

#if defined(WEFT_TEST_SANITIZED)
inline constexpr bool kIsSanitized =
    true;  // shadow memory spoils RLIMIT_AS and RSS figures, and the handler of faults is not ours
#else
inline constexpr bool kIsSanitized = false;
#endif

inline bool does_fault(const std::byte* addr) {
  return os::probe_readable(addr) == os::readable::no;
}

// Both ends of the guard fault, and what lies directly above does not.
inline bool is_guarded(const head* s) {
  return does_fault(s->slot()) && does_fault(s->lo - 1) &&
         os::probe_readable(s->lo) == os::readable::yes;
}

// qemu-user answers 0 to a guard's madvise and installs nothing. RLIMIT_AS then hits the emulator itself.
inline bool is_emulated() {
  const os::mapping m = os::reserve(os::page_size(), os::page_size());
  const bool is_lie = os::install_guard(m.base, os::page_size()) == 0 && !does_fault(m.base);
  os::unmap(m.base, os::page_size());
  return is_lie;
}

inline std::size_t count_vmas() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  std::size_t n = 0;
  for (int c; (c = std::fgetc(maps)) != EOF;) n += c == '\n';
  std::fclose(maps);
  return n;
}

inline std::size_t resident_bytes() {
  std::FILE* const statm = std::fopen("/proc/self/statm", "r");
  std::size_t total = 0, npages = 0;
  if (std::fscanf(statm, "%zu %zu", &total, &npages) != 2) npages = 0;
  std::fclose(statm);
  return npages * os::page_size();
}

// A pile of stacks that goes back to the pool at the end of the scope.
class pile {
 public:
  pile() = default;
  pile(const pile&) = delete;
  pile& operator=(const pile&) = delete;
  ~pile() { release_all(); }

  // Adds one; returns what allocate() said.
  result add(std::size_t bytes) {
    const result r = allocate(bytes);
    if (r.stack != nullptr) {
      r.stack->next = first_;  // ours while we own the stack
      first_ = r.stack;
      ++n_;
    }
    return r;
  }
  bool add_many(std::size_t n, std::size_t bytes) {
    while (n-- > 0) {
      if (add(bytes).stack == nullptr) return false;
    }
    return true;
  }
  void release_all() {
    while (first_ != nullptr) {
      head* const s = first_;
      first_ = s->next;
      release(s);
    }
    n_ = 0;
  }
  head* first() const { return first_; }
  std::size_t size() const { return n_; }

 private:
  head* first_ = nullptr;
  std::size_t n_ = 0;
};

}  // namespace weft::stack::test
