// net_tcp.cpp: connections: what is written is read, whole and in order, by whom it was meant for
// (B250, B253, B255, B256, B257, B259, B265, B269, B271).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/parked.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

std::vector<std::string_view> stream_networks() {
  std::vector<std::string_view> all = {"tcp", "tcp4", "unix", "unixpacket"};
  if (has_ipv6()) all.push_back("tcp6");
  return all;
}

// Small pieces there and back.
void ping_pong(const net::conn& c, std::uint64_t tag, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto ping = bytes_of(tag + static_cast<std::uint64_t>(i), 1 + tag % 100);
    c.write_all(ping);
    std::vector<char> pong(ping.size());
    c.read_full(pong);
    ASSERT_EQ(ping, pong) << "connection " << tag << ", round " << i;
  }
}

void shrink_buffers(const net::conn& c) {
  const int size = 4096;
  ::setsockopt(c.native_handle(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  ::setsockopt(c.native_handle(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

// B271
TEST_FOR_PROCS(conn, clients_and_a_server_talk_over_every_network_and_nothing_is_left) {
  const open_fds before;
  for (const std::string_view network : stream_networks()) {
    const auto l = net::listen(network, free_place(network));
    weft::wait_group wg;
    wg.go([&] {
      for (int i = 0; i < 5; ++i) wg.go([c = l.accept()] { echo(c); });
    });
    for (std::uint64_t i = 0; i < 5; ++i)
      wg.go([&, i] { ping_pong(net::dial(network, l.addr().to_string()), i, 10); });
    wg.wait();
  }
  EXPECT_TRUE(before.are_back());
  EXPECT_TRUE(eventually([] { return weft::num_goroutines() == 1; }));
}

TEST_FOR_PROCS(conn, both_ends_know_both_addresses) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto [here, there] = connected(l);
  EXPECT_EQ(here.remote_addr(), l.addr());
  EXPECT_EQ(here.local_addr(), there.remote_addr());
  EXPECT_EQ(here.remote_addr(), there.local_addr());
  EXPECT_EQ(here.local_addr().network(), "tcp");
}

// B255
TEST_FOR_PROCS(listener, ten_goroutines_accept_at_once_and_each_connection_goes_to_one) {
  constexpr int kConnections = 60;
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::wait_group acceptors;
  std::array<std::atomic<int>, kConnections> naccepted{};
  for (int i = 0; i < 10; ++i)
    acceptors.go([&] {
      std::error_code ec;
      for (;;) {
        const auto c = l.accept(ec);
        if (ec) break;
        std::array<char, 1> who;
        c.read_full(who);
        ++naccepted[static_cast<std::size_t>(who[0])];
        c.write_all("k");
      }
      EXPECT_EQ(ec, io::errc::closed);
    });
  weft::wait_group clients;
  for (int i = 0; i < kConnections; ++i)
    clients.go([&, i] {
      const auto c = net::dial("tcp", l.addr().to_string());
      const char who = static_cast<char>(i);
      c.write_all({&who, 1});
      std::array<char, 1> ok;
      c.read_full(ok);
    });
  clients.wait();
  l.close();
  acceptors.wait();
  for (const auto& n : naccepted) EXPECT_EQ(n, 1);
}

// B256
TEST_FOR_PROCS(conn, ping_pong_on_128_connections) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  constexpr std::uint64_t kConnections = 128;
  weft::wait_group wg;
  wg.go([&] {
    for (std::uint64_t i = 0; i < kConnections; ++i) wg.go([c = l.accept()] { echo(c); });
  });
  for (std::uint64_t i = 0; i < kConnections; ++i)
    wg.go([&, i] { ping_pong(net::dial("tcp", l.addr().to_string()), 1000 * i, scaled(50)); });
  wg.wait();
}

TEST_FOR_PROCS(conn, many_megabytes_reach_a_slow_reader_whole) {
  const auto [here, there] = connected();
  shrink_buffers(here);
  const std::size_t size = kIsTsan ? 1 << 20 : 2 << 20;
  const auto sent = bytes_of(1, size);
  weft::wait_group wg;
  wg.go([&, here = here] {
    std::error_code ec;
    EXPECT_EQ(here.write_all(sent, ec), size);
    EXPECT_FALSE(ec) << ec.message();
    here.shutdown();
  });
  std::vector<char> got;
  std::vector<char> room(200'000);
  for (int i = 0;; ++i) {
    const std::size_t n = there.read_some(std::span(room.data(), 1 + got.size() % room.size()));
    if (n == 0) break;
    got.insert(got.end(), room.data(), room.data() + n);
    if (i % 64 == 0) weft::sleep_for(100us);
  }
  wg.wait();
  EXPECT_EQ(got.size(), size);
  EXPECT_TRUE(got == sent);
}

// B265
TEST_FOR_PROCS(conn, a_thousand_pieces_are_written_in_order_also_through_small_buffers) {
  const auto [here, there] = connected();
  shrink_buffers(here);
  const auto sent = bytes_of(2, 300'000);
  std::vector<io::const_buffer> pieces;
  std::size_t at = 0;
  for (std::size_t i = 0; at < sent.size(); ++i) {  // some of them empty
    const std::size_t n = std::min<std::size_t>(i % 7 == 3 ? 0 : i * 37 % 1201, sent.size() - at);
    pieces.emplace_back(sent.data() + at, n);
    at += n;
  }
  pieces.emplace_back();
  ASSERT_GT(pieces.size(), 500u);
  weft::wait_group wg;
  wg.go([&, here = here] {
    std::error_code ec;
    EXPECT_EQ(here.write_all(std::span<const io::const_buffer>(pieces), ec), sent.size());
    EXPECT_FALSE(ec) << ec.message();
    here.shutdown();
  });
  std::error_code ec;
  EXPECT_TRUE(read_all(there, ec) == sent);
  EXPECT_FALSE(ec) << ec.message();
  wg.wait();
  here.write_all(std::span<const io::const_buffer>(), ec);
  EXPECT_FALSE(ec) << "nothing to write is nothing, even after a shutdown";
}

TEST_FOR_PROCS(conn, what_several_write_at_once_comes_in_whole_blocks) {
  const auto [here, there] = connected();
  shrink_buffers(here);
  constexpr std::size_t kBlock = 40'000;
  constexpr int kBlocks = 10;
  weft::wait_group wg;
  for (const char who : {'a', 'b', 'c'})
    wg.go([&, here = here, who] {
      const std::vector<char> block(kBlock, who);
      for (int i = 0; i < kBlocks; ++i) here.write_all(block);
    });
  std::vector<char> block(kBlock);
  std::array<int, 3> nseen{};
  for (int i = 0; i < 3 * kBlocks; ++i) {
    there.read_full(block);
    const char who = block[0];
    ++nseen.at(static_cast<std::size_t>(who - 'a'));
    for (const char c : block) ASSERT_EQ(c, who) << "two blocks are mixed up";
  }
  wg.wait();
  for (const int n : nseen) EXPECT_EQ(n, kBlocks);
}

// B250
TEST_FOR_PROCS(conn, half_of_it_can_end_and_the_other_half_goes_on) {
  for (const std::string_view network : {"tcp", "unix"}) {
    const auto [here, there] = connected(network);
    here.write_all("question");
    here.shutdown();
    std::error_code ec;
    const auto question = read_all(there, ec);
    EXPECT_FALSE(ec);
    EXPECT_EQ(std::string(question.begin(), question.end()), "question");
    EXPECT_EQ(here.write_some("more", ec), 0u);
    EXPECT_EQ(ec, std::errc::broken_pipe);
    there.write_all("answer");
    there.shutdown();
    const auto answer = read_all(here, ec);
    EXPECT_FALSE(ec);
    EXPECT_EQ(std::string(answer.begin(), answer.end()), "answer");
    EXPECT_TRUE(here.is_open());
  }
}

TEST_FOR_PROCS(conn, ending_the_reading_half_ends_a_read_that_waits_and_writing_goes_on) {
  for (const std::string_view network : {"tcp", "unix"}) {
    const auto [here, there] = connected(network);
    comer reader;
    weft::wait_group wg;
    wg.go([&, here = here] {
      std::array<char, 8> room;
      std::error_code ec;
      reader.comes();
      EXPECT_EQ(here.read_some(room, ec), 0u);
      EXPECT_FALSE(ec) << ec.message();
    });
    ASSERT_TRUE(reader.waits());
    here.shutdown(net::direction::read);
    wg.wait();
    std::array<char, 8> room;
    EXPECT_EQ(here.read_some(room), 0u) << "again";
    here.write_all("still");
    std::array<char, 5> got;
    there.read_full(got);
    EXPECT_EQ(std::string_view(got.data(), got.size()), "still");
  }
}

// B259
TEST_FOR_PROCS(conn, nothing_is_read_and_written_at_once) {
  const auto [here, there] = connected();
  std::error_code ec;
  EXPECT_EQ(here.read_some(io::mutable_buffer(), ec), 0u)
      << "nothing is there, and it does not wait";
  EXPECT_FALSE(ec);
  EXPECT_EQ(here.read_full(io::mutable_buffer(), ec), 0u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(here.write_some("", ec), 0u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(here.write_all("", ec), 0u);
  EXPECT_FALSE(ec);
  there.write_all("x");
  EXPECT_EQ(here.read_some(io::mutable_buffer(), ec), 0u);
  std::array<char, 4> room;
  EXPECT_EQ(here.read_some(room), 1u) << "the byte is still there";
}

TEST_FOR_PROCS(conn, read_full_says_how_much_came_before_the_end) {
  const auto [here, there] = connected();
  there.write_all("abc");
  there.close();
  std::array<char, 10> room;
  std::error_code ec;
  EXPECT_EQ(here.read_full(room, ec), 3u);
  EXPECT_EQ(ec, io::errc::unexpected_eof);
  EXPECT_EQ(here.read_full(room, ec), 0u);
  EXPECT_EQ(ec, io::errc::unexpected_eof);
}

// B269
TEST_FOR_PROCS(conn, a_reset_is_told_as_one_to_whoever_waits_and_is_no_timeout) {
  const auto [here, there] = connected();
  comer reader;
  weft::wait_group wg;
  wg.go([&, here = here] {
    std::array<char, 8> room;
    std::error_code ec;
    reader.comes();
    EXPECT_EQ(here.read_some(room, ec), 0u);
    EXPECT_EQ(ec, std::errc::connection_reset) << ec.message();
    EXPECT_NE(ec, std::errc::timed_out);
  });
  ASSERT_TRUE(reader.waits());
  there.set_linger(0s);
  there.close();
  wg.wait();
}

// B253
TEST_FOR_PROCS(listener, connections_that_were_given_up_do_not_stop_accept) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  std::vector<net::address> gone;
  for (int i = 0; i < 20; ++i) {
    const auto c = net::dial("tcp", l.addr().to_string());
    gone.push_back(c.local_addr());
    c.set_linger(0s);
    c.close();
  }
  const auto good = net::dial("tcp", l.addr().to_string());
  good.write_all("g");
  for (std::size_t i = 0;; ++i) {
    ASSERT_LE(i, gone.size());
    const auto c = l.accept();
    std::array<char, 1> room;
    std::error_code ec;
    if (c.read_some(room, ec) == 1) {
      EXPECT_EQ(room[0], 'g');
      EXPECT_EQ(c.remote_addr(), good.local_addr());
      break;
    }
    EXPECT_EQ(ec, std::errc::connection_reset);
    // The kernel hands them out although they are over. Who it was is still known.
    ASSERT_LT(i, gone.size());
    EXPECT_EQ(c.remote_addr(), gone[i]) << c.remote_addr().to_string();
  }
}

TEST_FOR_PROCS(conn, messages_name_the_operation_and_both_ends) {
  const auto [here, there] = connected();
  here.set_read_deadline(weft::clock::now() - 1s);
  try {
    std::array<char, 1> room;
    here.read_some(room);
    ADD_FAILURE() << "it did not throw";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.what(), "read tcp " + here.local_addr().to_string() + "->" +
                            here.remote_addr().to_string() + ": i/o timeout");
    EXPECT_EQ(e.code(), io::errc::deadline_exceeded);
  }
}

// B265
TEST_FOR_PROCS(conn, a_file_is_sent_from_where_to_where_it_was_asked_for) {
  char path[] = "/tmp/weft-net-tcp-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_NE(file, -1);
  ::unlink(path);
  const auto inside = bytes_of(3, 700'000);
  ASSERT_EQ(::write(file, inside.data(), inside.size()), static_cast<ssize_t>(inside.size()));
  const auto [here, there] = connected();
  shrink_buffers(here);
  weft::wait_group wg;
  wg.go([&, here = here] {
    std::error_code ec;
    EXPECT_EQ(here.send_file(file, 1000, 5000, ec), 5000u);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(here.send_file(file, 6000, 10'000'000, ec), inside.size() - 6000) << "to its end";
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(here.send_file(file, inside.size(), 10, ec), 0u);
    EXPECT_FALSE(ec) << ec.message();
    here.shutdown();
  });
  std::error_code ec;
  const auto got = read_all(there, ec);
  wg.wait();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), inside.begin() + 1000, inside.end()));
  here.close();
  EXPECT_EQ(here.send_file(file, 0, 10, ec), 0u);
  EXPECT_EQ(ec, io::errc::closed);
  ::close(file);
}

// The program's own handler for SIGPIPE must see none of ours, and there must be none left for later.
TEST_FOR_PROCS(conn, writing_to_one_that_is_gone_raises_no_signal) {
  const counted_signal sigpipe(SIGPIPE);
  char path[] = "/tmp/weft-net-tcp-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_NE(file, -1);
  ::unlink(path);
  ASSERT_EQ(::write(file, "some text", 9), 9);
  for (const std::string_view network : {"tcp", "unix", "unixpacket"}) {
    const auto [here, there] = connected(network);
    there.close();
    here.shutdown();  // from now on every write finds a broken pipe
    const std::array<io::const_buffer, 2> pieces = {io::const_buffer("a"), io::const_buffer("b")};
    std::error_code ec;
    here.write_some("x", ec);
    EXPECT_EQ(ec, std::errc::broken_pipe) << network;
    here.write_all(pieces, ec);
    EXPECT_EQ(ec, std::errc::broken_pipe) << network;
    here.send_file(file, 0, 9, ec);
    EXPECT_TRUE(ec) << network;
  }
  ::close(file);
  EXPECT_EQ(counted_signal::count(), 0);
}

// A read of a Unix socket stops short at a message that carries descriptors, and there is more behind it, of which nobody tells again.
TEST_FOR_PROCS(conn, what_follows_a_message_that_carries_descriptors_is_read_too) {
  const auto [here, there] = connected("unix");
  for (int i = 0; i < 20; ++i) {
    comer reader;
    weft::wait_group wg;
    wg.go([&, there = there] {
      std::array<char, 100> room;
      reader.comes();
      there.set_read_deadline(weft::clock::now() + 10s);
      std::error_code ec;
      for (std::size_t n = 0; n < 6 && !ec;) n += there.read_some(room, ec);
      EXPECT_FALSE(ec) << ec.message();
    });
    ASSERT_TRUE(reader.waits());
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    char text[] = "abc";
    iovec part{text, 3};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    *reinterpret_cast<int*>(CMSG_DATA(head)) = 0;
    ASSERT_EQ(::sendmsg(here.native_handle(), &message, 0), 3);
    here.write_all("def");
    wg.wait();
    if (testing::Test::HasFailure()) break;
  }
}

// B257. The pages of such a buffer are all the same one.
TEST(conn, more_than_two_gigabytes_in_one_call_are_split_on_2_ps) {
  const bool is_slow = kIsTsan || kIsAsan;
  const std::size_t size = is_slow ? std::size_t{8} << 20 : (std::size_t{2} << 30) + 12345;
  void* const zeros =
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  run_on(2, [&] {
    const auto [here, there] = connected("unix");
    weft::wait_group wg;
    wg.go([&, here = here] {
      std::error_code ec;
      EXPECT_EQ(here.write_all({zeros, size}, ec), size);
      EXPECT_FALSE(ec) << ec.message();
      here.shutdown();
    });
    std::vector<char> room(1 << 18);
    std::size_t total = 0;
    while (const std::size_t n = there.read_some(room)) total += n;
    EXPECT_EQ(total, size);
    wg.wait();
  });
  ::munmap(zeros, size);
}

}  // namespace
