// testing_pipe.cpp: testing::pipe(): a connection in memory, with the promises of a real one.
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "support/for_procs.hpp"

#include <weft/testing/bubble.hpp>
#include <weft/testing/pipe.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::testing::bubble;

namespace {

std::string read_all(const weft::testing::pipe_end& from) {
  std::string all;
  char room[7];
  while (const std::size_t n = from.read_some(room)) all.append(room, n);
  return all;
}

TEST_FOR_PROCS(memory_pipe, what_is_written_is_read_in_order_and_then_its_end) {
  auto [a, b] = weft::testing::pipe(5);
  std::string sent;
  for (int i = 0; i < 1000; ++i) sent += std::to_string(i) + ' ';
  weft::go([a, sent] {
    a.write_all(sent);
    a.shutdown();
  });
  EXPECT_EQ(read_all(b), sent);
  b.write_all("back");
  char room[4];
  a.read_full(room);
  EXPECT_EQ(std::string(room, 4), "back");
}

TEST_FOR_PROCS(memory_pipe, write_some_writes_what_there_is_room_for) {
  auto [a, b] = weft::testing::pipe(4);
  EXPECT_EQ(a.write_some("abcdef"), 4u);
  EXPECT_EQ(a.write_some(""), 0u);
  char room[8];
  EXPECT_EQ(b.read_some(room), 4u);
  EXPECT_EQ(b.read_some(weft::io::mutable_buffer(room, 0)), 0u);
}

TEST_FOR_PROCS(memory_pipe, a_short_stream_is_an_unexpected_end) {
  auto [a, b] = weft::testing::pipe();
  a.write_all("abc");
  a.close();
  char room[5];
  std::error_code ec;
  EXPECT_EQ(b.read_full(room, ec), 3u);
  EXPECT_EQ(ec, weft::io::errc::unexpected_eof);
  EXPECT_EQ(b.read_some(room, ec), 0u);
  EXPECT_FALSE(ec);
}

TEST_FOR_PROCS(memory_pipe, closing_wakes_whoever_waits_and_the_other_end_learns_of_it) {
  bubble([] {
    auto [a, b] = weft::testing::pipe(1);
    std::error_code reader;
    std::error_code writer;
    weft::go([&] {
      char c;
      a.read_some(weft::io::mutable_buffer(&c, 1), reader);
    });
    weft::go([&] { a.write_all("abc", writer); });
    weft::testing::wait();
    a.close();
    weft::testing::wait();
    EXPECT_EQ(reader, weft::io::errc::closed);
    EXPECT_EQ(writer, weft::io::errc::closed);
    EXPECT_FALSE(a.is_open());
    EXPECT_EQ(read_all(b), "a");
    std::error_code ec;
    b.write_some("x", ec);
    EXPECT_EQ(ec, std::errc::broken_pipe);
    a.close(ec);
    EXPECT_EQ(ec, weft::io::errc::closed);
    EXPECT_THROW(a.write_all("x"), std::system_error);
  });
}

TEST_FOR_PROCS(memory_pipe, the_last_handle_closes_it) {
  auto [a, b] = weft::testing::pipe();
  {
    const auto copy = a;
    EXPECT_EQ(copy, a);
    a = {};
    EXPECT_FALSE(a.is_open());
    copy.write_all("x");
  }
  EXPECT_EQ(read_all(b), "x");
}

TEST_FOR_PROCS(memory_pipe, deadlines_go_by_the_bubbles_clock_and_those_who_wait_follow) {
  bubble([] {
    const auto start = weft::clock::now();
    auto [a, b] = weft::testing::pipe(1);
    a.set_read_deadline(start + 1h);
    char c;
    std::error_code ec;
    a.read_some(weft::io::mutable_buffer(&c, 1), ec);
    EXPECT_EQ(ec, weft::io::errc::deadline_exceeded);
    EXPECT_EQ(weft::clock::now() - start, 1h);
    a.read_some(weft::io::mutable_buffer(&c, 1), ec);
    EXPECT_EQ(ec, weft::io::errc::deadline_exceeded);
    weft::go([&] {
      weft::sleep_for(1h);
      a.set_deadline(weft::clock::now() + 1min);
    });
    a.set_deadline(weft::io::no_deadline);
    EXPECT_EQ(a.write_all("ab", ec), 1u);
    EXPECT_EQ(ec, weft::io::errc::deadline_exceeded);
    EXPECT_EQ(weft::clock::now() - start, 2h + 1min);
    b.read_some(weft::io::mutable_buffer(&c, 1));
    EXPECT_EQ(c, 'a');
  });
}

TEST_FOR_PROCS(memory_pipe, writes_do_not_mix) {
  bubble([] {
    auto [a, b] = weft::testing::pipe(3);
    weft::wait_group writers;
    for (char c : {'x', 'y', 'z'}) writers.go([a, c] { a.write_all(std::string(10, c)); });
    std::string all(30, ' ');
    b.read_full(all);
    writers.wait();
    for (std::size_t i = 0; i < 30; i += 10) EXPECT_EQ(all.substr(i, 10), std::string(10, all[i]));
  });
}

TEST_FOR_PROCS(memory_pipe, half_of_it_may_end) {
  auto [a, b] = weft::testing::pipe();
  b.shutdown(weft::net::direction::read);
  std::error_code ec;
  a.write_some("x", ec);
  EXPECT_EQ(ec, std::errc::broken_pipe);
  b.write_all("still");
  b.shutdown();
  EXPECT_EQ(read_all(a), "still");
  EXPECT_THROW(b.write_all("x"), std::system_error);
}

TEST_FOR_PROCS(memory_pipe_race, both_ends_at_once) {
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    auto [a, b] = weft::testing::pipe(64);
    const std::string sent(10'000, 'x');
    weft::wait_group wg;
    for (auto* const from : {&a, &b}) {
      wg.go([from, &sent] {
        from->write_all(sent);
        from->shutdown();
      });
      wg.go([from, &sent] { EXPECT_EQ(read_all(*from), sent); });
    }
    wg.wait();
  }
}

}  // namespace
