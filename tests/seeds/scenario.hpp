// scenario.hpp: a scenario of the whole runtime, explored under many seeds, and the proof that it can fail.
//
//   SCENARIO(lock_seeds, a_mutex_lets_in_one_at_a_time) {
//     weft::mutex m;
//     int ninside = 0;
//     const bool has_lock = !t.fault("the lock is left out");
//     together(3, [&](int) {
//       if (has_lock) m.lock();
//       t.must(++ninside == 1, "one is inside at a time");
//       weft::yield();
//       --ninside;
//       if (has_lock) m.unlock();
//     });
//   }
//
// makes three tests: ..._at_random and ..._by_priority explore it, WEFT_SEEDS seeds each, and must find nothing; ..._can_fail plants each of
// the faults that the scenario names, one at a time, and a seed must be found that fails. Each promise must have been broken
// by one of them: a check that cannot fail checks nothing.
//
// A scenario uses what users see, and nothing else. It makes anew what it changes, has bounded loops, and returns when all of its goroutines have
// ended. A fault after which somebody waits for ever leaves behind what that goroutine owns: nothing on the heap, else LeakSanitizer complains.
// Each run has one processor, and nobody is stopped but in a call into weft: plain variables need no lock.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include <weft/sync.hpp>
#include <weft/testing/explore.hpp>

#if !defined(WEFT_EXPLORE_LOCKS)
#error "compile with WEFT_EXPLORE_LOCKS"
#endif

namespace weft::seeds {

// What the runs of one scenario have come to know.
struct ledger {
  std::string planted;             // the fault that is to be there; empty: none
  std::set<std::string> faults;    // that were asked for
  std::set<std::string> promises;  // that were looked at
  std::set<std::string> broken;    // that did not hold
};

// One run.
class trial {
 public:
  explicit trial(ledger& all) noexcept : all_(all) {}

  // From any goroutine. The run goes on: others use what an exception would destroy.
  void must(bool holds, const char* promise) {
    all_.promises.insert(promise);
    if (holds) return;
    all_.broken.insert(promise);
    if (what_failed_ == nullptr) what_failed_ = promise;
  }

  // Whether the scenario is to do wrong in this way.
  bool fault(const char* what) {
    all_.faults.insert(what);
    return all_.planted == what;
  }

  // Throws if something did not hold.
  void settle() const;

 private:
  ledger& all_;
  const char* what_failed_ = nullptr;
};

using scenario = void(trial&);

// Each is the body of a test.
void holds(testing::strategy how, scenario* body);
void can_fail(scenario* body);

// f(0) to f(n - 1), each in a goroutine; returns when all have ended.
template <class F>
void together(int n, F f) {
  wait_group all;
  for (int i = 0; i < n; ++i) all.go([&f, i] { f(i); });
  all.wait();
}

}  // namespace weft::seeds

#define SCENARIO(suite, name)                                                              \
  static void weft_scenario_##suite##_##name(weft::seeds::trial& t);                       \
  TEST(suite, name##_at_random) {                                                          \
    weft::seeds::holds(weft::testing::strategy::random, &weft_scenario_##suite##_##name);  \
  }                                                                                        \
  TEST(suite, name##_by_priority) {                                                        \
    weft::seeds::holds(weft::testing::strategy::pct, &weft_scenario_##suite##_##name);     \
  }                                                                                        \
  TEST(suite, name##_can_fail) { weft::seeds::can_fail(&weft_scenario_##suite##_##name); } \
  static void weft_scenario_##suite##_##name(weft::seeds::trial& t)
