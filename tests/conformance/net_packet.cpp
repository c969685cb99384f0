// net_packet.cpp: datagrams, from and to anybody and with one partner (B242, B248, B259, B271).
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
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

using room_t = std::array<char, 2000>;

std::string text_of(const room_t& room, std::size_t n) { return {room.data(), n}; }

std::vector<std::string_view> packet_networks() {
  std::vector<std::string_view> all = {"udp", "udp4", "unixgram"};
  if (has_ipv6()) all.push_back("udp6");
  return all;
}

net::packet_conn open_packet(std::string_view network) {
  return net::listen_packet(network, free_place(network));
}

TEST_FOR_PROCS(packet, goes_to_whom_it_was_sent_and_says_from_whom) {
  for (const std::string_view network : packet_networks()) {
    const auto a = open_packet(network);
    const auto b = open_packet(network);
    room_t room;
    EXPECT_EQ(a.write_to("question", b.local_addr()), 8u);
    const auto [n, from] = b.read_from(room);
    EXPECT_EQ(text_of(room, n), "question") << network;
    EXPECT_EQ(from, a.local_addr());
    b.write_to("answer", from);
    const auto answer = a.read_from(room);
    EXPECT_EQ(text_of(room, answer.size), "answer");
    EXPECT_EQ(answer.from, b.local_addr());
  }
}

// B271
TEST_FOR_PROCS(packet, many_clients_and_one_server) {
  const open_fds before;
  for (const std::string_view network : packet_networks()) {
    const auto server = open_packet(network);
    weft::wait_group wg;
    wg.go([&] {
      room_t room;
      std::error_code ec;
      for (;;) {
        const auto d = server.read_from(room, ec);
        if (ec) break;
        server.write_to({room.data(), d.size}, d.from);
      }
      EXPECT_EQ(ec, io::errc::closed);
    });
    weft::wait_group clients;
    for (int i = 0; i < 8; ++i)
      clients.go([&, i] {
        const auto c = open_packet(network);
        room_t room;
        for (int k = 0; k < 20; ++k) {
          const std::string sent = std::to_string(100 * i + k);
          c.write_to(sent, server.local_addr());
          EXPECT_EQ(text_of(room, c.read_from(room).size), sent);
        }
      });
    clients.wait();
    server.close();
    wg.wait();
  }
  EXPECT_TRUE(before.are_back());
}

// B259
TEST_FOR_PROCS(packet, an_empty_one_is_one_too) {
  for (const std::string_view network : packet_networks()) {
    const auto a = open_packet(network);
    const auto b = open_packet(network);
    std::error_code ec;
    room_t room;
    a.write_to("", b.local_addr(), ec);
    EXPECT_FALSE(ec) << ec.message();
    a.write_to("x", b.local_addr());
    const auto empty = b.read_from(room, ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(empty.size, 0u);
    EXPECT_EQ(empty.from, a.local_addr());
    EXPECT_EQ(b.read_from(room).size, 1u);
    a.write_to("lost", b.local_addr());
    a.write_to("kept", b.local_addr());
    EXPECT_EQ(b.read_from(io::mutable_buffer(), ec).size, 0u) << "no room: it is dropped";
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(text_of(room, b.read_from(room).size), "kept");
  }
}

TEST_FOR_PROCS(packet, what_does_not_fit_is_lost_and_the_next_one_is_whole) {
  const auto a = open_packet("udp");
  const auto b = open_packet("udp");
  a.write_to("abcdefgh", b.local_addr());
  a.write_to("next", b.local_addr());
  std::array<char, 3> little;
  EXPECT_EQ(b.read_from(little).size, 3u);
  room_t room;
  EXPECT_EQ(text_of(room, b.read_from(room).size), "next");
}

TEST_FOR_PROCS(packet, connections_have_one_datagram_per_call) {
  for (const std::string_view network : {"udp", "unixgram"}) {
    const auto server = open_packet(network);
    const auto c = net::dial(network, server.local_addr().to_string());
    EXPECT_EQ(c.remote_addr(), server.local_addr());
    room_t room;
    std::error_code ec;
    c.write_all("one");
    c.write_some("two");
    EXPECT_EQ(c.write_some("", ec), 0u);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(c.write_all("", ec), 0u);
    EXPECT_FALSE(ec) << ec.message();
    const std::array<io::const_buffer, 3> pieces = {io::const_buffer("th"), io::const_buffer(""),
                                                    io::const_buffer("ree")};
    EXPECT_EQ(c.write_all(pieces, ec), 5u);
    EXPECT_FALSE(ec) << ec.message();
    for (const std::string_view expected : {"one", "two", "", "", "three"})
      EXPECT_EQ(text_of(room, server.read_from(room).size), expected) << network;
  }
}

TEST_FOR_PROCS(packet, a_thousand_pieces_are_one) {
  for (const std::string_view network : {"udp", "unixgram"}) {
    const auto server = open_packet(network);
    const auto c = net::dial(network, server.local_addr().to_string());
    const auto sent = bytes_of(1, 1000);
    std::vector<io::const_buffer> pieces;
    for (const char& each : sent) pieces.emplace_back(&each, 1);
    std::error_code ec;
    EXPECT_EQ(c.write_all(std::span<const io::const_buffer>(pieces), ec), sent.size());
    EXPECT_FALSE(ec) << ec.message();
    room_t room;
    const std::size_t n = server.read_from(room).size;
    EXPECT_EQ(n, sent.size());
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), room.begin()));
  }
}

TEST_FOR_PROCS(packet, a_read_with_no_room_takes_one_also_on_a_connection) {
  const auto server = open_packet("udp");
  const auto c = net::dial("udp", server.local_addr().to_string());
  server.write_to("lost", c.local_addr());
  server.write_to("kept", c.local_addr());
  std::error_code ec;
  EXPECT_EQ(c.read_some(io::mutable_buffer(), ec), 0u);
  EXPECT_FALSE(ec) << ec.message();
  room_t room;
  EXPECT_EQ(text_of(room, c.read_some(room)), "kept");
}

TEST_FOR_PROCS(packet, sequenced_connections_keep_the_borders) {
  const auto [here, there] = connected("unixpacket");
  here.write_all("one");
  here.write_all("two");
  room_t room;
  EXPECT_EQ(text_of(room, there.read_some(room)), "one");
  EXPECT_EQ(text_of(room, there.read_some(room)), "two");
  here.close();
  EXPECT_EQ(there.read_some(room), 0u);
}

// B242
TEST_FOR_PROCS(packet, deadlines_hold_and_are_never_early) {
  for (const std::string_view network : packet_networks()) {
    const auto p = open_packet(network);
    room_t room;
    std::error_code ec;
    for (const std::chrono::nanoseconds d :
         std::initializer_list<std::chrono::nanoseconds>{-1h, 0ns, 1us, 1ms, 10ms}) {
      const auto when = weft::clock::now() + d;
      p.set_read_deadline(when);
      (void)p.read_from(room, ec);
      EXPECT_EQ(ec, io::errc::deadline_exceeded);
      EXPECT_GE(weft::clock::now(), when);
    }
    EXPECT_EQ(p.write_to("x", p.local_addr(), ec), 1u);
    EXPECT_FALSE(ec) << "only reading had one";
    p.set_write_deadline(weft::clock::now() - 1s);
    EXPECT_EQ(p.write_to("y", p.local_addr(), ec), 0u);
    EXPECT_EQ(ec, io::errc::deadline_exceeded);
    p.set_deadline(io::no_deadline);
    EXPECT_EQ(text_of(room, p.read_from(room).size), "x");
  }
}

// A Unix datagram socket makes senders wait while the receiver's queue is full.
TEST_FOR_PROCS(packet, a_full_queue_makes_the_sender_wait_until_there_is_room) {
  const auto a = open_packet("unixgram");
  const auto b = open_packet("unixgram");
  std::error_code ec;
  std::size_t nsent = 0;
  while (::sendto(a.native_handle(), "x", 1, MSG_DONTWAIT, b.local_addr().data(),
                  b.local_addr().size()) == 1)
    ++nsent;
  a.set_write_deadline(weft::clock::now() + 5ms);
  EXPECT_EQ(a.write_to("x", b.local_addr(), ec), 0u);
  EXPECT_EQ(ec, io::errc::deadline_exceeded) << ec.message();
  EXPECT_GT(nsent, 0u);
  a.set_write_deadline(io::no_deadline);
  comer sender;
  weft::wait_group wg;
  wg.go([&] {
    sender.comes();
    EXPECT_EQ(a.write_to("last", b.local_addr()), 4u);
  });
  ASSERT_TRUE(sender.waits());
  room_t room;
  for (std::size_t i = 0; i < nsent; ++i) EXPECT_EQ(b.read_from(room).size, 1u);
  EXPECT_EQ(text_of(room, b.read_from(room).size), "last");
  wg.wait();
}

// B248
TEST_FOR_PROCS(packet, close_wakes_everybody_who_reads) {
  for (const std::string_view network : packet_networks()) {
    const auto p = open_packet(network);
    weft::wait_group wg;
    std::array<comer, 4> readers;
    for (comer& each : readers)
      wg.go([&] {
        room_t room;
        std::error_code ec;
        each.comes();
        (void)p.read_from(room, ec);
        EXPECT_EQ(ec, io::errc::closed) << ec.message();
      });
    for (const comer& each : readers) ASSERT_TRUE(each.waits());
    p.close();
    wg.wait();
  }
}

TEST_FOR_PROCS(packet, errors_are_told_and_the_socket_lives_on) {
  const auto p = open_packet("udp4");
  std::error_code ec;
  EXPECT_EQ(p.write_to("x", net::address(), ec), 0u);
  EXPECT_TRUE(ec) << "to nowhere";
  EXPECT_EQ(p.write_to("x", net::parse_address("unixgram", "@nobody"), ec), 0u);
  EXPECT_TRUE(ec) << "another kind of address";
  const std::vector<char> huge(100'000);
  EXPECT_EQ(p.write_to(huge, p.local_addr(), ec), 0u);
  EXPECT_EQ(ec, std::errc::message_size) << ec.message();
  room_t room;
  p.write_to("still", p.local_addr());
  EXPECT_EQ(text_of(room, p.read_from(room).size), "still");
  // Nobody is there: the kernel tells the partner of a connection.
  const auto gone = open_packet("udp");
  const auto c = net::dial("udp", gone.local_addr().to_string());
  gone.close();
  c.write_all("x");
  c.read_some(room, ec);
  EXPECT_EQ(ec, std::errc::connection_refused) << ec.message();
}

}  // namespace
