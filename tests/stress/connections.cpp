// connections.cpp: a thousand connections that echo, and everything that happens to connections.
//
// Each client talks for a while and then ends in a way that it chooses at random: it says goodbye, closes in the middle, resets, misses a
// deadline on purpose, or reads so slowly that the server has to wait. Whatever comes back must be what was sent on that connection, in
// order; who says goodbye must get all of it; and in the end there is no descriptor and no goroutine more than before.
//
// WEFT_CONNECTIONS=1000 for so many, WEFT_CONNECTIONS_SECONDS=60 for so long; the default is short.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <system_error>
#include <vector>

#include "support/pressure.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

struct storm_of_calls {
  net::listener l = net::listen("tcp", "127.0.0.1:0");
  weft::time_point end;
  std::atomic<std::uint64_t> nechoed{0};  // bytes that came back right
  std::atomic<int> nconnections{0};
  std::atomic<int> nwhole{0};  // those that said goodbye and got everything
  weft::wait_group servers;
};

// Until the client is gone, however it goes.
void serve(const net::conn& c) {
  std::vector<char> room(4096);
  std::error_code ec;
  for (;;) {
    const std::size_t n = c.read_some(room, ec);
    if (ec || n == 0) break;
    c.write_all({room.data(), n}, ec);
    if (ec) break;
  }
  EXPECT_TRUE(!ec || ec == std::errc::connection_reset || ec == std::errc::broken_pipe)
      << ec.message();
}

// The client's end of the conversation: sends its own bytes, and knows which must come back next.
class talker {
 public:
  talker(const net::conn& c, std::uint64_t tag) : c_(c), tag_(tag) {}

  void send(std::size_t n, std::error_code& ec) {
    std::vector<char> some(n);
    for (std::size_t i = 0; i < n; ++i) some[i] = byte_of(tag_, nsent_ + i);
    nsent_ += c_.write_all(some, ec);
  }
  // Reads once; what comes must be the next.
  void receive(std::size_t room_size, std::error_code& ec) {
    std::vector<char> room(room_size);
    const std::size_t n = c_.read_some(room, ec);
    if (n == 0 && !ec) ec = io::errc::unexpected_eof;
    for (std::size_t i = 0; i < n; ++i, ++nback_)
      if (room[i] != byte_of(tag_, nback_)) {
        ADD_FAILURE() << "connection " << tag_ << ": a wrong byte at " << nback_;
        ec = std::make_error_code(std::errc::illegal_byte_sequence);
        return;
      }
  }
  void receive_all(std::error_code& ec) {
    while (!ec && nback_ < nsent_) receive(3000, ec);
  }
  std::uint64_t nback() const { return nback_; }

 private:
  const net::conn& c_;
  const std::uint64_t tag_;
  std::uint64_t nsent_ = 0;
  std::uint64_t nback_ = 0;
};

// Sends much and reads little by little, while another goroutine sends: the server has to wait for us.
void read_slowly(const net::conn& c, talker& t, std::mt19937_64& random, std::error_code& ec) {
  weft::wait_group wg;
  std::error_code sending;
  const std::size_t much = 50'000 + random() % 200'000;
  std::atomic<bool> is_sent{false};
  wg.go([&] {
    for (std::size_t n = 0; n < much && !sending; n += 10'000) t.send(10'000, sending);
    c.shutdown(net::direction::write, sending);
    is_sent = true;
  });
  for (int i = 0; !ec; ++i) {
    t.receive(1 + random() % 5000, ec);
    if (i % 8 == 0) weft::sleep_for(200us);
  }
  if (ec == io::errc::unexpected_eof) ec.clear();  // all of it
  wg.wait();
  EXPECT_FALSE(sending) << sending.message();
  std::error_code rest;
  t.receive_all(rest);
  EXPECT_FALSE(rest) << "the end came too soon";
}

// A deadline in the middle loses nothing: what was not read then is read afterwards.
void miss_a_deadline(const net::conn& c, talker& t, std::mt19937_64& random, std::error_code& ec) {
  t.receive_all(ec);
  if (ec) return;
  const auto when = weft::clock::now() + std::chrono::microseconds(random() % 2000);
  c.set_read_deadline(when);
  t.receive(10, ec);
  EXPECT_EQ(ec, io::errc::deadline_exceeded) << ec.message();
  EXPECT_GE(weft::clock::now(), when);
  c.set_read_deadline(io::no_deadline);
  ec.clear();
  t.send(100, ec);
  t.receive_all(ec);
}

void converse(storm_of_calls& s, std::uint64_t tag, std::mt19937_64& random) {
  std::error_code ec;
  const auto c = net::dial("tcp", s.l.addr().to_string(), ec);
  ASSERT_FALSE(ec) << ec.message();
  ++s.nconnections;
  talker t(c, tag);
  for (std::uint64_t i = random() % 10; i > 0 && !ec; --i) {
    t.send(1 + random() % 3000, ec);
    if (random() % 2 == 0) t.receive_all(ec);
  }
  bool must_be_whole = true;
  switch (random() % 5) {
    case 0:  // in the middle
      must_be_whole = false;
      break;
    case 1:
      must_be_whole = false;
      c.set_linger(0s, ec);
      break;
    case 2:
      miss_a_deadline(c, t, random, ec);
      break;
    case 3:
      t.receive_all(ec);
      read_slowly(c, t, random, ec);
      break;
    default:
      t.receive_all(ec);
  }
  EXPECT_FALSE(ec) << ec.message();
  c.close();
  s.nwhole += must_be_whole;
  s.nechoed += t.nback();
}

void blow(int nclients, std::chrono::milliseconds time) {
  const open_fds before;
  const std::size_t ngoroutines = weft::num_goroutines();
  {
    storm_of_calls s;
    s.end = weft::clock::now() + time;
    s.servers.go([&] {
      std::error_code ec;
      for (;;) {
        auto c = s.l.accept(ec);
        if (ec) break;
        s.servers.go([c = std::move(c)] { serve(c); });
      }
      EXPECT_EQ(ec, io::errc::closed) << ec.message();
    });
    const std::uint64_t base = seed();
    weft::wait_group clients;
    for (int i = 0; i < nclients; ++i)
      clients.go([&, i] {
        std::mt19937_64 random(base + static_cast<std::uint64_t>(i));
        std::uint64_t tag = static_cast<std::uint64_t>(i) << 32;
        do {
          converse(s, ++tag, random);
        } while (weft::clock::now() < s.end && !testing::Test::HasFailure());
      });
    clients.wait();
    s.l.close();
    s.servers.wait();
    EXPECT_GE(s.nconnections, nclients);
    EXPECT_GT(s.nwhole, 0);
    EXPECT_GT(s.nechoed, 0u);
    std::printf("[   INFO   ] %d connections, %llu bytes\n", s.nconnections.load(),
                static_cast<unsigned long long>(s.nechoed));
  }
  EXPECT_TRUE(before.are_back());
  EXPECT_TRUE(eventually([=] { return weft::num_goroutines() == ngoroutines; }))
      << weft::num_goroutines() << " for " << ngoroutines;
}

// Two descriptors for each connection.
int clients_that_fit(int wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto most = static_cast<std::uint64_t>(limit.rlim_cur) / 2 - 100;
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), most));
}

TEST_FOR_PROCS(connections, a_thousand_that_end_in_every_way_lose_no_byte_and_leave_nothing) {
  const int n = clients_that_fit(static_cast<int>(setting("WEFT_CONNECTIONS", scaled(1000))));
  const auto seconds = setting("WEFT_CONNECTIONS_SECONDS", 1);
  blow(n, std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}

TEST_FOR_PROCS(connections, a_hundred_under_pressure_and_a_storm_of_signals) {
  const auto seconds = setting("WEFT_CONNECTIONS_SECONDS", 1);
  const signal_storm signals(std::chrono::seconds(600));
  const pressure beside(2, 2);
  blow(scaled(100), std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}

}  // namespace
