// net_dial.cpp: connections come about, fail or are given up, and leave nothing (B239, B260-B263).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

// A port of this machine where nobody listens.
std::string deserted_port() {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  return l.addr().to_string();
}

// A listener whose queue is full: whoever dials it gets no answer.
class full_listener {
 public:
  full_listener() : l_(net::listen("tcp", "127.0.0.1:0", {.backlog = 1})) {
    for (int i = 0; i < 20 && !is_full_; ++i) knock();
  }
  ~full_listener() {
    for (const int fd : knockers_) ::close(fd);
  }
  full_listener(const full_listener&) = delete;
  full_listener& operator=(const full_listener&) = delete;
  bool is_full() const { return is_full_; }
  std::string where() const { return l_.addr().to_string(); }

 private:
  void knock() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    knockers_.push_back(fd);
    ::connect(fd, l_.addr().data(), l_.addr().size());
    // A little at a time: signals cut it short.
    pollfd p{fd, POLLOUT, 0};
    const auto end = std::chrono::steady_clock::now() + 100ms;
    int n = 0;
    while (n <= 0 && std::chrono::steady_clock::now() < end) n = ::poll(&p, 1, 1);
    is_full_ = n <= 0;
  }

  net::listener l_;
  std::vector<int> knockers_;
  bool is_full_ = false;
};

// B262
TEST_FOR_PROCS(dial, a_port_where_nobody_listens_fails_fast_and_says_which) {
  const open_fds before;
  const std::string where = deserted_port();
  const auto began = weft::clock::now();
  for (int i = 0; i < 20; ++i) {
    std::error_code ec;
    EXPECT_FALSE(net::dial("tcp", where, ec).is_open());
    EXPECT_EQ(ec, std::errc::connection_refused) << ec.message();
  }
  EXPECT_LT(weft::clock::now() - began, 10s);
  try {
    (void)net::dial("tcp", where);
    ADD_FAILURE() << "it did not throw";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.what(), "dial tcp " + where + ": Connection refused");
  }
  std::error_code ec;
  (void)net::dial("unix", "/tmp/weft-nobody-is-here", ec);
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(before.are_back());
}

// B239
TEST_FOR_PROCS(dial, a_timeout_is_kept_and_never_early) {
  const open_fds before;
  {
    const full_listener l;
    ASSERT_TRUE(l.is_full());
    for (const auto d : {1ms, 20ms, 100ms}) {
      const auto began = weft::clock::now();
      const auto [ctx, cancel] = weft::with_timeout(weft::background(), d);
      std::error_code ec;
      EXPECT_FALSE(net::dial("tcp", l.where(), ctx, ec).is_open());
      EXPECT_EQ(ec, weft::context_errc::deadline_exceeded) << ec.message();
      EXPECT_GE(weft::clock::now() - began, d);
      cancel();
    }
  }
  EXPECT_TRUE(before.are_back());
}

TEST_FOR_PROCS(dial, the_longest_timeout_does_not_overflow) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  for (const auto d : {weft::clock::duration::max(), weft::clock::duration::max() - 1ns}) {
    const auto [ctx, cancel] = weft::with_timeout(weft::background(), d);
    std::error_code ec;
    EXPECT_TRUE(net::dial("tcp", l.addr().to_string(), ctx, ec).is_open()) << ec.message();
    cancel();
  }
}

// B261
TEST_FOR_PROCS(dial, ends_with_its_context_also_before_it_begins) {
  const full_listener l;
  ASSERT_TRUE(l.is_full());
  const open_fds before;
  const auto [ctx, cancel] = weft::with_cancel(weft::background());
  weft::wait_group wg;
  for (int i = 0; i < 5; ++i)
    wg.go([&, ctx = ctx] {
      std::error_code ec;
      EXPECT_FALSE(net::dial("tcp", l.where(), ctx, ec).is_open());
      EXPECT_EQ(ec, weft::context_errc::canceled) << ec.message();
    });
  weft::sleep_for(5ms);
  cancel();
  wg.wait();
  std::error_code ec;
  EXPECT_FALSE(net::dial("tcp", l.where(), ctx, ec).is_open());
  EXPECT_EQ(ec, weft::context_errc::canceled) << ec.message();
  try {
    (void)net::dial("tcp", l.where(), ctx);
    ADD_FAILURE() << "it did not throw";
  } catch (const std::system_error& e) {
    EXPECT_EQ(std::string_view(e.what()).substr(0, 9), "dial tcp ") << e.what();
    EXPECT_EQ(e.code(), weft::context_errc::canceled);
  }
  EXPECT_TRUE(before.are_back());
}

TEST_FOR_PROCS(dial, a_context_that_ends_afterwards_is_nobodys_business) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto [ctx, cancel] = weft::with_cancel(weft::background());
  const auto here = net::dial("tcp", l.addr().to_string(), ctx);
  const auto there = l.accept();
  cancel();
  weft::sleep_for(2ms);
  here.write_all("x");
  std::array<char, 1> room;
  there.read_full(room);
  there.write_all("y");
  here.read_full(room);
  EXPECT_EQ(room[0], 'y');
}

TEST_FOR_PROCS(dial_race,
               given_up_at_any_moment_gives_a_connection_or_an_error_and_leaves_nothing) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const open_fds before;
  weft::wait_group server;
  server.go([&] {
    std::error_code ec;
    while (!ec) (void)l.accept(ec);
  });
  const std::uint64_t base = seed();
  std::atomic<int> nmade{0};
  std::atomic<int> ngiven_up{0};
  weft::wait_group wg;
  for (std::uint64_t t = 0; t < 4; ++t)
    wg.go([&, t] {
      std::mt19937_64 random(base + t);
      for (int i = 0; i < scaled(150); ++i) {
        const auto [ctx, cancel] = weft::with_cancel(weft::background());
        weft::wait_group canceller;
        canceller.go([nspins = random() % 20'000, cancel = cancel] {
          for (std::uint64_t k = 0; k < nspins; ++k) asm volatile("");
          if (nspins % 3 == 0) weft::yield();
          cancel();
        });
        if (random() % 2 == 0) weft::yield();
        std::error_code ec;
        const auto c = net::dial("tcp", l.addr().to_string(), ctx, ec);
        EXPECT_EQ(c.is_open(), !ec);
        if (ec) {
          EXPECT_EQ(ec, weft::context_errc::canceled) << ec.message();
          ++ngiven_up;
        } else {
          ++nmade;
          EXPECT_EQ(c.write_some("x", ec), 1u) << "cut short after it was made: " << ec.message();
        }
        canceller.wait();
      }
    });
  wg.wait();
  l.close();
  server.wait();
  EXPECT_GT(nmade + ngiven_up, 0);
  EXPECT_TRUE(before.are_back());
  EXPECT_TRUE(eventually([] { return weft::num_goroutines() == 1; }));
}

// B263
TEST_FOR_PROCS(dial, a_name_with_several_addresses_leaves_nothing_of_those_that_lost) {
  const auto found = net::lookup_host("localhost");
  const open_fds before;
  const auto l = net::listen("tcp4", "127.0.0.1:0");
  const std::string where = net::join_host_port("localhost", l.addr().port());
  for (int i = 0; i < 20; ++i) {
    const auto c = net::dial("tcp", where);
    EXPECT_EQ(c.remote_addr().port(), l.addr().port());
    std::error_code ec;
    (void)l.accept(ec);
    EXPECT_FALSE(ec);
  }
  l.close();
  std::error_code ec;
  (void)net::dial("tcp", where, ec);
  EXPECT_EQ(ec, std::errc::connection_refused) << found.size() << " addresses: " << ec.message();
  EXPECT_TRUE(before.are_back());
  EXPECT_TRUE(eventually([] { return weft::num_goroutines() == 1; }));
}

// A Unix socket whose queue is full says so at once, and nobody tells when it is not.
TEST_FOR_PROCS(dial, a_unix_listener_that_is_busy_is_waited_for) {
  const auto l = net::listen("unix", free_place("unix"), {.backlog = 1});
  const std::string where = l.addr().to_string();
  std::vector<net::conn> waiting;
  for (;;) {
    const auto [ctx, cancel] = weft::with_timeout(weft::background(), 20ms);
    std::error_code ec;
    auto c = net::dial("unix", where, ctx, ec);
    cancel();
    if (ec) {
      EXPECT_EQ(ec, weft::context_errc::deadline_exceeded) << ec.message();
      break;
    }
    waiting.push_back(std::move(c));
    ASSERT_LT(waiting.size(), 100u);
  }
  weft::wait_group wg;
  wg.go([&] { EXPECT_TRUE(net::dial("unix", where).is_open()); });
  for (std::size_t i = 0; i <= waiting.size(); ++i) EXPECT_TRUE(l.accept().is_open());
  wg.wait();
}

TEST_FOR_PROCS(dial, what_makes_no_sense_is_refused_and_leaves_nothing) {
  const open_fds before;
  std::error_code ec;
  (void)net::dial("carrier pigeon", "127.0.0.1:1", ec);
  EXPECT_EQ(ec, net::errc::unknown_network);
  (void)net::dial("tcp", "127.0.0.1", ec);
  EXPECT_EQ(ec, net::errc::missing_port);
  (void)net::listen("udp", "127.0.0.1:0", ec);
  EXPECT_EQ(ec, net::errc::unknown_network) << "there are no connections to accept";
  (void)net::listen_packet("tcp", "127.0.0.1:0", ec);
  EXPECT_EQ(ec, net::errc::unknown_network);
  const auto l = net::listen("tcp", "127.0.0.1:0");
  (void)net::listen("tcp", l.addr().to_string(), ec);
  EXPECT_EQ(ec, std::errc::address_in_use);
  l.close();
  EXPECT_TRUE(before.are_back());
}

TEST_FOR_PROCS(dial, plain_threads_dial_with_and_without_a_context) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::blocking([&] {
    std::thread([&] {
      const full_listener full;
      std::error_code ec;
      EXPECT_TRUE(net::dial("tcp", l.addr().to_string(), ec).is_open()) << ec.message();
      (void)net::dial("tcp", deserted_port(), ec);
      EXPECT_EQ(ec, std::errc::connection_refused);
      const auto began = weft::clock::now();
      const auto [ctx, cancel] = weft::with_timeout(weft::background(), 20ms);
      (void)net::dial("tcp", full.where(), ctx, ec);
      EXPECT_EQ(ec, weft::context_errc::deadline_exceeded) << ec.message();
      EXPECT_GE(weft::clock::now() - began, 20ms);
    }).join();
  });
}

}  // namespace
