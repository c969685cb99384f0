// detach_word.hpp: how a P leaves an M against its will: the three words and the handshake on them.
//
// M marks itself "inside the runtime" with a plain store and looks at its word with a plain load; a requester writes the
// word, has a barrier executed on M's CPU (heavy_barrier), and looks at the mark. Both must win the word by CAS before
// they act, so exactly one of them has the P.
//
//          CAS requester r                 CAS requester r, inside == 0 after the barrier
//   OWN ------------------> REQ(r) --------------------------------------------> LOST
//    ^  <------------------   |  requester saw inside != 0, sets attention         |
//    |  <---------------------+  M enters the runtime (CAS), sets attention        |
//    +-------------------- attach, under the scheduler lock -----------------------+
//
//    M entering                       requester r
//    inside = 1        (plain)        CAS word OWN -> REQ(r)
//    load word         (plain)        heavy_barrier()
//                                     load inside
// If r reads inside == 0, M's store comes after the barrier point, so M's later load sees REQ(r) or LOST: M must CAS
// REQ(r) to OWN, r must CAS REQ(r) to LOST, one wins. If M's load saw OWN it came before the barrier, its store is
// visible, r reads inside != 0 and gives up.  [detach.exclusive]
// The ids make REQ(r) unrepeatable by others, so no CAS succeeds on a request that was settled and made anew (ABA).
//
// Who clears what: REQ its requester or M, always by CAS; LOST only attach(); attention only M, but for what was asked for good.
//
// Edges
//   [detach.leave]   leave: inside = 0 release  ->  request_settle: load inside acquire (M's writes to the P)
//   [detach.attach]  attach: word = OWN release ->  enter: load word acquire (the P's state, by who had it)
//   [detach.attention]  ask_attention: release  ->  take_attention: acquire (what is asked for, e.g. a world stop)
#pragma once

#include <cstdint>

#include "base/atomics.hpp"
#include "base/check.hpp"

namespace weft::rt {

// For bench/ only, which builds weft twice more to count what preemption costs; nothing is promised of these builds.
//   1  no preemption: nothing is taken from a goroutine that computes, or sleeps without telling; blocking() and stops work as ever
//   2  no bracket either: an M counts as inside the runtime all the time, so that nobody can take its P, whatever it does
#ifndef WEFT_WITHOUT_PREEMPTION
#define WEFT_WITHOUT_PREEMPTION 0
#endif
inline constexpr bool kPreempts = WEFT_WITHOUT_PREEMPTION < 1;
inline constexpr bool kCanLoseP = WEFT_WITHOUT_PREEMPTION < 2;

template <class A>
class basic_detach_word {
 public:
  static constexpr std::uint32_t kOwn = 0;
  static constexpr std::uint32_t kLost = 1;
  // Requester ids start at 2; each thread that may request has its own.
  static constexpr std::uint32_t kFirstRequester = 2;

  // M, on the way into the runtime. True: the P is ours, go on. False: settle() must be called first.
  // `fence`: this machine has no membarrier, so we pay for the barrier ourselves.
  [[gnu::always_inline]] bool enter(bool fence) noexcept {
    if (fence) [[unlikely]] {
      inside_.store(1, std::memory_order_seq_cst);
    } else {
      inside_.store(
          1,
          std::memory_order_relaxed);  // ordered before the load by the requester's heavy_barrier
    }
    base::compiler_barrier();
    return word_.load(std::memory_order_seq_cst) ==
           kOwn;  // [detach.attach]; seq_cst for the fence, and free on x86
  }

  // M, after enter() said false. True: the P is ours; a request that stood was turned down and is owed a yield,
  // or a hog that calls often would never lose its P. False: the P is gone.
  bool settle() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_acquire);  // [detach.attach]
    while (seen != kLost) {
      if (seen == kOwn) return true;
      if (word_.compare_exchange_weak(seen, kOwn, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {  // [detach.exclusive]
        attention_.fetch_or(kAsked, std::memory_order_relaxed);      // read by ourselves
        return true;
      }
    }
    return false;
  }

  // M, on the way out. True: somebody wants something; call take_attention() and see to it.
  // The flag is read after `inside` is cleared for the sake of this thread's own signal handler: one that comes before the store leaves the
  // flag, and the load sees it; one that comes after it finds us outside and acts itself. A store buffer hides nothing from its own thread.
  // What another thread asks may be missed, for one look:
  //    M                                         requester
  //                                              load inside: 1   (also if our store waits in its buffer)
  //    inside = 0; load attention: 0
  //                                              attention = asked; withdraws
  // M is out, with its P and with the flag up. Its next leave() sees it, and a requester that asks again before that finds M outside. So
  // the order decides only when the answer comes (the model's FLAGFIRST holds too), never who has the P.
  bool leave() noexcept {
    if constexpr (!kCanLoseP) return false;
    inside_.store(0, std::memory_order_release);  // [detach.leave]
    base::compiler_barrier();
    return attention_.load(std::memory_order_relaxed) != 0;  // only a flag
  }

  // A requester: announces itself. False: the M has no P to lose, or another requester is at it.
  // Then heavy_barrier(), one for any number of Ms, then request_settle() for each.
  bool request(std::uint32_t id) noexcept {
    std::uint32_t own = kOwn;
    return word_.compare_exchange_strong(own, id, std::memory_order_seq_cst,
                                         std::memory_order_relaxed);  // failed: nothing was asked
  }

  // A requester, after the barrier: still_wanted() decides at the last moment, with the request standing.
  // True: the P is the requester's.
  template <class Still>
  bool request_settle(std::uint32_t id, Still&& still_wanted) noexcept {
    if (inside_.load(std::memory_order_seq_cst) !=
        0) {            // [detach.leave]; seq_cst for the M that enters with a fence
      ask_attention();  // M looks at it on its way out
      withdraw(id);
      return false;
    }
    if (!still_wanted()) {
      withdraw(id);
      return false;
    }
    return word_.compare_exchange_strong(
        id, kLost, std::memory_order_acq_rel,
        std::memory_order_relaxed);  // [detach.exclusive]; failed: M kept it
  }

  // Whoever has a P, under the scheduler lock: gives it to this M, which is LOST, or inside the runtime without a P.
  void attach() noexcept { word_.store(kOwn, std::memory_order_release); }  // [detach.attach]

  // M itself, inside the runtime: gives the P away and goes out without one.
  void lose() noexcept { word_.store(kLost, std::memory_order_release); }

  // The M's memory is given to a new thread. A request that stands fails at its next CAS. Relaxed: the new thread gets the M under L.
  void reset() noexcept {
    inside_.store(1, std::memory_order_relaxed);
    word_.store(kOwn, std::memory_order_relaxed);
    attention_.store(0, std::memory_order_relaxed);
  }

  // Exact for M itself, and under L. acquire: [detach.attach]
  bool is_lost() const noexcept { return word_.load(std::memory_order_acquire) == kLost; }
  bool is_inside() const noexcept {
    return inside_.load(std::memory_order_relaxed) != 0;
  }  // M asks about itself

  void ask_attention() noexcept {
    attention_.fetch_or(kAsked, std::memory_order_release);
  }  // [detach.attention]
  // M asks itself to take the slow way out.
  void remind() noexcept { attention_.fetch_or(kReminded, std::memory_order_relaxed); }
  // The same each time, from now on. M itself, or before it runs.
  void remind_for_good() noexcept { attention_.fetch_or(kForGood, std::memory_order_relaxed); }
  // M: somebody asked, or it was reminded, but for what is for good.
  bool has_news() const noexcept {
    return (attention_.load(std::memory_order_relaxed) & ~kForGood) != 0;
  }  // as leave()
  bool wants_attention() const noexcept {
    return (attention_.load(std::memory_order_relaxed) & kAsked) != 0;
  }  // a hint
  // True: somebody asked.
  bool take_attention() noexcept {
    if (attention_.load(std::memory_order_relaxed) == 0) return false;  // a hint
    const std::uint32_t was =
        attention_.exchange(0, std::memory_order_acquire);  // [detach.attention]
    if ((was & kForGood) != 0) [[unlikely]]
      remind_for_good();
    return (was & kAsked) != 0;
  }

 private:
  void withdraw(std::uint32_t id) noexcept {
    word_.compare_exchange_strong(id, kOwn, std::memory_order_release,
                                  std::memory_order_relaxed);  // failed: M settled it
  }

  static constexpr std::uint32_t kAsked = 1;
  static constexpr std::uint32_t kReminded = 2;
  static constexpr std::uint32_t kForGood = 4;

  typename A::template atomic<std::uint32_t> inside_{0};
  typename A::template atomic<std::uint32_t> word_{kOwn};
  typename A::template atomic<std::uint32_t> attention_{0};
};

}  // namespace weft::rt
