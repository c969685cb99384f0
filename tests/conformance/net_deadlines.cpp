// net_deadlines.cpp: waits for the network end when their deadline says so, and not before
// (B241, B243, B244, B245, B247, HAZARD 23; datagrams: net_packet.cpp).
//
// How late one may be is not asked: that is the machine's. A wait that does not end at all hangs the test.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/parked.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

// One byte, or why not.
std::error_code read_byte(const io::stream& from) {
  std::array<char, 1> room;
  std::error_code ec;
  const std::size_t n = from.read_some(room, ec);
  EXPECT_EQ(n, ec ? 0u : 1u);
  return ec;
}

// Until nothing fits in any more.
void fill_up(const net::conn& c) {
  const std::vector<char> some(10'000, 'f');
  while (::send(c.native_handle(), some.data(), some.size(), MSG_DONTWAIT) > 0) continue;
  while (::send(c.native_handle(), some.data(), 1, MSG_DONTWAIT) > 0) continue;
}

TEST_FOR_PROCS(deadline, in_the_past_ends_everything_at_once_and_can_be_taken_back) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto [here, there] = connected(l);
  there.write_all("x");
  std::error_code ec;
  for (const auto when : {weft::clock::now() - 1h, weft::clock::now() - 1ns, weft::time_point(),
                          weft::time_point::min()}) {
    here.set_deadline(when);
    EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded) << "although there is something";
    EXPECT_EQ(here.write_some("y", ec), 0u);
    EXPECT_EQ(ec, io::errc::deadline_exceeded) << "although there is room";
    EXPECT_EQ(ec, std::errc::timed_out);
    l.set_deadline(when);
    (void)l.accept(ec);
    EXPECT_EQ(ec, io::errc::deadline_exceeded);
  }
  here.set_deadline(io::no_deadline);
  l.set_deadline(io::no_deadline);
  EXPECT_FALSE(read_byte(here)) << "the byte that was not read";
  here.write_all("y");
  EXPECT_FALSE(read_byte(there));
  const auto again = connected(l);
  EXPECT_TRUE(again.there.is_open());
}

// B244
TEST_FOR_PROCS(deadline, from_a_nanosecond_to_a_second_is_never_early) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto [here, there] = connected(l);
  for (const std::chrono::nanoseconds d : std::initializer_list<std::chrono::nanoseconds>{
           1ns, 10ns, 1us, 50us, 100us, 1ms, 5ms, 20ms, 100ms, 1s}) {
    const int rounds = d < 5ms ? 20 : 1;
    for (int i = 0; i < rounds; ++i) {
      const auto when = weft::clock::now() + d;
      here.set_read_deadline(when);
      EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded);
      EXPECT_GE(weft::clock::now(), when) << d.count() << " ns";
    }
    if (d > 20ms) continue;
    const auto when = weft::clock::now() + d;
    std::error_code ec;
    l.set_deadline(when);
    (void)l.accept(ec);
    EXPECT_EQ(ec, io::errc::deadline_exceeded);
    EXPECT_GE(weft::clock::now(), when) << d.count() << " ns";
  }
}

// B243
TEST_FOR_PROCS(deadline, many_short_ones_are_each_kept) {
  const auto [here, there] = connected();
  std::mt19937_64 random(seed());
  for (int i = 0; i < scaled(300); ++i) {
    const auto when = weft::clock::now() + std::chrono::microseconds(random() % 800);
    here.set_read_deadline(when);
    EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded);
    EXPECT_GE(weft::clock::now(), when);
  }
  here.set_read_deadline(io::no_deadline);
  there.write_all("x");
  EXPECT_FALSE(read_byte(here));
}

// A read that waits, what was done to its deadline meanwhile, and how it ended.
class waiting_read {
 public:
  explicit waiting_read(const io::stream& from) {
    wg_.go([this, from] {
      self_.comes();
      ended_ = read_byte(from);
      when_ = weft::clock::now();
      is_over_ = true;
    });
  }
  bool waits() const { return self_.waits(); }
  bool is_over() const { return is_over_; }
  std::error_code end() {
    wg_.wait();
    return ended_;
  }
  weft::time_point when() const { return when_; }

 private:
  comer self_;
  std::error_code ended_;
  weft::time_point when_;
  std::atomic<bool> is_over_{false};
  weft::wait_group wg_;
};

// B247
TEST_FOR_PROCS(deadline, set_while_a_read_waits_ends_it) {
  const auto [here, there] = connected();
  for (const auto d : std::initializer_list<std::chrono::nanoseconds>{-1h, 0ns, 1us, 10ms}) {
    waiting_read r(here);
    ASSERT_TRUE(r.waits());
    const auto when = weft::clock::now() + d;
    here.set_read_deadline(when);
    EXPECT_EQ(r.end(), io::errc::deadline_exceeded);
    EXPECT_GE(r.when(), when);
    here.set_read_deadline(io::no_deadline);
  }
}

TEST_FOR_PROCS(deadline, shortened_while_a_read_waits_ends_it_sooner) {
  const auto [here, there] = connected();
  here.set_read_deadline(weft::clock::now() + 1h);
  waiting_read r(here);
  ASSERT_TRUE(r.waits());
  here.set_read_deadline(weft::clock::now() + 30min);
  ASSERT_TRUE(r.waits());
  here.set_read_deadline(weft::clock::now() + 2ms);
  EXPECT_EQ(r.end(), io::errc::deadline_exceeded);
}

// B245, B241. If the machine was asleep until after the first deadline the round says nothing, and another one is tried.
void expect_still_waits_after(weft::time_point (*to)()) {
  for (int i = 0; i < 50; ++i) {
    const auto [here, there] = connected();
    const auto first = weft::clock::now() + 20ms;
    here.set_read_deadline(first);
    waiting_read r(here);
    for (int k = 0; k < 10; ++k) weft::yield();  // it waits by now, or soon: both are to hold
    here.set_read_deadline(to());
    const bool was_in_time = weft::clock::now() < first;
    if (was_in_time) {
      weft::sleep_until(first + 10ms);
      EXPECT_FALSE(r.is_over()) << "ended by a deadline that was moved";
    }
    there.write_all("x");
    const std::error_code end = r.end();
    if (!was_in_time) continue;
    EXPECT_FALSE(end) << end.message();
    return;
  }
  ADD_FAILURE() << "never in time";
}
TEST_FOR_PROCS(deadline, extended_while_a_read_waits_keeps_it_waiting) {
  expect_still_waits_after([] { return weft::clock::now() + 1h; });
}
TEST_FOR_PROCS(deadline, taken_away_while_a_read_waits_keeps_it_waiting) {
  expect_still_waits_after([] { return io::no_deadline; });
}

TEST_FOR_PROCS(deadline, moved_again_and_again_while_a_read_waits_loses_nothing) {
  const auto [here, there] = connected();
  std::atomic<bool> stop{false};
  weft::wait_group movers;
  for (int i = 0; i < 3; ++i)
    movers.go([&, here = here] {
      while (!stop) {
        here.set_read_deadline(weft::clock::now() + 1h);
        weft::yield();
      }
    });
  for (int i = 0; i < scaled(200); ++i) {
    waiting_read r(here);
    if (i % 2 == 0) weft::yield();
    there.write_all("x");
    const std::error_code end = r.end();
    ASSERT_FALSE(end) << end.message() << " in round " << i;
  }
  stop = true;
  movers.wait();
}

TEST_FOR_PROCS(deadline, of_reading_does_not_end_writing_nor_the_other_way) {
  const auto [here, there] = connected("unix");
  fill_up(here);
  weft::wait_group wg;
  comer writer;
  std::atomic<bool> is_written{false};
  wg.go([&, here = here] {
    writer.comes();
    std::error_code ec;
    here.write_some("x", ec);
    is_written = true;
    EXPECT_EQ(ec, io::errc::deadline_exceeded);
  });
  ASSERT_TRUE(writer.waits());
  here.set_read_deadline(weft::clock::now() + 1ms);
  EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded);
  EXPECT_FALSE(is_written) << "the writer was ended by the reader's deadline";
  here.set_read_deadline(io::no_deadline);
  waiting_read r(here);
  ASSERT_TRUE(r.waits());
  here.set_write_deadline(weft::clock::now() + 1ms);
  wg.wait();
  EXPECT_FALSE(r.is_over()) << "the reader was ended by the writer's deadline";
  there.write_all("x");
  EXPECT_FALSE(r.end());
}

TEST_FOR_PROCS(deadline, of_a_write_says_how_much_was_written) {
  const auto [here, there] = connected();
  const auto sent = bytes_of(5, 16 << 20);
  here.set_write_deadline(weft::clock::now() + 20ms);
  std::error_code ec;
  const std::size_t n = here.write_all(sent, ec);
  EXPECT_EQ(ec, io::errc::deadline_exceeded);
  ASSERT_LT(n, sent.size());
  here.set_write_deadline(io::no_deadline);
  here.shutdown();
  const auto got = read_all(there, ec);
  EXPECT_EQ(got.size(), n);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
}

TEST_FOR_PROCS(deadline, ends_everybody_who_waits_also_those_who_wait_for_their_turn) {
  const auto [here, there] = connected();
  weft::wait_group wg;
  std::array<comer, 8> readers;
  for (comer& each : readers)
    wg.go([&, here = here] {
      each.comes();
      EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded);
    });
  for (const comer& each : readers) ASSERT_TRUE(each.waits());
  here.set_deadline(weft::clock::now() + 2ms);
  wg.wait();
}

TEST_FOR_PROCS(deadline, holds_for_plain_threads_too) {
  const auto [here, there] = connected();
  weft::blocking([&, here = here, there = there] {
    std::thread([&] {
      const auto when = weft::clock::now() + 15ms;
      here.set_read_deadline(when);
      EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded);
      EXPECT_GE(weft::clock::now(), when);
      here.set_read_deadline(io::no_deadline);
      std::thread waits([&] { EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded); });
      here.set_read_deadline(weft::clock::now() + 5ms);
      waits.join();
      here.set_read_deadline(weft::clock::now() + 1h);
      there.write_all("x");
      EXPECT_FALSE(read_byte(here));
    }).join();
  });
}

// HAZARD 23. One that began its wait anew after each signal would never end while they come, which is for ten seconds.
TEST_FOR_PROCS(deadline, a_storm_of_signals_neither_cuts_nor_prolongs_it) {
  const auto [here, there] = connected();
  const signal_storm storm(10s);
  weft::wait_group wg;
  wg.go([&, there = there] {
    weft::blocking([&] {
      std::thread([&] {
        const auto when = weft::clock::now() + 200ms;
        there.set_read_deadline(when);
        EXPECT_EQ(read_byte(there), io::errc::deadline_exceeded);
        EXPECT_GE(weft::clock::now(), when);
        EXPECT_LT(weft::clock::now(), when + 8s);
      }).join();
    });
  });
  const auto when = weft::clock::now() + 200ms;
  here.set_read_deadline(when);
  EXPECT_EQ(read_byte(here), io::errc::deadline_exceeded);
  EXPECT_GE(weft::clock::now(), when);
  EXPECT_LT(weft::clock::now(), when + 8s);
  wg.wait();
  EXPECT_GT(counted_signal::count(), 10) << "there was no storm";
}

}  // namespace
