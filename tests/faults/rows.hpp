// rows.hpp: the table of fault cases: which scenario, which call fails how, and what must come of it.
//
//   const auto kRows = rows{}
//       .both("file", "file_open", {EMFILE, ENFILE, EACCES}, fails("open /tmp/"))
//       .row("file", "file_read", EINTR, once, succeeds());
//   INSTANTIATE_FAULTS(files, kRows);
//
// Each row is a test that runs weft_fault_program (program/scenario.hpp) and asserts three things: the program ends as the row says, in time and
// not by a signal; the fault was struck; and what the program requires of itself holds (no byte lost, no descriptor left, all works
// again afterwards).
#pragma once

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft::test {

// What must come of it.
struct outcome {
  enum class kind : std::uint8_t {
    done,   // as if nothing had been
    error,  // an exception with this text, and the code of the fault if it is a system_error
    death,  // one line "fatal error: <text>...", exit code 2
  };
  kind what = kind::done;
  std::string text = {};    // a part of what is said
  std::string beside = {};  // done: a line on stderr that says what is done without
};

inline outcome succeeds() { return {}; }
inline outcome succeeds_saying(std::string line) {
  return {outcome::kind::done, {}, std::move(line)};
}
inline outcome fails(std::string text) { return {outcome::kind::error, std::move(text), {}}; }
inline outcome dies(std::string text) { return {outcome::kind::death, std::move(text), {}}; }

enum class how_often : std::uint8_t { once, for_ever };
inline constexpr how_often once = how_often::once;
inline constexpr how_often for_ever = how_often::for_ever;

struct fault_row {
  std::string scenario;
  std::string site;
  int error = 0;
  how_often times = once;
  outcome expected;
  unsigned after = 0;      // calls that pass first
  std::int64_t most = -1;  // bytes (pieces) that a call may move
  std::int64_t delay_ns = 0;
  std::string variant = {};      // part of the name
  std::string environment = {};  // WEFT_DEBUG
  std::int64_t most_hits = -1;   // it must not be tried more often; -1: as often as it likes
  bool is_first = true;          // of several that are alike: `make test` runs the first of them
};

std::string name_of(const fault_row& row);
inline std::ostream& operator<<(std::ostream& out, const fault_row& row) {
  return out << name_of(row);
}

// Rows, one after the other.
class rows : public std::vector<fault_row> {
 public:
  using errors = std::initializer_list<int>;

  rows& row(fault_row r) {
    push_back(std::move(r));
    return *this;
  }
  rows& once_each(const char* scenario, const char* site, errors all, const outcome& o,
                  unsigned after = 0) {
    return each(scenario, site, all, once, o, after);
  }
  rows& for_ever_each(const char* scenario, const char* site, errors all, const outcome& o,
                      unsigned after = 0) {
    return each(scenario, site, all, for_ever, o, after);
  }
  rows& both(const char* scenario, const char* site, errors all, const outcome& o) {
    return once_each(scenario, site, all, o).for_ever_each(scenario, site, all, o);
  }
  rows& both(const char* scenario, const char* site, errors all, const outcome& first,
             const outcome& ever) {
    return once_each(scenario, site, all, first).for_ever_each(scenario, site, all, ever);
  }
  // No call moves more than that.
  rows& short_counts(const char* scenario, const char* site,
                     std::initializer_list<std::int64_t> all, const outcome& o = succeeds()) {
    for (const std::int64_t most : all)
      row({.scenario = scenario, .site = site, .times = for_ever, .expected = o, .most = most});
    return *this;
  }
  // The first few calls take so much longer.
  rows& late(const char* scenario, const char* site, std::int64_t delay_ns,
             const outcome& o = succeeds()) {
    return row(
        {.scenario = scenario, .site = site, .times = once, .expected = o, .delay_ns = delay_ns});
  }

  std::vector<fault_row> first() const { return select(true); }
  std::vector<fault_row> more() const { return select(false); }

 private:
  rows& each(const char* scenario, const char* site, errors all, how_often times, const outcome& o,
             unsigned after) {
    bool is_first = true;
    for (const int e : all)
      row({.scenario = scenario,
           .site = site,
           .error = e,
           .times = times,
           .expected = o,
           .after = after,
           .is_first = std::exchange(is_first, false)});
    return *this;
  }
  std::vector<fault_row> select(bool is_first) const {
    std::vector<fault_row> some;
    for (const fault_row& r : *this)
      if (r.is_first == is_first) some.push_back(r);
    return some;
  }
};

// So that it is known which sites have rows.
bool note_rows(const rows& list);

// Runs it and judges.
void check_fault(const fault_row& row);

class fault_case : public testing::TestWithParam<fault_row> {};
inline const auto name_case = [](const auto& info) { return name_of(info.param); };

// Those under `more` have the label faults_extras as well (CMakeLists.txt).
#define INSTANTIATE_FAULTS(area, list)                                                          \
  [[maybe_unused]] const bool are_##area##_noted = note_rows(list);                             \
  class area##_faults : public fault_case {};                                                   \
  TEST_P(area##_faults, end_as_documented) { check_fault(GetParam()); }                         \
  INSTANTIATE_TEST_SUITE_P(first, area##_faults, testing::ValuesIn((list).first()), name_case); \
  INSTANTIATE_TEST_SUITE_P(more, area##_faults, testing::ValuesIn((list).more()), name_case)

}  // namespace weft::test
