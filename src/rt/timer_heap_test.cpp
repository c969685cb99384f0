// timer_heap_test.cpp: never early, in order, each arming ends once (B190, B193, B194, B196, B197, B200, B206, B217; HAZARDS 17-21).
#include "rt/timer_heap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <vector>

#include "base/rng.hpp"
#include "os/vm.hpp"
#include "support/for_procs.hpp"

namespace weft {
namespace {

using rt::arm_result;
using rt::arm_status;
using rt::kNever;
using rt::timer;
using rt::timer_state;

bool cancel(timer* t, std::uint64_t seq) { return rt::timer_heap::cancel(t, seq); }

// What happened to the timers of a test, through their callbacks.
struct log {
  std::vector<timer*> fired;
  std::vector<std::uint64_t> seqs;
  std::vector<timer*> released;
  std::size_t ncleared = 0;  // of these
};
log* current = nullptr;

void on_fire(timer* t, void* arg, std::uint64_t seq) {
  EXPECT_EQ(arg, current);
  current->fired.push_back(t);
  current->seqs.push_back(seq);
}
void on_release(timer* t, timer_state was) {
  EXPECT_EQ(t->state(), timer_state::idle);
  EXPECT_TRUE(was == timer_state::cancelled || was == timer_state::cleared);
  current->released.push_back(t);
  current->ncleared += was == timer_state::cleared;
}

class timer_heap : public testing::Test {
 protected:
  timer_heap() { current = &happened; }
  ~timer_heap() override { heap.clear(); }

  timer* make() {
    timer& t = nodes.emplace_back();
    t.fire = &on_fire;
    t.arg = &happened;
    t.release = &on_release;
    return &t;
  }

  // Fires everything due, `batch` at a time.
  std::size_t run_due(rt::timer_heap& h, std::int64_t now, std::size_t batch = 4) {
    std::vector<rt::timer_heap::due> out(batch);
    std::size_t n = 0;
    while (const std::size_t got = h.pop_due(now, out)) {
      for (std::size_t i = 0; i < got; ++i) out[i].run();
      n += got;
    }
    EXPECT_GT(h.next_when(), now);
    return n;
  }
  std::size_t run_due(std::int64_t now) { return run_due(heap, now); }

  log happened;
  std::deque<timer> nodes;
  rt::timer_heap heap;
};

TEST_F(timer_heap, an_empty_heap_is_never_due) {
  std::array<rt::timer_heap::due, 1> out{};
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_EQ(heap.pop_due(0, out), 0u);
  EXPECT_EQ(heap.pop_due(kNever, out), 0u);
  EXPECT_FALSE(heap.has_armed());
}

TEST_F(timer_heap, fires_at_its_time_and_not_a_nanosecond_before) {
  timer* const t = make();
  const arm_result r = heap.arm(t, 100);
  EXPECT_EQ(r.status, arm_status::earliest);
  EXPECT_EQ(t->state(), timer_state::armed);
  EXPECT_EQ(heap.next_when(), 100);
  EXPECT_EQ(run_due(99), 0u);
  EXPECT_TRUE(happened.fired.empty());
  EXPECT_EQ(run_due(100), 1u);
  EXPECT_EQ(happened.fired, std::vector{t});
  EXPECT_EQ(happened.seqs, std::vector{r.seq});
  EXPECT_EQ(t->state(), timer_state::idle);
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_TRUE(happened.released.empty())
      << "what has fired is its owner's, not the heap's to release";
}

TEST_F(timer_heap, few_are_got_up_for_at_their_time) {
  EXPECT_EQ(heap.wake_when(), kNever);
  for (std::int64_t when : {1000, 1001, 1002, 1003}) heap.arm(make(), when);
  EXPECT_EQ(heap.wake_when(), 1000);
  heap.arm(make(), 1'000'000);
  run_due(1000);
  EXPECT_EQ(heap.wake_when(), 1001) << "those that come together are still few";
}

TEST_F(timer_heap, a_crowd_is_got_up_for_together) {
  for (std::int64_t when = 1000; when < 1100; ++when) heap.arm(make(), when);
  run_due(1000);
  EXPECT_EQ(heap.next_when(), 1001);
  EXPECT_EQ(heap.wake_when(), 1001 + 50'000);
  run_due(1097);
  EXPECT_EQ(heap.wake_when(), 1098) << "two are left";
}

TEST_F(timer_heap, a_crowd_that_is_never_due_has_no_time) {
  for (int i = 0; i < 10; ++i) heap.arm(make(), kNever);
  heap.arm(make(), 5);
  run_due(5);
  EXPECT_EQ(heap.wake_when(), kNever);
}

TEST_F(timer_heap, says_which_arming_is_the_earliest) {
  EXPECT_EQ(heap.arm(make(), 50).status, arm_status::earliest);
  EXPECT_EQ(heap.arm(make(), 60).status, arm_status::armed);
  EXPECT_EQ(heap.arm(make(), 50).status, arm_status::armed) << "nobody has to be woken earlier";
  EXPECT_EQ(heap.arm(make(), 49).status, arm_status::earliest);
  EXPECT_EQ(heap.next_when(), 49);
}

// B193
TEST_F(timer_heap, fires_in_order_of_time_and_first_armed_first) {
  const std::int64_t slots[] = {5, 3, 6, 6, 6, 1, 1, 2, 7, 9, 4, 8, 0};
  std::multimap<std::int64_t, timer*> expected;
  for (const std::int64_t when : slots) {
    timer* const t = make();
    heap.arm(t, when);
    expected.emplace(when, t);
  }
  EXPECT_EQ(run_due(9), std::size(slots));
  std::vector<timer*> order;
  for (const auto& [when, t] : expected) order.push_back(t);
  EXPECT_EQ(happened.fired, order);
}

// B197
TEST_F(timer_heap, the_ends_of_time_are_times_like_others) {
  timer* const past = make();
  timer* const last = make();
  timer* const never = make();
  EXPECT_TRUE(heap.arm(never, kNever).is_armed());
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_TRUE(heap.has_armed()) << "armed, though it will not be due";
  EXPECT_TRUE(heap.arm(last, kNever - 1).is_armed());
  EXPECT_EQ(heap.arm(past, INT64_MIN).status, arm_status::earliest);
  EXPECT_EQ(run_due(INT64_MIN), 1u);
  EXPECT_EQ(run_due(kNever - 2), 0u);
  EXPECT_EQ(run_due(kNever - 1), 1u);
  EXPECT_EQ(happened.fired, (std::vector{past, last}));
}

// B194
TEST_F(timer_heap, a_cancelled_timer_does_not_fire_and_is_released_once) {
  timer* const t = make();
  timer* const other = make();
  const std::uint64_t seq = heap.arm(t, 10).seq;
  heap.arm(other, 20);
  EXPECT_TRUE(cancel(t, seq));
  EXPECT_FALSE(cancel(t, seq)) << "a second cancel has nothing to cancel";
  EXPECT_EQ(t->state(), timer_state::cancelled);
  EXPECT_TRUE(happened.released.empty()) << "it is still in the heap";
  EXPECT_EQ(run_due(15), 0u);
  EXPECT_EQ(happened.released, std::vector{t});
  EXPECT_EQ(heap.next_when(), 20) << "the zombie at the top is gone";
  EXPECT_EQ(run_due(20), 1u);
  EXPECT_EQ(happened.released.size(), 1u);
}

TEST_F(timer_heap, zombies_that_are_not_due_leave_with_the_one_before_them) {
  timer* const t = make();
  heap.arm(t, 10);
  std::vector<timer*> zombies;
  for (int i = 0; i < 5; ++i) {
    zombies.push_back(make());
    ASSERT_TRUE(cancel(zombies.back(), heap.arm(zombies.back(), 1000 + i).seq));
  }
  EXPECT_EQ(run_due(10), 1u);
  EXPECT_EQ(happened.released.size(), zombies.size());
  EXPECT_EQ(heap.next_when(), kNever);
}

TEST_F(timer_heap, what_was_taken_cannot_be_cancelled_even_before_it_is_fired) {
  timer* const t = make();
  const std::uint64_t seq = heap.arm(t, 10).seq;
  std::array<rt::timer_heap::due, 2> out{};
  ASSERT_EQ(heap.pop_due(10, out), 1u);
  EXPECT_EQ(t->state(), timer_state::idle) << "before the callback";
  EXPECT_FALSE(cancel(t, seq));
  out[0].run();
  EXPECT_EQ(happened.fired.size(), 1u);
}

// B195: a period is the callback's affair.
TEST_F(timer_heap, a_callback_may_arm_its_own_node_again) {
  struct ticker {
    rt::timer_heap* heap;
    int left;
    std::vector<std::uint64_t> seqs;
  } tick{&heap, 9, {}};
  timer t;
  t.arg = &tick;
  t.fire = [](timer* node, void* arg, std::uint64_t seq) {
    auto& me = *static_cast<ticker*>(arg);
    me.seqs.push_back(seq);
    if (me.left-- > 0) {
      EXPECT_TRUE(me.heap->arm(node, node->when_ns + 10).is_armed());
    }
  };
  heap.arm(&t, 10);
  for (std::int64_t now = 0; now <= 200; ++now) run_due(now);
  ASSERT_EQ(tick.seqs.size(), 10u);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(tick.seqs[i], tick.seqs[i - 1] + 1);
}

// The node lies in a frame that ends as soon as its goroutine has been woken: it is not touched after fire() began.
TEST_F(timer_heap, a_callback_may_free_its_node) {
  struct owner {
    bool is_gone = false;
  } o;
  auto* const t = new timer;
  t->arg = &o;
  t->fire = [](timer* node, void* arg, std::uint64_t) {
    delete node;  // AddressSanitizer sees a later touch
    static_cast<owner*>(arg)->is_gone = true;
  };
  heap.arm(t, 1);
  heap.arm(make(), 2);
  EXPECT_EQ(run_due(2), 2u);
  EXPECT_TRUE(o.is_gone);
}

// B196, B201: moving a timer is cancelling it and arming another node.
TEST_F(timer_heap, moving_a_timer_earlier_again_and_again_never_drops_it) {
  timer* t = make();
  std::uint64_t seq = heap.arm(t, 1'000'000).seq;
  for (std::int64_t when = 999'999; when > 990'000; --when) {
    ASSERT_TRUE(cancel(t, seq));
    t = make();
    const arm_result r = heap.arm(t, when);
    ASSERT_EQ(r.status, arm_status::earliest);
    seq = r.seq;
    ASSERT_LE(heap.next_when(), when);
  }
  EXPECT_EQ(run_due(990'000), 0u);
  EXPECT_EQ(run_due(990'001), 1u);
  EXPECT_EQ(happened.fired, std::vector{t});
  EXPECT_LT(heap.size(), 100u) << "zombies were swept on the way";
}

TEST_F(timer_heap, hands_out_no_more_than_asked_for_and_says_that_there_is_more) {
  for (int i = 0; i < 10; ++i) heap.arm(make(), i);
  std::array<rt::timer_heap::due, 3> out{};
  EXPECT_EQ(heap.pop_due(100, out), 3u);
  EXPECT_EQ(heap.next_when(), 3);
  EXPECT_EQ(heap.pop_due(4, out), 2u);
  EXPECT_EQ(heap.next_when(), 5);
  EXPECT_EQ(heap.pop_due(100, {}), 0u);
  EXPECT_EQ(run_due(100), 5u);
}

TEST_F(timer_heap, a_quarter_of_zombies_is_swept_by_the_next_who_holds_the_lock) {
  std::vector<timer*> all;
  std::vector<std::uint64_t> seqs;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(make());
    seqs.push_back(heap.arm(all.back(), 1000 + i).seq);
  }
  for (std::size_t i = 0; i < 250; ++i) ASSERT_TRUE(cancel(all[999 - i], seqs[999 - i]));
  EXPECT_FALSE(heap.is_littered());
  heap.arm(make(), 5000);
  EXPECT_TRUE(happened.released.empty()) << "a quarter is not more than a quarter";
  for (std::size_t i = 250; i < 260; ++i) ASSERT_TRUE(cancel(all[999 - i], seqs[999 - i]));
  EXPECT_TRUE(heap.is_littered());
  heap.arm(make(), 5001);
  EXPECT_EQ(happened.released.size(), 260u);
  EXPECT_FALSE(heap.is_littered());
  EXPECT_EQ(heap.size(), 742u);
  EXPECT_TRUE(heap.is_ordered());
  EXPECT_EQ(run_due(10'000), 742u);
}

// Whoever arms holds the lock for a slice of the sweep, not for all of it.
TEST_F(timer_heap, a_large_heap_is_swept_a_slice_at_a_time_by_those_who_come) {
  constexpr std::size_t kMany = 20'000;
  constexpr std::size_t kMostAtOnce = 1024;
  std::vector<std::uint64_t> seqs;
  for (std::size_t i = 0; i < kMany; ++i)
    seqs.push_back(heap.arm(make(), 1000 + static_cast<std::int64_t>(i * 7919 % kMany)).seq);
  const std::size_t ncancelled = kMany / 4 + 1;
  for (std::size_t i = 0; i < ncancelled; ++i) ASSERT_TRUE(cancel(&nodes[3 * i], seqs[3 * i]));
  std::size_t narmed = 0;
  while (heap.is_littered() || happened.released.size() < ncancelled) {
    const std::size_t before = happened.released.size();
    heap.arm(make(), 50'000);  // late: it moves nobody
    ASSERT_LE(happened.released.size() - before, kMostAtOnce);
    ASSERT_LE(++narmed, 2 * kMany / kMostAtOnce) << "the sweep does not get on";
  }
  EXPECT_GE(narmed, kMany / kMostAtOnce);
  EXPECT_EQ(happened.released.size(), ncancelled);
  EXPECT_EQ(heap.size(), kMany - ncancelled + narmed);
  EXPECT_TRUE(heap.is_ordered());
  EXPECT_EQ(run_due(50'000), kMany - ncancelled + narmed);
}

// One that is armed between two slices may push a zombie past the sweep: at most one each, and they stay counted for the next sweep.
TEST_F(timer_heap, what_is_armed_during_a_sweep_hides_no_zombie_for_good) {
  base::rng rng(test::seed());
  std::map<timer*, std::uint64_t> alive;
  std::size_t ncancelled = 0;
  std::int64_t earlier = 1'000'000;
  for (int round = 0; round < 5; ++round) {
    while (alive.size() < 10'000) {
      timer* const t = make();
      alive[t] = heap.arm(t, 1'000'000 + rng.below(1'000'000)).seq;
    }
    for (auto it = alive.begin(); it != alive.end();) {
      if (rng.below(2) == 0) {
        ++it;
        continue;
      }
      ASSERT_TRUE(cancel(it->first, it->second));
      ++ncancelled;
      it = alive.erase(it);
    }
    constexpr std::size_t narmed = 40;  // more than it has slices
    for (std::size_t i = 0; i < narmed; ++i) {
      timer* const t = make();
      alive[t] = heap.arm(t, --earlier).seq;  // before all others, from the last place to the first
    }
    EXPECT_LE(ncancelled - happened.released.size(), narmed);
    EXPECT_TRUE(heap.is_ordered());
  }
  heap.tidy();
  EXPECT_EQ(happened.released.size(), ncancelled);
  EXPECT_EQ(heap.size(), alive.size());
  EXPECT_EQ(run_due(3'000'000), alive.size());
}

// Too few for a sweep, but all in the way: they leave in several goes, and nothing that is due is missed behind them.
TEST_F(timer_heap, many_zombies_at_the_top_hide_nothing_that_is_due) {
  constexpr std::size_t kMany = 8000;
  std::vector<std::uint64_t> seqs;
  for (std::size_t i = 0; i < kMany; ++i)
    seqs.push_back(heap.arm(make(), static_cast<std::int64_t>(i)).seq);
  const std::size_t ncancelled = kMany / 4;
  for (std::size_t i = 0; i < ncancelled; ++i) ASSERT_TRUE(cancel(&nodes[i], seqs[i]));
  std::array<rt::timer_heap::due, 3> out{};
  EXPECT_EQ(heap.pop_due(ncancelled - 1, out), 0u);
  EXPECT_EQ(happened.released.size(), ncancelled);
  EXPECT_EQ(heap.next_when(), static_cast<std::int64_t>(ncancelled));
  ASSERT_EQ(heap.pop_due(ncancelled, out), 1u);
  EXPECT_EQ(out[0].node, &nodes[ncancelled]);
}

// Its own sweep is half done when the timers of another heap are put among its own.
TEST_F(timer_heap, a_heap_that_is_being_swept_takes_the_timers_of_another) {
  rt::timer_heap other;
  std::vector<std::uint64_t> seqs;
  for (int i = 0; i < 10'000; ++i) seqs.push_back(heap.arm(make(), 10'000 - i).seq);
  for (std::size_t i = 0; i < 10'000; i += 2) ASSERT_TRUE(cancel(&nodes[i], seqs[i]));
  heap.arm(make(), 20'000);
  EXPECT_TRUE(heap.is_littered()) << "the sweep has begun and is not over";
  for (int i = 0; i < 3'000; ++i) other.arm(make(), i);
  ASSERT_TRUE(other.move_all_to(heap));
  for (int i = 0; i < 40; ++i) heap.arm(make(), 20'000);
  EXPECT_FALSE(heap.is_littered());
  EXPECT_EQ(happened.released.size(), 5'000u);
  EXPECT_TRUE(heap.is_ordered());
  EXPECT_EQ(run_due(20'000), 5'000u + 3'000u + 41u);
}

// B206, and the memory of it: a million timeouts that never come need neither a million entries nor more memory than a few.
TEST_F(timer_heap, armed_and_cancelled_timers_do_not_pile_up) {
  heap.arm(make(), 1);
  timer* spare[200];
  for (timer*& t : spare) t = make();
  happened.released.assign(std::begin(spare), std::end(spare));
  std::size_t most = 0;
  for (int i = 0; i < test::scaled(1'000'000); ++i) {
    ASSERT_FALSE(happened.released.empty()) << "more than 200 are in the heap";
    timer* const t = happened.released.back();
    happened.released.pop_back();
    ASSERT_TRUE(cancel(t, heap.arm(t, 1000 + i).seq));
    most = heap.size() > most ? heap.size() : most;
  }
  EXPECT_LE(most, 100u);
  EXPECT_LE(heap.bytes(), os::page_size());
  EXPECT_EQ(run_due(1'000'000'000), 1u);
}

TEST_F(timer_heap, many_timers_use_memory_only_while_they_are_there) {
  constexpr int kMany = test::scaled(200'000);
  base::rng rng(9);
  for (int i = 0; i < kMany; ++i) ASSERT_TRUE(heap.arm(make(), rng.below(1'000'000)).is_armed());
  EXPECT_GE(heap.bytes(), static_cast<std::size_t>(kMany) * 16);
  EXPECT_TRUE(heap.is_ordered());
  EXPECT_EQ(run_due(heap, 1'000'000, 64), static_cast<std::size_t>(kMany));
  EXPECT_LE(heap.bytes(), os::page_size());
  for (std::size_t i = 1; i < happened.fired.size(); ++i) {
    ASSERT_LE(happened.fired[i - 1]->when_ns, happened.fired[i]->when_ns);
  }
}

TEST_F(timer_heap, all_cancelled_means_nothing_armed) {
  std::vector<timer*> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(make());
    const std::uint64_t seq = heap.arm(all.back(), 10).seq;
    EXPECT_TRUE(heap.has_armed());
    ASSERT_TRUE(cancel(all.back(), seq));
    EXPECT_FALSE(heap.has_armed());
  }
  heap.tidy();
  EXPECT_EQ(heap.size(), 0u);
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_EQ(happened.released.size(), 100u);
}

// HAZARD 18, B217
TEST_F(timer_heap, a_retired_heap_gives_all_to_another_and_refuses_more) {
  rt::timer_heap other;
  std::multimap<std::int64_t, timer*> expected;
  base::rng rng(4);
  for (int i = 0; i < 1000; ++i) {
    timer* const t = make();
    const std::int64_t when = rng.below(100'000) * 2 + i % 2;  // no two heaps share a time
    (i % 2 == 0 ? heap : other).arm(t, when);
    expected.emplace(when, t);
  }
  timer* const zombie = make();
  ASSERT_TRUE(cancel(zombie, heap.arm(zombie, 1).seq));
  timer* const late = make();
  const std::uint64_t late_seq = heap.arm(late, 300'000).seq;

  ASSERT_TRUE(heap.move_all_to(other));
  EXPECT_EQ(happened.released, std::vector{zombie});
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_EQ(heap.size(), 0u);
  EXPECT_EQ(other.next_when(), expected.begin()->first);
  timer* const refused = make();
  ASSERT_EQ(heap.arm(refused, 5).status, arm_status::retired);
  EXPECT_EQ(refused->state(), timer_state::idle);
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_FALSE(other.move_all_to(heap)) << "nobody can go to a retired heap";

  EXPECT_EQ(run_due(other, 200'001), 1000u);
  std::vector<timer*> order;
  for (const auto& [when, t] : expected) order.push_back(t);
  EXPECT_EQ(happened.fired, order);
  EXPECT_TRUE(cancel(late, late_seq)) << "also after it moved";
  heap.reopen();
  EXPECT_EQ(heap.arm(refused, 5).status, arm_status::earliest);
  other.clear();
}

TEST_F(timer_heap, moved_timers_keep_their_order_and_new_ones_come_after_them) {
  rt::timer_heap other;
  std::vector<timer*> in_order;
  for (int i = 0; i < 20; ++i) {
    in_order.push_back(make());
    heap.arm(in_order.back(), 7);
  }
  ASSERT_TRUE(heap.move_all_to(other));
  for (int i = 0; i < 20; ++i) {
    in_order.push_back(make());
    other.arm(in_order.back(), 7);
  }
  EXPECT_EQ(run_due(other, 7), 40u);
  EXPECT_EQ(happened.fired, in_order);
  other.clear();
}

TEST_F(timer_heap, cancels_after_a_move_are_counted_where_the_timer_is) {
  rt::timer_heap other;
  std::vector<timer*> all;
  std::vector<std::uint64_t> seqs;
  for (int i = 0; i < 200; ++i) {
    all.push_back(make());
    seqs.push_back(heap.arm(all.back(), 100 + i).seq);
  }
  ASSERT_TRUE(heap.move_all_to(other));
  for (std::size_t i = 0; i < 60; ++i) ASSERT_TRUE(cancel(all[199 - i], seqs[199 - i]));
  EXPECT_TRUE(other.is_littered());
  other.clear();
  EXPECT_EQ(happened.released.size(), 200u);
}

TEST_F(timer_heap, clear_drops_everything_and_gives_the_memory_back) {
  std::vector<timer*> all;
  std::uint64_t seq = 0;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(make());
    seq = heap.arm(all.back(), i).seq;
  }
  ASSERT_TRUE(cancel(all.back(), seq));
  all.front()->release = nullptr;  // a sleeper's: nobody is told
  heap.clear();
  EXPECT_EQ(happened.released.size(), 999u);
  EXPECT_EQ(happened.ncleared, 998u) << "one was cancelled before";
  EXPECT_EQ(all.front()->state(), timer_state::idle);
  EXPECT_EQ(heap.bytes(), 0u);
  EXPECT_EQ(heap.next_when(), kNever);
  EXPECT_TRUE(happened.fired.empty());
  EXPECT_EQ(heap.arm(all.front(), 3).status, arm_status::earliest) << "it is not retired";
}

// Everything at random, against a map that is obviously right.
TEST_F(timer_heap, behaves_like_a_sorted_list) {
  base::rng rng(test::seed());
  struct expectation {
    timer* t;
    std::uint64_t seq;
  };
  rt::timer_heap second;
  rt::timer_heap* heaps[2] = {&heap, &second};
  std::multimap<std::int64_t, expectation> model[2];
  std::vector<timer*> idle;
  std::size_t ncancelled = 0;
  std::int64_t now = 0;
  for (int step = 0; step < test::scaled(200'000); ++step) {
    const std::uint32_t h = rng.below(2);
    auto& m = model[h];
    const std::uint32_t what = rng.below(100);
    if (what < 48) {  // arm
      if (idle.empty()) idle.push_back(make());
      timer* const t = idle.back();
      idle.pop_back();
      const std::int64_t when = now + rng.below(2000) - 100;
      const bool is_earliest = m.empty() || when < m.begin()->first;
      const arm_result r = heaps[h]->arm(t, when);
      ASSERT_TRUE(r.is_armed());
      // A zombie at the top may hide that it is the earliest, never the other way round.
      if (!is_earliest) {
        ASSERT_EQ(r.status, arm_status::armed);
      }
      m.emplace(when, expectation{t, r.seq});
    } else if (what < 78) {  // cancel any
      if (m.empty()) continue;
      auto victim = m.lower_bound(now + rng.below(2000));
      if (victim == m.end()) victim = m.begin();
      ASSERT_TRUE(cancel(victim->second.t, victim->second.seq));
      ASSERT_FALSE(cancel(victim->second.t, victim->second.seq));
      ++ncancelled;
      m.erase(victim);
    } else if (what < 99) {  // time goes on
      now += rng.below(30);
      happened.fired.clear();
      happened.seqs.clear();
      run_due(*heaps[h], now, 1 + rng.below(5));
      std::size_t n = 0;
      for (; !m.empty() && m.begin()->first <= now; m.erase(m.begin()), ++n) {
        ASSERT_LT(n, happened.fired.size());
        ASSERT_EQ(happened.fired[n], m.begin()->second.t);
        ASSERT_EQ(happened.seqs[n], m.begin()->second.seq);
      }
      ASSERT_EQ(n, happened.fired.size()) << "something fired too early";
      idle.insert(idle.end(), happened.fired.begin(), happened.fired.end());
    } else if (rng.below(20) == 0) {  // all to the other one, and back into use
      // Equal times of two heaps come in any order: let none meet.
      bool meets = false;
      for (const auto& [when, e] : m) meets = meets || model[1 - h].contains(when);
      if (meets) continue;
      ASSERT_TRUE(heaps[h]->move_all_to(*heaps[1 - h]));
      heaps[h]->reopen();
      model[1 - h].merge(m);
    }
    idle.insert(idle.end(), happened.released.begin(), happened.released.end());
    ncancelled -= happened.released.size();
    happened.released.clear();
    for (int i = 0; i < 2; ++i) {
      if (!model[i].empty()) {
        ASSERT_LE(heaps[i]->next_when(), model[i].begin()->first);
      }
    }
    if (step % 1000 == 0) {
      ASSERT_TRUE(heap.is_ordered());
      ASSERT_TRUE(second.is_ordered());
      ASSERT_EQ(heap.size() + second.size(), model[0].size() + model[1].size() + ncancelled);
    }
  }
  second.clear();
}

}  // namespace
}  // namespace weft
