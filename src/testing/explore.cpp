// explore.cpp: testing::explore(): a runtime for each seed, whose scheduler asks a strategy.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "os/parse.hpp"
#include "os/text.hpp"
#include "sched/chaos.hpp"
#include "sched/crash.hpp"
#include "testing/bubble.hpp"
#include "testing/strategies.hpp"

#include <weft/runtime.hpp>
#include <weft/testing/explore.hpp>

namespace weft::testing_impl {

namespace {

using testing::explore_options;

constexpr const char* kSeed = "WEFT_SEED";

void say(const std::string& line) { os::write_all(os::kStderr, line + '\n'); }

std::string prefix(std::uint64_t seed) {
  return "weft::testing::explore: seed " + std::to_string(seed) + " failed";
}
std::string how_to_replay(std::uint64_t seed) {
  return "replay with " + std::string(kSeed) + '=' + std::to_string(seed);
}

// What is printed should a run end the process.
class crash_note {
 public:
  explicit crash_note(std::uint64_t seed)
      : text_(prefix(seed) + "; " + how_to_replay(seed) + '\n') {
    sched::set_crash_note(text_.c_str());
  }
  ~crash_note() { sched::set_crash_note(nullptr); }
  crash_note(const crash_note&) = delete;
  crash_note& operator=(const crash_note&) = delete;

 private:
  const std::string text_;
};

void run_seed(const explore_options& options, testing::detail::bubble_call* call,
              std::uint64_t seed, const void* made_at) {
  by_chance chance;
  by_priority priority(seed, options.depth);
  const sched::chaos_plan plan{.switches = sched::kChaosYields | sched::kChaosOrder,
                               .seed = base::rng(seed).next(),  // neighbours begin far apart
                               .by = options.how == testing::strategy::pct
                                         ? static_cast<sched::strategy*>(&priority)
                                         : &chance,
                               .is_timeless = true};
  const crash_note note(seed);
  sched::plan_chaos(&plan);
  run({.max_procs = 1},
      [&] { run_bubble_here(call, {.is_closed = true, .seed = plan.seed, .made_at = made_at}); });
  if (options.has_failed && options.has_failed())
    throw std::runtime_error("options.has_failed says so");
}

std::string text_of_current() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

// In a catch block.
[[noreturn]] void fail(std::uint64_t seed) {
  const std::string what = text_of_current();
  const std::size_t end = std::min(what.find('\n'), what.size());
  say(prefix(seed) + ": " + what.substr(0, end) + "; " + how_to_replay(seed) + what.substr(end));
  throw testing::explore_failure(seed, what);
}

// One seed that the environment asks for. False: it asks for none.
bool read_seed(std::uint64_t& seed) {
  const char* const value = std::getenv(kSeed);
  if (value == nullptr) return false;
  if (const auto number = os::parse_number<std::uint64_t>(value)) {
    seed = *number;
    return true;
  }
  say("weft: " + std::string(kSeed) + " is not a number, and is ignored");
  return false;
}

}  // namespace

}  // namespace weft::testing_impl

namespace weft::inline v1::testing {

explore_failure::explore_failure(std::uint64_t seed, const std::string& what_failed)
    : std::runtime_error(testing_impl::prefix(seed) + ": " + what_failed), seed_(seed) {}

explore_failure::~explore_failure() = default;

[[gnu::noinline]] void detail::explore(const explore_options& options, bubble_call* call) {
  const void* const made_at = __builtin_return_address(0);
  std::uint64_t first = options.first_seed;
  std::uint64_t n = options.seeds;
  if (testing_impl::read_seed(first)) n = 1;
  // acquire: a hint, for the message; run() decides
  if (weft::sched::sched.now.load(std::memory_order_acquire) != weft::sched::phase::stopped)
    throw std::logic_error("weft::testing::explore: a runtime is active");
  for (std::uint64_t seed = first; n > 0; ++seed, --n) {
    try {
      testing_impl::run_seed(options, call, seed, made_at);
    } catch (...) {
      testing_impl::fail(seed);
    }
  }
}

}  // namespace weft::inline v1::testing
