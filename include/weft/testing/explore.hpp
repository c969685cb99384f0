// explore.hpp: the same function under many schedules, each of which can be had again.
//
//   TEST(account, loses_no_money) {
//     weft::testing::explore({.seeds = 2000}, [] {
//       account a(100);
//       weft::wait_group both;
//       both.go([&] { a.withdraw(30); });
//       both.go([&] { a.withdraw(20); });
//       both.wait();
//       if (a.balance() != 50) throw std::runtime_error("money was lost");
//     });
//   }
//
//   weft::testing::explore: seed 17 failed: money was lost; replay with WEFT_SEED=17
//
// Each seed is a run of its own: a new runtime with one processor, on which the function runs in a bubble (<weft/testing/bubble.hpp>: the time
// jumps). Every call into weft is a point at which another goroutine may go on, and the seed alone decides which; nobody is stopped
// anywhere else. So the same seed gives the same run, to the last step, on any machine.
//
// Points are calls into the library. The lock of a free mutex is none, unless the program is compiled with WEFT_EXPLORE_LOCKS defined. A data race
// between two points is ThreadSanitizer's to find, not explore's.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <weft/detail/config.hpp>
#include <weft/testing/bubble.hpp>

namespace weft::inline v1::testing {

enum class strategy : std::uint8_t {
  random,  // at each point any goroutine that can go on, with the same chance
  pct,  // each goroutine has a priority, and the first that can goes on; at depth - 1 points whoever runs falls behind all others. Finds
        // what needs few but particular changes in long runs
};

struct explore_options {
  std::uint64_t seeds = 1000;  // how many runs; WEFT_SEED=n: only that one
  std::uint64_t first_seed = 1;
  strategy how = strategy::random;
  unsigned depth = 3;  // of pct
  // Asked after each run that did not throw: true: it has failed all the same. For GoogleTest: has_test_failed in <weft/testing/gtest.hpp>.
  std::function<bool()> has_failed = {};
};

// A run failed. std::rethrow_if_nested() has what left the function, or the deadlock.
class WEFT_API explore_failure : public std::runtime_error, public std::nested_exception {
 public:
  // In a catch block.
  explore_failure(std::uint64_t seed, const std::string& what_failed);
  ~explore_failure() override;
  std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::uint64_t seed_;
};

namespace detail {

WEFT_API void explore(const explore_options& options, bubble_call* call);

}  // namespace detail

// Runs f once for each seed. A run fails if an exception leaves f, if all goroutines are blocked for good (deadlock; here also at locks), or if
// options.has_failed says so. Then the seed is printed on stderr, and explore_failure is thrown. An exception that leaves another
// goroutine ends the process as ever; the seed is printed before.
//
// f is called again and again, so it makes anew what it changes. What it does beside weft (threads, files, the machine's clock, blocking()) is
// not repeatable.
// Throws std::logic_error while a runtime is active: each run has its own.
// Blocks: the calling thread.
template <class F>
  requires std::is_invocable_v<F&>
void explore(const explore_options& options, F&& f) {
  detail::bubble_of<std::remove_reference_t<F>> call(f);
  detail::explore(options, &call);
}

template <class F>
  requires std::is_invocable_v<F&>
void explore(F&& f) {
  explore(explore_options{}, f);
}

}  // namespace weft::inline v1::testing
