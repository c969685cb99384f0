// forgotten.hpp: a goroutine that is runnable and in no queue yet: to be put into one without telling anybody, as a lost wake-up would.
#pragma once

#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/state.hpp"
#include "sched/world.hpp"

namespace weft::test {

// start() starts one goroutine, from a plain thread. The world stands still meanwhile, so that nobody runs it.
template <class Start>
rt::G* catch_one(Start start) {
  using namespace weft::sched;
  auto& state = weft::sched::sched;
  state.world_lock.lock();
  stop_world();
  start();
  rt::G* gp = nullptr;
  {
    locked l;
    gp = state.runq.pop_front();
    state.nrunq.store(static_cast<std::uint32_t>(state.runq.size()));
  }
  start_world();
  state.world_lock.unlock();
  return gp;
}

// Into the global queue, and nobody is woken. Sysmon looks again: whoever queues something else would have roused it.
inline void forget(rt::G* gp) {
  {
    sched::locked l;
    sched::put_global_locked(gp);
  }
  sched::rouse_sysmon(0);
}

}  // namespace weft::test
