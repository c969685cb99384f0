// host.cpp: what the protocols need from the layers that are not linked into a model.
#include <cstdlib>
#include <cstring>

#include "arch/context.hpp"
#include "os/growable_region.hpp"
#include "os/lock_rank.hpp"

#if defined(__x86_64__)
#include "arch/x86_64/entry.cpp"  // NOLINT: weft_context_entry
#elif defined(__aarch64__)
#include "arch/aarch64/entry.cpp"  // NOLINT
#endif

// Named by weft_context_entry's unwind table. No exception leaves a model's thread.
extern "C" [[gnu::visibility("hidden")]] int weft_entry_personality() { std::abort(); }

// The order of locks is checked per thread of the machine, and all threads of a model are one.
namespace weft::os {
void check_lock_order(lock_rank, const void*) noexcept {}
void count_lock(lock_rank, const void*) noexcept {}
void uncount_lock(lock_rank) noexcept {}

// A heap asks for memory in each execution; the kernel would take longer than all the rest. Each gets the next of a few places.
int growable_region::resize(std::size_t bytes) noexcept {
  constexpr std::size_t kPlaces = 8;
  constexpr std::size_t kBytes = 16384;
  alignas(4096) static std::byte places[kPlaces][kBytes];
  static std::size_t next = 0;
  if (bytes > kBytes) return 12;  // ENOMEM
  if (bytes != 0 && base_ == nullptr) {
    base_ = places[next++ % kPlaces];
    std::memset(base_, 0, bytes);
  }
  if (bytes == 0) base_ = nullptr;
  bytes_ = bytes;
  return 0;
}
}  // namespace weft::os
