// barrier_test.cpp: sync/barrier_core.hpp and sync/condition_core.hpp. [barrier.phase] [barrier.no_touch_after_phase] [condition.no_lost_notify]
#include "sync/barrier_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"
#include "sync/condition_core.hpp"

namespace weft::model {
namespace {

using barrier_core = sync::barrier_core<model_atomics, timed_waiter, timed_waiters>;

struct barrier {
  static constexpr std::uint32_t kExpected = 2;
  barrier_core::word state{kExpected};
  barrier_core::lock guard;
  void* first = nullptr;
  void* last = nullptr;
  plain<int> completed{0, "what the completion did"};

  barrier_core ops() { return {state, guard, first, last}; }
  void arrive_and_wait(party& me) {
    barrier_core b = ops();
    const barrier_core::arrival a = b.arrive(1);
    MODEL_CHECK(a.left >= 0, "one too many");
    if (a.left == 0) {
      completed.set(completed.get() + 1);
      b.next_phase(kExpected, end_wait);
      return;
    }
    barrier_core::record mine{};
    park(me, [&](timed_waiter* w) {
      mine.who = w;
      return b.enter(&mine, a.phase);
    });
    MODEL_CHECK(completed.get() > 0, "the completion has run");
  }
};

struct barrier_world {
  mortal<barrier> b;
  party parties_[2];
  plain<int> of_first{0, "what the first did"};
  plain<int> of_second{0, "what the second did"};
  int nthrough = 0;
};

TEST(barrier_model, nobody_goes_on_before_both_have_come) {
  explore<barrier_world>({[](barrier_world& w) {
                            w.of_first.set(1);
                            w.b->arrive_and_wait(w.parties_[0]);
                            MODEL_CHECK(w.of_second.get() == 1, "the other has come");
                            w.b->arrive_and_wait(w.parties_[0]);
                            w.of_second.set(2);
                          },
                          [](barrier_world& w) {
                            w.of_second.set(1);
                            w.b->arrive_and_wait(w.parties_[1]);
                            MODEL_CHECK(w.of_first.get() == 1, "the other has come");
                            w.b->arrive_and_wait(w.parties_[1]);
                            w.of_first.set(2);
                          }});
}

TEST(barrier_model, whoever_is_through_may_destroy_it) {
  explore<barrier_world>({[](barrier_world& w) {
                            w.b->arrive_and_wait(w.parties_[0]);
                            if (++w.nthrough == 2) w.b.destroy();
                          },
                          [](barrier_world& w) {
                            w.b->arrive_and_wait(w.parties_[1]);
                            if (++w.nthrough == 2) w.b.destroy();
                          }});
}

using condition_core = sync::condition_core<model_atomics, timed_waiter, timed_waiters>;
using user_lock = os::basic_lock<model_atomics, os::lock_rank::channel>;

struct condition_world {
  user_lock mutex;
  condition_core::word nwaiting{0};
  condition_core::lock guard;
  void* first = nullptr;
  void* last = nullptr;
  party callers[2];
  plain<int> n{0, "what is waited for"};

  struct no_bracket {
    no_bracket() {}
  };
  condition_core ops() { return {nwaiting, guard, first, last}; }

  // wait() with the mutex held: its wait has a word of its own, which remembers a notify that comes before it has parked.
  void wait(party& me) {
    condition_core c = ops();
    rt::basic_timed_wait_word<model_atomics> word;
    timed_waiter who{&me, &word};
    condition_core::record mine{};
    mine.who = &who;
    c.enter<no_bracket>(&mine, [&] { mutex.unlock(); });
    if (word.park()) me.sleep();
    mutex.lock();
  }
  void take(party& me) {
    mutex.lock();
    while (n.get() == 0) wait(me);
    n.set(n.get() - 1);
    mutex.unlock();
  }
  void give(bool all) {
    mutex.lock();
    n.set(n.get() + 1);
    mutex.unlock();
    if (nwaiting.load(std::memory_order_relaxed) != 0) ops().notify(all, end_wait);
  }
};

TEST(condition_model, no_notify_is_lost) {
  explore<condition_world>(
      {[](condition_world& w) { w.take(w.callers[0]); },
       [](condition_world& w) { w.take(w.callers[1]); },
       [](condition_world& w) {
         w.give(false);
         w.give(false);
       }},
      [](condition_world& w) { MODEL_CHECK(w.n.last() == 0, "both took one"); });
}

TEST(condition_model, a_notify_of_all_reaches_all) {
  explore<condition_world>(
      {[](condition_world& w) { w.take(w.callers[0]); },
       [](condition_world& w) { w.take(w.callers[1]); },
       [](condition_world& w) {
         w.mutex.lock();
         w.n.set(2);
         w.mutex.unlock();
         if (w.nwaiting.load(std::memory_order_relaxed) != 0) w.ops().notify(true, end_wait);
       }},
      [](condition_world& w) { MODEL_CHECK(w.n.last() == 0, "both took one"); });
}

}  // namespace
}  // namespace weft::model
