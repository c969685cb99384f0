// bubbles.cpp: see bubbles.hpp.
#include "sched/bubbles.hpp"

#include <new>

#include "os/vm.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sched/switch.hpp"

namespace weft::sched {

namespace {

// Made once each, when first used, and kept. [0, kFirstBubble) stay null.
constinit std::atomic<bubble*> all[rt::kLastBubble + 1]{};

constexpr bool is_lock(wait_reason why) noexcept {
  using enum wait_reason;
  return why == mutex_lock || why == shared_mutex_lock || why == shared_mutex_lock_shared ||
         why == once_call;
}

bool is_durable(wait_reason why, const bubble& b) noexcept {
  using enum wait_reason;
  if (why == io || why == chan_send_outside || why == chan_receive_outside || why == select_outside)
    return false;
  return b.is_closed || !is_lock(why);
}

void count_out(M* mp, bubble& b) noexcept {
  G* const keeper = b.keeper;  // before: the bubble may be over when we have counted
  if (b.active.count_out()) ready(mp, keeper);
}

bubble* make(std::uint8_t number) noexcept {
  void* const memory = os::reserve(os::page_size(), os::page_size()).base;
  static_assert(sizeof(bubble) <= 4096);
  if (memory == nullptr) return nullptr;
  auto* const made = ::new (memory) bubble;
  made->number = number;
  bubble* none = nullptr;
  // release: its fields. Failed: somebody was first, and ours is wasted
  all[number].compare_exchange_strong(none, made, std::memory_order_acq_rel,
                                      std::memory_order_acquire);
  return none == nullptr ? made : none;
}

bubble* claim(std::uint8_t number) noexcept {
  bubble* b = all[number].load(std::memory_order_acquire);  // [bubble.made]
  if (b == nullptr) b = make(number);
  // acquire: all that was done with the one before
  return b == nullptr || b->is_taken.exchange(true, std::memory_order_acquire) ? nullptr : b;
}

void begin(bubble& b, bool is_closed, std::uint64_t seed) noexcept {
  const bracket inside;
  b.timers.shuffle_ties(seed | 1);
  b.is_closed = is_closed;
  b.keeper = inside.m()->curg();
  b.active.reset();
  // relaxed, all: whoever is in the bubble is started after this
  b.nstirred.store(0, std::memory_order_relaxed);
  b.now_ns.store(kBubbleBeginsNs, std::memory_order_relaxed);
  b.waiter.store(nullptr, std::memory_order_relaxed);
  b.has_waiter.store(false, std::memory_order_relaxed);
}

}  // namespace

bubble& bubble_at(std::uint8_t number) noexcept {
  return *all[number].load(std::memory_order_acquire);  // [bubble.made]
}

bubble* take_bubble(bool is_closed, std::uint64_t seed) noexcept {
  for (std::uint8_t i = rt::kFirstBubble; i <= rt::kLastBubble; ++i) {
    if (bubble* const b = claim(i)) {
      begin(*b, is_closed, seed);
      return b;
    }
  }
  return nullptr;
}

// Goroutines that are left behind may be woken from outside one day, and then must find their timers and their counts.
void end_bubble(bubble& b) noexcept {
  if (b.nlive.load(std::memory_order_relaxed) != 0) return;  // [bubble.quiet]
  const bracket inside;
  b.timers.clear();
  b.is_taken.store(false, std::memory_order_release);  // to claim()
}

void forget_bubbles() noexcept {
  for (std::atomic<bubble*>& each : all) {
    bubble* const b = each.load(std::memory_order_acquire);  // [bubble.made]
    if (b == nullptr) continue;
    b->timers.clear();
    // relaxed: nobody runs
    b->nlive.store(0, std::memory_order_relaxed);
    b->is_taken.store(false, std::memory_order_relaxed);
  }
}

std::int64_t bubble_now_ns(std::uint8_t number) noexcept {
  // relaxed: it changes while nobody in it runs, and who goes on then was woken after that
  return bubble_at(number).now_ns.load(std::memory_order_relaxed);
}

std::int64_t to_real_ns(std::int64_t deadline_ns) noexcept {
  const std::uint8_t number = current_bubble();
  if (number == G::kOrdinary || deadline_ns == rt::kNever) return deadline_ns;
  std::int64_t left_ns;
  std::int64_t when_ns;
  if (__builtin_sub_overflow(deadline_ns, bubble_now_ns(number), &left_ns))
    return deadline_ns < 0 ? deadline_ns : rt::kNever;
  return __builtin_add_overflow(os::now_ns(), left_ns, &when_ns) ? rt::kNever : when_ns;
}

// relaxed, all the counts: [bubble.quiet] orders them for the keeper, who alone acts on them
void begin_in_bubble(G* gp) noexcept {
  bubble& b = bubble_at(gp->bubble());
  b.nlive.fetch_add(1, std::memory_order_relaxed);
  b.nstirred.fetch_add(1, std::memory_order_relaxed);
  b.active.count_in();
}

void unblock(G* gp) noexcept {
  const std::uint8_t place = gp->place;
  if ((place & G::kDurable) == 0) return;
  gp->place = static_cast<std::uint8_t>(place & ~G::kDurable);
  bubble& b = bubble_at(gp->bubble());
  b.nstirred.fetch_add(1, std::memory_order_relaxed);  // as in begin_in_bubble()
  b.active.count_in();
}

// [bubble.never_quiet_too_soon]. Once it is published gp is not ours any more, so the mark is set before.
void park_in_bubble(M* mp, const rt::commit_step& step) noexcept {
  G* const gp = step.gp;
  bubble& b = bubble_at(gp->bubble());
  const bool is_blocked = is_durable(gp->why, b);
  if (is_blocked) gp->place = static_cast<std::uint8_t>(gp->place | G::kDurable);
  gp->become(g_status::waiting);
  if (!step.publish(gp, step.arg)) undo_park(mp, gp);  // which counts it in again
  if (is_blocked) count_out(mp, b);
}

void end_in_bubble(M* mp, std::uint8_t number) noexcept {
  bubble& b = bubble_at(number);
  b.nlive.fetch_sub(1, std::memory_order_relaxed);  // as in begin_in_bubble()
  count_out(mp, b);
}

void await_quiet(bubble& b) noexcept {
  if (b.active.is_quiet()) return;
  const auto publish = [](G*, void* arg) { return static_cast<bubble*>(arg)->active.sleep(); };
  park(publish, &b, wait_reason::bubble, &b);
}

}  // namespace weft::sched
