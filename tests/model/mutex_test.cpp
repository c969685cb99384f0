// mutex_test.cpp: sync/mutex_core.hpp as weft::mutex uses it, [mutex.pass] [mutex.no_lost_wake] [mutex.no_touch_after_unlock].
#include "sync/mutex_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

using core = sync::mutex_core<model_atomics, timed_waiter, timed_waiters>;

struct mutex {
  core::word state{0};
  core::lock guard;
  void* first = nullptr;
  void* last = nullptr;

  core ops() { return {state, guard, first, last}; }

  // As mutex::lock_slow(), without its spinning. nstarving: after so many waits it is handed over.
  void lock(party& me, int nstarving = 1000) {
    core m = ops();
    core::record mine{};
    while (!m.take(&mine)) {
      mine.is_starving = nstarving-- <= 0;
      park(me, [&](timed_waiter* w) {
        mine.who = w;
        return m.enter(&mine);
      });
      if (mine.has_lock) return;
    }
  }
  // False: the time was over.
  bool lock_until(party& me, timer& t) {
    core m = ops();
    core::record mine{};
    if (m.take(&mine)) return true;
    const bool has_come = park_until(
        me, t,
        [&](timed_waiter* w) {
          mine.who = w;
          return m.enter(&mine);
        },
        [&](timed_waiter*) { return m.withdraw(&mine); });
    if (!has_come) return false;
    return mine.has_lock || m.take_or_give_up(&mine);  // its deadline has passed meanwhile
  }
  void unlock() {
    core m = ops();
    for (;;) {
      switch (m.release_quietly()) {
        case core::step::done:
          return;
        case core::step::not_locked:
          MODEL_CHECK(false, "it was not locked");
          return;
        case core::step::must_wake:
          break;
      }
      if (m.release_to_next(end_wait)) return;
    }
  }
};

struct world {
  mortal<mutex> m;
  party callers[3];
  timer clock;
  plain<int> n;
  int ninside = 0;
  int ndone = 0;

  void use() {
    MODEL_CHECK(ninside++ == 0, "two hold it");
    n.set(n.get() + 1);
    --ninside;
  }
  void count(int i, int nstarving = 1000) {
    m->lock(callers[i], nstarving);
    use();
    m->unlock();
  }
};

TEST(mutex_model, two_take_turns) {
  explore<world>(
      {[](world& w) { w.count(0), w.count(0); }, [](world& w) { w.count(1), w.count(1); }},
      [](world& w) { MODEL_CHECK(w.n.last() == 4, "one count was lost"); });
}

TEST(mutex_model, three_take_turns_and_nobody_is_forgotten) {
  explore<world>(
      {[](world& w) { w.count(0); }, [](world& w) { w.count(1); }, [](world& w) { w.count(2); }},
      [](world& w) { MODEL_CHECK(w.n.last() == 3, "one count was lost"); });
}

TEST(mutex_model, one_that_starves_is_handed_it) {
  explore<world>({[](world& w) { w.count(0), w.count(0); }, [](world& w) { w.count(1, 0); },
                  [](world& w) { w.count(2, 1); }},
                 [](world& w) { MODEL_CHECK(w.n.last() == 4, "one count was lost"); });
}

// The first comes back for it before the one that it has woken gets there; if that one gives up then, the third must not be forgotten.
TEST(mutex_model, who_gives_up_takes_nobodys_wake_up_with_it) {
  explore<world>({[](world& w) { w.count(0), w.count(0); },
                  [](world& w) {
                    if (!w.m->lock_until(w.callers[1], w.clock)) return;
                    w.use();
                    w.m->unlock();
                  },
                  [](world& w) { w.count(2); }, [](world& w) { w.clock.fire(); }},
                 [](world& w) { MODEL_CHECK(w.n.last() >= 3, "one count was lost"); });
}

// One is woken while the holder takes it again and, since that one is on its way, frees it without waking the next.
TEST(mutex_model, who_is_woken_and_gives_up_leaves_nobody_behind) {
  struct queued : world {
    core::record late{};
    timed_waiter late_waiter{&callers[1], nullptr};
    queued() {
      core::record mine{};
      m->ops().take(&mine);
      late.who = &late_waiter;
      m->ops().enter(&late);
    }
  };
  explore<queued>({[](queued& w) {
                     w.m->unlock();
                     w.count(0);
                   },
                   [](queued& w) {
                     w.callers[1].sleep();
                     if (!w.m->ops().take_or_give_up(&w.late)) return;
                     w.use();
                     w.m->unlock();
                   },
                   [](queued& w) { w.count(2); }},
                  [](queued& w) { MODEL_CHECK(w.n.last() >= 2, "one count was lost"); });
}

TEST(mutex_model, whoever_had_it_last_may_destroy_it) {
  struct shared : world {
    static void use(shared& w, int i) {
      w.m->lock(w.callers[i]);
      const bool is_last = ++w.ndone == 2;
      w.m->unlock();
      if (is_last) w.m.destroy();
    }
  };
  explore<shared>({[](shared& w) { shared::use(w, 0); }, [](shared& w) { shared::use(w, 1); }});
}

}  // namespace
}  // namespace weft::model
