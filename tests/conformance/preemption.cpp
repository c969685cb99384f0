// preemption.cpp: no goroutine holds a processor hostage: one that computes shares it. (One that sleeps: unannounced.cpp.)
//
// The ordinary suite shows that everybody gets on; how evenly and how soon is measured by tests/stress/sharing.cpp and make bench.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/checked_work.hpp"
#include "support/for_procs.hpp"
#include "support/full_stderr.hpp"
#include "support/preemptible.hpp"
#include "support/pressure.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;
using weft::test::hogs;
using weft::test::is_soon;
using weft::test::nap;

namespace {

// What this process has used.
std::chrono::nanoseconds cpu_time() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

TEST_FOR_PROCS(preemption, a_loop_without_a_call_is_stopped) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const unsigned n = 2 * weft::max_procs() + 1;
  const auto before = weft::stats();
  hogs busy(n);
  EXPECT_TRUE(eventually([&] { return busy.running() == n; })) << "some never began";
  EXPECT_GT(weft::stats().preemptions, before.preemptions);
}

// Who has lost its P does not go on computing beside those that have one. On a machine with a single CPU there is nothing to see.
TEST(preemption, no_more_loops_compute_than_there_are_processors) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  weft::test::run_on(1, [] {
    hogs busy(4);
    ASSERT_TRUE(is_soon([&] { return busy.running() == 4; }));
    const auto began = std::chrono::steady_clock::now();
    const auto used = cpu_time();
    weft::sleep_for(80ms);
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(cpu_time() - used, took * 3 / 2) << "it uses more than one CPU";
    EXPECT_GT(weft::stats().signals_sent, 0u);
  });
}

TEST_FOR_PROCS(preemption, the_main_goroutine_runs_on_beside_loops) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  hogs busy(weft::max_procs() + 1);
  for (int i = 0; i < 20; ++i) weft::yield();
  SUCCEED() << "it came back from every yield";
}

TEST_FOR_PROCS(preemption, those_who_start_beside_loops_run_to_their_end) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  hogs busy(weft::max_procs());
  std::atomic<int> nended{0};
  for (int i = 0; i < 20; ++i) weft::go([&] { ++nended; });
  EXPECT_TRUE(eventually([&] { return nended == 20; }));
}

TEST_FOR_PROCS(preemption, a_goroutine_stopped_in_user_code_stays_on_its_thread) {
  std::atomic<bool> has_moved{false};
  std::atomic<int> nstopped{0};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs() + 2; ++i) {
    wg.go([&] {
      const int before = weft::test::thread_id();
      // A loop without a call into weft, long enough to be stopped in.
      const auto until = std::chrono::steady_clock::now() + 60ms;
      while (std::chrono::steady_clock::now() < until) {
        if (weft::test::thread_id() != before && !weft::test::is_migrating()) has_moved = true;
      }
      ++nstopped;
    });
  }
  wg.wait();
  EXPECT_FALSE(has_moved);
  EXPECT_EQ(nstopped.load(), static_cast<int>(weft::max_procs() + 2));
}

TEST_FOR_PROCS(preemption, checkpoint_lets_others_run) {
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs(); ++i) {
    wg.go([&] {
      while (!stop.load(std::memory_order_relaxed)) weft::checkpoint();
    });
  }
  weft::yield();
  stop = true;  // we are back, though all of them loop
  wg.wait();
}

TEST_FOR_PROCS(preemption, errno_survives_being_stopped) {
  std::atomic<int> nwrong{0};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs() + 2; ++i) {
    wg.go([&, i] {
      const int mine = static_cast<int>(i) + 1;
      errno = mine;
      const auto until = std::chrono::steady_clock::now() + 50ms;
      while (std::chrono::steady_clock::now() < until)
        if (errno != mine) ++nwrong;
    });
  }
  wg.wait();
  EXPECT_EQ(nwrong.load(), 0);
}

// HAZARD 42: what a leaf keeps below its stack pointer and in the flags survives being stopped.
#if defined(__x86_64__)
TEST_FOR_PROCS(preemption, red_zone_and_flags_survive_being_stopped) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  std::atomic<bool> stop{false};
  std::atomic<int> nwrong{0};
  const unsigned n = weft::max_procs() + 1;
  const auto before = weft::stats().signals_sent;
  weft::wait_group wg;
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      while (!stop.load(std::memory_order_relaxed))
        nwrong += !weft::test::keeps_red_zone_and_flags();
    });
  }
  EXPECT_TRUE(is_soon([&] { return weft::stats().signals_sent >= before + 2 * n; }));
  stop = true;
  wg.wait();
  EXPECT_EQ(nwrong.load(), 0);
}
#endif

// B044: a function with a frame of half the stack.
[[gnu::noinline]] bool compute_in_a_large_frame(const std::atomic<bool>& stop) {
  volatile unsigned char frame[96 << 10];
  for (std::size_t i = 0; i < sizeof frame; i += 512) frame[i] = static_cast<unsigned char>(i >> 9);
  while (!stop.load(std::memory_order_relaxed)) asm volatile("");
  bool ok = true;
  for (std::size_t i = 0; i < sizeof frame; i += 512)
    ok &= frame[i] == static_cast<unsigned char>(i >> 9);
  return ok;
}

TEST_FOR_PROCS(preemption, inside_a_function_with_a_large_frame) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  std::atomic<bool> stop{false};
  std::atomic<unsigned> nbegun{0};
  std::atomic<unsigned> nright{0};
  const unsigned n = weft::max_procs() + 1;
  weft::wait_group wg;
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      ++nbegun;
      nright += compute_in_a_large_frame(stop) ? 1u : 0u;
    });
  }
  EXPECT_TRUE(is_soon([&] { return nbegun == n; }));
  stop = true;
  wg.wait();
  EXPECT_EQ(nright.load(), n);
}

// B038: two that only ever call weft's cheapest call, on one P.
TEST(preemption, two_loops_with_calls_alternate_on_one_p) {
  if (weft::test::is_migrating()) GTEST_SKIP() << "two threads take turns at every call";
  weft::test::run_on(1, [] {
    std::atomic<int> last{-1};
    std::atomic<int> nturns{0};
    weft::wait_group wg;
    for (int i = 0; i < 2; ++i) {
      wg.go([&, i] {
        while (nturns < 6) {
          if (last.exchange(i) != i) ++nturns;
          weft::checkpoint();
        }
      });
    }
    wg.wait();
    EXPECT_GE(nturns.load(), 6);
  });
}

// B043: two pairs hand over to each other on one P, the hogs after a million steps each, the light ones after a thousand. A pair inherits one slice
// between its two, not one for each turn: so the pairs share the P.
TEST(preemption, a_light_pair_gets_a_twentieth_of_the_work_of_a_pair_of_hogs) {
  if (weft::test::is_migrating()) GTEST_SKIP() << "nobody runs straight after another";
  weft::test::run_on(1, [] {
    std::atomic<bool> stop{false};
    constexpr std::array<long, 2> kSteps = {1'000'000, 1'000};
    std::array<std::atomic<long>, 2> done{};
    std::array<weft::event, 4> turn;
    weft::wait_group wg;
    for (std::size_t pair = 0; pair < 2; ++pair) {
      for (std::size_t side = 0; side < 2; ++side) {
        wg.go([&, pair, side] {
          weft::event& mine = turn[2 * pair + side];
          weft::event& other = turn[2 * pair + 1 - side];
          while (!stop) {
            mine.wait();
            mine.reset();
            for (long i = 0; i < kSteps[pair]; ++i) asm volatile("");
            done[pair].fetch_add(kSteps[pair], std::memory_order_relaxed);
            other.set();
          }
        });
      }
      turn[2 * pair].set();
    }
    EXPECT_TRUE(is_soon([&] { return done[0] > 100'000'000; }));  // several slices
    stop = true;
    for (auto& each : turn) each.set();
    wg.wait();
    EXPECT_GE(20 * done[1].load(), done[0].load());
    EXPECT_GE(20 * done[0].load(), done[1].load());
  });
}

TEST_FOR_PROCS(preemption, a_sleeper_wakes_while_all_compute) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  hogs busy(weft::max_procs() + 1);
  const auto before = weft::stats().borrows;
  for (int i = 0; i < 20; ++i) weft::sleep_for(1ms);
  EXPECT_GT(weft::stats().borrows, before) << "it had to wait until somebody's slice was over";
}

// Each wake-up borrows a P from a loop and gives it back. The P goes on where it was: in its own queue, not at the global one.
TEST_FOR_PROCS(preemption, loops_in_the_queue_have_their_turn_beside_a_frequent_sleeper) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const unsigned n = 4 * weft::max_procs();
  const auto before = weft::stats().preemptions;
  hogs busy(n);
  while (busy.running() < n) {
    weft::sleep_for(1ms);
    ASSERT_LE(weft::stats().preemptions - before, 3 * n) << "the same ones get every turn";
  }
}

// Lent again and again, and kept for its lender in between: whoever comes for it first has it, and it is never lost. The change of the
// number of processors at the end waits for all of them.
TEST_FOR_PROCS(preemption, a_lender_has_its_processor_at_its_next_call) {
  const unsigned n = weft::max_procs();
  std::atomic<bool> stop{false};
  std::vector<std::atomic<int>> ncalls(n);
  weft::wait_group ended;
  for (auto& each : ncalls)
    ended.go([&] {
      while (!stop) {
        const auto until = std::chrono::steady_clock::now() + 200us;
        while (std::chrono::steady_clock::now() < until) {
        }
        const weft::no_preempt call;
        ++each;
      }
    });
  const auto before = weft::stats().borrows;
  for (int i = 0; i < 50; ++i) weft::sleep_for(1ms);
  EXPECT_GT(weft::stats().borrows, before);
  for (auto& each : ncalls) EXPECT_TRUE(eventually([&] { return each > 10; }));
  stop = true;
  ended.wait();
  weft::max_procs(n + 1);
  weft::max_procs(n);
}

TEST_FOR_PROCS(preemption, a_goroutine_woken_by_a_plain_thread_borrows_a_processor) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  hogs busy(weft::max_procs() + 1);
  for (int i = 0; i < 10; ++i) {
    weft::event e;
    std::thread waker;
    waker = std::thread([&] {
      std::this_thread::sleep_for(1ms);
      e.set();
    });
    e.wait();
    weft::blocking([&] { waker.join(); });
  }
  EXPECT_GT(weft::stats().borrows, 0u);
}

// A goroutine that is started has its turn though there are those who compute a little and nap, again and again: each time one is caught
// asleep those that are stopped come first, but not always.
// The program has a loop of its own: a main goroutine that slept beside them would have others begin on the Ps that it borrows.
TEST(preemption, a_goroutine_begins_beside_loops_and_those_that_are_caught_asleep) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const weft::runtime scheduler({.max_procs = 2});
  std::atomic<bool> stop{false};
  std::atomic<int> nrunning{0};
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([&] {
      ++nrunning;
      while (!stop.load(std::memory_order_relaxed)) asm volatile("");
    });
  }
  for (int i = 0; i < 2; ++i) {
    wg.go([&] {
      ++nrunning;
      while (!stop.load(std::memory_order_relaxed)) {
        weft::test::spin_for(1500us);
        nap(3ms);
      }
    });
  }
  // Both count turns that others had.
  const auto nturns = [] {
    const auto now = weft::stats();
    return now.preemptions + now.handoffs;
  };
  const auto first = nturns();
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while ((nrunning < 10 || nturns() < first + 30) && std::chrono::steady_clock::now() < limit)
    nap(1ms);
  ASSERT_EQ(nrunning.load(), 10);
  for (int i = 0; i < 3; ++i) {
    std::atomic<bool> has_begun{false};
    const auto before = nturns();
    wg.go([&] { has_begun = true; });
    while (!has_begun && nturns() < before + 100) nap(1ms);
    EXPECT_TRUE(has_begun) << "the others get every turn";
    if (!has_begun) break;
  }
  stop = true;
  wg.wait();
}

// More loops than there may be threads: those that are stopped take turns, and the program does not end.
TEST(preemption, at_the_cap_of_threads_loops_take_turns_and_it_is_said_once) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  testing::internal::CaptureStderr();
  weft::test::run_with({.max_procs = 2, .max_threads = 12}, [] {
    std::atomic<bool> stop{false};
    std::atomic<int> nbegun{0};
    weft::wait_group wg;
    for (int i = 0; i < 40; ++i) {
      wg.go([&] {
        ++nbegun;
        while (!stop.load(std::memory_order_relaxed)) asm volatile("");
      });
    }
    // A plain thread ends it: at the cap nobody promises the main goroutine a turn.
    const auto before = weft::stats().preemptions;
    std::thread ender([&] {
      const auto limit = std::chrono::steady_clock::now() + 30s;
      while (weft::stats().preemptions < before + 25 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(1ms);
      EXPECT_GE(weft::stats().preemptions, before + 25) << "they do not take turns";
      stop = true;
    });
    wg.wait();
    weft::blocking([&] { ender.join(); });
    EXPECT_EQ(nbegun.load(), 40);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  const auto first = said.find("hold all max_threads (12)");
  EXPECT_NE(first, said.npos) << said;
  EXPECT_EQ(said.find("hold all max_threads", first + 1), said.npos) << "said twice: " << said;
}

// stderr is a full pipe, and nobody reads it. Whoever says it is the one who stops the others, so it waits with that and not with them.
TEST(preemption, at_the_cap_of_threads_loops_take_turns_though_nobody_reads_what_is_said) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  weft::test::full_stderr full;
  weft::test::run_with({.max_procs = 2, .max_threads = 12}, [&] {
    std::atomic<bool> stop{false};
    weft::wait_group wg;
    for (int i = 0; i < 40; ++i) {
      wg.go([&] {
        while (!stop.load(std::memory_order_relaxed)) asm volatile("");
      });
    }
    const auto before = weft::stats().preemptions;
    std::thread ender([&] {
      const auto limit = std::chrono::steady_clock::now() + 30s;
      const auto is_in_time = [&] { return std::chrono::steady_clock::now() < limit; };
      while (weft::stats().preemptions < before + 25 && is_in_time())
        std::this_thread::sleep_for(1ms);
      EXPECT_GE(weft::stats().preemptions, before + 25) << "the watchman waits for a reader";
      full.drain();
      while (full.drain().find("hold all max_threads (12)") == std::string::npos && is_in_time())
        std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(is_in_time()) << "it was never said";
      stop = true;
    });
    wg.wait();
    weft::blocking([&] { ender.join(); });
  });
}

TEST_FOR_PROCS(preemption, max_procs_changes_while_all_compute) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const unsigned before = weft::max_procs();
  hogs busy(before + 1);
  for (unsigned n : {1u, 3u, 2u, before}) weft::max_procs(n);
  EXPECT_EQ(weft::max_procs(), before);
}

// Nobody waits for a turn, so nothing else ends the time for which they are kept.
TEST_FOR_PROCS(preemption, max_procs_changes_beside_a_processor_kept_for_its_lender) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const unsigned before = weft::max_procs();
  hogs busy(before);
  for (int i = 0; i < 5; ++i) {
    weft::sleep_for(1ms);
    weft::max_procs(before + 1);
    weft::sleep_for(1ms);
    weft::max_procs(before);
  }
  EXPECT_EQ(weft::max_procs(), before);
}

// On credit: one that comes back from blocking() computes for a while without a processor, gets one, lends it, blocks again. Whatever is kept
// for it then must be had by others, and be its own no more than once. The change of their number at the end waits for all of them.
TEST_FOR_PROCS(preemption_race, who_blocks_on_credit_has_one_processor_or_none) {
  const unsigned n = weft::max_procs();
  const auto end = std::chrono::steady_clock::now() + weft::test::scaled(100) * 1ms;
  weft::wait_group ended;
  for (unsigned i = 0; i < n + 2; ++i)
    ended.go([end, random = std::minstd_rand(i + 1)]() mutable {
      while (std::chrono::steady_clock::now() < end) {
        switch (random() % 4) {
          case 0:
            weft::blocking([&] { nap(std::chrono::microseconds(random() % 500)); });
            break;
          case 1:
            weft::sleep_for(std::chrono::microseconds(random() % 500));
            break;
          case 2:
            weft::yield();
            break;
          default:
            weft::test::spin_for(std::chrono::microseconds(random() % 1000));
        }
      }
    });
  ended.wait();
  weft::max_procs(n + 1);
  weft::max_procs(n);
}

TEST_FOR_PROCS(no_preempt, keeps_its_processor_until_it_is_gone) {
  std::atomic<bool> has_run{false};
  const unsigned before = weft::max_procs(1);
  {
    const weft::no_preempt guard;
    weft::go([&] { has_run = true; });
    const auto until = std::chrono::steady_clock::now() + 60ms;  // several slices
    while (std::chrono::steady_clock::now() < until) {
    }
    EXPECT_FALSE(has_run) << "somebody else ran on the only processor";
  }
  EXPECT_TRUE(eventually([&] { return has_run.load(); }));
  weft::max_procs(before);
}

TEST(no_preempt, does_nothing_on_a_plain_thread) {
  const weft::no_preempt outer;
  const weft::no_preempt inner;
  SUCCEED();
}

// --- without signals: goroutines are only asked ---

// B046: timers are nobody's hostage either.
template <class Call>
void spin_until_a_sleeper_has_woken(Call call) {
  std::atomic<bool> has_woken{false};
  weft::wait_group wg;
  wg.go([&] {
    weft::sleep_for(5ms);
    has_woken = true;
  });
  weft::yield();  // it sleeps
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (!has_woken && std::chrono::steady_clock::now() < limit) call();
  EXPECT_TRUE(has_woken);
  wg.wait();
}
TEST_FOR_PROCS(sleeper, wakes_beside_one_that_only_yields) {
  spin_until_a_sleeper_has_woken([] { weft::yield(); });
}
TEST_WITHOUT_SIGNALS(sleeper, wakes_beside_one_that_only_yields) {
  spin_until_a_sleeper_has_woken([] { weft::yield(); });
}
TEST_FOR_PROCS(sleeper, wakes_beside_one_that_only_checkpoints) {
  spin_until_a_sleeper_has_woken([] { weft::checkpoint(); });
}
TEST_WITHOUT_SIGNALS(sleeper, wakes_beside_one_that_only_checkpoints) {
  spin_until_a_sleeper_has_woken([] { weft::checkpoint(); });
}

// --- the signal ---

TEST(preempt_signal_option, one_that_cannot_be_used_is_refused_by_name) {
  for (const int number : {SIGKILL, SIGSEGV, 4711, -1}) {
    try {
      weft::run({.preempt_signal = number}, [] { ADD_FAILURE() << "it ran"; });
      ADD_FAILURE() << "signal " << number << " was taken";
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("signal " + std::to_string(number)), std::string::npos)
          << e.what();
    }
  }
  EXPECT_EQ(weft::run([] { return 7; }), 7) << "a refusal must leave nothing behind";
}

TEST(preempt_signal_option, another_signal_stops_goroutines_too) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  weft::test::run_with({.max_procs = 1, .preempt_signal = SIGUSR2}, [] {
    hogs busy(3);
    EXPECT_TRUE(eventually([&] { return busy.running() == 3; }));
    EXPECT_GT(weft::stats().signals_sent, 0u);
  });
}

// --- inside the C and C++ libraries ---

template <class Work>
void share_with_others(Work work) {
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  std::vector<std::atomic<long>> rounds(2 * weft::max_procs() + 1);
  for (auto& mine : rounds) {
    wg.go([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        work();
        mine.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  EXPECT_TRUE(eventually([&] {
    for (const auto& each : rounds)
      if (each.load(std::memory_order_relaxed) < 3) return false;
    return true;
  }));
  stop = true;
  wg.wait();
}

TEST_FOR_PROCS(preemption, inside_malloc) {
  share_with_others([] {
    std::vector<char*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(new char[static_cast<std::size_t>(16 + 13 * i)]);
    for (char* each : blocks) delete[] each;
  });
}

TEST_FOR_PROCS(preemption, inside_the_building_of_a_map_of_strings) {
  share_with_others([] {
    std::map<std::string, std::string> words;
    for (int i = 0; i < 100; ++i)
      words["a rather long key " + std::to_string(i)] = std::to_string(i);
    if (words["a rather long key 57"] != "57") ADD_FAILURE() << "a wrong result";
  });
}

TEST_FOR_PROCS(preemption, inside_exception_unwinding) {
  share_with_others([] {
    for (int i = 0; i < 20; ++i) {
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::runtime_error& e) {
        if (e.what() != std::to_string(i)) ADD_FAILURE() << "somebody else's exception";
      }
    }
  });
}

TEST_FOR_PROCS(preemption, inside_printf) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  ASSERT_NE(nowhere, nullptr);
  share_with_others([nowhere] {
    for (int i = 0; i < 100; ++i) std::fprintf(nowhere, "%d %s %f\n", i, "text", i * 0.5);
  });
  std::fclose(nowhere);
}

}  // namespace
