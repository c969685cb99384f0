// mutex_test.cpp: sync/mutex_core.hpp as weft::mutex uses it, [mutex.pass] [mutex.calm] [mutex.no_lost_wake]
// [mutex.no_touch_after_unlock].
#include "sync/mutex_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

// The holder is calm again after one turn.
using core = sync::mutex_core<model_atomics, timed_waiter, timed_waiters, 1>;

struct mutex {
  core::word state{0};
  core::lock guard;
  void* first = nullptr;
  void* last = nullptr;

  core ops() { return {state, guard, first, last}; }

  // As mutex::lock(), without its spinning. nstarving: after so many waits it is handed over.
  void lock(party& me, int nstarving = 1000) {
    core m = ops();
    core::record mine{};
    // As the header does it, and then lock_slow().
    if ((state.fetch_or(core::kLocked, std::memory_order_acquire) & core::kLocked) == 0) return;
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
    if (m.release_alone()) return;
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
  model_atomics::atomic<int> point{0};
  int ninside = 0;
  int ndone = 0;

  void use() {
    MODEL_CHECK(ninside++ == 0, "two hold it");
    n.set(n.get() + 1);
    static_cast<void>(point.load(std::memory_order_relaxed));  // another may come now
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

// One waits, and will not wait again.
struct queued : world {
  core::record late{};
  timed_waiter late_waiter{&callers[1], nullptr};
  queued() {
    core::record mine{};
    m->ops().take(&mine);
    late.who = &late_waiter;
    m->ops().enter(&late);
  }
  static void unlock_and_count(queued& w) {
    w.m->unlock();
    w.count(0);
  }
  static void take_or_give_up(queued& w) {
    w.callers[1].sleep();
    if (!w.m->ops().take_or_give_up(&w.late)) return;
    w.use();
    w.m->unlock();
  }
  static void count_beside(queued& w) { w.count(2); }
  static void at_end(queued& w) { MODEL_CHECK(w.n.last() >= 2, "one count was lost"); }
};

// One is woken while the holder takes it again and, since that one is on its way, frees it without waking the next.
TEST(mutex_model, who_is_woken_and_gives_up_leaves_nobody_behind) {
  explore<queued>({queued::unlock_and_count, queued::take_or_give_up, queued::count_beside},
                  queued::at_end);
}

struct queued_at_a_calm_one : queued {
  queued_at_a_calm_one() {
    m->state.store(core::kLocked | core::kWaiting | core::kCalm, std::memory_order_relaxed);
  }
};

TEST(mutex_model, who_is_woken_and_gives_up_beside_a_calm_holder_leaves_nobody_behind) {
  explore<queued_at_a_calm_one>({[](queued_at_a_calm_one& w) { queued::unlock_and_count(w); },
                                 [](queued_at_a_calm_one& w) { queued::take_or_give_up(w); },
                                 [](queued_at_a_calm_one& w) { queued::count_beside(w); }},
                                [](queued_at_a_calm_one& w) { queued::at_end(w); });
}

// The last one that waits withdraws as the holder leaves: nothing of it is left, also if nobody else comes by.
TEST(mutex_model, who_withdraws_beside_a_calm_holder_leaves_nothing_behind) {
  explore<queued_at_a_calm_one>(
      {[](queued_at_a_calm_one& w) { queued::unlock_and_count(w); },
       [](queued_at_a_calm_one& w) {
         if (w.m->ops().withdraw(&w.late)) return;
         queued::take_or_give_up(w);
       }},
      [](queued_at_a_calm_one& w) {
        const std::uint32_t left = w.m->state.load(std::memory_order_relaxed);
        MODEL_CHECK((left & ~core::kTurns) == 0, "something was left behind");
      });
}

// From wary to calm, and to wary again.
TEST(mutex_model, a_holder_that_is_calm_again_sees_the_next_that_comes) {
  explore<world>({[](world& w) { w.count(0), w.count(0), w.count(0); },
                  [](world& w) { w.count(1), w.count(1); }},
                 [](world& w) { MODEL_CHECK(w.n.last() == 5, "one count was lost"); });
}

// One that enters as its mark is wiped out, beside another that enters, and that others have taken and freed meanwhile.
TEST(mutex_model, who_enters_beside_others_does_not_trust_their_mark) {
  explore<world>({[](world& w) { w.count(0), w.count(0); }, [](world& w) { w.count(1); },
                  [](world& w) { w.count(2); }},
                 [](world& w) { MODEL_CHECK(w.n.last() == 4, "one count was lost"); });
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
