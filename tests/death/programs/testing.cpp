// testing.cpp: what weft::testing says when a program dies of it.
#include <stdexcept>

#include <weft/testing.hpp>

#include "scenario.hpp"

using namespace std::chrono_literals;

SCENARIO(explore_a_goroutine_throws) {
  weft::testing::explore({.seeds = 20, .first_seed = 5}, [] {
    weft::go([] { throw std::runtime_error("nobody catches it"); });
    weft::testing::wait();
  });
}

SCENARIO(leak_check_aborts) {
  weft::run([] {
    weft::testing::leak_check guard({.grace = 20ms});
    weft::go({.name = "reader"}, [] { weft::make_chan<int>().recv(); });
  });
}

// The mutex is held by one that sleeps: nobody is durably blocked, so the time stands still.
SCENARIO(bubble_sleeps_with_a_mutex) {
  weft::testing::bubble([] {
    weft::mutex m;
    weft::go([&] {
      m.lock();
      weft::sleep_for(1s);
      m.unlock();
    });
    weft::testing::wait();
    m.lock();
  });
}
