// explore.cpp: see explore.hpp.
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace weft::model {

namespace {

constexpr std::uint64_t kQuickBudget = 4000;
constexpr unsigned kAny = 250;
constexpr std::uint64_t kSampleShare = 4;  // of the budget, for each of the two samplers

std::uint64_t budget() {
  const char* const text = std::getenv("WEFT_MODEL_BUDGET");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : kQuickBudget;
}

std::uint64_t base_seed() {
  const char* const text = std::getenv("WEFT_MODEL_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

std::string test_name() {
  const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
  return info != nullptr ? std::string(info->test_suite_name()) + "." + info->name() : "?";
}

settings settings_of(const bounds& b, memory m) {
  return {.mem = m,
          .max_steps = b.max_steps,
          .staleness = b.staleness,
          .spurious_wakes = b.spurious_wakes,
          .may_end_asleep = b.may_end_asleep};
}

// One scenario in one memory.
class search {
 public:
  search(const engine::program& p, const bounds& b, memory m)
      : program_(p), bounds_(b), memory_(m), set_(settings_of(b, m)) {}

  // False: it failed, and how is in failure.
  bool run(std::uint64_t budget) {
    if (!depth_first_until(budget)) return false;
    return is_complete || (sample<random_walk>(budget) && sample<pct>(budget));
  }

  std::string reach() const {
    if (is_exhausted) return "all there are";
    const std::string n = std::to_string(bound);
    return is_complete ? "all with up to " + n + " preemptions"
                       : "some of those with " + n + " preemptions, random walks, PCT";
  }

  std::uint64_t nexecutions = 0;
  bool is_complete = false;   // every execution within the bounds
  bool is_exhausted = false;  // with any number of preemptions
  unsigned bound = 0;         // the last number of preemptions that was tried
  std::string failure;
  schedule recorded;

 private:
  // With few preemptions first: most faults need no more, and those executions are the easiest to read.
  bool depth_first_until(std::uint64_t budget) {
    int seen = -1;  // executions with up to so many have been
    for (const unsigned next : {0u, 1u, 2u, 3u, 4u, 6u, 9u, kAny}) {
      bound = std::min(next, bounds_.preemptions);
      depth_first how(bound, bounds_.weak_steps);
      bool is_more = true;
      for (; is_more && nexecutions < budget; is_more = how.next()) {
        how.begin();
        if (!once(how)) {
          how.begin();
          return record(how);
        }
        if (static_cast<int>(how.npreempted()) > seen) ++nexecutions;
      }
      if (is_more) return true;
      seen = static_cast<int>(bound);
      is_exhausted = !how.was_bound_felt();
      is_complete = is_exhausted || bound == bounds_.preemptions;
      if (is_complete) return true;
    }
    return true;
  }

  random_walk make(const random_walk*, std::uint64_t seed) const { return random_walk(seed); }
  pct make(const pct*, std::uint64_t seed) const { return pct(seed, bounds_.pct_depth, npoints_); }

  template <class Strategy>
  bool sample(std::uint64_t budget) {
    for (std::uint64_t i = 0; i < budget / kSampleShare; ++i) {
      const std::uint64_t seed = base_seed() * 0x9E3779B97F4A7C15u + i;
      Strategy how = make(static_cast<Strategy*>(nullptr), seed);
      if (!once(how)) {
        Strategy again = make(static_cast<Strategy*>(nullptr), seed);
        return record(again);
      }
      ++nexecutions;
    }
    return true;
  }

  bool once(strategy& how) {
    run_result r = the_engine.run(program_, how, set_);
    npoints_ = r.npoints;
    failure = std::move(r.why);
    return !r.has_failed;
  }

  // Once more, to have its schedule.
  bool record(strategy& how) {
    ++nexecutions;
    the_engine.is_recording = true;
    once(how);
    the_engine.is_recording = false;
    recorded = the_engine.recorded;
    return false;
  }

  const engine::program& program_;
  const bounds& bounds_;
  const memory memory_;
  const settings set_;
  unsigned npoints_ = 1;
};

std::string replayed(const engine::program& p, const bounds& b, memory m, const schedule& s) {
  replay how(s);
  the_engine.is_tracing = true;
  const run_result r = the_engine.run(p, how, settings_of(b, m));
  the_engine.is_tracing = false;
  std::string text;
  for (const std::string& line : the_engine.trace) text += "  " + line + "\n";
  if (how.has_strayed()) text += "  (the schedule does not fit this program)\n";
  if (!r.has_failed) text += "  (this execution does not fail)\n";
  return text;
}

schedule without_marks(schedule s) {
  for (std::uint8_t& c : s) c &= static_cast<std::uint8_t>(~kValue);
  return s;
}

void report(const engine::program& p, const bounds& b, memory m, const search& s) {
  ADD_FAILURE() << "model: " << s.failure << "\nmodel: replay with WEFT_MODEL_REPLAY=" << name_of(m)
                << ":" << write_schedule(s.recorded) << " --gtest_filter=" << test_name() << "\n"
                << replayed(p, b, m, without_marks(s.recorded));
}

// For the sum over all tests: a line in the file WEFT_MODEL_TALLY.
void tally(memory m, const search& s) {
  const char* const path = std::getenv("WEFT_MODEL_TALLY");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::app)
      << test_name() << ' ' << name_of(m) << ' ' << s.nexecutions << '\n';
}

void explore_in(const engine::program& p, const bounds& b, memory m) {
  const auto begun = std::chrono::steady_clock::now();
  search s(p, b, m);
  const bool is_right = s.run(budget());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!is_right) report(p, b, m, s);
  std::printf("[ explored ] %-12s %9llu executions in %.2f s: %s\n", name_of(m),
              static_cast<unsigned long long>(s.nexecutions), took.count(), s.reach().c_str());
  tally(m, s);
}

// WEFT_MODEL_REPLAY=<memory>:<schedule>. False: not asked for.
bool replay_if_wanted(const engine::program& p, const bounds& b) {
  const char* const wish = std::getenv("WEFT_MODEL_REPLAY");
  if (wish == nullptr) return false;
  const std::string_view text = wish;
  const auto colon = text.find(':');
  for (const memory m : {memory::sc, memory::store_buffer, memory::stale_read}) {
    if (colon == std::string_view::npos || text.substr(0, colon) != name_of(m)) continue;
    if (const auto s = read_schedule(text.substr(colon + 1))) {
      std::fputs(replayed(p, b, m, *s).c_str(), stdout);
      return true;
    }
  }
  ADD_FAILURE() << "WEFT_MODEL_REPLAY is <sc|store_buffer|stale_read>:<schedule>, not " << wish;
  return true;
}

}  // namespace

void explore_program(const engine::program& p, const bounds& b) {
  if (replay_if_wanted(p, b)) return;
  if (b.in_sc) explore_in(p, b, memory::sc);
  if (b.in_store_buffer) explore_in(p, b, memory::store_buffer);
  if (b.in_stale_read) explore_in(p, b, memory::stale_read);
}

std::string find_failure(const engine::program& p, const bounds& b, memory m) {
  search s(p, b, m);
  s.run(budget());
  return s.failure;
}

}  // namespace weft::model
