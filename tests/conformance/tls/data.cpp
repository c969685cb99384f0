// data.cpp: what is written is what is read, in whatever order and by however many goroutines.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "conformance/tls/secured.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

void echo_to_the_end(const tls::conn& c) {
  std::array<char, 3000> room;
  std::error_code ec;
  while (const std::size_t n = c.read_some(room, ec)) c.write_all({room.data(), n}, ec);
  EXPECT_FALSE(ec) << ec.message();
  c.shutdown(ec);
  EXPECT_FALSE(ec) << ec.message();
}

// Waits until all have been served, so that nobody is left behind with the runtime.
class echo_server {
 public:
  explicit echo_server(const tls::server_config& who = being())
      : listener_(net::listen("tcp", "127.0.0.1:0")) {
    wg_.go([this, who] {
      std::error_code ec;
      while (auto c = listener_.accept(ec)) {
        wg_.go([c, who] { echo_to_the_end(tls::server(c, who)); });
      }
    });
  }
  ~echo_server() {
    listener_.close();
    wg_.wait();
  }
  std::string address() const { return listener_.addr().to_string(); }

 private:
  net::listener listener_;
  weft::wait_group wg_;
};

TEST_FOR_PROCS(tls, what_is_written_comes_back_by_both_versions) {
  for (const tls::version v : kBothVersions) {
    const echo_server server;
    const auto c = tls::dial("tcp", server.address(), trusting().versions(v, v));
    EXPECT_EQ(c.agreed_version(), v);
    for (const std::string text : {"x", "across the loom"}) {
      c.write_all(text);
      std::string back(text.size(), '?');
      c.read_full(back);
      EXPECT_EQ(back, text);
    }
    c.shutdown();
    std::array<char, 1> room;
    EXPECT_EQ(c.read_some(room), 0u) << "the other side says that it is the end";
  }
}

TEST_FOR_PROCS(tls, megabytes_in_both_directions_at_once) {
  for (const tls::version v : kBothVersions) {
    const auto p = secured(trusting().versions(v, v));
    const auto n = static_cast<std::size_t>(scaled(4'000'000)) + 4711;
    const auto up = bytes_of(1, n);
    const auto down = bytes_of(2, n);
    weft::wait_group wg;
    const auto send = [&](const tls::conn& c, const std::vector<char>& what) {
      wg.go([&] {
        c.write_all(what);
        c.shutdown();
      });
    };
    const auto receive = [&](const tls::conn& c, const std::vector<char>& what) {
      wg.go([&] {
        std::error_code ec;
        const auto got = read_all(c, ec);
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_TRUE(got == what) << got.size() << " of " << what.size();
      });
    };
    send(p.here, up);
    send(p.there, down);
    receive(p.here, down);
    receive(p.there, up);
    wg.wait();
  }
}

TEST_FOR_PROCS(tls, a_hundred_connections) {
  const open_fds before;
  {
    const echo_server server;
    const auto config = trusting();
    weft::wait_group wg;
    for (int i = 0; i < scaled(100); ++i)
      wg.go([&, i] {
        const auto c = tls::dial("tcp", server.address(), config);
        const auto sent = bytes_of(static_cast<unsigned>(i), 20'000);
        weft::wait_group reader;
        reader.go([&] {
          std::error_code ec;
          EXPECT_TRUE(read_all(c, ec) == sent) << i;
          EXPECT_FALSE(ec) << ec.message();
        });
        for (std::size_t at = 0; at < sent.size(); at += 500) {
          c.write_all({sent.data() + at, 500});
          weft::yield();
        }
        c.shutdown();
        reader.wait();
      });
    wg.wait();
  }
  EXPECT_TRUE(before.are_back());
}

// No write comes in between another's.
TEST_FOR_PROCS(tls, writers_do_not_mix) {
  const auto p = secured();
  constexpr int kWriters = 4;
  const int rounds = scaled(40) + 1;
  constexpr std::size_t kSize = 70'001;  // several records, and more than is sent at once
  weft::wait_group wg;
  std::atomic<int> nleft{kWriters};
  for (int w = 0; w < kWriters; ++w)
    wg.go([&, w] {
      const std::vector<char> message(kSize, static_cast<char>('a' + w));
      for (int i = 0; i < rounds; ++i) p.here.write_all(message);
      if (--nleft == 0) p.here.shutdown();
    });
  std::array<int, kWriters> count{};
  std::vector<char> message(kSize);
  for (int i = 0; i < kWriters * rounds; ++i) {
    p.there.read_full(message);
    ASSERT_EQ(std::vector<char>(kSize, message[0]), message) << "message " << i;
    ++count.at(static_cast<std::size_t>(message[0] - 'a'));
  }
  for (const int each : count) EXPECT_EQ(each, rounds);
  wg.wait();
}

TEST_FOR_PROCS(tls, several_readers_get_every_byte_once) {
  const auto p = secured();
  const std::size_t n = static_cast<std::size_t>(scaled(300'000));
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::size_t> nread{0};
  weft::wait_group wg;
  for (int r = 0; r < 4; ++r)
    wg.go([&] {
      std::array<unsigned char, 100> room;
      while (const std::size_t got = p.there.read_some(room)) {
        std::uint64_t mine = 0;
        for (std::size_t i = 0; i < got; ++i) mine += room[i];
        sum += mine;
        nread += got;
      }
    });
  const auto sent = bytes_of(7, n);
  std::uint64_t expected = 0;
  for (const char each : sent) expected += static_cast<unsigned char>(each);
  p.here.write_all(sent);
  p.here.shutdown();
  wg.wait();
  EXPECT_EQ(nread, n);
  EXPECT_EQ(sum, expected);
}

TEST_FOR_PROCS(tls, pieces_come_in_their_order) {
  const auto p = secured();
  const std::string large(100'000, 'L');
  const std::array<io::const_buffer, 6> pieces{"", "one ", large, "", " two", ""};
  weft::wait_group wg;
  wg.go([&] {
    p.here.write_all(pieces);
    EXPECT_EQ(p.here.write_some(std::span<const io::const_buffer>()), 0u);
    EXPECT_EQ(p.here.write_some(std::span<const io::const_buffer>(pieces.data() + 4, 2)), 4u);
  });
  std::string got(4 + large.size() + 4 + 4, '?');
  p.there.read_full(got);
  EXPECT_EQ(got, "one " + large + " two" + " two");
  wg.wait();
}

// Whoever comes first does what is to be done.
TEST_FOR_PROCS(tls, many_may_begin_at_once) {
  for (int i = 0; i < scaled(20); ++i) {
    const auto p = unagreed();
    weft::wait_group wg;
    for (const tls::conn* c : {&p.here, &p.there}) {
      wg.go([c] { c->handshake(); });
      wg.go([c] { c->write_all("hello"); });
      wg.go([c] {
        std::string got(5, '?');
        c->read_full(got);
        EXPECT_EQ(got, "hello");
      });
    }
    wg.wait();
  }
}

TEST_FOR_PROCS(tls, plain_threads_talk_to_goroutines) {
  const auto p = unagreed();
  std::thread client([&] {
    p.here.write_all("from a thread");
    std::string got(16, '?');
    p.here.read_full(got);
    EXPECT_EQ(got, "from a goroutine");
    p.here.close();
  });
  std::string got(13, '?');
  p.there.read_full(got);
  EXPECT_EQ(got, "from a thread");
  p.there.write_all("from a goroutine");
  std::array<char, 1> room;
  EXPECT_EQ(p.there.read_some(room), 0u);
  weft::blocking([&] { client.join(); });
}

TEST_FOR_PROCS(tls, on_a_unix_socket_with_a_name_that_is_given) {
  const auto l = net::listen("unix", free_place("unix"));
  weft::wait_group wg;
  wg.go([&] { echo_to_the_end(tls::server(l.accept(), being())); });
  const auto c = tls::dial("unix", l.addr().to_string(), trusting().server_name("localhost"));
  c.write_all("x");
  std::array<char, 1> room;
  EXPECT_EQ(c.read_some(room), 1u);
  c.shutdown();
  EXPECT_EQ(c.read_some(room), 0u);
  wg.wait();
}

}  // namespace
