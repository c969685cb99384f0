// close.cpp: how it ends: closing, half-closing, being cut off, deadlines and contexts.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/tls/secured.hpp"
#include "support/meeting.hpp"
#include "support/parked.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

TEST_FOR_PROCS(tls_close, wakes_everybody_who_reads_and_who_writes) {
  const auto p = secured();
  weft::wait_group wg;
  std::array<comer, 3> readers;
  std::array<comer, 3> writers;
  for (comer& each : readers)
    wg.go([&] {
      std::array<char, 8> room;
      std::error_code ec;
      each.comes();
      EXPECT_EQ(p.here.read_some(room, ec), 0u);
      EXPECT_EQ(ec, io::errc::closed) << ec.message();
    });
  for (comer& each : writers)
    wg.go([&] {
      const std::vector<char> much(16 << 20);
      std::error_code ec;
      each.comes();
      EXPECT_LT(p.here.write_all(much, ec), much.size());
      EXPECT_EQ(ec, io::errc::closed) << ec.message();
    });
  for (const comer& each : readers) ASSERT_TRUE(each.waits());
  for (const comer& each : writers) ASSERT_TRUE(each.waits());
  p.here.close();
  wg.wait();
  EXPECT_FALSE(p.here.is_open());
}

TEST_FOR_PROCS(tls_close, wakes_everybody_who_shakes_hands) {
  for (const bool by_lower : {false, true}) {
    const auto p = unagreed();
    weft::wait_group wg;
    std::array<comer, 3> comers;
    for (comer& each : comers)
      wg.go([&] {
        std::error_code ec;
        each.comes();
        p.here.handshake(ec);
        EXPECT_EQ(ec, io::errc::closed) << ec.message();
      });
    for (const comer& each : comers) ASSERT_TRUE(each.waits());
    if (by_lower) {
      p.here.lower().close();
    } else {
      p.here.close();
    }
    wg.wait();
  }
}

TEST_FOR_PROCS(tls_close, of_one_at_work_never_leaves_anybody_waiting) {
  for (int i = 0; i < scaled(60); ++i) {
    const auto p = unagreed();
    meeting all(4);
    weft::wait_group wg;
    wg.go([&] {
      std::array<char, 1000> room;
      std::error_code ec;
      all.comes();
      while (!ec && p.here.read_some(room, ec) != 0) continue;
    });
    wg.go([&] {
      const std::vector<char> some(10'000);
      std::error_code ec;
      all.comes();
      while (!ec) p.here.write_all(some, ec);
    });
    wg.go([&] {
      std::array<char, 1000> room;
      std::error_code ec;
      all.comes();
      while (const std::size_t n = p.there.read_some(room, ec))
        p.there.write_all({room.data(), n}, ec);
      p.there.close();
    });
    all.comes();
    for (int k = 0; k < i * 3; ++k) weft::yield();
    p.here.close();
    wg.wait();
  }
}

TEST_FOR_PROCS(tls_close, every_call_on_what_is_closed_says_so) {
  const auto p = secured();
  p.there.write_all("something that has come already");
  std::array<char, 8> room;
  EXPECT_EQ(p.here.read_some(room), 8u);
  p.here.close();
  for (const auto& c : {p.here, tls::conn()}) {
    std::error_code ec;
    const auto expect_closed = [&](const char* what) {
      EXPECT_EQ(ec, io::errc::closed) << what << ": " << ec.message();
      ec.clear();
    };
    EXPECT_EQ(c.read_some(room, ec), 0u);
    expect_closed("read_some");
    EXPECT_EQ(c.read_some(io::mutable_buffer(), ec), 0u);
    expect_closed("read_some of nothing");
    EXPECT_EQ(c.read_full(room, ec), 0u);
    expect_closed("read_full");
    EXPECT_EQ(c.write_some("x", ec), 0u);
    expect_closed("write_some");
    EXPECT_EQ(c.write_all("x", ec), 0u);
    expect_closed("write_all");
    EXPECT_EQ(c.write_all("", ec), 0u);
    expect_closed("write_all of nothing");
    c.handshake(ec);
    expect_closed("handshake");
    c.shutdown(ec);
    expect_closed("shutdown");
    c.close();
    EXPECT_FALSE(c.is_open());
    EXPECT_FALSE(c.lower().is_open());
    EXPECT_THROW(c.read_some(room), std::system_error);
  }
  EXPECT_EQ(tls::conn().peer_name(), "");
  EXPECT_EQ(tls::conn(), tls::conn());
  EXPECT_NE(p.here, p.there);
}

TEST_FOR_PROCS(tls_close, is_told_to_the_other_side_also_by_the_last_handle_that_goes) {
  const open_fds before;
  for (const tls::version v : kBothVersions) {
    for (const bool by_hand : {true, false}) {
      auto p = secured(trusting().versions(v, v));
      p.here.write_all("last words");
      if (by_hand) p.here.close();
      p.here = tls::conn();
      std::error_code ec;
      EXPECT_EQ(read_all(p.there, ec).size(), 10u);
      EXPECT_FALSE(ec) << ec.message();
    }
  }
  EXPECT_TRUE(before.are_back());
}

// The other side neither reads nor answers.
TEST_FOR_PROCS(tls_close, does_not_wait_for_room) {
  const auto p = secured();
  const std::vector<char> some(10'000, 'f');
  const int fd = p.here.lower().native_handle();
  while (::send(fd, some.data(), some.size(), MSG_DONTWAIT) > 0) continue;
  while (::send(fd, some.data(), 1, MSG_DONTWAIT) > 0) continue;
  p.here.close();
  EXPECT_FALSE(p.here.is_open());
}

TEST_FOR_PROCS(tls_shutdown, ends_one_direction_and_the_other_goes_on) {
  for (const tls::version v : kBothVersions) {
    const auto p = secured(trusting().versions(v, v));
    p.here.write_all("a question");
    p.here.shutdown();
    p.here.shutdown();  // once more says nothing more
    std::error_code ec;
    EXPECT_EQ(read_all(p.there, ec).size(), 10u);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(p.here.write_some("x", ec), 0u);
    EXPECT_EQ(ec, std::errc::broken_pipe) << ec.message();

    expect_passes(p.there, p.here, std::string(50'000, 'a'));
    p.there.shutdown();
    std::array<char, 1> room;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(p.here.read_some(room), 0u);
    EXPECT_THROW(p.here.read_full(room), std::system_error);
  }
}

// Whoever is in between could cut off what comes: a word that it is the end must have come.
TEST_FOR_PROCS(tls_end, without_a_word_is_an_error) {
  for (const tls::version v : kBothVersions) {
    const auto p = secured(trusting().versions(v, v));
    p.here.write_all("and then");
    p.here.lower().shutdown();
    std::error_code ec;
    EXPECT_EQ(read_all(p.there, ec).size(), 8u);
    EXPECT_EQ(ec, io::errc::unexpected_eof) << ec.message();
    std::array<char, 1> room;
    EXPECT_EQ(p.there.read_some(room, ec), 0u);
    EXPECT_EQ(ec, io::errc::unexpected_eof) << "again: " << ec.message();
    expect_passes(p.there, p.here, "the other direction goes on");
  }
  const auto p = unagreed();
  p.there.lower().shutdown();
  std::error_code ec;
  p.here.handshake(ec);
  EXPECT_EQ(ec, io::errc::unexpected_eof) << "in the midst of the handshake: " << ec.message();
}

TEST_FOR_PROCS(tls_deadline, ends_a_read_and_the_next_one_goes_on) {
  const auto p = secured();
  std::array<char, 5> room;
  std::error_code ec;
  for (const auto d : {1ns, 2'000'000ns}) {
    p.here.lower().set_read_deadline(weft::clock::now() + d);
    EXPECT_EQ(p.here.read_some(room, ec), 0u);
    EXPECT_EQ(ec, io::errc::deadline_exceeded) << ec.message();
    expect_passes(p.here, p.there, "writes are not concerned");
  }
  p.here.lower().set_read_deadline(io::no_deadline);
  expect_passes(p.there, p.here, "still there");
}

// Many records, of which some are sent by half.
TEST_FOR_PROCS(tls_deadline, ends_a_write_and_not_a_byte_is_lost) {
  const auto p = secured();
  const auto all = bytes_of(3, 12 << 20);
  std::size_t done = 0;
  int ntimeouts = 0;
  weft::wait_group wg;
  const auto take = [&] {
    std::error_code ec;
    const auto got = read_all(p.there, ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_TRUE(got == all) << got.size();
  };
  while (done < all.size()) {
    std::error_code ec;
    p.here.lower().set_write_deadline(weft::clock::now() + 1ms);
    const std::size_t n = p.here.write_all({all.data() + done, all.size() - done}, ec);
    done += n;
    if (!ec) continue;
    ASSERT_EQ(ec, io::errc::deadline_exceeded) << ec.message();
    EXPECT_EQ(p.here.write_some("not this", ec), 0u) << "what was taken over goes first";
    EXPECT_EQ(ec, io::errc::deadline_exceeded);
    if (++ntimeouts == 3) wg.go(take);  // until then nobody reads
  }
  EXPECT_GE(ntimeouts, 3);
  p.here.lower().set_write_deadline(io::no_deadline);
  p.here.shutdown();
  wg.wait();
}

TEST_FOR_PROCS(tls_deadline, ends_a_handshake_which_goes_on_later) {
  const auto p = unagreed();
  std::error_code ec;
  p.here.lower().set_deadline(weft::clock::now() + 1ms);
  p.here.handshake(ec);
  EXPECT_EQ(ec, io::errc::deadline_exceeded) << ec.message();
  p.here.lower().set_deadline(io::no_deadline);
  const verdicts v = agree(p);
  EXPECT_FALSE(v.client) << v.client.message();
  EXPECT_FALSE(v.server) << v.server.message();
  expect_passes(p.here, p.there, "after all");
}

// A server that accepts and is silent.
TEST_FOR_PROCS(tls_context, ends_a_dial_in_the_midst_of_the_handshake) {
  const open_fds before;
  {
    const auto l = net::listen("tcp", "127.0.0.1:0");
    const std::string where = l.addr().to_string();
    std::error_code ec;

    auto [cancelled, cancel] = weft::with_cancel(weft::background());
    comer dialler;
    weft::wait_group wg;
    wg.go([&, ctx = cancelled] {
      std::error_code why;
      dialler.comes();
      EXPECT_FALSE(tls::dial("tcp", where, trusting(), ctx, why).is_open());
      EXPECT_EQ(why, std::errc::operation_canceled) << why.message();
    });
    const auto there = l.accept();
    std::array<char, 1> room;
    EXPECT_EQ(there.read_some(room), 1u) << "it has begun";
    ASSERT_TRUE(dialler.waits());
    cancel();
    wg.wait();

    auto [limited, drop] = weft::with_timeout(weft::background(), 5ms);
    EXPECT_FALSE(tls::dial("tcp", where, trusting(), limited, ec).is_open());
    EXPECT_EQ(ec, std::errc::timed_out) << ec.message();
    EXPECT_FALSE(tls::dial("tcp", where, trusting(), cancelled, ec).is_open())
        << "has ended before";
    EXPECT_EQ(ec, std::errc::operation_canceled) << ec.message();
    const auto c = tls::client(net::dial("tcp", where), trusting(), "localhost");
    EXPECT_THROW(c.handshake(cancelled), std::system_error);
    EXPECT_FALSE(c.is_open());
  }
  EXPECT_TRUE(before.are_back());
}

TEST_FOR_PROCS(tls_context, that_ends_later_is_no_concern_of_the_connection) {
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  const auto p = unagreed();
  weft::wait_group wg;
  wg.go([&] { p.there.handshake(); });
  p.here.handshake(ctx);
  wg.wait();
  cancel();
  p.here.handshake(ctx);  // it is over, and whoever comes late is told so
  expect_passes(p.here, p.there, "goes on");
}

}  // namespace
