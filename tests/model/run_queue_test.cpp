// run_queue_test.cpp: rt/run_queue.hpp with a ring of four, [runq.publish] [runq.consume] [runq.next].
#include "rt/run_queue.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"

namespace weft::model {
namespace {

struct item {
  plain<int> content{0, "a goroutine"};
  int ntaken = 0;
};

template <std::uint32_t Capacity>
struct queues {
  using queue = rt::basic_run_queue<model_atomics, item, Capacity>;
  queue owner;
  queue thief;
  queue second_thief;
  item items[6];

  queues() {
    the_engine.label(&owner, sizeof owner, "owner's queue");
    the_engine.label(&thief, sizeof thief, "thief's queue");
    the_engine.label(&second_thief, sizeof second_thief, "second thief's queue");
  }

  item* make(int i) {
    items[i].content.set(i + 1);
    return &items[i];
  }
  void take(item* it) {
    if (it == nullptr) return;
    MODEL_CHECK(it >= items && it < items + 6, "something that was never queued came out");
    MODEL_CHECK(it->content.get() == it - items + 1,
                "what was written before it was queued is visible");
    MODEL_CHECK(it->ntaken++ == 0, "it came out twice");
  }
  void pop_all() {
    take(owner.take_next());
    while (item* const it = owner.pop()) take(it);
  }
  void steal(queue& mine, bool with_next) {
    take(mine.steal_into(owner, with_next));
    while (item* const it = mine.pop()) take(it);
  }
  // When nobody is at work any more.
  void expect_all(int n) {
    pop_all();
    for (int i = 0; i < n; ++i) MODEL_CHECK(items[i].ntaken == 1, "one was lost");
  }
};

using small = queues<4>;
using tiny = queues<2>;

TEST(run_queue_model, with_a_thief_each_comes_out_once) {
  explore<small>({[](small& w) {
                    for (int i = 0; i < 3; ++i) w.owner.push(w.make(i));
                    w.pop_all();
                  },
                  [](small& w) { w.steal(w.thief, false); }},
                 [](small& w) { w.expect_all(3); });
}

TEST(run_queue_model, with_two_thieves_each_comes_out_once) {
  explore<small>(
      {[](small& w) {
         for (int i = 0; i < 3; ++i) w.owner.push(w.make(i));
         w.take(w.owner.pop());
       },
       [](small& w) { w.steal(w.thief, false); }, [](small& w) { w.steal(w.second_thief, false); }},
      [](small& w) { w.expect_all(3); });
}

TEST(run_queue_model, in_a_ring_that_goes_round_each_comes_out_once) {
  explore<tiny>({[](tiny& w) {
                   for (int i = 0; i < 5; ++i) {
                     item* const it = w.make(i);
                     while (!w.owner.push(it)) w.take(w.owner.pop());
                   }
                 },
                 [](tiny& w) {
                   w.steal(w.thief, false);
                   w.steal(w.thief, false);
                 }},
                [](tiny& w) { w.expect_all(5); });
}

TEST(run_queue_model, the_front_goes_to_its_owner_or_to_a_thief) {
  explore<small>({[](small& w) {
                    for (int i = 0; i < 3; ++i) {
                      if (item* const displaced = w.owner.set_next(w.make(i)))
                        w.owner.push(displaced);
                    }
                    w.take(w.owner.take_next());
                    w.take(w.owner.pop());
                  },
                  [](small& w) {
                    w.steal(w.thief, true);
                    w.steal(w.thief, true);
                  }},
                 [](small& w) { w.expect_all(3); });
}

TEST(run_queue_model, half_of_a_full_ring_is_spilled_or_a_thief_made_room) {
  explore<small>({[](small& w) {
                    for (int i = 0; i < 4; ++i) w.owner.push(w.make(i));
                    item* const last = w.make(4);
                    while (!w.owner.push(last)) {
                      item* half[small::queue::kSpill];
                      if (!w.owner.spill_half(half)) continue;
                      for (item* it : half) w.take(it);
                    }
                  },
                  [](small& w) { w.steal(w.thief, false); }},
                 [](small& w) { w.expect_all(5); });
}

// One moves from the front to the ring while a newer one comes and is taken: at no moment are both places empty.
TEST(run_queue_model, never_looks_empty_while_one_moves_from_the_front_to_the_ring) {
  struct world : small {
    world() { owner.set_next(make(0)); }
  };
  explore<world>({[](world& w) {
                    w.owner.push(w.owner.set_next(w.make(1)));
                    w.take(w.owner.take_next());
                  },
                  [](world& w) { MODEL_CHECK(!w.owner.is_empty(), "it looks empty"); }},
                 [](world& w) { w.expect_all(2); }, {.staleness = 3});
}

// The owner alone, then a thief: the owner without locked instructions hands over by [p.handoff], here a release.
TEST(run_queue_model, what_an_owner_without_thieves_did_is_seen_by_those_that_come_later) {
  struct world : small {
    model_atomics::atomic<int> is_shared{0};
  };
  explore<world>({[](world& w) {
                    w.owner.push(w.make(0));
                    w.owner.push(w.make(1));
                    w.take(w.owner.pop(true));
                    w.owner.set_next(w.make(2), true);
                    item* yielding = w.make(3);
                    w.owner.rotate(yielding);
                    w.take(yielding);
                    w.is_shared.store(1, std::memory_order_release);
                    w.pop_all();
                  },
                  [](world& w) {
                    if (w.is_shared.load(std::memory_order_acquire) != 0) w.steal(w.thief, true);
                  }},
                 [](world& w) { w.expect_all(4); });
}

}  // namespace
}  // namespace weft::model
