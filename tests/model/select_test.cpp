// select_test.cpp: chan/select_core.hpp as chan/select.cpp uses it: one that waits at two channels, its peers, and the time. [select.leave]
#include "chan/select_core.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "channels.hpp"

namespace weft::model {
namespace {

using test_channel = channel<0>;
using core = test_channel::core_type;

struct slot {
  core* chan = nullptr;
  void* elem = nullptr;
  bool is_send = false;
  std::uint32_t poll_order = 0;
  std::uint32_t lock_order = 0;
  alignas(core::record_type) std::byte record[sizeof(core::record_type)];
};

struct slots {
  using core_type = model::core;
  static bool is_set(const slot& s) noexcept { return s.chan != nullptr; }
  static model::core& core(const slot& s) noexcept { return *s.chan; }
  static void* record(slot& s) noexcept { return s.record; }
  static void catch_up(const slot&) noexcept {}
  static void left(slot&) noexcept {}
};

using selection = channels::selection<slots, slot>;

// Step 0 to 4, as select_some(). The index, or -1 if the time was over.
struct outcome {
  int index = -1;
  bool is_closed = false;
};

outcome select(party& me, slot* cases, std::size_t n, timer* clock = nullptr) {
  base::rng random(1);  // the order does not matter to what must hold
  selection::choice won = selection::try_one(cases, n, random);
  if (!won) {
    selection all(cases, n, random);
    won = all.choose();
    if (!won) {  // wait_at_all()
      timer::appointment a{&me, {}};
      channels::shared_wait<model_atomics, party> shared{a.word};
      all.enter_all(&me, &shared);
      if (clock != nullptr) clock->arm(&a);
      const bool waits = a.word.park();
      all.unlock_all();
      if (waits) me.sleep();
      if (clock != nullptr && !a.word.has(rt::wait_mark::timed_out) && !clock->cancel(&a))
        await_mark(a.word, rt::wait_mark::timed_out);
      won = all.withdraw_all(shared.winner);
      for (std::size_t i = 0; i < n; ++i)
        std::launder(reinterpret_cast<core::record_type*>(cases[i].record))->who = forbidden();
    }
  }
  if (won.wake != nullptr) won.wake->wake();
  return won ? outcome{static_cast<int>(won.index), won.is_closed} : outcome{};
}

struct world {
  test_channel left;
  test_channel right;
  party parties_[3];
  timer clock;
  plain<int> done_before[2];
  int ngot = 0;
  int nsent = 0;
  bool was_timed_out = false;

  void send(int i, test_channel& c, int which) {
    done_before[which].set(1);
    c.send(parties_[i], which);
    ++nsent;
  }
  void select_recv(bool is_limited = false) {
    long v = -1;
    slot cases[2];
    cases[0].chan = &left.c;
    cases[1].chan = &right.c;
    cases[0].elem = cases[1].elem = &v;
    const outcome o = select(parties_[0], cases, 2, is_limited ? &clock : nullptr);
    was_timed_out = o.index < 0;
    if (o.index < 0 || o.is_closed) return;
    MODEL_CHECK(v == o.index, "the value is the other channel's");
    MODEL_CHECK(done_before[v].get() == 1, "what the sender did is visible");
    ++ngot;
  }
  void expect_quiet() {
    for (party& p : parties_) MODEL_CHECK(p.is_quiet(), "somebody was woken in vain");
    MODEL_CHECK(!left.c.has_waiters() && !right.c.has_waiters(), "a record is left behind");
  }
};

TEST(select_model, one_of_two_senders_at_a_time_is_heard_and_none_is_lost) {
  explore<world>({[](world& w) {
                    w.select_recv();
                    w.select_recv();
                  },
                  [](world& w) { w.send(1, w.left, 0); }, [](world& w) { w.send(2, w.right, 1); }},
                 [](world& w) {
                   MODEL_CHECK(w.ngot == 2, "both were heard");
                   w.expect_quiet();
                 });
}

TEST(select_model, a_close_ends_it) {
  explore<world>({[](world& w) { w.select_recv(); }, [](world& w) { w.right.close(); }},
                 [](world& w) { w.expect_quiet(); });
}

TEST(select_model, of_a_sender_and_the_time_one_ends_it) {
  explore<world>({[](world& w) {
                    w.select_recv(true);
                    if (w.was_timed_out) w.select_recv();  // the sender comes all the same
                  },
                  [](world& w) { w.send(1, w.left, 0); }, [](world& w) { w.clock.fire(); }},
                 [](world& w) {
                   MODEL_CHECK(w.ngot == 1, "it was heard");
                   w.expect_quiet();
                 });
}

// Two selects that meet crosswise lock the same channels: in the order of their addresses.
TEST(select_model, two_selects_meet) {
  explore<world>({[](world& w) { w.select_recv(); },
                  [](world& w) {
                    long zero = 0;
                    long one = 1;
                    w.done_before[0].set(1);
                    w.done_before[1].set(1);
                    slot cases[2];
                    cases[0].chan = &w.right.c;
                    cases[0].elem = &one;
                    cases[1].chan = &w.left.c;
                    cases[1].elem = &zero;
                    cases[0].is_send = cases[1].is_send = true;
                    select(w.parties_[1], cases, 2);
                  }},
                 [](world& w) {
                   MODEL_CHECK(w.ngot == 1, "they met once");
                   w.expect_quiet();
                 });
}

}  // namespace
}  // namespace weft::model
