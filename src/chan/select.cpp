// select.cpp: waiting at several channels at once, or at one but not for ever: select_core with parking.
#include "chan/impl.hpp"
#include "chan/select_core.hpp"
#include "os/clock.hpp"
#include "sched/bubbles.hpp"
#include "sched/entry.hpp"
#include "sched/foreign.hpp"
#include "sched/park_until.hpp"

#include <weft/clock.hpp>
#include <weft/detail/select_slot.hpp>
#include <weft/go.hpp>

namespace weft::channels {

namespace {

using detail::passed;
using detail::select_slot;
using detail::selected;

struct select_slots {
  using core_type = channels::core;
  static bool is_set(const select_slot& s) noexcept { return s.chan != nullptr; }
  static channels::core& core(const select_slot& s) noexcept { return of(s.chan)->c; }
  static void* record(select_slot& s) noexcept { return s.record; }
  static void catch_up(const select_slot& s) noexcept { of(s.chan)->catch_up(); }
  static void left(select_slot& s) noexcept { s.is_last = of(s.chan)->was_last_to_leave(); }
};
static_assert(sizeof(waiting) <= sizeof(select_slot::record));

using cases = selection<select_slots, select_slot>;

base::rng& random_of(rt::M* mp) noexcept {
  if (mp != nullptr) return mp->random;
  // Two that begin at the same moment choose alike, which harms nobody.
  static thread_local base::rng of_plain_thread(static_cast<std::uint64_t>(os::now_ns()));
  return of_plain_thread;
}

selected as_selected(const cases::choice& c) noexcept {
  if (!c) return {detail::kNone, passed::not_yet};
  return {c.index, c.is_closed ? passed::closed : passed::done};
}

// Everything that lies in the frame of one who waits.
struct waiting_select {
  cases& all;
  sched::limited_wait limit;
  waiting_at_several shared{limit.word};
};

bool publish(rt::G*, void* arg) {
  auto* const w = static_cast<waiting_select*>(arg);
  const bool waits = w->limit.word.park();
  w->all.unlock_all();  // and then it may be gone
  return waits;
}

// A channel that was made outside of the bubble in which gp is: then anybody may end its wait.
bool is_any_outside(const rt::G* gp, const select_slot* slots, std::size_t n) noexcept {
  if (gp->place == rt::G::kOrdinary) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (slots[i].chan != nullptr && of(slots[i].chan)->c.home() != gp->bubble()) return true;
  return false;
}

// Inside, with all locks held, which it gives up.
[[gnu::noinline]] rt::M* wait_at_all(rt::M* mp, cases& all, bool is_outside,
                                     std::int64_t deadline_ns, cases::choice& won) noexcept {
  waiting_select w{.all = all, .limit = {&publish, &w, deadline_ns}};
  all.enter_all(mp != nullptr ? mp->curg() : sched::foreign_g(), &w.shared);
  mp = sched::park_limited(
      mp, w.limit, is_outside ? rt::wait_reason::select_outside : rt::wait_reason::select, nullptr);
  won = all.withdraw_all(w.shared.winner);
  return mp;
}

// From user context: what channels die of our leaving.
void free_forsaken(select_slot* slots, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    if (std::exchange(slots[i].is_last, false)) of(slots[i].chan)->destroy();
}

enum class patience : std::uint8_t { none, some };

// Inside, as the rest: none was ready at first sight.
[[gnu::noinline]] rt::M* select_among(rt::M* mp, select_slot* slots, std::size_t n, patience how,
                                      std::int64_t deadline_ns, cases::choice& chosen) noexcept {
  for (std::size_t i = 0; i < n; ++i) slots[i].is_last = false;
  cases all(slots, n, random_of(mp));
  chosen = all.choose();
  if (chosen) return mp;
  if (how == patience::some) {
    const bool is_outside = mp != nullptr && is_any_outside(mp->curg(), slots, n);
    return wait_at_all(mp, all, is_outside, deadline_ns, chosen);
  }
  all.unlock_all();
  return mp;
}

selected select_some(select_slot* slots, std::size_t n, patience how,
                     std::int64_t deadline_ns) noexcept {
  rt::M* mp = sched::enter();
  cases::choice chosen = cases::try_one(slots, n, random_of(mp));
  const bool at_once = static_cast<bool>(chosen);
  if (!at_once) mp = select_among(mp, slots, n, how, deadline_ns, chosen);
  if (chosen.wake != nullptr) sched::ready(mp, chosen.wake);
  if (mp != nullptr) sched::leave(mp);
  if (!at_once && how == patience::some) free_forsaken(slots, n);
  return as_selected(chosen);
}

// The only slot that has a channel, if there is just one.
select_slot* only_one(select_slot* slots, std::size_t n) noexcept {
  select_slot* found = nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    if (slots[i].chan == nullptr) continue;
    if (found != nullptr) return nullptr;
    found = &slots[i];
  }
  return found;
}

bool has_channel(const select_slot* slots, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    if (slots[i].chan != nullptr) return true;
  return false;
}

}  // namespace

}  // namespace weft::channels

namespace weft::inline v1::detail {

selected try_select(select_slot* slots, std::size_t n) noexcept {
  if (select_slot* const s = channels::only_one(slots, n)) {
    const passed p = s->is_send ? try_send(s->chan, s->elem) : try_recv(s->chan, s->elem);
    return {p == passed::not_yet ? kNone : static_cast<std::size_t>(s - slots), p};
  }
  if (!channels::has_channel(slots, n)) return {kNone, passed::not_yet};
  return channels::select_some(slots, n, channels::patience::none, kLastNs);
}

selected select_until(select_slot* slots, std::size_t n, std::int64_t deadline_ns) noexcept {
  if (!channels::has_channel(slots, n)) {
    if (deadline_ns == kLastNs) sched::park_for_ever(rt::wait_reason::empty_select);
    sleep_until_ns(deadline_ns);
    return {kNone, passed::not_yet};
  }
  if (deadline_ns == kLastNs) {
    if (select_slot* const s = channels::only_one(slots, n)) {
      // A select of one case is that operation, as in Go; one whose other cases can never pass is still a select.
      const passed p = n != 1       ? channels::select_only(*s)
                       : s->is_send ? send(s->chan, s->elem)
                                    : recv(s->chan, s->elem);
      return {static_cast<std::size_t>(s - slots), p};
    }
  } else if (deadline_ns <= sched::now_ns()) {
    const selected now = try_select(slots, n);
    if (now.index == kNone) yield();  // whoever asks in a loop lets others get on
    return now;
  }
  return channels::select_some(slots, n, channels::patience::some, deadline_ns);
}

passed send_until(channel* c, const void* elem, std::int64_t deadline_ns) noexcept {
  select_slot slot;
  slot.chan = c;
  slot.elem = const_cast<void*>(elem);
  slot.is_send = true;
  return select_until(&slot, 1, deadline_ns).how;
}

passed recv_until(channel* c, void* elem, std::int64_t deadline_ns) noexcept {
  select_slot slot;
  slot.chan = c;
  slot.elem = elem;
  return select_until(&slot, 1, deadline_ns).how;
}

}  // namespace weft::inline v1::detail
