// limits.cpp: bad input, and a system that gives no more threads or memory.
#include <grp.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "scenario.hpp"

using namespace scenario;

namespace {

constexpr std::size_t kAbsurd = ~std::size_t{0};

// Limits per user do not bind root.
void become_nobody() {
  if (::getuid() != 0) return;
  constexpr unsigned kNobody = 65534;
  REQUIRE(::setgroups(0, nullptr) == 0);
  REQUIRE(::setgid(kNobody) == 0);
  REQUIRE(::setuid(kNobody) == 0);
}

void set_limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  REQUIRE(::setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0);
}

void block_many() {
  for (int i = 0; i < 40; ++i) weft::go([] { weft::blocking([] { ::usleep(8'000'000); }); });
  weft::yield();
  wait_for_ever();
}

}  // namespace

SCENARIO(wait_group_negative) {
  weft::run([] {
    weft::go({.name = "culprit"}, [] {
      weft::wait_group group;
      group.add(2);
      group.add(-3);
    });
    wait_for_ever();
  });
}

SCENARIO(wait_group_negative_in_main) {
  weft::run([] { weft::wait_group().done(); });
}

SCENARIO(wait_group_negative_on_a_foreign_thread) { weft::wait_group().done(); }

SCENARIO(threads_exhausted) {
  weft::run({.max_procs = 2, .max_threads = 6}, [] { block_many(); });
}

SCENARIO(threads_exhausted_by_environment) {
  weft::run({.max_procs = 2}, [] { block_many(); });
}

SCENARIO(threads_just_enough) {
  weft::run({.max_procs = 1, .max_threads = 12}, [] {
    weft::wait_group all;
    for (int i = 0; i < 8; ++i) all.go([] { weft::blocking([] { ::usleep(100'000); }); });
    all.wait();
  });
}

SCENARIO(threads_one_is_enough_without_blocking) {
  weft::run({.max_procs = 1, .max_threads = 1}, [] {
    weft::wait_group all;
    for (int i = 0; i < 100; ++i) all.go([] { weft::yield(); });
    all.wait();
  });
}

SCENARIO(processes_exhausted_at_start) {
  become_nobody();
  set_limit(RLIMIT_NPROC, 1);
  try {
    weft::run([] { say("it ran"); });
  } catch (const std::system_error& e) {
    say("caught: %s", e.what());
    ::_exit(3);
  }
}

SCENARIO(processes_exhausted_later) {
  become_nobody();
  weft::run({.max_procs = 2}, [] {
    weft::yield();
    set_limit(RLIMIT_NPROC, 1);
    block_many();
  });
}

SCENARIO(address_space_small_at_start) {
  set_limit(RLIMIT_AS, rlim_t{256} << 20);
  weft::run({.max_procs = 2}, [] {
    weft::wait_group all;
    for (int i = 0; i < 100; ++i) all.go([] { weft::yield(); });
    all.wait();
    say("it ran");
  });
}

SCENARIO(address_space_tiny_at_start) {
  set_limit(RLIMIT_AS, rlim_t{12} << 20);
  try {
    weft::run({.max_procs = 2}, [] { say("it ran"); });
  } catch (const std::exception& e) {
    say("caught: %s", e.what());
    ::_exit(3);
  }
}

SCENARIO(address_space_exhausted_by_stacks) {
  set_limit(RLIMIT_AS, rlim_t{512} << 20);
  weft::run({.max_procs = 2}, [] {
    try {
      for (int i = 0; i < 100'000; ++i) {
        weft::go([] { wait_for_ever(); });
        weft::yield();
      }
    } catch (const std::bad_alloc&) {
      say("caught bad_alloc");
      ::_exit(3);
    }
    say("it ran");
  });
}

SCENARIO(max_procs_absurd) {
  weft::run({.max_procs = 2}, [] {
    REQUIRE(throws<std::invalid_argument>([] { weft::max_procs(100'000); }));
    REQUIRE(throws<std::invalid_argument>([] { weft::max_procs(~0u); }));
    REQUIRE(weft::max_procs() == 2);
    REQUIRE(weft::max_procs(0) == 2);
    REQUIRE(weft::max_procs(3) == 2);
    REQUIRE(weft::max_procs() == 3);
  });
  REQUIRE(throws<weft::not_running>([] { weft::max_procs(2); }));
}

SCENARIO(max_procs_1024) {
  weft::run({.max_procs = 1024}, [] {
    weft::wait_group all;
    for (int i = 0; i < 3000; ++i) all.go([] { weft::yield(); });
    all.wait();
  });
}

SCENARIO(options_absurd) {
  REQUIRE(throws<std::invalid_argument>([] { weft::run({.max_procs = 100'000}, [] {}); }));
  REQUIRE(throws<std::invalid_argument>([] { weft::run({.stack_size = kAbsurd}, [] {}); }));
  REQUIRE(throws<std::invalid_argument>(
      [] { weft::run({.stack_size = (std::size_t{1} << 30) + 1}, [] {}); }));
  REQUIRE(throws<std::invalid_argument>([] { weft::run({.main_stack_size = kAbsurd}, [] {}); }));
  REQUIRE(throws<std::invalid_argument>([] { weft::runtime r({.max_procs = 100'000}); }));
  weft::run({.max_threads = ~0u}, [] {
    REQUIRE(throws<std::invalid_argument>([] { weft::go({.stack_size = kAbsurd}, [] {}); }));
    REQUIRE(throws<std::invalid_argument>(
        [] { (void)weft::spawn({.stack_size = (std::size_t{1} << 30) + 1}, [] {}); }));
    REQUIRE(weft::num_goroutines() == 1);
  });
}

SCENARIO(options_largest) {
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  weft::run([] { weft::spawn({.stack_size = kLargest}, [] { weft::yield(); }).join(); });
  weft::run({.main_stack_size = kLargest}, [] { weft::yield(); });
}

SCENARIO(options_largest_for_all) {
  weft::run({.stack_size = std::size_t{1} << 30},
            [] { weft::spawn([] { weft::yield(); }).join(); });
}

SCENARIO(functions_empty) {
  weft::run([] {
    using nothing = void (*)();
    const std::function<void()> empty;
    const nothing null = nullptr;
    struct member {
      void call() {}
    };
    void (member::* const no_member)() = nullptr;
    REQUIRE(throws<std::invalid_argument>([&] { weft::go(empty); }));
    REQUIRE(throws<std::invalid_argument>([&] { weft::go(std::function<void()>()); }));
    REQUIRE(throws<std::invalid_argument>([&] { weft::go(null); }));
    REQUIRE(throws<std::invalid_argument>([&] { weft::go(no_member, member()); }));
    REQUIRE(throws<std::invalid_argument>([&] { (void)weft::spawn(empty); }));
    REQUIRE(throws<std::invalid_argument>([&] { (void)weft::spawn({.name = "x"}, null); }));
    weft::wait_group group;
    REQUIRE(throws<std::invalid_argument>([&] { group.go(empty); }));
    group.wait();  // it was not counted
    REQUIRE(weft::num_goroutines() == 1);
  });
}

SCENARIO(functions_empty_to_run) {
  using nothing = void (*)();
  const nothing null = nullptr;
  REQUIRE(throws<std::invalid_argument>([&] { weft::run(null); }));
  REQUIRE(throws<std::invalid_argument>([&] { weft::run({.max_procs = 2}, null); }));
  REQUIRE(throws<std::invalid_argument>([] { weft::run(std::function<void()>()); }));
  const std::function<int()> empty;
  REQUIRE(throws<std::invalid_argument>([&] { weft::run(empty); }));
  bool has_run = false;
  weft::run([&] { has_run = true; });  // nothing of those is active
  REQUIRE(has_run);
}

SCENARIO(arguments_that_throw_when_copied) {
  struct throws_on_copy {
    throws_on_copy() = default;
    throws_on_copy(const throws_on_copy&) { throw 5; }
    void operator()() const {}
  };
  weft::run([] {
    const throws_on_copy f;
    REQUIRE(throws<int>([&] { weft::go(f); }));
    REQUIRE(throws<int>([&] { (void)weft::spawn(f); }));
    REQUIRE(throws<int>([&] { weft::go([](const throws_on_copy&) {}, f); }));
    REQUIRE(weft::num_goroutines() == 1);
  });
}

SCENARIO(idle_with_1000_parked) {
  weft::run([] {
    for (int i = 0; i < 1000; ++i) weft::go([] { wait_for_ever(); });
    weft::event done;
    // The one who measures is not weft's, so the alarm stays quiet; it sleeps all the time.
    std::thread observer([&] {
      const auto cpu_us = [] {
        timespec t;
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<long long>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
      };
      ::usleep(3'500'000);  // to settle: cold stacks are given back once, after some seconds
      // The median: a virtual machine that is kept from running now and then has some of that time charged to whoever was at it.
      std::array<long long, 5> used{};
      for (long long& us : used) {
        const long long before = cpu_us();
        ::usleep(600'000);
        us = cpu_us() - before;
      }
      std::ranges::nth_element(used, used.begin() + 2);
      say("cpu_us_in_3_s=%lld", 5 * used[2]);
      done.set();
    });
    done.wait();
    weft::blocking([&] { observer.join(); });
  });
}
