// preemption.cpp: no goroutine holds a processor hostage: one that computes shares it, one that sleeps in the kernel gives it up.
//
// The ordinary suite shows that everybody gets on; how evenly and how soon is measured by tests/stress/sharing.cpp and make bench.
#include <fcntl.h>
#include <netdb.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/preemptible.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;

namespace {

// So many goroutines that compute that every P has one and some wait. None makes a call into weft until it is told to end.
class hogs {
 public:
  explicit hogs(unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      wg_.go([this] {
        ++nrunning_;
        while (!stop_.load(std::memory_order_relaxed)) asm volatile("");
      });
  }
  ~hogs() {
    stop_ = true;
    wg_.wait();
  }
  unsigned running() const { return nrunning_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> nrunning_{0};
  weft::wait_group wg_;
};

TEST_FOR_PROCS(preemption, a_loop_without_a_call_is_stopped) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const unsigned n = 2 * weft::max_procs() + 1;
  hogs busy(n);
  EXPECT_TRUE(eventually([&] { return busy.running() == n; })) << "some never began";
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
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  std::atomic<bool> has_moved{false};
  std::atomic<int> nstopped{0};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs() + 2; ++i) {
    wg.go([&] {
      const int before = weft::test::thread_id();
      // A loop without a call, long enough to be stopped in.
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
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
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

TEST_FOR_PROCS(preemption, max_procs_changes_while_all_compute) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const unsigned before = weft::max_procs();
  hogs busy(before + 1);
  for (unsigned n : {1u, 3u, 2u, before}) weft::max_procs(n);
  EXPECT_EQ(weft::max_procs(), before);
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

// --- asleep without telling ---

class pipe_pair {
 public:
  pipe_pair() { EXPECT_EQ(::pipe(fds_), 0); }
  ~pipe_pair() {
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  int out() const { return fds_[0]; }
  void write_one() { EXPECT_EQ(::write(fds_[1], "x", 1), 1); }

 private:
  int fds_[2] = {-1, -1};
};

TEST_FOR_PROCS(unannounced, a_read_from_an_empty_pipe_stops_nobody_else) {
  pipe_pair pipe;
  std::atomic<bool> has_read{false};
  const unsigned n = weft::max_procs();
  weft::wait_group wg;
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      char c = 0;
      EXPECT_EQ(::read(pipe.out(), &c, 1), 1);
      has_read = true;
    });
  }
  int nturns = 0;
  weft::wait_group others;
  others.go([&] {
    for (int i = 0; i < 100; ++i) {
      ++nturns;
      weft::yield();
    }
  });
  others.wait();
  EXPECT_EQ(nturns, 100);
  EXPECT_FALSE(has_read);
  for (unsigned i = 0; i < n; ++i) pipe.write_one();
  wg.wait();
}

TEST_FOR_PROCS(unannounced, std_sleep_in_every_goroutine_delays_nobody) {
  std::atomic<int> nended{0};
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([&] {
      std::this_thread::sleep_for(5ms);
      weft::yield();
      std::this_thread::sleep_for(5ms);
      ++nended;
    });
  }
  wg.wait();
  EXPECT_EQ(nended.load(), 8);
}

TEST_FOR_PROCS(unannounced, a_std_mutex_held_by_one_who_is_stopped_is_no_deadlock) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  std::mutex m;
  std::atomic<bool> is_held{false};
  weft::wait_group wg;
  wg.go([&] {
    const std::lock_guard hold(m);
    is_held = true;
    const auto until = std::chrono::steady_clock::now() + 40ms;  // stopped in here
    while (std::chrono::steady_clock::now() < until) {
    }
  });
  while (!is_held) weft::yield();
  std::atomic<int> nheld{0};
  for (unsigned i = 0; i < 2 * weft::max_procs(); ++i) {
    wg.go([&] {
      const std::lock_guard hold(m);
      ++nheld;
    });
  }
  wg.wait();
  EXPECT_EQ(nheld.load(), static_cast<int>(2 * weft::max_procs()));
}

TEST_FOR_PROCS(unannounced, flock_waits_for_another_goroutine) {
  char name[] = "/tmp/weft_flock_XXXXXX";
  const int first = ::mkstemp(name);
  ASSERT_GE(first, 0);
  const int second = ::open(name, O_RDWR | O_CLOEXEC);
  ASSERT_GE(second, 0);
  ASSERT_EQ(::flock(first, LOCK_EX), 0);
  std::atomic<bool> has_got{false};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs(); ++i) {
    wg.go([&] {
      EXPECT_EQ(::flock(second, LOCK_EX), 0);
      has_got = true;
    });
  }
  for (int i = 0; i < 50; ++i) weft::yield();
  EXPECT_FALSE(has_got);
  EXPECT_EQ(::flock(first, LOCK_UN), 0);
  wg.wait();
  ::close(first);
  ::close(second);
  ::unlink(name);
}

TEST_FOR_PROCS(unannounced, getaddrinfo_stops_nobody_else) {
  weft::wait_group wg;
  std::atomic<int> nended{0};
  for (unsigned i = 0; i < weft::max_procs(); ++i) {
    wg.go([&] {
      addrinfo* found = nullptr;
      if (::getaddrinfo("localhost", "80", nullptr, &found) == 0) ::freeaddrinfo(found);
      ++nended;
    });
  }
  for (int i = 0; i < 50; ++i) weft::yield();
  wg.wait();
  EXPECT_EQ(nended.load(), static_cast<int>(weft::max_procs()));
}

// --- inside the C and C++ libraries ---

template <class Work>
void share_with_others(Work work) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
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
