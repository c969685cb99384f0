// scenario.cpp: how scenarios are run: how many seeds, which ones, and who counts them. README.md has the variables.
#include "scenario.hpp"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/for_procs.hpp"

namespace weft::seeds {

namespace {

using testing::explore;
using testing::explore_failure;
using testing::explore_options;
using testing::strategy;

// Among so many of each strategy a planted fault must show.
constexpr std::uint64_t kEnough = 50;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const std::uint64_t n = std::strtoull(text, &end, 10);
  if (*end == '\0') return n;
  std::fprintf(stderr, "%s is not a number, and is ignored\n", variable);
  return otherwise;
}

std::string test_name() {
  const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + '.' + info->name();
}

// A line for the lane, which adds them up. Each line is written at once: tests run beside one another.
void tally(std::uint64_t nruns) {
  const char* const path = std::getenv("WEFT_SEEDS_TALLY");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::app) << test_name() + ' ' + std::to_string(nruns) + '\n';
}

std::string command_to_replay(std::uint64_t seed) {
  return "WEFT_SEED=" + std::to_string(seed) + ' ' + program_invocation_name +
         " --gtest_filter=" + test_name();
}

// A run that takes for ever is ended, and says which it was. A millisecond is usual.
class watch {
 public:
  explicit watch(std::uint64_t seed) {
    std::snprintf(note_, sizeof note_, "seed %llu does not end; again: %s\n",
                  static_cast<unsigned long long>(seed), command_to_replay(seed).c_str());
    ::signal(SIGALRM, [](int) {
      if (::write(STDERR_FILENO, note_, std::strlen(note_)) >= 0) ::_exit(1);
      ::_exit(2);
    });
    ::alarm(kSeconds);
  }
  ~watch() { ::alarm(0); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

 private:
  static constexpr unsigned kSeconds = 30;
  inline static char note_[1024];
};

void run(scenario* body, ledger& all) {
  trial t(all);
  body(t);
  t.settle();
}

// The first seed that fails; 0: none does. `said`: what explore() had to say about it.
std::uint64_t seed_that_fails(const explore_options& options, scenario* body, ledger& all,
                              std::string& said) {
  std::uint64_t seed = 0;
  ::testing::internal::CaptureStderr();
  try {
    explore(options, [&] { run(body, all); });
  } catch (const explore_failure& e) {
    seed = e.seed();
  }
  said = ::testing::internal::GetCapturedStderr();
  return seed;
}

// The rest of a deadlock's text has addresses.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void find(const std::string& fault, scenario* body, ledger& all) {
  all.planted = fault;
  for (const strategy how : {strategy::random, strategy::pct}) {
    std::string said;
    const std::uint64_t seed = seed_that_fails({.seeds = kEnough, .how = how}, body, all, said);
    if (seed == 0) continue;
    EXPECT_NE(said.find("replay with WEFT_SEED=" + std::to_string(seed)), std::string::npos);
    std::string again;
    seed_that_fails({.seeds = 1, .first_seed = seed, .how = how}, body, all, again);
    EXPECT_EQ(first_line(again), first_line(said)) << "the same seed gives the same failure";
    std::printf("[  FOUND   ] %s: seed %d %s\n", fault.c_str(), static_cast<int>(seed),
                how == strategy::random ? "at random" : "by priority");
    return;
  }
  ADD_FAILURE() << "no seed fails though a fault is planted: " << fault;
}

}  // namespace

void trial::settle() const {
  if (what_failed_ != nullptr) throw std::runtime_error(std::string("not so: ") + what_failed_);
}

void holds(strategy how, scenario* body) {
  const explore_options options{
      .seeds = number_from("WEFT_SEEDS", static_cast<std::uint64_t>(test::scaled(20))),
      .first_seed = number_from("WEFT_SEEDS_FIRST", 1),
      .how = how};
  ledger all;
  std::uint64_t nruns = 0;
  try {
    explore(options, [&] {
      const watch limit(number_from("WEFT_SEED", options.first_seed + nruns));
      ++nruns;
      run(body, all);
    });
  } catch (const explore_failure& e) {
    ADD_FAILURE() << e.what() << "\nagain: " << command_to_replay(e.seed());
  }
  EXPECT_FALSE(all.promises.empty()) << "nothing was looked at";
  tally(nruns);
}

void can_fail(scenario* body) {
  if (std::getenv("WEFT_SEED") != nullptr) GTEST_SKIP() << "one seed only";
  ledger sound;
  explore({.seeds = 2}, [&] { run(body, sound); });
  ASSERT_FALSE(sound.faults.empty()) << "the scenario names no fault";
  ledger all;
  for (const std::string& fault : sound.faults) find(fault, body, all);
  for (const std::string& promise : all.promises)
    EXPECT_TRUE(all.broken.contains(promise)) << "no fault breaks: " << promise;
}

}  // namespace weft::seeds
