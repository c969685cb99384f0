// poll_desc.hpp: what weft knows of one descriptor of the kernel's that goroutines wait for.
//
// It lies in type-stable memory, since the poller may come with an event after the descriptor was closed and the record has a new
// owner. The event carries the record's generation of the time when the descriptor was added: an old one is dropped.
//
// Who may touch: `fd`, `link` and `generation` the owner (io/descriptor.hpp); the rest anybody.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/futex.hpp"
#include "rt/poll_word.hpp"
#include "rt/timer_heap.hpp"

namespace weft::rt {

struct poll_waiter;  // sched/netpoll.hpp
using poll_word = basic_poll_word<os::futex_atomics, poll_waiter>;

enum class poll_for : std::uint8_t { reading, writing };

struct alignas(64) poll_desc {
  struct side {
    poll_word word;
    std::atomic<std::int64_t> deadline_ns{kNever};  // <= now: every wait ends at once
  };
  side reading;
  side writing;
  std::atomic<std::uint32_t> revision{0};  // counts closings and moves of a deadline
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::uint32_t> npoller{0};  // which poller it was added to (sched/netpoll.cpp)
  std::atomic<bool> is_closing{false};
  std::atomic<bool> is_unusual{false};  // os::poll_event; stays
  int fd = -1;
  poll_desc* link = nullptr;

  side& of(poll_for what) noexcept { return what == poll_for::reading ? reading : writing; }

  // Asks for what from_cookie() and telling touch.
  static void prefetch(std::uint64_t cookie) noexcept { __builtin_prefetch(place_of(cookie), 1); }

  // What the kernel hands back with each event: where the record lies, and its generation.
  static constexpr unsigned kGenerationBits = 22;
  std::uint64_t cookie() const noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(this) / alignof(poll_desc);
    return static_cast<std::uint64_t>(place) << kGenerationBits |
           (generation.load(std::memory_order_relaxed) & kGenerationMask);  // the owner asks
  }
  // The record, or null if it has a new owner by now. Asked without a lock: it may get one right after. Then that one is told of
  // something that has not happened to it, and looks in vain.
  static poll_desc* from_cookie(std::uint64_t cookie) noexcept {
    poll_desc* const desc = place_of(cookie);
    // acquire: with the fetch_add of the new owner, whose record it is then
    const std::uint32_t now = desc->generation.load(std::memory_order_acquire) & kGenerationMask;
    return now == (cookie & kGenerationMask) ? desc : nullptr;
  }

 private:
  static constexpr std::uint32_t kGenerationMask = (std::uint32_t{1} << kGenerationBits) - 1;

  static poll_desc* place_of(std::uint64_t cookie) noexcept {
    return reinterpret_cast<poll_desc*>(static_cast<std::uintptr_t>(cookie >> kGenerationBits) *
                                        alignof(poll_desc));
  }
};
static_assert(48 - 6 + poll_desc::kGenerationBits <= 64, "addresses have 48 bits");

// For a descriptor that was just opened; null: no memory. And back, once nobody uses it and the poller has forgotten the fd.
poll_desc* take_poll_desc(int fd) noexcept;
void release_poll_desc(poll_desc* desc) noexcept;

}  // namespace weft::rt
