// bubble_word_test.cpp: rt/bubble_word.hpp, [bubble.quiet] [bubble.never_quiet_too_soon] [bubble.woken_once]: goroutines of a bubble block, are
// woken and end, while its keeper sleeps until all have.
//
// What sched/bubbles.cpp does around the word is repeated: the keeper parks, and looks again when it was woken.
#include "rt/bubble_word.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

struct world {
  rt::basic_bubble_word<model_atomics> word;
  party keeper;
  model_atomics::atomic<bool> list{false};  // a goroutine that is blocked can be found here
  plain<int> done_by_first{0, "what a goroutine did"};
  plain<int> done_by_second{0, "what another did"};
  int nactive = 0;  // at work, or on their way to it
  int nlooks = 0;

  void count_out() {
    if (word.count_out()) keeper.wake();
  }
  // testing::bubble(), awake: until all are blocked or have ended.
  void await_quiet() {
    while (!word.is_quiet()) {
      if (word.sleep()) keeper.sleep();
      MODEL_CHECK(++nlooks < 4, "it is woken when it is quiet");
    }
    MODEL_CHECK(nactive == 0, "somebody is at work, or on the way to it");
  }
  // One that was counted in when it was made.
  void work(plain<int>& result) {
    result.set(1);
    --nactive;
  }
};

// Two that are made, work and end.
struct two_at_work : world {
  two_at_work() {
    word.count_in();
    word.count_in();
    nactive = 2;
  }
};

TEST(bubble_word_model, its_keeper_goes_on_when_all_have_ended_and_sees_what_they_did) {
  explore<two_at_work>(
      {[](two_at_work& w) {
         w.await_quiet();
         MODEL_CHECK(w.done_by_first.get() == 1, "what the first did");
         MODEL_CHECK(w.done_by_second.get() == 1, "what the second did");
       },
       [](two_at_work& w) {
         w.work(w.done_by_first);
         w.count_out();
       },
       [](two_at_work& w) {
         w.work(w.done_by_second);
         w.count_out();
       }},
      [](two_at_work& w) { MODEL_CHECK(w.keeper.is_quiet(), "woken once too often"); });
}

//    goroutine that blocks                     waker, which is active itself
//    publish                                   take it from the list
//    count out                                 count in
//                                              it works, and ends; count out, for both
TEST(bubble_word_model, it_is_not_quiet_while_one_wakes_another) {
  explore<two_at_work>({[](two_at_work& w) { w.await_quiet(); },
                        [](two_at_work& w) {
                          w.done_by_first.set(1);
                          w.list.store(true, std::memory_order_release);
                          w.count_out();
                        },
                        [](two_at_work& w) {
                          while (!w.list.exchange(false, std::memory_order_acquire))
                            model_atomics::pause();
                          w.word.count_in();
                          w.work(w.done_by_first);
                          w.count_out();
                          w.work(w.done_by_second);
                          w.count_out();
                        }},
                       [](two_at_work& w) {
                         MODEL_CHECK(w.nactive == 0, "all have ended");
                         MODEL_CHECK(w.keeper.is_quiet(), "woken once too often");
                       });
}

// A plain thread is counted nowhere: whom it wakes may come as the last one has found the bubble quiet, and is the last in its turn.
//
//    the last one                              woken from outside
//    n - 1: it reads (asleep, 0)               n + 1: (asleep, 1)
//    CAS (asleep, 0) fails: not ours           n - 1: it reads (asleep, 0), CAS: wakes the keeper
TEST(bubble_word_model, each_sleep_ends_once_though_somebody_outside_wakes_goroutines) {
  struct one_at_work : world {
    one_at_work() { word.count_in(); }
    void sleep_twice() {
      for (int i = 0; i < 2; ++i)
        if (word.sleep()) keeper.sleep();
    }
  };
  explore<one_at_work>({[](one_at_work& w) { w.sleep_twice(); },
                        [](one_at_work& w) {
                          w.word.count_in();
                          w.count_out();
                        },
                        [](one_at_work& w) { w.count_out(); }},
                       [](one_at_work& w) {
                         MODEL_CHECK(w.keeper.is_quiet(), "woken once too often");
                         MODEL_CHECK(w.word.is_quiet(), "it is counted again");
                       });
}

}  // namespace
}  // namespace weft::model
