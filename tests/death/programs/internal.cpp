// internal.cpp: the runtime's own checks (builds with WEFT_DEBUG_CHECKS). No runtime and no other thread: the lock is free.
#include "sched/crash.hpp"
#include "sched/procs.hpp"
#include "sched/world.hpp"

#include "scenario.hpp"

namespace {

using namespace weft::sched;

P one_p;
M one_m;

void without_the_lock(void (*f)()) {
  install_crash_handlers();
  f();
  scenario::say("nobody minded");
}

}  // namespace

SCENARIO(unlocked_put_idle) {
  without_the_lock([] { put_idle_locked(&one_p); });
}

SCENARIO(unlocked_take_idle) {
  without_the_lock([] { take_idle_locked(); });
}

SCENARIO(unlocked_take_idle_spinning) {
  without_the_lock([] { take_idle_spinning_locked(); });
}

SCENARIO(unlocked_attach) {
  without_the_lock([] { attach_locked(&one_p, &one_m); });
}

SCENARIO(unlocked_start) {
  without_the_lock([] { start_locked(&one_p, false); });
}

SCENARIO(unlocked_wake_one) {
  without_the_lock([] { wake_one_locked(); });
}

SCENARIO(unlocked_count_stopped) {
  without_the_lock([] { count_stopped_locked(&one_p); });
}

SCENARIO(unlocked_mark_alone) {
  without_the_lock([] { mark_alone_locked(); });
}

SCENARIO(unlocked_new_m) {
  without_the_lock([] { new_m_locked(); });
}

SCENARIO(unlocked_free_m) {
  without_the_lock([] { free_m_locked(&one_m); });
}
