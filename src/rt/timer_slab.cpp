// timer_slab.cpp: see timer_slab.hpp.
#include "rt/timer_slab.hpp"

#include <cstddef>
#include <new>

#include "arch/sanitizer.hpp"
#include "base/check.hpp"
#include "os/lock.hpp"
#include "os/vm.hpp"

namespace weft::rt {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

struct {
  os::lock lock;
  timer* free_first = nullptr;
  std::byte* fresh = nullptr;  // of the newest chunk, what was never used
  std::byte* fresh_end = nullptr;
} slab;

// A fresh node, so that pages are touched only when they are needed. Under the lock.
timer* carve() noexcept {
  if (slab.fresh == slab.fresh_end) {
    std::byte* const memory = os::reserve(kChunkBytes, kChunkBytes).base;
    if (memory == nullptr) return nullptr;
    arch::register_root(memory, kChunkBytes);  // timers hold what their callbacks need
    slab.fresh = memory;
    slab.fresh_end = memory + kChunkBytes;
  }
  void* const place = slab.fresh;
  slab.fresh += sizeof(timer);
  return ::new (place) timer;
}
static_assert(kChunkBytes % sizeof(timer) == 0);

}  // namespace

timer_chain take_free_timers(std::uint32_t want) noexcept {
  os::lock_guard guard(slab.lock);
  timer_chain chain;
  while (chain.count < want) {
    timer* t = slab.free_first;
    if (t != nullptr) {
      slab.free_first = t->link;
    } else {
      t = carve();
      if (t == nullptr) break;
    }
    t->link = chain.first;
    chain.first = t;
    ++chain.count;
  }
  return chain;
}

void put_free_timers(timer_chain chain) noexcept {
  if (chain.first == nullptr) return;
  timer* last = nullptr;
  for (timer* t = chain.first; t != nullptr; t = t->link) {
    WEFT_CHECK(t->state() == timer_state::idle, "a timer is given back that a heap still has");
    t->fire = nullptr;
    t->arg = nullptr;  // what it pointed to is nobody's any more: a leak shall be seen
    t->release = nullptr;
    last = t;
  }
  os::lock_guard guard(slab.lock);
  last->link = slab.free_first;
  slab.free_first = chain.first;
}

timer* take_timer() noexcept {
  timer* const t = take_free_timers(1).first;
  if (t != nullptr) t->link = nullptr;
  return t;
}

void release_timer(timer* t) noexcept {
  t->link = nullptr;
  put_free_timers({t, 1});
}

}  // namespace weft::rt
