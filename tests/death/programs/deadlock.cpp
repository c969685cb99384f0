// deadlock.cpp: programs in which all goroutines are asleep, and some that only look so.
#include "scenario.hpp"

using namespace scenario;

SCENARIO(deadlock_simple) {
  weft::run([] { wait_for_ever(); });
}

SCENARIO(deadlock_locked_main) {
  weft::run({.lock_main = true}, [] { wait_for_ever(); });
}

SCENARIO(deadlock_locked_goroutine) {
  weft::run([] {
    weft::go({.name = "tied"}, [] {
      weft::lock_os_thread();
      wait_for_ever();
    });
    wait_for_ever();
  });
}

SCENARIO(deadlock_main_locks_itself) {
  weft::run([] {
    weft::lock_os_thread();
    wait_for_ever();
  });
}

SCENARIO(deadlock_join) {
  weft::run([] {
    auto child = weft::spawn({.name = "child"}, [] { wait_for_ever(); });
    child.join();
  });
}

// Each goroutine tells on stdout what the dump has to say about it: id, maker, line, name.
namespace {
void tell(std::uint64_t maker, int line, const char* name) {
  say("id=%llu by=%llu line=%d name=%s",
      static_cast<unsigned long long>(weft::this_goroutine::id()),
      static_cast<unsigned long long>(maker), line, name);
}
}  // namespace

SCENARIO(deadlock_dump) {
  weft::run([] {
    weft::wait_group told;
    told.add(4);
    const std::uint64_t main_id = weft::this_goroutine::id();
    // clang-format off
    weft::go([&told, main_id] { tell(main_id, __LINE__, ""); told.done(); wait_for_ever(); });
    weft::go({.name = "reader"}, [&told, main_id] { tell(main_id, __LINE__, "reader"); told.done(); wait_for_ever(); });
    auto joined = weft::spawn({.name = "writer"}, [&told, main_id] { tell(main_id, __LINE__, "writer"); told.done(); weft::wait_group never; never.add(1); never.wait(); });
    // clang-format on
    weft::go({.name = "parent"}, [&told] {
      const std::uint64_t parent_id = weft::this_goroutine::id();
      weft::go([&told, parent_id] {
        tell(parent_id, __LINE__, "");
        told.done();
        wait_for_ever();
      });
      wait_for_ever();
    });
    told.wait();
    weft::this_goroutine::set_name("the first");
    joined.join();
  });
}

SCENARIO(deadlock_many) {
  weft::run([] {
    for (int i = 0; i < 1000; ++i) weft::go([] { wait_for_ever(); });
    wait_for_ever();
  });
}

SCENARIO(deadlock_with_a_very_long_name) {
  weft::run([] {
    weft::go({.name = std::string(3000, 'x')}, [] { wait_for_ever(); });
    wait_for_ever();
  });
}

SCENARIO(deadlock_in_the_second_run) {
  for (int i = 0; i < 2; ++i) {
    weft::run([i] {
      weft::wait_group all;
      for (int j = 0; j < 50; ++j) all.go([] { weft::yield(); });
      all.wait();
      if (i == 1) wait_for_ever();
    });
  }
}

SCENARIO(deadlock_after_a_blocking_call) {
  weft::run([] {
    weft::go([] {
      weft::blocking([] { ::usleep(100'000); });
      wait_for_ever();
    });
    wait_for_ever();
  });
}

SCENARIO(deadlock_after_many_threads) {
  weft::run([] {
    weft::wait_group all;
    for (int i = 0; i < 20; ++i) all.go([] { weft::blocking([] { ::usleep(30'000); }); });
    all.wait();
    wait_for_ever();
  });
}

SCENARIO(deadlock_of_a_runtime_object) {
  weft::runtime active;
  weft::go({.name = "sleeper"}, [] { wait_for_ever(); });
  wait_for_ever();  // this thread
}

SCENARIO(deadlock_of_a_runtime_object_whose_first_goroutine_exited) {
  weft::runtime active;
  weft::go([] { weft::exit_goroutine(); });
  while (weft::num_goroutines() != 0) ::usleep(1000);
  wait_for_ever();
}

SCENARIO(deadlock_foreign_thread_parks_last) {
  weft::run([] {
    std::thread([] {
      ::usleep(150'000);  // long after the goroutine: the alarm has to look again
      wait_for_ever();
    }).detach();
    wait_for_ever();
  });
}

SCENARIO(deadlock_foreign_thread_ends_last) {
  weft::run([] {
    std::thread([] { ::usleep(150'000); }).detach();
    wait_for_ever();
  });
}

SCENARIO(deadlock_hook) {
  weft::on_fatal([](std::string_view message) {
    say("hook: %.*s", static_cast<int>(message.size()), message.data());
  });
  weft::run([] { wait_for_ever(); });
}

// --- main is gone ---

SCENARIO(exit_main_alone) {
  weft::run([] { weft::exit_goroutine(); });
  say("run returned");
}

SCENARIO(exit_main_others_asleep) {
  weft::run([] {
    weft::go({.name = "left"}, [] { wait_for_ever(); });
    weft::exit_goroutine();
  });
  say("run returned");
}

SCENARIO(exit_main_others_work_on) {
  weft::run([] {
    weft::go([] {
      for (int i = 0; i < 1000; ++i) weft::yield();
      say("worked on");
    });
    weft::exit_goroutine();
  });
  say("run returned");
}

SCENARIO(exit_main_locked) {
  weft::run({.lock_main = true}, [] {
    weft::go([] {
      for (int i = 0; i < 1000; ++i) weft::yield();
      say("worked on");
    });
    weft::exit_goroutine();
  });
  say("run returned");
}

// --- no false alarm ---
// The sleeps are the subject: for that long nothing runs, and yet someone can still wake the goroutine.

SCENARIO(alive_foreign_thread_wakes_later) {
  weft::run([] {
    weft::event later;
    std::thread waker([&] {
      ::usleep(400'000);
      later.set();
    });
    later.wait();
    weft::blocking([&] { waker.join(); });
  });
}

SCENARIO(alive_foreign_thread_starts_a_goroutine_later) {
  weft::run([] {
    weft::event later;
    std::thread waker([&] {
      ::usleep(300'000);
      weft::go([&] { later.set(); });
    });
    later.wait();
    weft::blocking([&] { waker.join(); });
  });
}

namespace {
void blocking_wakes_later(unsigned nprocs) {
  weft::run({.max_procs = nprocs}, [] {
    weft::event later;
    weft::go([&] {
      weft::blocking([] { ::usleep(400'000); });  // after 20 ms it has lost its P
      later.set();
    });
    later.wait();
  });
}
}  // namespace

SCENARIO(alive_blocking_wakes_later_on_one_p) { blocking_wakes_later(1); }
SCENARIO(alive_blocking_wakes_later_on_two_ps) { blocking_wakes_later(2); }

SCENARIO(alive_set_from_inside_blocking) {
  weft::run([] {
    weft::event later;
    weft::go([&] {
      weft::blocking([&] {
        ::usleep(300'000);
        later.set();
        ::usleep(50'000);
      });
    });
    later.wait();
  });
}

SCENARIO(alive_unannotated_sleep) {
  weft::run({.max_procs = 1}, [] {
    weft::event later;
    weft::go([&] {
      ::usleep(300'000);
      later.set();
    });
    later.wait();
  });
}

// The P of a goroutine that computes goes away in a stop of the world; it is no sleeper for that.
SCENARIO(alive_detached_while_it_computes) {
  weft::run({.max_procs = 2}, [] {
    weft::event later;
    std::atomic<bool> computes{false};
    weft::go([&] {
      computes = true;
      const auto end = std::chrono::steady_clock::now() + 400ms;
      while (std::chrono::steady_clock::now() < end) continue;
      later.set();
    });
    while (!computes) weft::yield();
    weft::max_procs(1);
    weft::max_procs(2);
    later.wait();
  });
}

SCENARIO(alive_runtime_object_with_a_busy_owner) {
  weft::runtime active;
  weft::event later, passed;
  weft::go([&] {
    later.wait();
    passed.set();
  });
  ::usleep(300'000);
  later.set();
  passed.wait();
}

SCENARIO(alive_locked_main_woken_by_foreign_thread) {
  weft::run({.lock_main = true}, [] {
    weft::event later;
    std::thread waker([&] {
      ::usleep(300'000);
      later.set();
    });
    later.wait();
    weft::blocking([&] { waker.join(); });
  });
}

// --- at channels ---

SCENARIO(deadlock_at_channels) {
  weft::run({.max_procs = 1}, [] {
    const auto c = weft::make_chan<int>();
    const auto d = weft::make_chan<int>();
    weft::go({.name = "receives"}, [d] { d.recv(); });
    weft::go({.name = "sends"}, [] { weft::make_chan<int>().send(1); });
    weft::go({.name = "receives nothing"}, [] { weft::chan<int>().recv(); });
    weft::go({.name = "sends nowhere"}, [] { weft::chan<int>().send(1); });
    weft::go({.name = "chooses"},
             [c, d] { weft::select(weft::on_recv(c), weft::on_recv(weft::chan<int>())); });
    weft::go({.name = "has one choice"}, [c] { weft::select(weft::on_recv(c)); });
    weft::go({.name = "chooses two"}, [c] {
      const auto e = weft::make_chan<int>();
      weft::select(weft::on_recv(c), weft::on_send(e, 1));
    });
    weft::go({.name = "has no choice"}, [] { weft::select(); });
    c.recv();
  });
}

// A timer that will fire, and a time limit, are hope.
SCENARIO(no_deadlock_while_a_timer_runs) {
  weft::run({.max_procs = 1}, [] {
    using namespace std::chrono_literals;
    const auto c = weft::make_chan<int>();
    weft::go([c] {
      weft::after(300ms).recv();
      c.send(1);
    });
    const bool has_come = c.recv().has_value();
    const bool is_late = !c.recv_for(300ms).has_value();
    std::puts(has_come && is_late ? "it came" : "it did not");
  });
}
