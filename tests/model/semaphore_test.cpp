// semaphore_test.cpp: sync/semaphore_core.hpp, [semaphore.pass] [semaphore.no_touch_after_release].
#include "sync/semaphore_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

using core = sync::semaphore_core<model_atomics, timed_waiter, timed_waiters>;

struct semaphore {
  static constexpr std::int64_t kCapacity = 2;
  core::word state{kCapacity * core::kOne};
  core::lock guard;
  void* first = nullptr;
  void* last = nullptr;

  core ops() { return {state, guard, first, last}; }
  void acquire(party& me, std::int64_t n) {
    core s = ops();
    core::record mine{};
    mine.wants = n;
    park(me, [&](timed_waiter* w) {
      mine.who = w;
      return s.enter(&mine);
    });
  }
  bool acquire_until(party& me, timer& t, std::int64_t n) {
    core s = ops();
    core::record mine{};
    mine.wants = n;
    return park_until(
        me, t,
        [&](timed_waiter* w) {
          mine.who = w;
          return s.enter(&mine);
        },
        [&](timed_waiter*) { return s.withdraw(&mine, end_wait); });
  }
  void release(std::int64_t n) {
    MODEL_CHECK(ops().release(n, kCapacity, end_wait), "more was released than held");
  }
};

struct world {
  mortal<semaphore> s;
  party callers[3];
  timer clock;
  int nheld = 0;
  int ndone = 0;
  plain<int> data;

  void begin(int n) {
    nheld += n;
    MODEL_CHECK(nheld <= semaphore::kCapacity, "more is held than there is");
  }
  void use(int i, int n) {
    s->acquire(callers[i], n);
    begin(n);
    if (n == semaphore::kCapacity) data.set(data.get() + 1);  // it is alone
    nheld -= n;
    s->release(n);
  }
  void expect_whole() {
    MODEL_CHECK(s->state.load() == semaphore::kCapacity * core::kOne,
                "something is missing, or somebody waits");
  }
};

TEST(semaphore_model, never_more_than_there_is_and_nobody_is_forgotten) {
  explore<world>(
      {[](world& w) { w.use(0, 1); }, [](world& w) { w.use(1, 2); }, [](world& w) { w.use(2, 2); }},
      [](world& w) { w.expect_whole(); });
}

TEST(semaphore_model, two_who_want_all_take_turns) {
  explore<world>({[](world& w) { w.use(0, 2), w.use(0, 2); }, [](world& w) { w.use(1, 2); }},
                 [](world& w) { w.expect_whole(); });
}

TEST(semaphore_model, who_gives_up_makes_way_for_those_behind_it) {
  explore<world>({[](world& w) { w.use(0, 1); },
                  [](world& w) {
                    if (!w.s->acquire_until(w.callers[1], w.clock, 2)) return;
                    w.begin(2);
                    w.nheld -= 2;
                    w.s->release(2);
                  },
                  [](world& w) { w.use(2, 1); }, [](world& w) { w.clock.fire(); }},
                 [](world& w) { w.expect_whole(); });
}

// Half is taken for good: those behind the one that wants all can only come in when that one leaves.
TEST(semaphore_model, who_gives_up_leaves_what_there_is_to_the_next) {
  struct half_taken : world {
    half_taken() { s->acquire(callers[2], 1); }
  };
  explore<half_taken>({[](half_taken& w) {
                         MODEL_CHECK(!w.s->acquire_until(w.callers[0], w.clock, 2),
                                     "there is only half of it");
                       },
                       [](half_taken& w) { w.s->acquire(w.callers[1], 1); },
                       [](half_taken& w) { w.clock.fire_when_armed(); }});
}

// What is left of a release goes back before anybody is woken.
TEST(semaphore_model, whoever_was_given_a_part_may_destroy_it) {
  struct all_taken : world {
    all_taken() { s->acquire(callers[2], 2); }
  };
  explore<all_taken>({[](all_taken& w) {
                        w.s->acquire(w.callers[0], 1);
                        w.s.destroy();
                      },
                      [](all_taken& w) { w.s->release(2); }});
}

TEST(semaphore_model, whoever_has_acquired_all_may_destroy_it) {
  struct all_taken : world {
    all_taken() { s->acquire(callers[2], 2); }
  };
  explore<all_taken>({[](all_taken& w) {
                        w.s->acquire(w.callers[0], 2);
                        w.s.destroy();
                      },
                      [](all_taken& w) { w.s->release(1); },
                      [](all_taken& w) { w.s->release(1); }});
}

}  // namespace
}  // namespace weft::model
