// park_until.cpp: see park_until.hpp.
#include "sched/park_until.hpp"

#include "os/thread.hpp"
#include "rt/timer_slab.hpp"
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/entry.hpp"
#include "sched/foreign.hpp"
#include "sched/timers.hpp"

namespace weft::sched {

namespace {

using rt::wait_mark;

// In the waiter's frame.
struct timed_wait {
  const wait_list& list;
  std::int64_t deadline_ns;
  waiter mine{};
  rt::timed_wait_word word{};
  rt::timer* timer = nullptr;
  std::uint64_t arming = 0;
  bool is_entered = false;
};

void time_is_over(rt::timer* node, void* arg, std::uint64_t) {
  auto* const t = static_cast<timed_wait*>(arg);
  rt::release_timer(node);
  G* const gp = t->mine.gp;  // before the mark
  if (t->word.end(wait_mark::timed_out)) ready_by_timer(gp);
}

// Once the word is marked the frame may be gone.
bool enter_and_park(timed_wait* t) noexcept {
  t->is_entered = t->list.enter(&t->mine, t->list.arg);
  return t->is_entered && t->word.park();
}

// The parking step of a plain thread, which looks at the clock itself.
bool enter(G* gp, void* arg) {
  auto* const t = static_cast<timed_wait*>(arg);
  t->mine = {gp, &t->word};
  return enter_and_park(t);
}

// And of a goroutine.
bool arm_and_enter(G* gp, void* arg) {
  auto* const t = static_cast<timed_wait*>(arg);
  t->mine = {gp, &t->word};  // before the timer can read it
  t->timer = rt::take_timer();
  if (t->timer == nullptr) fatal("weft: out of memory for timers");
  t->timer->fire = &time_is_over;
  t->timer->arg = t;
  t->timer->release = &rt::release_timer;
  t->arming = arm_timer(current_m(), t->timer, t->deadline_ns);
  if (t->arming == 0) fatal("weft: out of memory for timers");
  return enter_and_park(t);
}

// The other one has decided already and is a few instructions before its mark.
void await_mark(const rt::timed_wait_word& word, wait_mark m) noexcept {
  while (!word.has(m)) os::yield_cpu();
}

// Nobody touches the frame any more when this returns. True: the waker has come, or was not needed.
bool settle(timed_wait& t) noexcept {
  if (!t.word.has(wait_mark::timed_out) && t.timer != nullptr &&
      !rt::timer_heap::cancel(t.timer, t.arming))
    await_mark(t.word, wait_mark::timed_out);
  if (!t.is_entered || t.word.has(wait_mark::woken)) return true;
  {
    const bracket inside;
    if (t.list.withdraw(&t.mine, t.list.arg)) return false;
  }
  await_mark(t.word, wait_mark::woken);
  return true;
}

}  // namespace

bool park_until(const wait_list& list, std::int64_t deadline_ns, wait_reason why,
                const void* object) noexcept {
  timed_wait t{.list = list, .deadline_ns = deadline_ns};
  if (current_m() != nullptr) {
    park(&arm_and_enter, &t, why, object, way::by_scheduler);
  } else {
    const auto time_out = [](void* arg) {
      return static_cast<timed_wait*>(arg)->word.end(wait_mark::timed_out);
    };
    park_foreign_until(&enter, &t, deadline_ns, time_out, why);
  }
  return settle(t);
}

void end_wait(M* mp, waiter* w) noexcept {
  G* const gp = w->gp;  // before the mark
  if (w->timed == nullptr || w->timed->end(wait_mark::woken)) ready(mp, gp);
}

}  // namespace weft::sched
