// g.hpp: G, a goroutine.
//
// A G lies in type-stable slab memory (g_slab.hpp) from `go` until it is used again, never in its stack, and never moves;
// whoever looks at one that is not his compares the goid before and after. It has three cache lines: what a switch
// touches, what starting and ending touch, and the closure, so that a million queued goroutines cost 192 bytes each.
// What only a goroutine that has begun needs (g_cold) lies in the top page of its stack.
//
// A proxy is the G of a thread that is not weft's: it never has a stack or a P, and waits on a note in place of its closure.
//
// Those of a bubble (rt/bubble.hpp) are told from others by `place`, the byte that whoever wakes somebody tests anyway.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "arch/context.hpp"
#include "arch/exception_state.hpp"
#include "arch/sanitizer.hpp"
#include "base/atomics.hpp"
#include "base/check.hpp"
#include "base/list.hpp"
#include "os/note.hpp"
#include "rt/g_word.hpp"
#include "rt/wait_reason.hpp"
#include "stack/stack.hpp"

namespace weft::rt {

struct M;
struct g_extras;  // name and labels (sched/extras.hpp)
struct g_locals;  // goroutine-local values (sched/locals.hpp)

// Fields of a goroutine that has a stack, in that stack's top page.
struct g_cold {
  arch::exception_state exceptions;  // of this goroutine, while it does not run
  const void* waits_on = nullptr;    // the object, while it waits
  std::int64_t waits_since_ns = 0;   // by the coarse clock
  M* last_m = nullptr;               // kept in forced-migration mode only
  std::int64_t cpu_ns = 0;           // WEFT_DEBUG=cputime=1: used until it last stopped running
  alignas(16) std::byte unwind[32];  // the exception object of exit_goroutine()
  [[no_unique_address]] arch::fiber fiber;
};

// What must be seen to when a goroutine goes on: mostly nothing, which is one compare.
struct alignas(2) resume_notes {
  bool has_exceptions = false;  // cold().exceptions must be restored
  std::uint8_t nblocking = 0;   // depth of blocking(): its status is `syscall` while it runs

  bool is_clear() const noexcept { return std::bit_cast<std::uint16_t>(*this) == 0; }
};

struct alignas(64) G {
  // --- switched: the first line ---
  g_word status_word{g_status::dead};
  wait_reason why = wait_reason::none;
  base::relaxed<std::uint8_t> place = kOrdinary;  // who looks at others may look at it
  resume_notes resume;
  G* link =
      nullptr;  // in a run queue, a batch, a free list, or a list of those who wait (sync/waiting.hpp)
  arch::context context{};
  arch::fp_control fp{};
  stack::head* stack = nullptr;
  M* bound_m = nullptr;  // must run there: locked to the thread, or waits there for a P

  // --- started and ended: the second line ---
  std::atomic<std::uint64_t> goid{0};            // 0: nobody
  std::atomic<M*> m{nullptr};                    // the M it runs on
  void (*entry)(void*) = nullptr;                // null once it has begun
  base::relaxed<const void*> made_at = nullptr;  // return address of the go() call
  base::relaxed<std::uint64_t> made_by = 0;      // goid
  g_extras* extras = nullptr;
  g_locals* locals = nullptr;
  base::relaxed<std::uint32_t> epoch = 0;  // of the runtime it belongs to
  std::uint16_t nlocks = 0;                // depth of lock_os_thread
  std::atomic<std::uint8_t> manners{
      0};                           // kHabit, kBlocksLong, kNoPreempt times the depth of no_preempt
  std::uint8_t stack_bits : 7 = 0;  // log2 of the stack it wants; 0: the default
  bool is_exiting : 1 = false;      // exit_goroutine() is unwinding it

  // --- closure: the third line ---
  alignas(16) std::byte closure[64];

  // Values of `place`: none of the two below, the number of its bubble.
  static constexpr std::uint8_t kOrdinary = 0;
  static constexpr std::uint8_t kProxy = 1;
  // Beside that number: it is durably blocked, and whoever wakes it counts it as active again.
  static constexpr std::uint8_t kDurable = 0x80;

  bool is_proxy() const noexcept { return place == kProxy; }
  // The number of its bubble; 0: it is in none.
  std::uint8_t bubble() const noexcept {
    const std::uint8_t number = place & ~kDurable;
    return number > kProxy ? number : kOrdinary;
  }

  // It was found asleep in the kernel with a P, and so leaves the runtime without one. Written by sysmon.
  static constexpr std::uint8_t kHabit = 1;
  // Its last blocking() was long enough for its P to be taken: the next one gives it away at once.
  static constexpr std::uint8_t kBlocksLong = 2;
  static constexpr std::uint8_t kNoPreempt = 4;
  // Of a plain thread's proxy, instead: nothing but its waker ends its wait.
  static constexpr std::uint8_t kMayWaitForEver = 1;

  // The first two are a matter of speed only. Relaxed: they guard nothing.
  bool has_manner(std::uint8_t which) const noexcept {
    return (manners.load(std::memory_order_relaxed) & which) != 0;
  }
  void set_manner(std::uint8_t which, bool is_so) noexcept {
    if (has_manner(which) == is_so) return;
    if (is_so) {
      manners.fetch_or(which, std::memory_order_relaxed);  // guards nothing
    } else {
      manners.fetch_and(static_cast<std::uint8_t>(~which), std::memory_order_relaxed);  // the same
    }
  }
  bool has_habit() const noexcept { return has_manner(kHabit); }
  // Asked by whoever wants its P, while the request stands: what it says is then true, or the request fails.
  // Relaxed: it changes inside the bracket, and [detach.leave] brings it.
  bool is_preemptible() const noexcept {
    return manners.load(std::memory_order_relaxed) < kNoPreempt;
  }

  g_status status() const noexcept { return status_word.status(); }
  // Only sched calls it.
  void become(g_status next) noexcept { status_word.become(next); }

  g_cold& cold() const noexcept { return *std::launder(reinterpret_cast<g_cold*>(stack->cold)); }

  // A proxy's bed.
  os::note& note() noexcept { return *std::launder(reinterpret_cast<os::note*>(closure)); }
};

static_assert(sizeof(G) == 192, "three cache lines; memory per queued goroutine is a promise");
static_assert(offsetof(G, goid) == 64 && offsetof(G, closure) == 128);
static_assert(sizeof(g_cold) <= sizeof(stack::head::cold));
static_assert(sizeof(os::note) <= sizeof(G::closure));

using g_queue = base::forward_queue<G, &G::link>;

}  // namespace weft::rt
