// timer_heap.hpp: the timers of one P: armed by anyone, cancelled by anyone without a lock, taken when they are due.
//
// A heap (quad_heap.hpp) under a lock of its own. Each P has one so that arming rarely contends; but any thread may arm in any heap, and
// any M may take what is due from any: a timer waits for no particular P.
//
// Cancelling is one CAS on the node and leaves it where it is, a *zombie*: finding it in the array would need the lock and
// an index kept in every node. Most timers are timeouts that are cancelled, so this is the common case. Zombies are dropped when they
// come to the top; and when more than a quarter of the entries are zombies, a *sweep* begins: those who hold the lock next look at all
// entries between them, each at a slice, from the end of the array to its front. That costs about four looks for each cancel.
//
// Why in slices: a sweep of a million entries takes tens of milliseconds, and whoever arms meanwhile would wait for the lock as long. A slice is
// some ten microseconds. Why backwards: an entry that is dropped leaves its place to the last one, which the sweep has seen already. What others
// do between two slices can hide an entry from it in one way only: one that is armed rises, and moves one that was not seen down, behind
// the sweep. So it has missed at most as many zombies as timers were armed meanwhile, and those stay counted.
//
// No callback runs under the lock: pop_due() hands out copies, and the caller fires them.
//
// Heaps are never destroyed while a cancel() may be under way: it counts in the heap after its CAS, when the node may be gone.
//
// Invariants, whenever the lock is free
//   T1  a node that is not idle is in exactly one heap, and one that is idle in none
//   T2  next_ is the time of the top entry, or kNever: not later than any armed timer in it (earlier if the top is a zombie)
//   T3  a retired heap is empty and stays so until reopen()
//   T4  nothing is handed out before its time: only entries with when_ns <= now_ns are. No time is ever computed, so none overflows
//
// Edges
//   [timer.fire]    arm: unlock                            ->  pop_due: lock (the node's fields; what was done before arm() is visible in fire())
//   [timer.cancel]  exclusion: cancel CAS armed -> cancelled, clear armed -> cleared, pop_due armed -> idle: one wins. The canceller's release is read by
//                   the acquire of whoever drops the zombie: what was done before cancel() is visible in release()
//   [timer.idle]    pop_due CAS release, drop store release ->  arm, state, failed cancel: word acquire (the heap has done with the node)
//   [timer.zombie]  cancel: ncancelled_ release            ->  the begin of a sweep: ncancelled_ acquire (a cancel that is counted out has
//                   left a zombie the sweep sees; so zombies are never forgotten in the count, at worst counted twice until the next sweep)
//   [timer.no_lost_wake]  exclusion, this half: next_ is stored seq_cst before arm() returns, and next_when() reads it seq_cst
//
//    who arms                                       who goes to sleep
//    arm(): next_ = when        (seq_cst)           announce: "asleep until T"   (seq_cst)
//    is somebody asleep until later? wake it        next_when() < T ? do not sleep
// In the one order of the four, either the announcement comes before the armer's look, or next_ before the sleeper's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "base/atomics.hpp"
#include "base/check.hpp"
#include "base/rng.hpp"
#include "os/clock.hpp"
#include "os/lock.hpp"
#include "rt/quad_heap.hpp"
#include "rt/timer.hpp"

namespace weft::rt {

// Later than every time. A timer armed for it is in the heap and never due.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class arm_status : std::uint8_t {
  armed,
  earliest,  // armed, and nothing in this heap is earlier: whoever sleeps until later must be woken
  retired,   // not armed: its P is gone, take another heap
  no_memory,  // not armed
};

struct arm_result {
  arm_status status;
  std::uint64_t seq;  // what cancel() wants; 0 when not armed

  bool is_armed() const noexcept {
    return status == arm_status::armed || status == arm_status::earliest;
  }
};

template <class A>
class alignas(base::kCacheLine) basic_timer_heap {
 public:
  using timer = basic_timer<A>;

  // A timer whose time has come, taken out of the heap. The node is idle already: fire() may use it again.
  struct due {
    typename timer::fire_fn fire;
    timer* node;
    void* arg;
    std::uint64_t seq;

    void run() const { fire(node, arg, seq); }
  };

  basic_timer_heap() noexcept = default;
  basic_timer_heap(const basic_timer_heap&) = delete;
  basic_timer_heap& operator=(const basic_timer_heap&) = delete;

  // Arms an idle node. A time in the past is due at once. Any thread; the node is the heap's unless it is refused.
  arm_result arm(timer* t, std::int64_t when_ns) noexcept {
    dropped zombies;  // released after the lock
    os::lock_guard guard(lock_);
    if (is_retired_) return {arm_status::retired, 0};
    sweep_if_wanted(zombies);
    if (!heap_.reserve(1)) {
      publish_next();
      return {arm_status::no_memory, 0};
    }
    const std::uint64_t word = t->word.load(std::memory_order_acquire);  // [timer.idle]
    WEFT_CHECK(timer::state_of(word) == timer_state::idle, "the timer is armed already");
    const std::uint64_t seq = timer::seq_of(word) + 1;
    t->when_ns = when_ns;
    t->order = next_order();
    t->heap.store(this, std::memory_order_relaxed);  // read by cancel(), which knows seq: after us
    t->word.store(timer::pack(seq, timer_state::armed), std::memory_order_release);  // [timer.fire]
    heap_.push(when_ns, t);
    ++npushed_;
    const bool is_earliest = heap_.top().node == t;
    publish_next();
    return {is_earliest ? arm_status::earliest : arm_status::armed, seq};
  }

  // True: that arming will not fire, and the heap releases the node in its own time. False: it has fired, is about to, or was
  // cancelled before; nothing is changed. Any thread; no lock. The node must be readable: type-stable, or known to be armed.
  static bool cancel(timer* t, std::uint64_t seq) noexcept {
    // Before the CAS, since afterwards the node may be gone. It may move to another heap between: then the count is off by one there
    // until the next sweep. relaxed: whoever knows seq comes after arm(), and a heap is never destroyed.
    basic_timer_heap* const heap = t->heap.load(std::memory_order_relaxed);
    if (!end(t, seq, timer_state::cancelled)) return false;
    heap->ncancelled_.fetch_add(1, std::memory_order_release);  // [timer.zombie]
    return true;
  }

  // The earliest time, or kNever. Never later than that of an armed timer; too early while a zombie is at the top. Any thread.
  std::int64_t next_when() const noexcept {
    return next_.load(std::memory_order_seq_cst);  // [timer.no_lost_wake]
  }

  // When to get up for it: where many are due within a short while, a little later than next_when(), so that they cost one wake-up
  // together. Any thread.
  std::int64_t wake_when() const noexcept {
    const std::int64_t next_ns = next_when();
    const bool is_crowded = is_crowded_.load(std::memory_order_relaxed);  // a hint
    return is_crowded && next_ns < kNever - kGatherNs ? next_ns + kGatherNs : next_ns;
  }

  // Takes up to out.size() timers with when <= now_ns, earliest first and first armed first, and says how many. The caller fires
  // them. If next_when() is still due afterwards there are more. Any thread; no lock is taken when nothing is due.
  std::size_t pop_due(std::int64_t now_ns, std::span<due> out) noexcept {
    if (next_when() > now_ns) return 0;
    std::size_t n = 0;
    while (!pop_some(now_ns, out, n)) continue;
    return n;
  }

  // Worth a sweep(): lock-free, approximate. For whoever has time, where timers are only cancelled and nobody arms or pops.
  bool is_littered() const noexcept { return has_many_zombies(); }

  // Drops every zombie, but for those that the arming of others hides from it. The lock is free between the slices.
  void tidy() noexcept {
    for (bool is_first = true, is_over = false; !is_over; is_first = false) {
      dropped zombies;
      os::lock_guard guard(lock_);
      if (is_first) nunswept_ = 0;  // one that is under way has passed some by
      is_over = sweep(zombies, kSlice);
      publish_next();
    }
  }

  // Retires this heap: from now on arm() refuses. Everything armed in it goes to `other`. False: `other` is retired or the kernel
  // has no memory; then nothing has changed. Threads may arm, cancel and pop in both meanwhile.
  bool move_all_to(basic_timer_heap& other) noexcept {
    WEFT_CHECK(this != &other, "a heap cannot take its own timers");
    dropped zombies;
    const bool is_first = std::less<>{}(this, &other);  // both locks, in the order of addresses
    os::lock_guard first(is_first ? lock_ : other.lock_);
    os::lock_guard second(is_first ? other.lock_ : lock_);
    if (other.is_retired_) return false;
    sweep_all(zombies);
    if (!other.heap_.reserve(heap_.size())) {
      publish_next();
      return false;
    }
    // relaxed: see cancel()
    heap_.for_each([&](timer* t) { t->heap.store(&other, std::memory_order_relaxed); });
    // Numbers of different heaps compare as they may; those of one keep their order, and new ones come after all.
    if (other.norder_ < norder_) other.norder_ = norder_;
    other.heap_.take_all(heap_);  // there is room
    other.nunswept_ = 0;          // all may have changed places: a sweep begins again
    heap_.reset();
    is_retired_ = true;
    other.publish_next();  // first: who looks at this heap and then at the other misses nothing
    publish_next();
    return true;
  }

  // The P is back.
  void reopen() noexcept {
    os::lock_guard guard(lock_);
    is_retired_ = false;
  }

  // Drops everything and gives the memory back: the end of a runtime. Nodes with a release function get it called, with `cleared`
  // unless they were cancelled before; the others become idle.
  void clear() noexcept {
    dropped zombies;
    os::lock_guard guard(lock_);
    heap_.for_each([](timer* t) { end(t, t->seq(), timer_state::cleared); });
    sweep_all(zombies);
    heap_.reset();
    publish_next();
  }

  // Whether anything in it will fire: for the deadlock check, to which zombies do not count. Takes the lock; linear at worst.
  bool has_armed() noexcept {
    os::lock_guard guard(lock_);
    return heap_.any_of([](const timer* t) { return !is_zombie(t); });
  }

  // Entries, zombies included; a hint.
  std::size_t size() const noexcept { return nentries_hint_.load(std::memory_order_relaxed); }

  // From now on those of the same time come in an order that nobody can foresee, but who knows the seed. 0: in which they were armed.
  void shuffle_ties(std::uint64_t seed) noexcept {
    os::lock_guard guard(lock_);
    tie_seed_ = seed;
    norder_ = 0;
  }

  // When the last of those that will ever fire does; kNever: none will. Takes the lock; linear.
  std::int64_t latest_when() noexcept {
    os::lock_guard guard(lock_);
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    heap_.for_each([&](const timer* t) {
      if (!is_zombie(t) && t->when_ns != kNever && t->when_ns > latest) latest = t->when_ns;
    });
    return latest == std::numeric_limits<std::int64_t>::min() ? kNever : latest;
  }

  // For tests. Nobody else may be at work.
  std::size_t bytes() const noexcept { return heap_.bytes(); }
  bool is_ordered() const noexcept { return heap_.is_ordered(); }

 private:
  // A thread that gets up and goes to sleep again costs some 20 us, many times what a timer does. Those who arm for the same 50 us
  // cannot tell: it is what the kernel allows itself for any thread that sleeps (the timer slack).
  static constexpr std::int64_t kGatherNs = 50 * os::kMicrosecond;
  static constexpr std::size_t kFew = 64;  // entries that are not worth a sweep
  // What one may do while others wait for the lock: look at so many entries, or drop so many from the top.
  static constexpr std::size_t kSlice = 1024;
  static constexpr std::size_t kZombiesAtOnce = 256;

  // Zombies that have left the heap, on their way to release(). Declared before the guard, so that it ends after it: the callbacks run
  // without the lock.
  class dropped {
   public:
    dropped() noexcept = default;
    dropped(const dropped&) = delete;
    dropped& operator=(const dropped&) = delete;
    void add(timer* t) noexcept {
      t->link = first_;
      first_ = t;
    }
    ~dropped() {
      while (first_ != nullptr) {
        timer* const t = first_;
        first_ = t->link;
        const auto release = t->release;  // before the store: an idle node may be gone
        const std::uint64_t word = t->word.load(std::memory_order_relaxed);  // ours
        t->word.store(timer::pack(timer::seq_of(word), timer_state::idle),
                      std::memory_order_release);  // [timer.idle]
        if (release != nullptr) release(t, timer::state_of(word));
      }
    }

   private:
    timer* first_ = nullptr;
  };

  static bool is_zombie(const timer* t) noexcept {
    return t->state() != timer_state::armed;  // acquire: [timer.cancel]
  }

  // False: that arming is over already.
  static bool end(timer* t, std::uint64_t seq, timer_state how) noexcept {
    std::uint64_t seen = timer::pack(seq, timer_state::armed);
    return t->word.compare_exchange_strong(
        seen, timer::pack(seq, how), std::memory_order_acq_rel,
        std::memory_order_acquire);  // [timer.cancel]; failed: [timer.idle]
  }

  // Copies what is needed to fire and makes the node idle; not touched afterwards. False: cancel() was first.
  static bool take(timer* t, due& out) noexcept {
    const std::uint64_t seq =
        timer::seq_of(t->word.load(std::memory_order_relaxed));  // ours to change
    out = {t->fire, t, t->arg, seq};
    std::uint64_t seen = timer::pack(seq, timer_state::armed);
    return t->word.compare_exchange_strong(
        seen, timer::pack(seq, timer_state::idle), std::memory_order_acq_rel,
        std::memory_order_relaxed);  // [timer.cancel] [timer.idle]; failed: looked at again
  }

  // Fills out[n] and on. False: so many zombies were in the way that the lock should be free for a moment before it goes on.
  bool pop_some(std::int64_t now_ns, std::span<due> out, std::size_t& n) noexcept {
    dropped zombies;
    os::lock_guard guard(lock_);
    sweep_if_wanted(zombies);
    std::size_t nzombies = 0;
    while (!heap_.empty() && nzombies < kZombiesAtOnce) {
      timer* const t = heap_.top().node;
      if (is_zombie(t)) {
        ++nzombies;
        zombies.add(t);
      } else if (heap_.top().when_ns > now_ns || n == out.size()) {
        break;
      } else if (!take(t, out[n])) {
        continue;  // cancelled at this moment: the next look finds the zombie
      } else {
        ++n;
      }
      heap_.pop_top();
      heap_.prefetch_next();
    }
    count_out(nzombies);
    heap_.shrink_if_sparse();
    publish_next();
    return nzombies < kZombiesAtOnce;
  }

  // Under the lock, except for the hint of is_littered(). More cancels than drops since the last sweep: that many zombies, less those
  // that were dropped before they were counted, hence signed.
  bool has_many_zombies() const noexcept {
    const std::size_t n = nentries_hint_.load(std::memory_order_relaxed);  // ours, or a hint
    const auto nzombies = static_cast<std::int64_t>(ncancelled_.load(std::memory_order_relaxed) -
                                                    ndropped_.load(std::memory_order_relaxed));
    return n > kFew && nzombies > static_cast<std::int64_t>(n / 4);
  }

  void sweep_if_wanted(dropped& zombies) noexcept {
    if (nunswept_ != 0 || has_many_zombies()) sweep(zombies, kSlice);
  }

  // The next `most` looks of a sweep, or the first of a new one. True: it is over.
  bool sweep(dropped& zombies, std::size_t most) noexcept {
    if (nunswept_ == 0) {
      nunswept_ = heap_.size();
      npushed_ = 0;
      // Before the look at the nodes: what is cancelled after it stays counted.
      nswept_cancels_ = ncancelled_.load(std::memory_order_acquire);  // [timer.zombie]
    }
    const std::size_t before = heap_.size();
    nunswept_ = heap_.keep_if(nunswept_, most, [&](timer* t) {
      if (!is_zombie(t)) return true;
      zombies.add(t);
      return false;
    });
    count_out(before - heap_.size());
    heap_.shrink_if_sparse();
    if (nunswept_ != 0) return false;
    ndropped_.store(nswept_cancels_ - npushed_,
                    std::memory_order_relaxed);  // written under the lock; else a hint
    return true;
  }

  void sweep_all(dropped& zombies) noexcept {
    nunswept_ = 0;
    sweep(zombies, std::numeric_limits<std::size_t>::max());
  }

  std::uint64_t next_order() noexcept {
    const std::uint64_t n = norder_++;
    return tie_seed_ == 0 ? n : base::rng(tie_seed_ + n).next();
  }

  void count_out(std::size_t n) noexcept {
    if (n == 0) return;
    ndropped_.store(ndropped_.load(std::memory_order_relaxed) + n,
                    std::memory_order_relaxed);  // written under the lock; else a hint
  }

  // The root's children are the first of others, so all that come within that time are at least five.
  bool is_crowded() const noexcept {
    constexpr std::size_t kChildren = 4;
    if (heap_.size() <= kChildren) return false;
    const auto first_ns = static_cast<std::uint64_t>(heap_.top().when_ns);
    for (std::size_t i = 0; i < kChildren; ++i) {
      // Later than the first, or as late: the difference cannot be too large without a sign.
      const auto when_ns = static_cast<std::uint64_t>(heap_.children_of_root()[i].when_ns);
      if (when_ns - first_ns > static_cast<std::uint64_t>(kGatherNs)) return false;
    }
    return true;
  }

  void publish_next() noexcept {
    const std::int64_t when_ns = heap_.empty() ? kNever : heap_.top().when_ns;
    if (next_.load(std::memory_order_relaxed) != when_ns) {        // only written under the lock
      next_.store(when_ns, std::memory_order_seq_cst);             // [timer.no_lost_wake]
      is_crowded_.store(is_crowded(), std::memory_order_relaxed);  // a hint
    }
    nentries_hint_.store(heap_.size(), std::memory_order_relaxed);  // a hint to others
  }

  // A line that everyone reads, on every look round, and one for those who change something.
  typename A::template atomic<std::int64_t> next_{kNever};
  typename A::template atomic<std::size_t> nentries_hint_{0};
  typename A::template atomic<bool> is_crowded_{false};
  alignas(base::kCacheLine) os::basic_lock<A, os::lock_rank::timers> lock_;
  bool is_retired_ = false;
  typename A::template atomic<std::uint64_t> ncancelled_{0};
  typename A::template atomic<std::uint64_t> ndropped_{0};  // of these, counted out
  std::uint64_t norder_ = 0;
  std::uint64_t tie_seed_ = 0;
  // A sweep: how many entries at the front it has not looked at (0: there is none under way), what was cancelled when it began, and
  // what was armed since then.
  std::size_t nunswept_ = 0;
  std::uint64_t nswept_cancels_ = 0;
  std::uint64_t npushed_ = 0;
  quad_heap<timer> heap_;
};

using timer_heap = basic_timer_heap<os::futex_atomics>;

}  // namespace weft::rt
