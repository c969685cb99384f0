// signals.cpp: weft's signal and everybody else's (B050, B051, B133, B134, B137, B140, B141, B143; HAZARDS 31, 32, 34, 37, 38, 42).
//
// The program's own signals arrive as if weft were not there, also those with the same number, and none of weft's arrives anywhere but on the threads
// that run goroutines. The single steps of the handler are tested beside it (src/os/preempt_signal_test.cpp).
//
// WEFT_STORM_SECONDS=10 lets each storm last so long.
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/preemptible.hpp"
#include "support/pressure.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;

namespace {

double storm_seconds() { return weft::test::setting("WEFT_STORM_SECONDS", 0.2); }

// --- what the program's handlers see ---

struct counts {
  std::atomic<int> nurg{0};
  std::atomic<int> nchld{0};
  std::atomic<int> nwinch{0};
  std::atomic<int> nqueued{0};  // carried a value: nobody but weft sends such here
  std::atomic<int> last_thread{0};
};
counts seen;

std::atomic<int>& count_of(int number) {
  return number == SIGURG ? seen.nurg : number == SIGCHLD ? seen.nchld : seen.nwinch;
}

void count_signal(int number, siginfo_t* info, void*) {
  if (info->si_code == SI_QUEUE) ++seen.nqueued;
  seen.last_thread = static_cast<int>(::syscall(SYS_gettid));
  ++count_of(number);
}

// Installs count_signal for its scope. For SIGURG it stands round a run: weft must find it when it starts.
class counted_handler {
 public:
  explicit counted_handler(int number) : number_(number) {
    seen.nqueued = 0;
    count_of(number) = 0;
    struct sigaction action{};
    action.sa_sigaction = &count_signal;
    action.sa_flags = SA_SIGINFO;  // no SA_RESTART: what can be interrupted is
    EXPECT_EQ(::sigaction(number, &action, &old_), 0);
  }
  ~counted_handler() {
    if (number_ == SIGURG)
      old_.sa_handler = SIG_DFL, old_.sa_flags = 0;  // the next run installs weft's again
    EXPECT_EQ(::sigaction(number_, &old_, nullptr), 0);
  }
  counted_handler(const counted_handler&) = delete;
  counted_handler& operator=(const counted_handler&) = delete;

 private:
  int number_;
  struct sigaction old_{};
};

// As TEST_FOR_PROCS, but with handlers that are there before the runtime.
#define TEST_WITH_HANDLER(suite, name)                                     \
  static void weft_body_of_##suite##_##name();                             \
  static void weft_around_##suite##_##name(unsigned nprocs) {              \
    const counted_handler urg(SIGURG);                                     \
    weft::test::run_on(nprocs, weft_body_of_##suite##_##name);             \
  }                                                                        \
  WEFT_CASES_FOR_PROCS(suite, name, weft_around_##suite##_##name, 1, 2, 4) \
  static void weft_body_of_##suite##_##name()

// --- storms ---

std::vector<int> threads_of_process() {
  std::vector<int> all;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return all;
  while (const dirent* const task = ::readdir(tasks))
    if (task->d_name[0] != '.') all.push_back(std::atoi(task->d_name));
  ::closedir(tasks);
  return all;
}

// A plain thread that sends SIGURG, SIGCHLD and SIGWINCH, each about a thousand times a second, to the process and to each thread in turn.
class storm {
 public:
  storm()
      : sender_([this] {
          const pid_t process = ::getpid();
          std::vector<int> threads;
          for (std::size_t i = 0; !stop_; ++i) {
            if (i % 50 == 0) threads = threads_of_process();
            const int number = i % 3 == 0 ? SIGURG : i % 3 == 1 ? SIGCHLD : SIGWINCH;
            if (i / 3 % 2 == 0) {
              ::kill(process, number);
            } else if (!threads.empty()) {
              ::syscall(SYS_tgkill, process, threads[i % threads.size()],
                        number);  // it may be gone
            }
            std::this_thread::sleep_for(250us);
          }
        }) {}
  ~storm() {
    stop_ = true;
    weft::blocking([this] { sender_.join(); });
  }
  storm(const storm&) = delete;
  storm& operator=(const storm&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread sender_;
};

// Everything at once that may be met by a signal: whoever computes, sleeps, blocks, starts others, is a plain thread that calls in.
TEST_WITH_HANDLER(foreign_signals_race, a_storm_of_them_breaks_nothing) {
  const counted_handler chld(SIGCHLD);  // installed while goroutines run
  const counted_handler winch(SIGWINCH);
  std::atomic<bool> stop{false};
  std::atomic<int> nearly{0};
  std::atomic<int> nwrong{0};
  std::atomic<long> nrounds{0};
  unsigned expected = 1;
  for (int k = 0; k < 10'000; ++k) expected = expected * 1664525u + 1013904223u;
  std::thread outsider;
  {
    const storm around;
    const weft::test::pressure beside;
    weft::wait_group wg;
    wg.go([&] {
      while (!stop) {
        const auto until = weft::clock::now() + 1ms;
        weft::sleep_for(1ms);
        if (weft::clock::now() < until) ++nearly;
        ++nrounds;
      }
    });
    wg.go([&] {
      for (int n = 0; !stop; ++n) {
        if (weft::spawn([n] { return n + 1; }).join() != n + 1) ++nwrong;
        ++nrounds;
      }
    });
    wg.go([&] {
      while (!stop) {  // a foreign signal may well end such a call: it is the program's own affair
        const timespec time{0, 300'000};
        if (::nanosleep(&time, nullptr) != 0 && errno != EINTR) ++nwrong;
        weft::yield();
      }
    });
    wg.go([&] {
      while (!stop) {
        const int result = weft::blocking([] {
          const timespec time{0, 300'000};
          errno = 0;
          return ::nanosleep(&time, nullptr) == 0 ? 0 : errno;
        });
        if (result != 0 && result != EINTR) ++nwrong;
      }
    });
    wg.go([&] {
      while (!stop) {
        unsigned x = 1;
        for (int k = 0; k < 10'000; ++k) {
          x = x * 1664525u + 1013904223u;
          asm volatile("" : "+r"(x));
        }
        if (x != expected) ++nwrong;
      }
    });
    outsider = std::thread([&] {
      while (!stop) {
        weft::event done;
        weft::go([&] { done.set(); });
        done.wait();
        ++nrounds;
      }
    });
    weft::sleep_for(std::chrono::duration<double>(storm_seconds()));
    EXPECT_TRUE(eventually([] { return seen.nurg > 20 && seen.nchld > 20 && seen.nwinch > 20; }))
        << seen.nurg << " " << seen.nchld << " " << seen.nwinch;
    stop = true;
    wg.wait();
    weft::blocking([&] { outsider.join(); });
  }
  EXPECT_EQ(nearly, 0) << "a sleep was cut short";
  EXPECT_EQ(nwrong, 0);
  EXPECT_GT(nrounds, 0);
  EXPECT_EQ(seen.nqueued, 0) << "one of weft's own went to the program's handler";
}

// Those to the process are never lost among weft's own, which go to threads: one is sent when the one before has arrived.
TEST_WITH_HANDLER(foreign_signals,
                  each_sigurg_to_the_process_reaches_the_handler_that_was_there_before) {
  // The kernel gives it to the thread that sleeps in run(), as a rule.
  if (weft::test::kIsTsan) GTEST_SKIP() << "ThreadSanitizer puts it off until that thread calls";
  const weft::test::pressure beside;
  constexpr int kMany = 100;
  int nsent = 0;
  std::atomic<bool> is_over{false};
  std::thread sender([&] {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (nsent < kMany && std::chrono::steady_clock::now() < limit) {
      ::kill(::getpid(), SIGURG);
      ++nsent;
      while (seen.nurg < nsent && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(100us);
    }
    is_over = true;
  });
  while (!is_over) weft::sleep_for(1ms);
  weft::blocking([&] { sender.join(); });
  EXPECT_EQ(nsent, kMany);
  EXPECT_EQ(seen.nurg, kMany);
  EXPECT_EQ(seen.nqueued, 0);
}

// B051
TEST_FOR_PROCS(foreign_signals, one_sent_to_a_thread_is_handled_on_it) {
  const counted_handler winch(SIGWINCH);
  const weft::test::pressure beside;
  for (int i = 0; i < 10; ++i) {
    weft::spawn([] {
      const int before = seen.nwinch;
      ::syscall(SYS_tgkill, ::getpid(), weft::test::thread_id(), SIGWINCH);
      const timespec time{0, 1000};
      while (seen.nwinch == before) ::nanosleep(&time, nullptr);
      EXPECT_EQ(seen.last_thread, weft::test::thread_id());
    }).join();
  }
  EXPECT_EQ(seen.nwinch, 10);
}

// --- weft's own stay with weft ---

TEST_WITH_HANDLER(own_signals, never_reach_the_handler_that_was_there_before) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const auto before = weft::stats().signals_sent;
  const weft::test::pressure beside;
  ASSERT_TRUE(weft::test::is_soon([&] { return weft::stats().signals_sent >= before + 10; }));
  EXPECT_EQ(seen.nurg, 0);
}

bool is_pending_here(int number) {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  return sigismember(&pending, number) == 1;
}

void block_here(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

// Three kinds of plain thread: one sleeps, and would be woken; one has the signal blocked, where it would stay pending;
// one calls into weft all the time, and would be taken for one of weft's.
TEST_FOR_PROCS(own_signals, never_go_to_plain_threads) {
  std::atomic<bool> stop{false};
  std::atomic<int> ncut{0};
  std::atomic<int> npending{0};
  std::atomic<long> ncalls{0};
  std::vector<std::thread> plain;
  plain.emplace_back([&] {
    const timespec time{0, 500'000};
    while (!stop) {
      if (::nanosleep(&time, nullptr) != 0) ++ncut;
      ++ncalls;
    }
  });
  plain.emplace_back([&] {
    block_here(SIGURG);
    while (!stop) {
      weft::test::spin_for(100us);
      std::this_thread::sleep_for(400us);
    }
    npending += is_pending_here(SIGURG);
  });
  plain.emplace_back([&] {
    block_here(SIGURG);
    while (!stop) {
      weft::event done;
      weft::go([&] { done.set(); });
      done.wait();
      weft::test::spin_for(100us);
      ++ncalls;
    }
    npending += is_pending_here(SIGURG);
  });
  {
    const weft::test::pressure beside;
    const auto before = weft::stats();
    // Where nothing can be stopped no signal is needed: then time must do.
    const auto nwanted = before.signals_sent + (weft::test::is_preemptible() ? 20 : 0);
    for (int i = 0; i < 50 || weft::stats().signals_sent < nwanted; ++i) weft::sleep_for(1ms);
  }
  stop = true;
  weft::blocking([&] {
    for (auto& each : plain) each.join();
  });
  EXPECT_GT(ncalls, 0);
  EXPECT_EQ(ncut, 0);
  EXPECT_EQ(npending, 0);
}

// What is sent to the process and not to a thread goes to its first thread, which is a plain one where the program has a loop of its own.
TEST(own_signals, never_go_to_the_first_thread_of_a_program_with_its_own_loop) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const weft::runtime scheduler({.max_procs = 2});
  const auto before = weft::stats().signals_sent;
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([&] {
      while (!stop.load(std::memory_order_relaxed)) asm volatile("");
    });
  }
  int ncut = 0;
  const timespec time{0, 500'000};
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (weft::stats().signals_sent < before + 8 && std::chrono::steady_clock::now() < limit)
    ncut += ::nanosleep(&time, nullptr) != 0;
  EXPECT_GE(weft::stats().signals_sent, before + 8);
  stop = true;
  wg.wait();
  EXPECT_EQ(ncut, 0);
}

// B143, HAZARD 31: a thread that has the signal blocked gets it once, and again only when none has answered for long.
TEST_FOR_PROCS(own_signals, a_goroutine_that_blocks_the_signal_delays_nobody_and_has_one_pending) {
  std::atomic<bool> stop{false};
  std::atomic<bool> was_pending{false};
  weft::wait_group wg;
  const auto before = weft::stats();
  const unsigned n = weft::max_procs() + 1;  // one waits, so that slices end
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      const int thread = weft::test::thread_id();
      block_here(SIGURG);
      while (!stop.load(std::memory_order_relaxed)) {
        if (is_pending_here(SIGURG)) was_pending = true;
      }
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, SIGURG);
      ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);  // here it arrives
      EXPECT_FALSE(is_pending_here(SIGURG));
      EXPECT_EQ(weft::test::thread_id(), thread);
    });
  }
  int nwoken = 0;
  while (!was_pending || nwoken < 20) {
    weft::sleep_for(1ms);  // it borrows a P each time
    ++nwoken;
    ASSERT_LT(nwoken, 30'000) << "no signal was sent";
  }
  const auto after = weft::stats();
  EXPECT_LE(after.signals_sent - before.signals_sent,
            after.signals_unanswered - before.signals_unanswered + n);
  stop = true;
  wg.wait();
}

// The kernel keeps one standard signal of a kind for a thread, but any number of real-time ones.
TEST(own_signals, a_real_time_one_that_is_blocked_is_pending_once_too) {
  if (sizeof(WEFT_TEST_EMULATOR) > 1) GTEST_SKIP() << "an emulator keeps what is pending to itself";
  const int number = SIGRTMIN + 6;  // no other test's: its handler stays
  weft::test::run_with({.max_procs = 1, .preempt_signal = number}, [&] {
    std::atomic<bool> stop{false};
    std::atomic<int> npending{0};
    weft::wait_group wg;
    const auto before = weft::stats();
    for (int i = 0; i < 2; ++i) {  // one waits, so that slices end
      wg.go([&] {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        block_here(number);
        while (!stop.load(std::memory_order_relaxed)) asm volatile("");
        const timespec at_once{};
        int n = 0;
        while (::sigtimedwait(&one, nullptr, &at_once) == number) ++n;
        EXPECT_LE(n, 1);
        npending += n;
        ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
      });
    }
    EXPECT_TRUE(weft::test::is_soon(
        [&] { return weft::stats().signals_unanswered >= before.signals_unanswered + 10; }));
    stop = true;
    wg.wait();
    EXPECT_GE(npending, 1);
  });
}

// B050: the handler stays installed when a runtime ends, and a later one may want no signals. Then nobody's has any effect.
TEST(own_signals, when_they_are_off_a_strangers_stops_nobody) {
  const counted_handler urg(SIGURG);
  weft::test::run_on(1, [] {});  // weft's handler is there from now on
  const weft::test::debug_setting off("asyncpreemptoff=1");
  weft::test::run_on(1, [] {
    std::atomic<bool> stop{false};
    std::atomic<bool> has_run{false};
    const int me = weft::test::thread_id();
    const auto before = weft::stats();
    std::thread sender([&] {
      while (!stop) {
        ::syscall(SYS_tgkill, ::getpid(), me, SIGURG);
        const timespec time{0, 500'000};
        ::nanosleep(&time, nullptr);
      }
    });
    weft::go([&] { has_run = true; });
    weft::test::spin_for(30ms);  // three slices
    EXPECT_FALSE(has_run)
        << "somebody ran on the only processor, which this goroutine has not left";
    EXPECT_EQ(weft::test::thread_id(), me);
    stop = true;
    weft::blocking([&] { sender.join(); });
    EXPECT_EQ(weft::stats().signals_sent, before.signals_sent);
    EXPECT_EQ(weft::stats().preemptions, before.preemptions);
    EXPECT_TRUE(eventually([&] { return has_run.load(); }));
  });
  EXPECT_GT(seen.nurg, 0);
}

// --- what a goroutine finds on its thread ---

std::uint64_t mask_here() {
  std::uint64_t mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, sizeof mask);
  return mask;
}

// HAZARD 32: also on threads that are made later, from a thread with another mask.
TEST(signal_mask, every_goroutine_has_that_of_the_thread_that_called_run) {
  sigset_t some;
  sigset_t old;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &some, &old), 0);
  const std::uint64_t expected = mask_here();
  for (const unsigned nprocs : {1u, 2u, 4u}) {
    weft::test::run_on(nprocs, [expected] {
      std::atomic<int> nwrong{0};
      std::atomic<bool> stop{false};
      std::thread from_inside;
      weft::spawn([&] {
        from_inside = std::thread([&] { nwrong += mask_here() != expected; });
      }).join();
      weft::wait_group wg;
      for (int i = 0; i < 10; ++i) {
        wg.go([&] {
          nwrong += mask_here() != expected;
          weft::blocking([&] {
            nwrong += mask_here() != expected;
            while (!stop) std::this_thread::sleep_for(1ms);  // each on a thread of its own
          });
          nwrong += mask_here() != expected;
        });
      }
      {
        const weft::test::pressure beside(weft::max_procs() + 1);
        for (int i = 0; i < 10; ++i) {
          weft::sleep_for(1ms);
          nwrong += mask_here() != expected;
        }
      }
      stop = true;
      wg.wait();
      weft::blocking([&] { from_inside.join(); });
      EXPECT_EQ(nwrong, 0);
    });
  }
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &old, nullptr), 0);
}

// HAZARD 42: whoever was stopped goes on with the same mask and the same alternate stack, and does not stand on it. No two threads share one.
TEST_FOR_PROCS(alternate_stack, is_the_threads_own_before_and_after_a_stop) {
  std::mutex lock;
  std::vector<void*> stacks;
  std::vector<int> threads;
  weft::test::stopping_place place;
  weft::wait_group wg;
  const unsigned n = weft::max_procs() + 2;
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      stack_t before{};
      stack_t after{};
      EXPECT_EQ(::sigaltstack(nullptr, &before), 0);
      const int thread = weft::test::thread_id();
      const std::uint64_t mask = mask_here();
      place.compute();
      EXPECT_EQ(::sigaltstack(nullptr, &after), 0);
      if (weft::test::thread_id() == thread) {
        EXPECT_EQ(before.ss_sp, after.ss_sp);
      } else {
        EXPECT_FALSE(weft::test::is_preemptible()) << "it was stopped, and moved";
      }
      EXPECT_EQ(mask_here(), mask);
      EXPECT_EQ(after.ss_flags & (SS_ONSTACK | SS_DISABLE), 0);
      EXPECT_GE(after.ss_size, std::size_t{60} << 10);
      const std::lock_guard hold(lock);
      const auto known = std::find(threads.begin(), threads.end(), weft::test::thread_id());
      if (known == threads.end()) {
        EXPECT_EQ(std::count(stacks.begin(), stacks.end(), after.ss_sp), 0);
        threads.push_back(weft::test::thread_id());
        stacks.push_back(after.ss_sp);
      } else {
        EXPECT_EQ(stacks[static_cast<std::size_t>(known - threads.begin())], after.ss_sp);
      }
    });
  }
  EXPECT_TRUE(place.release_after_stops_of(n));
  wg.wait();
}

// HAZARD 34: the frame of a signal takes 1 KB at least and 3.6 KB with AVX-512, which a goroutine near the end of its stack does not have. What lies below a
// goroutine that is stopped is painted, and must not be touched.
constexpr std::size_t kOwn = 512;  // what the painter itself may take, red zone and all
constexpr std::size_t kPainted = 8192;

[[gnu::noinline, gnu::no_sanitize_address]] bool is_untouched_below(const std::atomic<bool>& stop) {
  auto* const here = static_cast<volatile unsigned char*>(__builtin_frame_address(0));
  for (std::size_t i = kOwn; i < kPainted; ++i) here[-static_cast<std::ptrdiff_t>(i)] = 0xA5;
  while (!stop.load(std::memory_order_relaxed)) asm volatile("");
  bool ok = true;
  for (std::size_t i = kOwn; i < kPainted; ++i) ok &= here[-static_cast<std::ptrdiff_t>(i)] == 0xA5;
  return ok;
}

TEST_FOR_PROCS(alternate_stack, is_where_a_goroutine_is_stopped_and_not_its_own) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  std::atomic<bool> stop{false};
  std::atomic<unsigned> nwell{0};
  const unsigned n = weft::max_procs() + 2;
  const auto before = weft::stats().signals_sent;
  weft::wait_group wg;
  for (unsigned i = 0; i < n; ++i) wg.go([&] { nwell += is_untouched_below(stop) ? 1u : 0u; });
  EXPECT_TRUE(weft::test::is_soon([&] { return weft::stats().signals_sent >= before + n; }));
  stop = true;
  wg.wait();
  EXPECT_EQ(nwell, n);
}

}  // namespace
