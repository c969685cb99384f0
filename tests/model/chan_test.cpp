// chan_test.cpp: chan/chan_core.hpp as chan/chan.cpp uses it: two and three parties, [chan.pass] [chan.hint].
#include "chan/chan_core.hpp"

#include <gtest/gtest.h>

#include "channels.hpp"

namespace weft::model {
namespace {

template <std::size_t Capacity>
struct world {
  channel<Capacity> c;
  party parties_[3];
  plain<int> passed_on[4];  // what a sender did before it sent
  int got[4] = {};
  int ngot = 0;
  int nclosed = 0;

  void send(int i, long v) {
    passed_on[v].set(1);
    if (c.send(parties_[i], v) == step::closed) ++nclosed;
  }
  bool recv(int i) {
    long v = -1;
    if (c.recv(parties_[i], v) == step::closed) {
      ++nclosed;
      return false;
    }
    take(v);
    return true;
  }
  void take(long v) {
    MODEL_CHECK(v >= 0 && v < 4, "something that was never sent was received");
    MODEL_CHECK(passed_on[v].get() == 1, "what the sender did is visible");
    MODEL_CHECK(got[v]++ == 0, "it was received twice");
    ++ngot;
  }
  void expect(int n) {
    MODEL_CHECK(ngot == n, "one was lost");
    for (party& p : parties_) MODEL_CHECK(p.is_quiet(), "somebody was woken in vain");
  }
};

using unbuffered = world<0>;
using buffered = world<1>;

TEST(chan_model, without_a_buffer_two_meet) {
  explore<unbuffered>({[](unbuffered& w) { w.send(0, 0), w.send(0, 1); },
                       [](unbuffered& w) { w.recv(1), w.recv(1); }},
                      [](unbuffered& w) { w.expect(2); });
}

TEST(chan_model, without_a_buffer_two_senders_and_a_receiver_meet) {
  explore<unbuffered>({[](unbuffered& w) { w.send(0, 0); }, [](unbuffered& w) { w.send(1, 1); },
                       [](unbuffered& w) { w.recv(2), w.recv(2); }},
                      [](unbuffered& w) { w.expect(2); });
}

TEST(chan_model, with_a_buffer_of_one_nothing_is_lost) {
  explore<buffered>({[](buffered& w) { w.send(0, 0), w.send(0, 1), w.send(0, 2); },
                     [](buffered& w) { w.recv(1), w.recv(1), w.recv(1); }},
                    [](buffered& w) {
                      w.expect(3);
                      MODEL_CHECK(w.got[0] == 1 && w.got[2] == 1, "all came");
                    });
}

TEST(chan_model, with_a_buffer_of_one_a_sender_and_two_receivers) {
  explore<buffered>({[](buffered& w) { w.send(0, 0), w.send(0, 1); },
                     [](buffered& w) { w.recv(1); }, [](buffered& w) { w.recv(2); }},
                    [](buffered& w) { w.expect(2); });
}

TEST(chan_model, a_close_ends_every_wait) {
  explore<unbuffered>({[](unbuffered& w) { w.recv(0); }, [](unbuffered& w) { w.recv(1); },
                       [](unbuffered& w) { w.c.close(); }},
                      [](unbuffered& w) {
                        w.expect(0);
                        MODEL_CHECK(w.nclosed == 2, "both were told");
                      });
}

TEST(chan_model, what_was_sent_before_a_close_is_received) {
  explore<buffered>({[](buffered& w) {
                       w.send(0, 0);
                       w.c.close();
                     },
                     [](buffered& w) {
                       while (w.recv(1)) continue;
                     }},
                    [](buffered& w) { w.expect(1); });
}

// has_nothing(): first empty, then not closed. Whoever is told "nothing now" of a closed channel would ask for ever.
TEST(chan_model, who_tries_gets_what_is_there_or_is_told_the_truth) {
  explore<buffered>({[](buffered& w) {
                       w.send(0, 0);
                       w.c.close();
                     },
                     [](buffered& w) {
                       for (;;) {
                         long v = -1;
                         const step s = w.c.try_recv(v);
                         if (s == step::closed) return;
                         if (s == step::done) w.take(v);
                         if (s == step::must_wait) model_atomics::pause();
                       }
                     }},
                    [](buffered& w) { w.expect(1); });
}

// It is closed before it is emptied, so at no moment is it open and has nothing.
TEST(chan_model, who_tries_a_channel_that_was_never_open_and_empty_need_not_wait) {
  struct filled : buffered {
    filled() { send(2, 0); }
  };
  explore<filled>({[](filled& w) {
                     long v = -1;
                     const step s = w.c.try_recv(v);
                     MODEL_CHECK(s != step::must_wait, "there was always something to be told");
                     if (s == step::done) w.take(v);
                   },
                   [](filled& w) {
                     w.c.close();
                     w.recv(1);
                   }},
                  [](filled& w) { w.expect(1); });
}

TEST(chan_model, a_receive_that_makes_room_lets_the_next_sender_go_on) {
  explore<buffered>(
      {[](buffered& w) { w.send(0, 0), w.send(0, 1); }, [](buffered& w) { w.recv(1); }},
      [](buffered& w) {
        w.expect(1);
        MODEL_CHECK(w.c.c.length() == 1, "the other one is in the buffer");
      });
}

}  // namespace
}  // namespace weft::model
