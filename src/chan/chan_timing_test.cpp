// chan_timing_test.cpp: what one may be told who looks without waiting, while others act between any two of his looks.
//
// One thread plays all the parts: its atomics let the others act before a load, if they could have the lock by then. Every test goes through
// all the moments at which they can, so what is wrong at one of them is found in every run.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/rng.hpp"
#include "chan/chan_core.hpp"
#include "chan/select_core.hpp"
#include "os/futex.hpp"

namespace weft::channels {
namespace {

// What others do, one after the other: each not before that many loads, and when it can have the lock.
class others {
 public:
  template <class Act, class Lock>
  void then(std::size_t nloads, Lock& lock, Act act) {
    acts_.push_back({nloads, [=, &lock] {
                       if (!lock.try_lock()) return false;
                       act();
                       lock.unlock();
                       return true;
                     }});
  }

  // Before each load of the one who looks.
  void may_act() {
    if (is_acting_) return;  // their own loads
    is_acting_ = true;
    while (next_ < acts_.size() && acts_[next_].nloads <= nloads_ && acts_[next_].act()) ++next_;
    is_acting_ = false;
    ++nloads_;
  }

  static inline others* now = nullptr;

 private:
  struct later {
    std::size_t nloads;
    std::function<bool()> act;
  };
  std::vector<later> acts_;
  std::size_t next_ = 0;
  std::size_t nloads_ = 0;
  bool is_acting_ = false;
};

struct watched_loads : os::futex_atomics {
  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    T load(std::memory_order order) const noexcept {
      if (others::now != nullptr) others::now->may_act();
      return std::atomic<T>::load(order);
    }
  };
};

struct party {};
struct nobody {
  static bool is_gone(const party*) noexcept { return false; }
};
using test_core = chan_core<watched_loads, party, nobody>;

struct channel_of_one {
  int room = 0;
  test_core c{sizeof(int), 1, reinterpret_cast<std::byte*>(&room)};

  void send(int v) {
    party* wake = nullptr;
    ASSERT_EQ(c.send(&v, wake), step::done);
  }
  void take_if_there() {
    party* wake = nullptr;
    int v = 0;
    c.recv(&v, wake);
  }
};

struct inside {
  void wake(party*) const { ADD_FAILURE() << "nobody waits"; }
};

constexpr std::size_t kMostLoads = 24;  // more than any of these looks takes

// look(first, second): two acts that happen after so many loads, for all that can be told apart.
template <class Look>
void at_all_moments(Look look) {
  for (std::size_t first = 0; first <= kMostLoads; ++first)
    for (std::size_t second = first; second <= kMostLoads; ++second) {
      look(first, second);
      if (testing::Test::HasFatalFailure()) {
        FAIL() << "with the first act after " << first << " loads, the second after " << second;
      }
    }
}

template <class Run>
auto among(others& them, Run run) {
  others::now = &them;
  const auto result = run();
  others::now = nullptr;
  return result;
}

// B153: from the beginning there is a value, or it is closed.
TEST(chan_timing, try_recv_never_finds_nothing_where_there_is_a_value_or_an_end) {
  bool was_value = false;
  bool was_end = false;
  at_all_moments([&](std::size_t first, std::size_t second) {
    channel_of_one ch;
    ch.send(1);
    others them;
    them.then(first, ch.c.lock(), [&] { ch.c.close(); });
    them.then(second, ch.c.lock(), [&] { ch.take_if_there(); });
    int v = 0;
    const step s = among(them, [&] { return ch.c.try_recv<inside>(&v); });
    ASSERT_NE(s, step::must_wait);
    (s == step::done ? was_value : was_end) = true;
  });
  EXPECT_TRUE(was_value && was_end) << "not all moments were tried";
}

TEST(chan_timing, try_recv_never_finds_the_end_before_the_value) {
  bool was_value = false;
  bool was_nothing = false;
  at_all_moments([&](std::size_t first, std::size_t second) {
    channel_of_one ch;
    others them;
    them.then(first, ch.c.lock(), [&] { ch.send(1); });
    them.then(second, ch.c.lock(), [&] { ch.c.close(); });
    int v = 0;
    const step s = among(them, [&] { return ch.c.try_recv<inside>(&v); });
    ASSERT_NE(s, step::closed);
    (s == step::done ? was_value : was_nothing) = true;
  });
  EXPECT_TRUE(was_value && was_nothing) << "not all moments were tried";
}

// --- several ---

struct test_slot {
  test_core* chan = nullptr;
  void* elem = nullptr;
  bool is_send = false;
  std::uint32_t poll_order = 0;
  std::uint32_t lock_order = 0;
  test_core::record_type record{};
};
struct test_slots {
  using core_type = test_core;
  static bool is_set(const test_slot& s) noexcept { return s.chan != nullptr; }
  static test_core& core(const test_slot& s) noexcept { return *s.chan; }
  static void* record(test_slot& s) noexcept { return &s.record; }
  static void catch_up(const test_slot&) noexcept {}
  static void left(test_slot&) noexcept {}
};
using test_selection = selection<test_slots, test_slot>;

// Two channels, and one who chooses between receiving from them.
struct chooser {
  std::array<channel_of_one, 2> ch{};
  std::array<int, 2> got{};
  std::array<test_slot, 2> slots{
      {{.chan = &ch[0].c, .elem = got.data()}, {.chan = &ch[1].c, .elem = got.data() + 1}}};

  auto choose(others& them, std::uint64_t seed) {
    base::rng random(seed);
    test_selection all(slots.data(), slots.size(), random);
    const auto chosen = among(them, [&] { return all.choose(); });
    if (!chosen) all.unlock_all();
    return chosen;
  }
};

constexpr std::uint64_t kSeeds = 8;  // both orders of looking are among them

// B170, B171: the first is ready, then the second is as well, then the first is drained: at every moment one of them was.
void expect_one_of_two(bool second_is_closed) {
  std::array<bool, 2> was_chosen{};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    at_all_moments([&](std::size_t first, std::size_t second) {
      chooser me;
      me.ch[0].send(1);
      others them;
      them.then(first, me.ch[1].c.lock(), [&] {
        if (second_is_closed) {
          me.ch[1].c.close();
        } else {
          me.ch[1].send(1);
        }
      });
      them.then(second, me.ch[0].c.lock(), [&] { me.ch[0].take_if_there(); });
      const auto chosen = me.choose(them, seed);
      ASSERT_TRUE(chosen) << "it would have run `otherwise`; seed " << seed;
      was_chosen[chosen.index] = true;
    });
  }
  EXPECT_TRUE(was_chosen[0] && was_chosen[1]) << "not all moments were tried";
}

TEST(select_timing, none_is_ready_only_if_that_was_so_at_one_moment) { expect_one_of_two(false); }
TEST(select_timing, none_is_ready_only_if_that_was_so_at_one_moment_with_a_close) {
  expect_one_of_two(true);
}

// Whoever finds none ready goes on to wait: then there is none, and nobody can bring one while it has the locks.
TEST(select_timing, what_comes_before_it_waits_is_seen) {
  bool was_found = false;
  bool was_too_late = false;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    at_all_moments([&](std::size_t first, std::size_t which) {
      if (which - first > 1) return;
      chooser me;
      channel_of_one& to = me.ch[which - first];
      others them;
      them.then(first, to.c.lock(), [&] { to.send(1); });
      const bool was_chosen = static_cast<bool>(me.choose(them, seed));
      ASSERT_EQ(to.c.length(), 0u) << "seed " << seed;
      (was_chosen ? was_found : was_too_late) = true;
    });
  }
  EXPECT_TRUE(was_found && was_too_late) << "not all moments were tried";
}

}  // namespace
}  // namespace weft::channels
