// explorer_test.cpp: the explorer itself: that it finds what each memory allows, and nothing that it forbids.
#include <gtest/gtest.h>

#include <string>

#include "explorer/explore.hpp"
#include "parties.hpp"

namespace weft::model {
namespace {

using word = model_atomics::atomic<int>;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

template <class World>
std::string failure_in(memory m, std::initializer_list<void (*)(World&)> threads,
                       void (*at_end)(World&) = nullptr, bounds b = {}) {
  return find_failure(program_of<World>(threads, at_end), b, m);
}

constexpr memory kAll[] = {memory::sc, memory::store_buffer, memory::stale_read};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// --- litmus tests ---

// Store buffering: may both read 0?
template <std::memory_order Store, std::memory_order Load>
struct both_store_then_load {
  word x{0};
  word y{0};
  int r1 = -1;
  int r2 = -1;
  static std::string look(memory m) {
    using self = both_store_then_load;
    return failure_in<self>(m,
                            {[](self& w) {
                               w.x.store(1, Store);
                               w.r1 = w.y.load(Load);
                             },
                             [](self& w) {
                               w.y.store(1, Store);
                               w.r2 = w.x.load(Load);
                             }},
                            [](self& w) { MODEL_CHECK(w.r1 + w.r2 > 0, "both read 0"); });
  }
};

TEST(explorer, two_that_store_and_then_look_at_each_other_may_both_be_too_early) {
  using weak = both_store_then_load<memory_order_release, memory_order_acquire>;
  EXPECT_EQ(weak::look(memory::sc), "");
  EXPECT_TRUE(contains(weak::look(memory::store_buffer), "both read 0"));
  EXPECT_TRUE(contains(weak::look(memory::stale_read), "both read 0"));
}

TEST(explorer, with_seq_cst_one_of_them_sees_the_other) {
  using strong = both_store_then_load<memory_order_seq_cst, memory_order_seq_cst>;
  for (const memory m : kAll) EXPECT_EQ(strong::look(m), "") << name_of(m);
}

// A seq_cst store is no fence for a load that is not seq_cst (in C++; an x86 cannot tell). tokio#1788 was of this kind.
TEST(explorer, a_seq_cst_store_does_not_hold_back_an_acquire_load) {
  using half = both_store_then_load<memory_order_seq_cst, memory_order_acquire>;
  EXPECT_EQ(half::look(memory::store_buffer), "");
  EXPECT_TRUE(contains(half::look(memory::stale_read), "both read 0"));
}

// Message passing: is the data there when the flag is?
template <std::memory_order Store, std::memory_order Load>
struct passes_a_message {
  word data{0};
  word flag{0};
  static std::string look(memory m) {
    using self = passes_a_message;
    return failure_in<self>(m, {[](self& w) {
                                  w.data.store(1, memory_order_relaxed);
                                  w.flag.store(1, Store);
                                },
                                [](self& w) {
                                  if (w.flag.load(Load) == 1)
                                    MODEL_CHECK(w.data.load(memory_order_relaxed) == 1, "old data");
                                }});
  }
};

TEST(explorer, a_message_needs_release_and_acquire) {
  using right = passes_a_message<memory_order_release, memory_order_acquire>;
  using no_release = passes_a_message<memory_order_relaxed, memory_order_acquire>;
  using no_acquire = passes_a_message<memory_order_release, memory_order_relaxed>;
  for (const memory m : kAll) EXPECT_EQ(right::look(m), "") << name_of(m);
  EXPECT_EQ(no_release::look(memory::store_buffer), "")
      << "an x86 keeps the order of stores, and of loads";
  EXPECT_TRUE(contains(no_release::look(memory::stale_read), "old data"));
  EXPECT_TRUE(contains(no_acquire::look(memory::stale_read), "old data"));
}

TEST(explorer, one_location_never_goes_back) {
  struct world {
    word x{0};
  };
  for (const memory m : kAll) {
    EXPECT_EQ(failure_in<world>(m, {[](world& w) {
                                      w.x.store(1, memory_order_relaxed);
                                      w.x.store(2, memory_order_relaxed);
                                    },
                                    [](world& w) {
                                      const int first = w.x.load(memory_order_relaxed);
                                      MODEL_CHECK(w.x.load(memory_order_relaxed) >= first,
                                                  "it went back");
                                    }}),
              "")
        << name_of(m);
  }
}

TEST(explorer, read_modify_writes_pass_on_what_a_release_before_them_said) {
  struct world {
    plain<int> data;
    word flag{0};
  };
  EXPECT_EQ(failure_in<world>(memory::stale_read,
                              {[](world& w) {
                                 w.data.set(1);
                                 w.flag.store(1, memory_order_release);
                               },
                               [](world& w) { w.flag.fetch_add(1, memory_order_relaxed); },
                               [](world& w) {
                                 if (w.flag.load(memory_order_acquire) == 2) w.data.get();
                               }}),
            "");
}

// Of the barrier's side only: the others need no fence.
TEST(explorer, a_barrier_on_all_threads_orders_a_plain_store_before_a_plain_load) {
  struct world {
    word inside{0};
    word asked{0};
    int seen_asked = -1;
    int seen_inside = -1;
  };
  const auto run = [](memory m, void (*requester)(world&)) {
    return failure_in<world>(
        m,
        {[](world& w) {
           w.inside.store(1, memory_order_relaxed);
           w.seen_asked = w.asked.load(memory_order_relaxed);
         },
         requester},
        [](world& w) { MODEL_CHECK(w.seen_asked + w.seen_inside > 0, "neither saw the other"); });
  };
  for (const memory m : kAll) {
    EXPECT_EQ(run(m,
                  [](world& w) {
                    w.asked.store(1, memory_order_relaxed);
                    heavy_barrier();
                    w.seen_inside = w.inside.load(memory_order_relaxed);
                  }),
              "")
        << name_of(m);
  }
  for (const memory m : {memory::store_buffer, memory::stale_read}) {
    EXPECT_NE(run(m,
                  [](world& w) {
                    w.asked.store(1, memory_order_relaxed);
                    w.seen_inside = w.inside.load(memory_order_relaxed);
                  }),
              "")
        << name_of(m);
  }
}

// --- what else it finds ---

TEST(explorer, a_race_on_plain_data_is_found) {
  struct world {
    plain<int> data;
    word flag{0};
  };
  EXPECT_TRUE(
      contains(failure_in<world>(memory::stale_read, {[](world& w) {
                                                        w.data.set(1);
                                                        w.flag.store(1, memory_order_relaxed);
                                                      },
                                                      [](world& w) {
                                                        if (w.flag.load(memory_order_acquire) == 1)
                                                          w.data.get();
                                                      }}),
               "data race"));
  EXPECT_TRUE(
      contains(failure_in<world>(memory::stale_read, {[](world& w) {
                                                        w.data.get();
                                                        w.flag.store(1, memory_order_relaxed);
                                                      },
                                                      [](world& w) {
                                                        if (w.flag.load(memory_order_acquire) == 1)
                                                          w.data.set(1);
                                                      }}),
               "data race"))
      << "read, then written";
}

TEST(explorer, a_lost_wake_up_is_found) {
  struct world {
    model_atomics::atomic<std::uint32_t> flag{0};
  };
  const std::string why =
      failure_in<world>(memory::sc, {[](world& w) {
                                       if (w.flag.load() == 0) model_atomics::wait(w.flag, 0);
                                     },
                                     [](world& w) { model_atomics::wake(w.flag, 1); }});
  EXPECT_TRUE(contains(why, "asleep")) << why;
}

TEST(explorer, a_spin_that_nobody_ends_is_found_and_one_that_somebody_ends_is_not) {
  struct world {
    word flag{0};
    word other{0};
    void spin() {
      while (flag.load(memory_order_relaxed) == 0) model_atomics::pause();
    }
  };
  for (const memory m : kAll) {
    EXPECT_TRUE(contains(
        failure_in<world>(m, {[](world& w) { w.spin(); }, [](world& w) { w.other.store(1); }}),
        "spin"))
        << name_of(m);
    EXPECT_EQ(failure_in<world>(m, {[](world& w) { w.spin(); },
                                    [](world& w) { w.flag.store(1, memory_order_relaxed); }}),
              "")
        << name_of(m);
  }
}

// Who spins has seen the flag before the store left its queue; it leaves because a third one looks, and nobody stores anything afterwards.
TEST(explorer, a_store_that_leaves_its_queue_late_ends_a_spin) {
  struct world {
    word flag{0};
  };
  for (const memory m : kAll) {
    EXPECT_EQ(failure_in<world>(m, {[](world& w) { w.flag.store(1, memory_order_release); },
                                    [](world& w) {
                                      while (w.flag.load(memory_order_relaxed) == 0)
                                        model_atomics::pause();
                                    },
                                    [](world& w) { w.flag.load(memory_order_relaxed); }}),
              "")
        << name_of(m);
  }
}

TEST(explorer, two_that_answer_each_other_for_ever_reach_the_step_limit) {
  struct world {
    word x{0};
    void flip(int from) {
      for (;;) {
        int seen = from;
        x.compare_exchange_strong(seen, 1 - from);
        model_atomics::pause();
      }
    }
  };
  EXPECT_TRUE(contains(
      failure_in<world>(memory::sc, {[](world& w) { w.flip(0); }, [](world& w) { w.flip(1); }}),
      "steps"));
}

TEST(explorer, a_touch_of_what_is_gone_is_found) {
  struct world {
    mortal<word> x;
    word is_done{0};
  };
  for (const memory m : kAll) {
    EXPECT_TRUE(contains(failure_in<world>(m, {[](world& w) {
                                                 w.is_done.store(1);
                                                 w.x->load();
                                               },
                                               [](world& w) {
                                                 if (w.is_done.load() == 1) w.x.destroy();
                                               }}),
                         "gone"))
        << name_of(m);
  }
}

TEST(explorer, a_store_that_waits_in_its_buffer_until_the_object_is_gone_is_found) {
  struct world {
    mortal<word> x;
    word is_done{0};
  };
  // The other does not read anything that was stored after it.
  EXPECT_TRUE(contains(failure_in<world>(memory::store_buffer, {[](world& w) {
                                                                  w.is_done.store(1);
                                                                  w.x->store(1,
                                                                             memory_order_release);
                                                                },
                                                                [](world& w) {
                                                                  if (w.is_done.load() == 1)
                                                                    w.x.destroy();
                                                                }}),
                       "gone"));
}

// --- schedules ---

TEST(explorer, a_schedule_is_written_and_read_again) {
  const schedule s = {0, 0, 0, 1, static_cast<std::uint8_t>(kValue | 2), 0};
  EXPECT_EQ(write_schedule(s), "a3b/2a");
  EXPECT_EQ(read_schedule("a3 b /2 a"), (schedule{0, 0, 0, 1, 2, 0}));
  EXPECT_EQ(read_schedule("a3z"), std::nullopt);
}

TEST(explorer, every_execution_is_met_once) {
  struct world {
    word x{0};
    word y{0};
  };
  // Two threads with two points each: 4! / (2! 2!) orders.
  const engine::program p = program_of<world>(
      {[](world& w) { w.x.store(1), w.y.store(1); }, [](world& w) { w.x.store(2), w.y.store(2); }});
  depth_first how(100, 0);
  int n = 0;
  do {
    how.begin();
    the_engine.run(p, how, {});
    ++n;
  } while (how.next());
  EXPECT_EQ(n, 6);
}

}  // namespace
}  // namespace weft::model
