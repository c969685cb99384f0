// runtime.cpp: what starts a runtime and keeps it going: memory, threads, time.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "os/fault.hpp"
#include "scenario.hpp"
#include "stack/stack.hpp"

using namespace faults;
using namespace std::chrono_literals;

namespace {

void work() {
  weft::wait_group wg;
  std::atomic<int> n{0};
  for (int i = 0; i < 50; ++i)
    wg.go([&n] {
      weft::yield();
      ++n;
    });
  wg.wait();
  weft::sleep_for(1ms);
  REQUIRE(n == 50);
}

volatile std::uint64_t sink = 0;

// About so much processor time, without a call into weft.
void compute(std::chrono::milliseconds how_long) {
  const auto used = [] {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  const auto begin = used();
  while (used() - begin < how_long)
    for (int i = 0; i < 1'000'000; ++i) sink = sink + 1;
}

int touch_deep(int depth) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth == 0 ? page[0] : touch_deep(depth - 1) + page[0];
}

}  // namespace

// A failed start leaves nothing behind that keeps the next one from working.
SCENARIO(start) {
  attempt_anyhow([] { weft::run({.max_procs = 4}, &work); });
  weft::run({.max_procs = 4}, &work);
}

SCENARIO(start_by_default) {
  attempt_anyhow([] { weft::run(&work); });
  weft::run(&work);
}

// With a signal that the program insists on.
SCENARIO(start_with_signal) {
  attempt_anyhow([] { weft::run({.preempt_signal = SIGUSR2}, &work); });
  weft::run(&work);
}

SCENARIO(start_on_this_thread) {
  attempt_anyhow([] { weft::run({.max_procs = 2, .lock_main = true}, &work); });
  weft::run({.max_procs = 2, .lock_main = true}, &work);
}

// The C library says that the stack we want for a thread is too small for its thread-local memory: it chooses itself.
SCENARIO(start_with_large_threads) {
  weft::os::arm_fault(weft::os::site::thread_create, {.error = EINVAL});
  attempt_anyhow([] { weft::run({.max_procs = 4}, &work); });
  weft::run({.max_procs = 4}, &work);
}

// More goroutines at once than there are stacks and Gs for: without new memory there are none.
SCENARIO(many_goroutines) {
  weft::run({.max_procs = 2}, [] {
    work();  // there are threads by then
    weft::event gate;
    std::atomic<int> nbegun{0};
    std::atomic<int> nended{0};
    int nmade = 0;
    attempt([&] {
      for (const int more = nmade + 7000; nmade < more; ++nmade)
        weft::go([&] {
          ++nbegun;
          gate.wait();
          ++nended;
        });
      while (nbegun != nmade) weft::yield();
    });
    gate.set();
    while (nended != nmade) weft::yield();  // none of those that were made is lost
  });
}

// Each needs a thread of its own while it sleeps.
SCENARIO(many_blocking_calls) {
  weft::run({.max_procs = 2}, [] {
    attempt([] {
      weft::wait_group wg;
      std::atomic<int> n{0};
      for (int i = 0; i < 20; ++i)
        wg.go([&n] {
          weft::blocking([] { ::usleep(30'000); });
          ++n;
        });
      wg.wait();
      REQUIRE(n == 20);
    });
  });
}

SCENARIO(many_timers) {
  weft::run({.max_procs = 2}, [] {
    attempt([] {
      weft::wait_group wg;
      for (int i = 0; i < 4000; ++i)
        wg.go([i] { weft::sleep_for(std::chrono::microseconds(20'000 + i)); });
      wg.wait();
    });
  });
}

SCENARIO(resize) {
  weft::run({.max_procs = 2}, [] {
    attempt([] { weft::max_procs(16); });
    weft::max_procs(16);
    work();
  });
}

// Whoever computes must be caught for the world to stand still.
SCENARIO(resize_while_computing) {
  weft::run({.max_procs = 2}, [] {
    attempt([] {
      std::atomic<bool> is_over{false};
      auto computing = weft::spawn([&] {
        while (!is_over) sink = sink + 1;
      });
      for (int i = 0; i < 4; ++i) weft::max_procs(2 + i % 2);
      is_over = true;
      computing.join();
    });
  });
}

// Whoever comes to wait for a mutex that was left alone for thousands of turns changes its word beside a calm holder.
SCENARIO(waiting_for_a_mutex) {
  weft::run({.max_procs = 2}, [] {
    attempt([] {
      weft::mutex m;
      for (int i = 0; i < 5000; ++i) std::lock_guard hold(m);
      m.lock();
      auto other = weft::spawn([&] { std::lock_guard hold(m); });
      weft::sleep_for(1ms);
      m.unlock();
      other.join();
    });
  });
}

// Goroutines, plain threads and the clock wait for one another.
SCENARIO(waiting) {
  weft::run({.max_procs = 2}, [] {
    attempt([] {
      constexpr int kRounds = 10;
      const auto there = weft::make_chan<int>();
      const auto back = weft::make_chan<int>();
      std::thread plain([=] {
        for (int i = 0; i < kRounds; ++i) back.send(*there.recv());
      });
      for (int i = 0; i < kRounds; ++i) {
        there.send(i);
        REQUIRE(back.recv() == i);
        if (i % 4 == 0) weft::sleep_for(1ms);
      }
      weft::blocking([&] { plain.join(); });
      REQUIRE(!weft::make_chan<int>().recv(weft::with_timeout(weft::background(), 2ms).ctx));
    });
  });
}

// A plain thread, which nobody runs goroutines on meanwhile.
SCENARIO(sleep_of_a_thread) {
  weft::run({.max_procs = 1}, [] {
    weft::blocking([] {
      std::thread([] {
        attempt([] {
          const auto until = weft::clock::now() + 20ms;
          weft::sleep_until(until);
          REQUIRE(weft::clock::now() >= until);
        });
      }).join();
    });
  });
}

// One P; whoever computes must be stopped for the others to go on, or come to its own end.
namespace {

void compete() {
  weft::wait_group wg;
  for (int i = 0; i < 2; ++i) wg.go([] { compute(60ms); });
  wg.go([] {
    for (int i = 0; i < 3; ++i) weft::sleep_for(1ms);
  });
  wg.go([] { ::usleep(30'000); });  // without blocking()
  wg.wait();
}

}  // namespace

SCENARIO(computing) {
  weft::run({.max_procs = 1}, [] { attempt(&compete); });
}

// In a sandbox that knows only the older call.
SCENARIO(computing_in_a_sandbox) {
  weft::run({.max_procs = 1}, [] {
    weft::os::arm_fault(weft::os::site::preempt_send, {.error = EPERM});
    attempt(&compete);
  });
}

// More loops than there may be threads, until that has been said, or tried twice.
SCENARIO(computing_at_the_cap) {
  using weft::os::site;
  const auto is_over = [] {
    return weft::os::fault_calls(site::message_room) >= 2 ||
           weft::os::fault_hits(site::message_try) >= 1;
  };
  weft::run({.max_procs = 1, .max_threads = 8}, [&] {
    attempt([&] {
      const auto limit = weft::clock::now() + 5s;
      weft::wait_group wg;
      for (int i = 0; i < 20; ++i)
        wg.go([&] {
          while (!is_over() && weft::clock::now() < limit) continue;
        });
      wg.wait();
    });
  });
}

// What has been used and is free goes back to the system; what the system does not take back is used again.
SCENARIO(giving_back) {
  weft::run({.max_procs = 1}, [] {
    weft::wait_group wg;
    for (int i = 0; i < 200; ++i)
      wg.go([] {
        touch_deep(3);
        weft::yield();
      });
    wg.wait();
    attempt([] {
      std::thread([] {  // as sysmon's
        for (int i = 0; i < 3; ++i) weft::stack::scavenge(1000);
      })
          .join();
    });
    work();
  });
}

// Nobody can ever run again.
SCENARIO(deadlock) {
  weft::run({.max_procs = 2}, [] {
    strike();
    weft::event never;
    never.wait();
  });
}

// A message longer than what goes out at once.
SCENARIO(message) {
  strike();
  weft::run([] {
    weft::wait_group wg;
    wg.done();
  });
}

SCENARIO(overflow_of_a_stack) {
  weft::run({.max_procs = 1}, [] {
    strike();
    weft::spawn([] { touch_deep(1 << 20); }).join();
  });
}
