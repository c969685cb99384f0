// io_copy.cpp: io::copy, between everything that is a stream.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/parked.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace io = weft::io;
namespace net = weft::net;

namespace {

constexpr std::size_t kMuch = 3'000'000;

struct ends {
  io::stream in;   // what is written here
  io::stream out;  // comes out there
};

ends make(const std::string& kind) {
  if (kind == "pipe") {
    const auto [reader, writer] = io::pipe();
    return {writer, reader};
  }
  if (kind == "packets") {
    std::array<int, 2> both{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, both.data()), 0);
    return {io::async_fd(both[0]), io::async_fd(both[1])};
  }
  const auto [here, there] = connected(kind);
  return {here, there};
}

void end_of(const io::stream& s) {
  ::shutdown(s.native_handle(), SHUT_WR) == 0 ? void() : s.close();
}

// Sends through two streams with a copy between them; what comes out at the end.
std::vector<char> send_through(const std::string& first, const std::string& second,
                               const std::vector<char>& sent) {
  const ends a = make(first);
  const ends b = make(second);
  weft::wait_group wg;
  wg.go([&] {
    a.in.write_all(sent);
    end_of(a.in);
  });
  wg.go([&] {
    EXPECT_EQ(io::copy(b.in, a.out), sent.size());
    end_of(b.in);
  });
  std::error_code ec;
  auto got = read_all(b.out, ec);
  EXPECT_FALSE(ec) << ec.message();
  wg.wait();
  return got;
}

}  // namespace

TEST_FOR_PROCS(copy, moves_everything_between_sockets_and_pipes) {
  const auto sent = bytes_of(1, static_cast<std::size_t>(scaled(kMuch)));
  for (const char* first : {"tcp", "unix", "pipe"}) {
    for (const char* second : {"tcp", "unix", "pipe"})
      EXPECT_TRUE(send_through(first, second, sent) == sent) << first << " to " << second;
  }
}

TEST_FOR_PROCS(copy, a_proxy_of_both_directions) {
  const auto [client, front] = connected("tcp");
  const auto [back, server] = connected("tcp");
  weft::wait_group wg;
  const auto pass_on = [](const net::conn& to, const net::conn& from) {
    io::copy(to, from);
    to.shutdown(net::direction::write);
  };
  wg.go([&, back = back, front = front] { pass_on(back, front); });
  wg.go([&, back = back, front = front] { pass_on(front, back); });
  wg.go([server = server] {  // an echo in one line
    io::copy(server, server);
    server.shutdown(net::direction::write);
  });
  const auto sent = bytes_of(2, static_cast<std::size_t>(scaled(kMuch)));
  wg.go([&, client = client] {
    client.write_all(sent);
    client.shutdown(net::direction::write);
  });
  std::error_code ec;
  EXPECT_TRUE(read_all(client, ec) == sent);
  EXPECT_FALSE(ec) << ec.message();
  wg.wait();
}

TEST_FOR_PROCS(copy, of_so_many_bytes_leaves_the_rest_for_the_next_read) {
  const ends a = make("tcp");
  const ends b = make("tcp");
  std::array<char, 16> room;
  a.in.write_all("0");  // after a short read the next one waits for news, which copy() gets here
  EXPECT_EQ(a.out.read_some(room), 1u);
  comer waits;
  weft::wait_group wg;
  wg.go([&] {
    waits.comes();
    EXPECT_EQ(io::copy(b.in, a.out, 3), 3u);
  });
  ASSERT_TRUE(waits.waits());
  a.in.write_all("abcdefgh");
  wg.wait();
  EXPECT_EQ(io::copy(b.in, a.out, 0), 0u);
  a.out.set_read_deadline(weft::clock::now() + 20s);
  EXPECT_EQ(std::string(room.data(), a.out.read_some(room)), "defgh");
  b.out.read_full({room.data(), 3});
  EXPECT_EQ(std::string(room.data(), 3), "abc");
}

TEST_FOR_PROCS(copy, packets_stay_what_they_are) {
  const auto a = make("packets");
  const auto b = make("packets");
  std::array<char, 64> room;
  for (const char* each : {"one", "and", "another"}) a.in.write_all(std::string_view(each));
  EXPECT_EQ(io::copy(b.in, a.out, 13), 13u);
  EXPECT_EQ(std::string(room.data(), b.out.read_some(room)), "one");
  EXPECT_EQ(std::string(room.data(), b.out.read_some(room)), "and");
  EXPECT_EQ(std::string(room.data(), b.out.read_some(room)), "another");
}

// The kernel splices to nothing that appends, and from no counter. What it has moved already is not lost.
TEST_FOR_PROCS(copy, what_cannot_be_spliced_goes_through_memory) {
  const auto sent = bytes_of(3, 300'000);
  const ends a = make("tcp");
  const ends b = make("tcp");
  ASSERT_EQ(::fcntl(b.in.native_handle(), F_SETFL, O_NONBLOCK | O_APPEND), 0);
  weft::wait_group wg;
  wg.go([&] {
    a.in.write_all(sent);
    end_of(a.in);
  });
  wg.go([&] { EXPECT_EQ(io::copy(b.in, a.out), sent.size()); });
  std::vector<char> got(sent.size());
  b.out.set_read_deadline(weft::clock::now() + 20s);
  std::error_code ec;
  b.out.read_full(got, ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(got == sent);
  wg.wait();

  const io::async_fd counter(::eventfd(4711, EFD_CLOEXEC));
  std::uint64_t number = 0;
  EXPECT_EQ(io::copy(b.in, counter, sizeof number), sizeof number);
  b.out.read_full({&number, sizeof number}, ec);
  EXPECT_EQ(number, 4711u);
}

TEST_FOR_PROCS(copy, says_which_side_failed_and_raises_no_signal) {
  const counted_signal sigpipe(SIGPIPE);
  const ends a = make("tcp");
  const ends b = make("pipe");
  b.out.close();
  a.in.write_all("lost");
  std::error_code ec;
  EXPECT_EQ(io::copy(b.in, a.out, ec), 0u);
  EXPECT_EQ(ec, std::errc::broken_pipe) << ec.message();
  EXPECT_EQ(sigpipe.count(), 0);
  a.in.write_all("lost");
  try {
    io::copy(b.in, a.out);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::system_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("write ")) << e.what();
  }
  a.out.set_read_deadline(weft::clock::now());
  try {
    io::copy(b.in, a.out);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::system_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("read tcp ")) << e.what();
    EXPECT_EQ(e.code(), io::errc::deadline_exceeded);
  }
  EXPECT_EQ(io::copy(io::stream(), a.out, ec), 0u);
  EXPECT_EQ(ec, io::errc::closed);
  EXPECT_EQ(io::copy(b.in, io::stream(), ec), 0u);
  EXPECT_EQ(ec, io::errc::closed);
}

TEST_FOR_PROCS(copy, close_of_either_side_ends_it) {
  for (const bool is_source : {true, false}) {
    const ends a = make("tcp");
    const ends b = make("tcp");
    weft::wait_group wg;
    comer waits;
    wg.go([&] {
      waits.comes();
      std::error_code ec;
      io::copy(b.in, a.out, ec);
      EXPECT_EQ(ec, io::errc::closed) << ec.message();
    });
    if (!is_source) {  // until nothing more fits in between
      std::error_code full;
      a.in.set_write_deadline(weft::clock::now() + 200ms);
      const std::vector<char> some(100'000);
      while (!full) a.in.write_all(some, full);
    }
    ASSERT_TRUE(waits.waits());
    (is_source ? a.out : b.in).close();
    wg.wait();
  }
}

TEST_FOR_PROCS(copy, leaves_no_descriptor_behind) {
  const ends a = make("tcp");
  const ends b = make("tcp");
  const open_fds before;
  for (int i = 0; i < 10; ++i) {
    a.in.write_all("some");
    EXPECT_EQ(io::copy(b.in, a.out, 4), 4u);
  }
  EXPECT_TRUE(before.are_back());
}
