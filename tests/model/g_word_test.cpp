// g_word_test.cpp: rt/g_word.hpp, [g.status] [g.hold]: a goroutine parks, somebody wakes it, and others hold it meanwhile.
//
// The goroutine is its word, its place in a list with room for one, and a stack that whoever has the goroutine uses. Whoever wakes it runs it, as an M
// does that takes it from the front of its own queue: so between claim() and its stack there is nothing but the word.
#include "rt/g_word.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"

namespace weft::model {
namespace {

using rt::g_status;

struct world {
  rt::basic_g_word<model_atomics> word{g_status::running};
  model_atomics::atomic<bool> list{false};
  plain<int> sp{0, "where its stack ends"};
  plain<int> stack{0, "its stack"};
  model_atomics::atomic<int> point{0};
  int nusing = 0;
  int nwoken = 0;
  int ntrimmed = 0;

  // Whoever has the stack, while the others may come.
  void use_stack() {
    MODEL_CHECK(nusing++ == 0, "two have its stack");
    stack.set(stack.last() + 1);
    point.load(std::memory_order_relaxed);
    MODEL_CHECK(nusing-- == 1, "two have its stack");
  }

  // The M that it leaves: as commit_departure().
  void leave_stack() {
    use_stack();
    sp.set(sp.last() + 1);
    word.become(g_status::waiting);
  }
  void park() {
    leave_stack();
    list.store(true, std::memory_order_release);
  }
  void go_on() {
    word.claim([] { model_atomics::pause(); });
    ++nwoken;
    word.become(g_status::running);
    use_stack();
  }
  // False: it is not in the list, or somebody else has taken it off.
  bool wake() {
    if (!list.exchange(false, std::memory_order_acq_rel)) return false;
    go_on();
    return true;
  }
  void wake_when_it_waits() {
    while (!wake()) model_atomics::pause();
  }

  // For two: one of them wakes it from its first wait, and it parks again there.
  void wake_and_park_once_more() {
    wake_when_it_waits();
    if (nwoken == 1) park();
  }

  // The scavenger: it marks, and sees to what it has marked.
  void scavenge() {
    word.settle();
    if (word.is_settled() && word.hold()) {
      static_cast<void>(sp.get());
      use_stack();
      ++ntrimmed;
      word.let_go(rt::kTrimmed);
    }
  }
  // The census: anybody who waits.
  void look() {
    if (!word.hold()) return;
    static_cast<void>(sp.get());
    use_stack();
    word.let_go();
  }

  void expect_running_after(int nwaits) {
    MODEL_CHECK(nwoken == nwaits, "woken once for each wait");
    MODEL_CHECK(word.status() == g_status::running, "it runs");
    MODEL_CHECK(!list.load(std::memory_order_relaxed), "it is in no list");
  }
};

TEST(g_word_model, its_stack_is_not_run_while_it_is_trimmed) {
  explore<world>({[](world& w) { w.park(); }, [](world& w) { w.wake_when_it_waits(); },
                  [](world& w) {
                    w.scavenge();
                    w.scavenge();
                  }},
                 [](world& w) {
                   w.expect_running_after(1);
                   MODEL_CHECK(w.ntrimmed <= 1, "once in a wait");
                 });
}

// The scavenger's look may be as old as the first wait.
TEST(g_word_model, what_was_seen_of_one_wait_is_not_taken_for_the_next) {
  explore<world>({[](world& w) {
                    w.park();
                    w.wake_and_park_once_more();
                  },
                  [](world& w) { w.wake_and_park_once_more(); },
                  [](world& w) {
                    w.scavenge();
                    w.scavenge();
                  }},
                 [](world& w) { w.expect_running_after(2); });
}

// Its publish step has found that there is nothing to wait for, and it is its own waker: no list leads to it, but others may hold it.
TEST(g_word_model, who_need_not_wait_after_all_goes_on_when_it_is_let_go) {
  explore<world>({[](world& w) {
                    w.leave_stack();
                    w.go_on();
                  },
                  [](world& w) { w.scavenge(); }, [](world& w) { w.look(); }},
                 [](world& w) { w.expect_running_after(1); });
}

TEST(g_word_model, two_who_hold_it_take_turns_and_its_waker_comes_through) {
  explore<world>({[](world& w) { w.park(); }, [](world& w) { w.wake_when_it_waits(); },
                  [](world& w) { w.scavenge(); }, [](world& w) { w.look(); }},
                 [](world& w) { w.expect_running_after(1); });
}

TEST(g_word_model, of_two_wakers_one_claims_it) {
  explore<world>({[](world& w) {
                    w.park();
                    w.wake();
                  },
                  [](world& w) { w.wake(); }, [](world& w) { w.scavenge(); }},
                 [](world& w) { w.expect_running_after(1); });
}

// Whoever only reads the status knows what led to it.
TEST(g_word_model, who_reads_that_it_waits_knows_what_it_did_before) {
  explore<world>(
      {[](world& w) { w.park(); },
       [](world& w) {
         w.scavenge();
         if (w.word.status() == g_status::waiting) static_cast<void>(w.sp.get());
       }},
      [](world& w) { MODEL_CHECK(w.word.status() == g_status::waiting, "nobody came"); });
}

}  // namespace
}  // namespace weft::model
