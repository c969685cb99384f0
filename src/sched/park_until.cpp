// park_until.cpp: see park_until.hpp.
#include "sched/park_until.hpp"

#include "os/thread.hpp"
#include "rt/timer_slab.hpp"
#include "sched/chaos.hpp"
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/entry.hpp"
#include "sched/foreign.hpp"
#include "sched/timers.hpp"

namespace weft::sched {

namespace {

using rt::wait_mark;

void time_is_over(rt::timer* node, void* arg, std::uint64_t) {
  auto* const w = static_cast<limited_wait*>(arg);
  rt::release_timer(node);
  G* const gp = w->gp;  // before the mark
  if (w->word.end(wait_mark::timed_out)) ready_by_timer(gp);
}

bool publish_plainly(G* gp, void* arg) {
  auto* const w = static_cast<limited_wait*>(arg);
  w->gp = gp;
  return w->publish(gp, w->arg);
}

bool arm_and_publish(G* gp, void* arg) {
  auto* const w = static_cast<limited_wait*>(arg);
  w->gp = gp;  // before the timer can read it
  w->timer = rt::take_timer();
  if (w->timer == nullptr) fatal("weft: out of memory for timers");
  w->timer->fire = &time_is_over;
  w->timer->arg = w;
  w->timer->release = &rt::give_back_timer;
  // What waits for the kernel waits by the kernel's clock.
  const std::uint8_t bubble = gp->why == wait_reason::io ? G::kOrdinary : gp->bubble();
  w->arming = arm_timer(current_m(), w->timer, w->deadline_ns, bubble);
  if (w->arming == 0) fatal("weft: out of memory for timers");
  dawdle(window::parted);
  return w->publish(gp, w->arg);
}

// The other one has decided already and is a few instructions before its mark.
void await_mark(const rt::timed_wait_word& word, wait_mark m) noexcept {
  while (!word.has(m)) os::yield_cpu();
}

// In the waiter's frame.
struct timed_wait {
  const wait_list& list;
  limited_wait limit;
  waiter mine{};
  bool is_entered = false;
};

// Once the word is marked the frame may be gone.
bool enter_and_park(G* gp, void* arg) {
  auto* const t = static_cast<timed_wait*>(arg);
  t->mine = {gp, &t->limit.word};
  t->is_entered = t->list.enter(&t->mine, t->list.arg);
  return t->is_entered && t->limit.word.park();
}

// Nobody touches the frame any more when this returns. True: the waker has come, or was not needed.
bool settle(timed_wait& t) noexcept {
  if (!t.is_entered || t.limit.word.has(wait_mark::woken)) return true;
  if (t.list.withdraw(&t.mine, t.list.arg)) return false;
  await_mark(t.limit.word, wait_mark::woken);
  return true;
}

}  // namespace

M* park_limited(M* mp, limited_wait& w, wait_reason why, const void* object) noexcept {
  if (w.deadline_ns == kNever) return park_inside(mp, &publish_plainly, &w, why, object);
  if (mp == nullptr) {  // a plain thread looks at the clock itself
    const auto time_out = [](void* arg) {
      return static_cast<limited_wait*>(arg)->word.end(wait_mark::timed_out);
    };
    park_foreign_until(&publish_plainly, &w, w.deadline_ns, time_out, why);
    return nullptr;
  }
  mp = park_inside(mp, &arm_and_publish, &w, why, object, way::by_scheduler);
  if (!w.word.has(wait_mark::timed_out) && !rt::timer_heap::cancel(w.timer, w.arming))
    await_mark(w.word, wait_mark::timed_out);
  return mp;
}

bool park_until(const wait_list& list, std::int64_t deadline_ns, wait_reason why,
                const void* object) noexcept {
  timed_wait t{.list = list, .limit = {&enter_and_park, &t, deadline_ns}};
  M* const mp = park_limited(enter(), t.limit, why, object);
  const bool has_come = settle(t);
  if (mp != nullptr) leave(mp);
  return has_come;
}

// What the timer does for a park_until() the revoker does here, from its begin() to its end().
bool park_revocable(const wait_list& list, revoker& r, wait_reason why,
                    const void* object) noexcept {
  timed_wait t{.list = list, .limit = {&enter_and_park, &t, kNever}};
  {
    const bracket inside;
    t.limit.gp =
        inside.m() != nullptr ? inside.m()->curg() : foreign_g();  // before anybody reads it
  }
  if (!r.begin(&t.limit)) return false;
  if (M* const mp = park_inside(enter(), &enter_and_park, &t, why, object)) leave(mp);
  r.end();
  const bracket inside;
  return settle(t);
}

void revoke(limited_wait* w) noexcept {
  const bracket inside;
  G* const gp = w->gp;  // before the mark
  if (w->word.end(wait_mark::timed_out)) ready(inside.m(), gp);
}

G* take_waiter(waiter* w) noexcept {
  G* const gp = w->gp;  // before the mark
  return w->timed == nullptr || w->timed->end(wait_mark::woken) ? gp : nullptr;
}

void end_wait(M* mp, waiter* w) noexcept {
  if (G* const gp = take_waiter(w)) ready(mp, gp);
}

}  // namespace weft::sched
