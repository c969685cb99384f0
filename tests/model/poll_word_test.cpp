// poll_word_test.cpp: rt/poll_word.hpp as sched/netpoll.cpp uses it, [poll.no_lost_event] [poll.no_lost_end].
#include "rt/poll_word.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

struct poll_waiter {
  timed_waiter* who = nullptr;
  bool is_ready = false;
};
using poll_word = rt::basic_poll_word<model_atomics, poll_waiter>;

struct descriptor {
  poll_word word;
  model_atomics::atomic<std::uint32_t> revision{0};
  model_atomics::atomic<bool> is_closing{false};
  // What the kernel has for us. It locks whatever it looks at: a call is a read-modify-write.
  model_atomics::atomic<int> kernel{0};
  party me;
  timer clock;
  int nread = 0;

  enum class result { ready, closing };

  // wait_polled(), without a deadline.
  result wait() {
    for (;;) {
      const std::uint32_t revision_before = revision.load(std::memory_order_seq_cst);
      if (is_closing.load(std::memory_order_seq_cst)) return result::closing;
      poll_waiter mine;
      park(me, [&](timed_waiter* w) { return enter(mine, w, revision_before); });
      if (mine.is_ready) return result::ready;
    }
  }
  bool enter(poll_waiter& mine, timed_waiter* w, std::uint32_t revision_before) {
    mine.who = w;
    if (!word.enter(&mine)) {
      mine.is_ready = true;
      return false;
    }
    if (revision.load(std::memory_order_seq_cst) == revision_before) return true;
    return !word.withdraw(&mine);
  }
  // False: it was closed.
  bool read() {
    while (kernel.exchange(0, std::memory_order_acq_rel) == 0) {  // EAGAIN
      if (wait() == result::closing) return false;
    }
    ++nread;
    return true;
  }

  void data_comes() { kernel.exchange(1, std::memory_order_acq_rel); }
  void tell() {
    poll_waiter* const w = word.notify();
    if (w == nullptr) return;
    w->is_ready = true;
    end_wait(w->who);
  }
  void evict() {
    if (poll_waiter* const w = word.evict()) end_wait(w->who);
  }
  void close() {
    is_closing.store(true, std::memory_order_seq_cst);
    revision.fetch_add(1, std::memory_order_seq_cst);
    evict();
  }
  // set_poll_deadline(): those who wait look at their end again.
  void move_deadline() {
    revision.fetch_add(1, std::memory_order_seq_cst);
    evict();
  }
};

TEST(poll_word_model, no_event_is_lost) {
  explore<descriptor>({[](descriptor& d) { d.read(); },
                       [](descriptor& d) {
                         d.data_comes();
                         d.tell();
                       }},
                      [](descriptor& d) { MODEL_CHECK(d.nread == 1, "what came was read"); });
}

TEST(poll_word_model, nor_a_second_one_while_the_first_is_looked_at) {
  explore<descriptor>({[](descriptor& d) {
                         d.read();
                         d.read();
                       },
                       [](descriptor& d) {
                         d.data_comes();
                         d.tell();
                         // the second comes when the first was read
                         while (d.kernel.load(std::memory_order_acquire) != 0)
                           model_atomics::pause();
                         d.data_comes();
                         d.tell();
                       }},
                      [](descriptor& d) { MODEL_CHECK(d.nread == 2, "what came was read"); });
}

TEST(poll_word_model, who_waits_is_told_that_it_is_closed) {
  explore<descriptor>({[](descriptor& d) { MODEL_CHECK(!d.read(), "nothing came"); },
                       [](descriptor& d) { d.close(); }});
}

TEST(poll_word_model, an_event_and_a_close_wake_it_once) {
  explore<descriptor>({[](descriptor& d) { d.read(); },
                       [](descriptor& d) {
                         d.data_comes();
                         d.tell();
                       },
                       [](descriptor& d) { d.close(); }},
                      [](descriptor& d) { MODEL_CHECK(d.me.is_quiet(), "woken once too often"); });
}

TEST(poll_word_model, a_deadline_that_moves_takes_no_event_away) {
  explore<descriptor>({[](descriptor& d) { d.read(); },
                       [](descriptor& d) {
                         d.data_comes();
                         d.tell();
                       },
                       [](descriptor& d) { d.move_deadline(); }},
                      [](descriptor& d) { MODEL_CHECK(d.nread == 1, "what came was read"); });
}

// With a time limit: the poller and the timer, of which one wakes it.
TEST(poll_word_model, an_event_and_the_end_of_the_time_wake_it_once) {
  explore<descriptor>({[](descriptor& d) {
                         poll_waiter mine;
                         const bool has_come = park_until(
                             d.me, d.clock, [&](timed_waiter* w) { return d.enter(mine, w, 0); },
                             [&](timed_waiter*) { return d.word.withdraw(&mine); });
                         MODEL_CHECK(has_come || !mine.is_ready,
                                     "it was told, and says that it was late");
                       },
                       [](descriptor& d) { d.tell(); }, [](descriptor& d) { d.clock.fire(); }},
                      [](descriptor& d) { MODEL_CHECK(d.me.is_quiet(), "woken once too often"); });
}

}  // namespace
}  // namespace weft::model
