// rows.cpp: runs one row of the table, and judges how it ended.
#include "rows.hpp"

#include <cstring>
#include <map>
#include <set>

#include "os/fault.hpp"
#include "support/child_process.hpp"

namespace weft::test {

namespace {

using namespace std::chrono_literals;

child_end run(const fault_row& row) {
  std::vector<std::string> command = words_of(WEFT_TEST_EMULATOR);
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  command.insert(command.end(),
                 {WEFT_FAULT_PROGRAM, row.scenario, row.site, text(row.error),
                  text(row.times == once ? 1 : -1), text(row.after), text(row.most),
                  text(row.delay_ns), text(row.expected.what == outcome::kind::death)});
  return run_child({.command = command,
                    .environment = {{"WEFT_DEBUG", row.environment}, {"WEFT_MAXPROCS", ""}},
                    .limit = 40s});
}

void expect_error(const fault_row& row, const child_end& ended) {
  EXPECT_TRUE(
      said_like(ended.out, "^outcome: (system_error|bad_alloc|runtime_error|invalid_argument)"));
  EXPECT_TRUE(said(ended.out, row.expected.text));
  // A number of the kernel's must be the one that it gave; weft's own (a deadline, a lookup) stand in the text.
  const std::string code = find_like(ended.out, "outcome: system_error ([0-9]+) (system|generic) ");
  if (!code.empty() && row.error > 0) {
    EXPECT_EQ(code, std::to_string(row.error));
  }
}

std::set<std::string>& sites_with_rows() {
  static std::set<std::string> all;
  return all;
}

// Sites that no row is for, and why.
const std::map<std::string, const char*> kWithoutRows = {
    {"nap", "a nap may be as short as it likes"},
    {"resident", "asked only of goroutines that have waited for 10 s; vm_test.cpp"},
    {"thread_bounds", "asked under sanitizers only"},
    {"preempt_peek",
     "asked only where a signal meets a call that ends with EINTR; preempt_signal_test.cpp"},
    {"refused_poll", "asked only of a socket with urgent data whose read was refused for a signal"},
    {"signals_wake", "the counter may be full, and then the forwarder is awake"},
};

}  // namespace

bool note_rows(const rows& list) {
  for (const fault_row& row : list) sites_with_rows().insert(row.site);
  return true;
}

TEST(fault_table, has_rows_for_every_site) {
  for (std::size_t i = 0; i < os::kSites; ++i) {
    const std::string site(os::name_of(static_cast<os::site>(i)));
    EXPECT_TRUE(sites_with_rows().contains(site) || kWithoutRows.contains(site))
        << "no row of tests/faults lets " << site << " fail";
  }
}

std::string name_of(const fault_row& row) {
  std::string name = row.scenario + "_" + row.site;
  if (row.error != 0) {
    const char* const e = ::strerrorname_np(row.error);
    name += "_" + (e != nullptr ? std::string(e) : "minus_" + std::to_string(-row.error));
  }
  if (row.most >= 0) name += "_at_most_" + std::to_string(row.most);
  if (row.delay_ns != 0) name += "_late";
  if (row.after != 0) name += "_after_" + std::to_string(row.after);
  if (!row.variant.empty()) name += "_" + row.variant;
  return name + (row.times == once ? "_once" : "_for_ever");
}

void check_fault(const fault_row& row) {
  ASSERT_TRUE(os::find_site(row.site)) << "there is no site " << row.site;
  const child_end ended = run(row);
  if (row.expected.what == outcome::kind::death) {
    EXPECT_TRUE(exited(ended, 2));
    EXPECT_TRUE(said(ended.err, "fatal error: " + row.expected.text));
    EXPECT_EQ(count_of(ended.err, "fatal error"), 1) << ended.err;
  } else {
    ASSERT_TRUE(exited(ended, 0));
    if (row.expected.what == outcome::kind::error) {
      expect_error(row, ended);
    } else {
      EXPECT_TRUE(said(ended.out, "outcome: done\n"));
    }
    if (row.expected.beside.empty()) {
      EXPECT_EQ(ended.err, "");
    } else {
      EXPECT_TRUE(said(ended.err, row.expected.beside));
    }
  }
  const std::string nhits = find_like(ended.out, "^hits=([0-9]+) ");
  ASSERT_FALSE(nhits.empty()) << ended.out << ended.err;
  EXPECT_GE(std::stol(nhits), 1) << "the fault was never met";
  if (row.times == once) {
    EXPECT_EQ(std::stol(nhits), 1);
  }
  if (row.most_hits >= 0) {
    EXPECT_LE(std::stol(nhits), row.most_hits);
  }
}

}  // namespace weft::test
