// timed_wait_word_test.cpp: rt/timed_wait_word.hpp, [timed_wait.once] [timed_wait.mark]: a wait that two may end, and whose frame is gone after it.
#include "rt/timed_wait_word.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

// A list with room for one, as simple as can be: what matters is the word.
struct world {
  party me;
  timer clock;
  model_atomics::atomic<timed_waiter*> list{nullptr};
  plain<int> news;
  model_atomics::atomic<bool> is_over{false};

  bool wait() {
    return park_until(
        me, clock,
        [&](timed_waiter* w) {
          list.store(w, std::memory_order_release);
          return true;
        },
        [&](timed_waiter* w) {
          return list.compare_exchange_strong(w, nullptr, std::memory_order_acq_rel,
                                              std::memory_order_acquire);
        });
  }
  void end() {
    timed_waiter* const w = list.exchange(nullptr, std::memory_order_acq_rel);
    if (w == nullptr) return;
    news.set(1);
    end_wait(w);
  }
};

TEST(timed_wait_model, of_a_waker_and_a_timer_one_wakes_it) {
  explore<world>({[](world& w) {
                    if (w.wait()) MODEL_CHECK(w.news.get() == 1, "what the waker did is visible");
                    w.is_over.store(true, std::memory_order_release);
                  },
                  [](world& w) {
                    // it comes in any case
                    while (w.list.load(std::memory_order_relaxed) == nullptr) {
                      if (w.is_over.load(std::memory_order_relaxed)) return;
                      model_atomics::pause();
                    }
                    w.end();
                  },
                  [](world& w) { w.clock.fire(); }},
                 [](world& w) { MODEL_CHECK(w.me.is_quiet(), "woken once too often"); });
}

TEST(timed_wait_model, alone_the_timer_ends_it) {
  explore<world>({[](world& w) { MODEL_CHECK(!w.wait(), "nobody else came"); },
                  [](world& w) {
                    while (w.list.load(std::memory_order_relaxed) == nullptr)
                      model_atomics::pause();
                    w.clock.fire();
                  }});
}

}  // namespace
}  // namespace weft::model
