// timer_slab.cpp: see timer_slab.hpp.
#include "rt/timer_slab.hpp"

#include "base/check.hpp"

namespace weft::rt {

namespace {

constinit slab<timer, &timer::link, std::size_t{1} << 18> timers;

}  // namespace

timer_chain take_free_timers(std::uint32_t want) noexcept { return timers.take(want); }

void put_free_timers(timer_chain chain) noexcept {
  for (timer* t = chain.first; t != nullptr; t = t->link) {
    WEFT_CHECK(t->state() == timer_state::idle, "a timer is given back that a heap still has");
    t->fire = nullptr;
    t->arg = nullptr;  // what it pointed to is nobody's any more: a leak shall be seen
    t->release = nullptr;
  }
  timers.put(chain);
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
