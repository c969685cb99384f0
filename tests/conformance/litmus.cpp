// litmus.cpp: the orders that weft promises, on this machine's memory (B301): message passing and store buffering, many times, between goroutines
// that do not sleep, so that they meet on two CPUs where there are two.
//
// The data is relaxed: only the hand-over orders it. On x86 hardware alone would order messages; a store that is still in its CPU's buffer it
// would not, and every machine lets the compiler do what it likes. What the models say of it is in docs/design/memory-model.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

const int kMessages = weft::test::is_unkind() ? 300 : weft::test::scaled(10'000);
constexpr auto relaxed = std::memory_order_relaxed;

// Waits without sleeping, and lets others run now and then: there may be one P, or one CPU.
template <class F>
void spin_until(F holds) {
  for (int i = 1; !holds(); ++i) {
    if (i % 200 != 0) continue;
    weft::yield();
    std::this_thread::yield();
  }
}

// How many rounds there are: fewer when time is up. The one of the two who hands over says so, well before the last, so that the other one knows.
class rounds {
 public:
  bool has(int i) const { return i < n_.load(relaxed); }
  void look_at_the_clock(int i) {
    if (i % 64 == 0 && n_.load(relaxed) == kMessages && std::chrono::steady_clock::now() > limit_)
      n_.store(std::min(i + 16, kMessages), relaxed);
  }

 private:
  std::chrono::steady_clock::time_point limit_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  std::atomic<int> n_{kMessages};
};

// Relaxed, also unoptimised: there GCC takes an order that is passed on as a parameter, as std::atomic does, for seq_cst.
class alignas(64) cell {
 public:
  void write(int v) { __atomic_store_n(&value_, v, __ATOMIC_RELAXED); }
  int read() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }

 private:
  int value_ = 0;
};

// hand_over(i) by one goroutine after it has written message i in three places; take(i), true when it is there, by another one.
template <class HandOver, class Take>
void pass_messages(HandOver hand_over, Take take) {
  const auto n = static_cast<std::size_t>(kMessages);
  std::array places{std::vector<cell>(n), std::vector<cell>(n), std::vector<cell>(n)};
  rounds left;
  auto writer = weft::spawn([&] {
    for (int i = 0; left.has(i); ++i) {
      left.look_at_the_clock(i);
      for (auto& place : places) place[static_cast<std::size_t>(i)].write(i + 1);
      hand_over(i);
    }
  });
  int nstale = 0;
  for (int i = 0; left.has(i); ++i) {
    spin_until([&] { return take(i); });
    for (auto& place : places) nstale += place[static_cast<std::size_t>(i)].read() != i + 1;
  }
  writer.join();
  EXPECT_EQ(nstale, 0);
}

TEST_FOR_PROCS(litmus_message_passing, through_a_channel) {
  for (const std::size_t cap : {1U, 64U}) {
    const auto c = weft::make_chan<int>(cap);
    pass_messages([&](int i) { spin_until([&] { return c.try_send(i); }); },
                  [&](int i) { return c.try_recv() == i; });
  }
}

// Each way once more by those who wait.
TEST_FOR_PROCS(litmus_message_passing, through_a_channel_at_which_both_wait) {
  for (const std::size_t cap : {0U, 1U, 64U}) {
    const auto c = weft::make_chan<int>(cap);
    pass_messages([&](int i) { c.send(i); }, [&](int i) { return c.recv() == i; });
  }
}

// What the receiver did is visible to the sender who uses the room it made.
TEST_FOR_PROCS(litmus_message_passing, through_the_room_in_a_channel) {
  const auto c = weft::make_chan<int>(1);
  c.send(0);
  pass_messages([&](int) { spin_until([&] { return c.try_recv().has_value(); }); },
                [&](int) { return c.try_send(0); });
}

TEST_FOR_PROCS(litmus_message_passing, through_the_close_of_a_channel) {
  std::vector<weft::chan<int>> all;
  for (int i = 0; i < kMessages; ++i) all.push_back(weft::make_chan<int>());
  pass_messages([&](int i) { all[static_cast<std::size_t>(i)].close(); },
                [&](int i) { return !all[static_cast<std::size_t>(i)].recv().has_value(); });
}

TEST_FOR_PROCS(litmus_message_passing, through_an_event) {
  std::vector<weft::event> all(static_cast<std::size_t>(kMessages));
  pass_messages([&](int i) { all[static_cast<std::size_t>(i)].set(); },
                [&](int i) {
                  weft::event& e = all[static_cast<std::size_t>(i)];
                  if (!e.is_set()) return false;
                  e.wait();
                  return true;
                });
}

TEST_FOR_PROCS(litmus_message_passing, through_a_mutex) {
  weft::mutex m;
  int nthere = 0;  // under it
  pass_messages(
      [&](int) {
        const std::lock_guard hold(m);
        ++nthere;
      },
      [&](int i) {
        if (!m.try_lock()) return false;
        const bool is_there = nthere > i;
        m.unlock();
        return is_there;
      });
}

TEST_FOR_PROCS(litmus_message_passing, through_a_semaphore) {
  weft::semaphore s(kMessages);
  s.acquire(kMessages);
  pass_messages([&](int) { s.release(); }, [&](int) { return s.try_acquire(); });
}

// Store buffering. Each of two writes its own place, goes through the gate, and reads the other's: not both can have come first, so not both may
// read what was there before. How often both do without a gate is recorded with the test (JSON, XML): never, where the two hardly run together.
template <class Gate>
int stale_rounds(Gate gate) {
  // The same places in every round: each store waits for its line, which the other one has just read.
  std::array<cell, 2> written;
  std::array<std::atomic<int>, 2> arrived{};
  const auto n = static_cast<std::size_t>(kMessages);
  std::array is_stale{std::vector<char>(n), std::vector<char>(n)};
  rounds left;
  const auto play = [&](std::size_t me) {
    const std::size_t other = 1 - me;
    cell& mine = written[me];
    const cell& theirs = written[other];
    for (int i = 0; left.has(i); ++i) {
      if (me == 1) left.look_at_the_clock(i);
      arrived[me].store(i + 1);
      spin_until([&] { return arrived[other].load() > i; });
      // The one who came first sees the other a little later: some rounds bring them together again.
      for (int k = i * (me == 0 ? 131 : 257) % 199; k > 0; --k) asm volatile("");
      mine.write(i + 1);
      gate();
      const int seen = theirs.read();
      is_stale[me][static_cast<std::size_t>(i)] = seen <= i;
    }
  };
  auto other = weft::spawn([&] { play(1); });
  play(0);
  other.join();
  int nstale = 0;
  for (std::size_t i = 0; i < n; ++i) nstale += is_stale[0][i] != 0 && is_stale[1][i] != 0;
  return nstale;
}

TEST_FOR_PROCS(litmus_store_buffering, is_forbidden_by_a_mutex) {
  weft::mutex m;
  EXPECT_EQ(stale_rounds([&] { const std::lock_guard hold(m); }), 0);
  EXPECT_EQ(stale_rounds([&] {
              spin_until([&] { return m.try_lock(); });
              m.unlock();
            }),
            0);
  ::testing::Test::RecordProperty("stale_without_a_gate", stale_rounds([] {}));
}

TEST_FOR_PROCS(litmus_store_buffering, is_forbidden_by_a_shared_mutex_that_one_has_alone) {
  weft::shared_mutex m;
  EXPECT_EQ(stale_rounds([&] { const std::lock_guard hold(m); }), 0);
}

TEST_FOR_PROCS(litmus_store_buffering, is_forbidden_by_a_semaphore_of_one) {
  weft::semaphore s(1);
  EXPECT_EQ(stale_rounds([&] {
              s.acquire();
              s.release();
            }),
            0);
}

TEST_FOR_PROCS(litmus_store_buffering, is_forbidden_by_a_token_in_a_channel) {
  const auto token = weft::make_chan<int>(1);
  token.send(0);
  EXPECT_EQ(stale_rounds([&] {
              token.recv();
              token.send(0);
            }),
            0);
}

}  // namespace
