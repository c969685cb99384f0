// leak_check.hpp: goroutines that somebody forgot.
//
//   TEST(server, closes_everything) {
//     weft::testing::leak_check guard;       // at its end: who was started since, and has not ended?
//     ...
//   }
//
// With GoogleTest, for every test of the program: <weft/testing/gtest.hpp>.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <weft/detail/config.hpp>
#include <weft/testing/goroutines.hpp>

namespace weft::inline v1::testing {

struct leak_options {
  // Goroutines that are about to end get so long to do it.
  std::chrono::milliseconds grace{1000};
  // What the guard does with those it has found. None: says who they are on stderr, and aborts.
  std::function<void(const std::vector<goroutine_info>&)> on_leak = {};
  // Goroutines with one of these names may stay.
  std::vector<std::string> ignore = {};
};

// From its construction to its destruction. It may stand around weft::run(): then it also finds those that were abandoned when main returned.
// It counts goroutines of the whole program, not of one scope: nothing else may start any meanwhile.
// Blocks: for as long as there is somebody to wait for, and options.grace at most; this goroutine only (from a plain thread: that thread).
class WEFT_API leak_check {
 public:
  explicit leak_check(leak_options options = {});
  // Calls on_leak, which must not throw, if there are any and nobody has asked for them by leaks().
  ~leak_check();
  leak_check(const leak_check&) = delete;
  leak_check& operator=(const leak_check&) = delete;

  // Who was started since, and has not ended within options.grace. From then on the guard does nothing more.
  [[nodiscard]] WEFT_MAY_SWITCH std::vector<goroutine_info> leaks();

 private:
  using key = std::pair<std::uint32_t, std::uint64_t>;  // a runtime, a goroutine of it

  leak_options options_;
  std::vector<key> before_;  // sorted
  bool was_asked_ = false;
};

}  // namespace weft::inline v1::testing
