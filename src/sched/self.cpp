// self.cpp: what a goroutine can do with itself: checkpoint, id, name.
#include <weft/detail/point.hpp>
#include <weft/go.hpp>
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/extras.hpp"
#include "sched/park.hpp"
#include "sched/switch.hpp"

namespace weft::inline v1 {

namespace {
constexpr unsigned kDeepestNoPreempt = 63;

// Out of line, so that the way on is straight and needs no frame.
[[gnu::noinline]] void answer(rt::M* mp) noexcept {
  if (sched::enter_if_needed(mp)) sched::leave(mp);
}
}  // namespace

void checkpoint() noexcept {
  rt::M* const mp = sched::current_m();
  if (mp == nullptr) [[unlikely]]
    return;
  if (mp->detach.wants_attention() || mp->detach.is_lost()) [[unlikely]]
    answer(mp);
}

void detail::point() noexcept {
  rt::M* const mp = sched::current_m();
  if (mp != nullptr) answer(mp);
}

// Written inside the bracket, with the P in hand: a requester sees it, or comes too late. It travels with the goroutine.
no_preempt::no_preempt() noexcept {
  const sched::bracket inside;
  if (inside.m() == nullptr) return;
  rt::G* const gp = inside.m()->curg();
  // relaxed, both: only we change that part of it; see is_preemptible()
  if (gp->manners.load(std::memory_order_relaxed) / rt::G::kNoPreempt == kDeepestNoPreempt)
    sched::misuse("no_preempt guards nested more than 63 deep");
  gp->manners.fetch_add(rt::G::kNoPreempt, std::memory_order_relaxed);  // see is_preemptible()
}

no_preempt::~no_preempt() {
  const sched::bracket inside;
  if (inside.m() != nullptr)
    inside.m()->curg()->manners.fetch_sub(rt::G::kNoPreempt,
                                          std::memory_order_relaxed);  // as above
}

namespace this_goroutine {

std::uint64_t id() noexcept {
  return sched::current_g()->goid.load(std::memory_order_relaxed);
}  // our own

std::string name() {
  const rt::G* const gp = sched::current_g();
  return gp->extras != nullptr ? gp->extras->name : std::string();
}

void set_name(std::string_view name) {
  rt::G* const gp = sched::current_g();
  if (gp->extras == nullptr) gp->extras = new rt::g_extras;
  gp->extras->name = name;
}

std::chrono::nanoseconds cpu_time() noexcept {
  const rt::M* const mp = sched::current_m();
  // relaxed: fixed before we were made
  if (mp == nullptr || !sched::sched.is_metered.load(std::memory_order_relaxed)) return {};
  return std::chrono::nanoseconds(sched::metered_ns(mp, mp->curg()));
}

}  // namespace this_goroutine
}  // namespace weft::inline v1
