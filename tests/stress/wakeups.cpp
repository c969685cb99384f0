// wakeups.cpp: goroutines that are woken, block and compute by turns, while Ps are taken, lent and given back; and the end of a runtime in the midst
// of it. Whoever loses a wake-up hangs here, and ctest's limit ends it.
//
// WEFT_WAKE_SECONDS=5 runs the storms so long.
#include <atomic>
#include <chrono>
#include <ctime>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/pressure.hpp"

using namespace std::chrono_literals;

namespace {

void nap(std::chrono::microseconds time) {
  const timespec t{static_cast<time_t>(time / 1s), static_cast<long>((time % 1s).count()) * 1000};
  ::nanosleep(&t, nullptr);
}

void run_storm() {
  const double seconds = weft::test::setting("WEFT_WAKE_SECONDS", 0.15);
  std::atomic<bool> stop{false};
  std::atomic<int> nended{0};
  weft::wait_group wg;
  constexpr int kMany = 12;
  for (int i = 0; i < kMany; ++i) {
    wg.go([&, i] {
      unsigned r = static_cast<unsigned>(i) * 77 + 1;
      do {
        r = r * 1664525u + 1013904223u;
        weft::sleep_for(std::chrono::microseconds(50 + (r >> 8) % 1500));
        weft::blocking([r] { nap(std::chrono::microseconds(100 + (r >> 16) % 700)); });
        if ((r & 64) != 0) nap(std::chrono::microseconds((r >> 12) % 400));
        weft::test::spin_for(std::chrono::microseconds((r >> 10) % 300));
      } while (!stop);
      ++nended;
    });
  }
  weft::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  wg.wait();
  EXPECT_EQ(nended, kMany);
}

TEST_FOR_PROCS(wakeup_race, sleepers_that_block_and_compute_all_come_back) { run_storm(); }

TEST(wakeup_race, sleepers_that_block_and_compute_all_come_back_without_signals) {
  const weft::test::debug_setting off("asyncpreemptoff=1");
  for (const unsigned nprocs : {1u, 2u}) weft::test::run_on(nprocs, run_storm);
}

// One comes back from a blocking call while another computes on the only P: it is at work to get one, so nobody is in a deadlock.
TEST(wakeup_race, one_that_is_about_to_get_a_processor_is_no_deadlock) {
  weft::test::run_on(1, [] {
    weft::wait_group wg;
    for (int i = 0; i < 10; ++i) {
      weft::event back;
      wg.go([&] {
        weft::blocking([] { nap(2ms); });
        back.set();
      });
      wg.go([] { weft::test::spin_for(6ms); });
      back.wait();
    }
    wg.wait();
  });
}

// --- the end ---

void end_while_one_goes_into_a_long_call() {
  for (int i = 0; i < 4; ++i) {
    weft::test::run_on(2, [] {
      weft::go([] {
        // Two that are long enough to be remembered: after those the P is given up on the way in. The third outlives the runtime.
        weft::blocking([] { nap(15ms); });
        weft::blocking([] { nap(15ms); });
        for (;;) weft::blocking([] { nap(3s); });
      });
      for (int k = 0; k < 4; ++k) weft::sleep_for(8ms);
    });
  }
}
TEST(ending_race, while_one_goes_into_a_long_blocking_call) {
  end_while_one_goes_into_a_long_call();
}
TEST(ending_race, while_one_goes_into_a_long_blocking_call_without_signals) {
  const weft::test::debug_setting off("asyncpreemptoff=1");
  end_while_one_goes_into_a_long_call();
}

void end_while_one_resizes() {
  for (int i = 0; i < 10; ++i) {
    weft::test::run_on(2, [] {
      weft::go([] {
        for (unsigned k = 0;; ++k) weft::max_procs(2 + k % 2);
      });
      weft::sleep_for(5ms);
    });
  }
}
TEST(ending_race, while_one_resizes_without_end) { end_while_one_resizes(); }
TEST(ending_race, while_one_resizes_without_end_and_without_signals) {
  const weft::test::debug_setting off("asyncpreemptoff=1");
  end_while_one_resizes();
}

// One naps all the time, and so is without a P whenever it is in user code; one is stopped in the middle of it.
TEST(ending_race, while_one_naps_and_one_is_stopped) {
  for (int i = 0; i < 10; ++i) {
    static std::atomic<bool> stop;
    static std::atomic<int> nout;
    stop = false;
    nout = 0;
    weft::test::run_on(1, [] {
      for (int k = 0; k < 2; ++k) {
        weft::go([] {
          ++nout;
          while (!stop) nap(300us);
          --nout;
        });
        weft::go([] {
          ++nout;
          while (!stop) {
            asm volatile("");
            if constexpr (!weft::test::is_preemptible()) weft::checkpoint();
          }
          --nout;
        });
      }
      for (int k = 0; k < 5; ++k) weft::sleep_for(3ms);
    });
    stop =
        true;  // those that were abandoned in user code run on, as orphans, and end by themselves
    if (weft::test::is_preemptible()) {
      for (int k = 0; nout != 0 && k < 30'000; ++k) nap(1ms);
      EXPECT_EQ(nout, 0);
    }
  }
}

}  // namespace
