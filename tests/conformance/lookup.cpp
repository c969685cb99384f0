// lookup.cpp: net::lookup_host: who waits for a name holds no P, need not wait longer than a context lasts, and is not alone.
//
// The system is only asked for localhost. Where the answer must not come before its time, the test answers itself (slow_answers).
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <weft/net/lookup.hpp>
#include <weft/weft.hpp>

#include "net/errand.hpp"
#include "net/name_service.hpp"
#include "sched/current.hpp"
#include "support/for_procs.hpp"
#include "support/parked.hpp"

namespace {

using namespace std::chrono_literals;
using weft::net::errc;
using weft::net::lookup_host;
using weft::networks::host_answer;
using weft::networks::parse_ip;

std::atomic<int> ninside{0};
std::atomic<int> nannounced{0};  // by goroutines that had said that they may block
std::atomic<int> nended{0};
std::atomic<int> gate{-1};

// Takes the place of the system: each question blocks its thread until open().
class slow_answers {
 public:
  slow_answers() : before_(weft::networks::ask_for_host.load()) {
    ninside = nannounced = nended = 0;
    gate = ::eventfd(0, EFD_CLOEXEC);
    if (gate < 0) std::abort();
    weft::networks::ask_for_host = [](const char* name) {
      const weft::sched::M* const mp = weft::sched::current_m();
      nannounced += mp != nullptr && mp->curg()->status() == weft::rt::g_status::syscall;
      ++ninside;
      pollfd wait{.fd = gate, .events = POLLIN, .revents = 0};
      while (::poll(&wait, 1, -1) != 1) continue;
      ++nended;
      const bool is_there = std::string(name) != "missing";
      return is_there ? host_answer{{}, {*parse_ip("192.0.2.7"), *parse_ip("2001:db8::7")}}
                      : host_answer{errc::no_such_host, {}};
    };
  }
  // Lets everybody out, and waits for them: they use what is closed here.
  ~slow_answers() {
    open();
    while (nended != ninside) std::this_thread::yield();
    weft::networks::ask_for_host = before_;
    ::close(gate);
  }
  slow_answers(const slow_answers&) = delete;
  slow_answers& operator=(const slow_answers&) = delete;

  void open() const {
    const std::uint64_t one = 1;
    if (::write(gate, &one, sizeof one) != sizeof one) std::abort();
  }

 private:
  weft::networks::host_asker before_;
};

const std::vector<std::string> kAnswer{"192.0.2.7", "2001:db8::7"};

bool has_begun(int n) {
  return weft::test::eventually([n] { return ninside == n; });
}

void expect_loopback(const std::vector<std::string>& found) {
  ASSERT_FALSE(found.empty());
  for (const std::string& text : found) {
    const auto a = parse_ip(text);
    ASSERT_TRUE(a) << text;
    EXPECT_TRUE(a->is_loopback()) << text;
  }
}

TEST_FOR_PROCS(lookup, finds_this_machine) {
  expect_loopback(lookup_host("localhost"));
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  expect_loopback(lookup_host(ctx, "localhost"));
  std::error_code ec = errc::lookup_failure;
  expect_loopback(lookup_host("localhost", ec));
  EXPECT_FALSE(ec) << ec.message();
}

TEST_FOR_PROCS(lookup, works_on_a_small_stack) {
  const weft::go_options small{.stack_size = 16 << 10};
  expect_loopback(weft::spawn(small, [] { return lookup_host("localhost"); }).join());
}

TEST_FOR_PROCS(lookup, of_an_address_is_that_address_and_asks_nobody) {
  const slow_answers nobody;
  for (const char* const text : {"127.0.0.1", "192.0.2.7", "::1", "2001:DB8::7", "fe80::1%1"})
    EXPECT_EQ(lookup_host(text), std::vector<std::string>{text});
  EXPECT_EQ(ninside, 0);
}

TEST_FOR_PROCS(lookup, of_what_is_no_name_asks_nobody) {
  const slow_answers nobody;
  // The second row is what inet_aton takes for 127.0.0.1.
  for (const std::string_view text :
       {std::string_view(""), std::string_view("a b"), std::string_view("localhost\0", 10),
        std::string_view("::1%nosuchlink"), std::string_view("127.1"),
        std::string_view("0x7f000001"), std::string_view("2130706433"),
        std::string_view("0177.0.0.1"), std::string_view("nosuch.invalid"),
        std::string_view("NoSuch.INVALID."), std::string_view("invalid")}) {
    std::error_code ec;
    EXPECT_TRUE(lookup_host(text, ec).empty()) << text;
    EXPECT_EQ(ec, errc::no_such_host) << text;
  }
  EXPECT_EQ(ninside, 0);
}

TEST_FOR_PROCS(lookup, that_fails_names_the_host) {
  const slow_answers answers;
  answers.open();
  for (const char* const name : {"missing", "nosuch.invalid"}) {
    try {
      (void)lookup_host(name);
      ADD_FAILURE() << "it did not throw";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.what(), "lookup " + std::string(name) + ": no such host");
      EXPECT_EQ(e.code(), errc::no_such_host);
    }
  }
  EXPECT_EQ(ninside, 1) << "names in .invalid are known not to be there";
  EXPECT_EQ(lookup_host("notinvalid"), kAnswer);
}

// Without a hand-off nobody would open the gate on one P.
TEST_FOR_PROCS(lookup, leaves_its_p_to_others) {
  const slow_answers answers;
  constexpr int kMany = 8;  // more than there are Ps
  std::vector<weft::join_handle<std::vector<std::string>>> all;
  for (int i = 0; i < kMany; ++i) all.push_back(weft::spawn([] { return lookup_host("gopher"); }));
  ASSERT_TRUE(has_begun(kMany));
  EXPECT_EQ(nannounced, kMany) << "nobody's P has to be taken by force";
  EXPECT_EQ(nended, 0);
  answers.open();
  for (auto& one : all) EXPECT_EQ(one.join(), kAnswer);
}

TEST_FOR_PROCS(lookup, ends_with_its_context_and_goes_on_unseen) {
  const slow_answers answers;
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  auto looks = weft::spawn([ctx = ctx] {
    std::error_code ec;
    EXPECT_TRUE(lookup_host(ctx, "gopher", ec).empty());
    return ec;
  });
  ASSERT_TRUE(has_begun(1));
  cancel();
  EXPECT_EQ(looks.join(), weft::context_errc::canceled);
  EXPECT_EQ(nended, 0) << "the answer has not come";
  answers.open();
  ASSERT_TRUE(weft::test::eventually([] { return nended == 1 && weft::num_goroutines() == 1; }));
  EXPECT_EQ(lookup_host(weft::background(), "gopher"), kAnswer);
}

TEST_FOR_PROCS(lookup, ends_at_its_deadline_and_says_of_whom) {
  const slow_answers answers;
  auto [ctx, cancel] = weft::with_timeout(weft::background(), 1ms);
  try {
    (void)lookup_host(ctx, "gopher");
    ADD_FAILURE() << "it did not throw";
  } catch (const std::system_error& e) {
    EXPECT_STREQ(e.what(), "lookup gopher: context deadline exceeded");
    EXPECT_EQ(e.code(), std::errc::timed_out);
  }
  // Before the system is back in its place: it has asked, or never will, if the time was over before it came to that.
  EXPECT_TRUE(weft::test::eventually([] { return ninside == 1 || weft::num_goroutines() == 1; }));
}

TEST_FOR_PROCS(lookup, with_a_context_that_has_ended_asks_nobody) {
  const slow_answers nobody;
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  cancel();
  std::error_code ec;
  EXPECT_TRUE(lookup_host(ctx, "gopher", ec).empty());
  EXPECT_EQ(ec, weft::context_errc::canceled);
  EXPECT_EQ(ninside, 0);
}

TEST_FOR_PROCS(lookup, works_from_a_plain_thread) {
  std::thread([] {
    expect_loopback(lookup_host("localhost"));
    auto [ctx, cancel] = weft::with_cancel(weft::background());
    expect_loopback(lookup_host(ctx, "localhost"));
  }).join();
}

TEST(lookup, works_without_a_runtime) {
  expect_loopback(lookup_host("localhost"));
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  expect_loopback(lookup_host(ctx, "localhost"));
  const slow_answers answers;
  std::error_code ec;
  std::thread looks([&, ctx = ctx] { (void)lookup_host(ctx, "gopher", ec); });
  EXPECT_TRUE(has_begun(1));
  cancel();
  looks.join();
  EXPECT_EQ(ec, weft::context_errc::canceled);
}

// What a plain thread waits for does not go away with a runtime.
TEST(lookup, of_a_plain_thread_outlives_a_runtime) {
  const slow_answers answers;
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  std::vector<std::string> found;
  std::thread looks;
  weft::run([&] {
    looks = std::thread([&, ctx = ctx] { found = lookup_host(ctx, "gopher"); });
    ASSERT_TRUE(has_begun(1));
  });
  answers.open();
  looks.join();
  EXPECT_EQ(found, kAnswer);
}

constexpr int kPlaces = static_cast<int>(weft::networks::kMaxErrands);

// Also those that nobody waits for any more count: their threads are there.
TEST(lookup, no_more_than_so_many_are_under_way) {
  weft::test::run_on(2, [] {
    const slow_answers answers;
    auto [ctx, cancel] = weft::with_cancel(weft::background());
    weft::wait_group given_up;
    for (int i = 0; i < kPlaces; ++i) {
      given_up.go([ctx = ctx] {
        std::error_code ec;
        (void)lookup_host(ctx, "gopher", ec);
        EXPECT_EQ(ec, weft::context_errc::canceled);
      });
    }
    ASSERT_TRUE(has_begun(kPlaces));
    cancel();
    given_up.wait();
    ASSERT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1U + kPlaces; }));

    // Ten more come and wait, one of them no longer than its context lasts.
    std::array<weft::test::comer, 10> waiting;
    std::vector<weft::join_handle<std::vector<std::string>>> more;
    for (auto& mine : waiting) {
      more.push_back(weft::spawn([&mine] {
        mine.comes();
        return lookup_host("gopher");
      }));
    }
    for (const auto& one : waiting) ASSERT_TRUE(one.waits());
    // Ourselves, those under way, those who wait: nobody was sent for them.
    EXPECT_EQ(weft::num_goroutines(), 1U + kPlaces + waiting.size());
    auto [brief, stop] = weft::with_timeout(weft::background(), 1ms);
    std::error_code ec;
    EXPECT_TRUE(lookup_host(brief, "gopher", ec).empty());
    EXPECT_EQ(ec, weft::context_errc::deadline_exceeded);
    EXPECT_EQ(ninside, kPlaces);

    answers.open();
    for (auto& one : more) EXPECT_EQ(one.join(), kAnswer);
  });
}

// Goroutines of a runtime that has ended never give their places up.
TEST(lookup, those_of_a_runtime_that_has_ended_take_nobodys_place) {
  const slow_answers answers;
  weft::run({.max_procs = 2}, [] {
    for (int i = 0; i < kPlaces; ++i) weft::go([] { (void)lookup_host("gopher"); });
    ASSERT_TRUE(has_begun(kPlaces));
  });
  weft::run({.max_procs = 2}, [&] {
    auto looks = weft::spawn([] { return lookup_host("gopher"); });
    ASSERT_TRUE(has_begun(kPlaces + 1));
    answers.open();
    EXPECT_EQ(looks.join(), kAnswer);
  });
}

// Answers and cancels at the same moment: one or the other, and nothing is left.
TEST_FOR_PROCS(lookup_race, an_answer_and_a_cancel_at_once) {
  const slow_answers answers;
  answers.open();
  for (int i = 0; i < weft::test::scaled(300); ++i) {
    auto [ctx, cancel] = weft::with_cancel(weft::background());
    auto looks = weft::spawn([ctx = ctx] {
      std::error_code ec;
      const auto found = lookup_host(ctx, "gopher", ec);
      EXPECT_EQ(found.empty(), static_cast<bool>(ec));
      EXPECT_TRUE(!ec || ec == weft::context_errc::canceled) << ec.message();
    });
    if (i % 2 == 0) weft::yield();
    cancel();
    looks.join();
  }
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }));
}

}  // namespace
