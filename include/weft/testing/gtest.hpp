// gtest.hpp: weft::testing with GoogleTest.
//
//   int main(int argc, char** argv) {
//     testing::InitGoogleTest(&argc, argv);
//     testing::UnitTest::GetInstance()->listeners().Append(new weft::testing::leak_listener);   // GoogleTest deletes it
//     return RUN_ALL_TESTS();
//   }
//
// A test that leaves a goroutine behind fails, and says which. One test alone: leak_check guard({.on_leak = fail_on_leaks});
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include <weft/testing/leak_check.hpp>

namespace weft::inline v1::testing {

// For leak_options::on_leak.
inline void fail_on_leaks(const std::vector<goroutine_info>& leaked) {
  ADD_FAILURE() << leaked.size() << " goroutine(s) leaked:\n" << to_string(leaked);
}

// For explore_options::has_failed: an EXPECT in the explored function fails the run.
inline bool has_test_failed() { return ::testing::Test::HasFailure(); }

class leak_listener : public ::testing::EmptyTestEventListener {
 public:
  explicit leak_listener(leak_options options = {}) : options_(std::move(options)) {
    if (!options_.on_leak) options_.on_leak = &fail_on_leaks;
  }

  void OnTestStart(const ::testing::TestInfo&) override { guard_.emplace(options_); }
  void OnTestEnd(const ::testing::TestInfo&) override { guard_.reset(); }

 private:
  leak_options options_;
  std::optional<leak_check> guard_;
};

}  // namespace weft::inline v1::testing
