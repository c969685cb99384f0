// net_runtime.cpp: the network beside everything else: busy Ps, idle ones, plain threads, no runtime, signals, other programs
// (B015, B046, B058, B236, B237, B273, HAZARDS 25, 28).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/parked.hpp"
#include "support/pressure.hpp"
#include "support/sockets.hpp"

extern char** environ;

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

// So much there and back, checked byte by byte.
void talk(const net::conn& c, std::uint64_t tag, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto sent = bytes_of(tag + static_cast<std::uint64_t>(i), 300);
    std::vector<char> got(sent.size());
    std::error_code ec;
    ASSERT_EQ(c.write_all(sent, ec), sent.size()) << ec.message();
    ASSERT_EQ(c.read_full(got, ec), got.size()) << ec.message();
    ASSERT_EQ(got, sent);
  }
}

void talk_in_pairs(int npairs, int rounds) {
  weft::wait_group wg;
  for (int i = 0; i < npairs; ++i) {
    const auto [here, there] = connected();
    wg.go([there = there] { echo(there); });
    wg.go([=, here = here] { talk(here, static_cast<std::uint64_t>(1000 * i), rounds); });
  }
  wg.wait();
}

// B046
TEST_FOR_PROCS(busy, loops_on_every_p_do_not_keep_a_connection_waiting) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const auto [here, there] = connected();
  weft::wait_group wg;
  wg.go([there = there] { echo(there); });
  talk(here, 1, 1);
  {
    const hogs loops(weft::max_procs() + 1);
    const auto began = weft::clock::now();
    talk(here, 2, 5);  // ten wake-ups
    EXPECT_LT(weft::clock::now() - began, 5s);
  }
  here.close();
  wg.wait();
}

// Events come from outside while nobody looks for work: from a plain thread.
TEST_FOR_PROCS(busy, loops_on_every_p_do_not_keep_news_from_a_plain_thread_waiting) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const auto [reader, writer] = io::pipe();
  const auto [answer_reader, answer_writer] = io::pipe();
  weft::wait_group wg;
  wg.go([reader = reader, answer_writer = answer_writer] {
    std::array<char, 1> room;
    std::error_code ec;
    while (reader.read_some(room, ec) == 1) answer_writer.write_all(room);
  });
  std::chrono::steady_clock::duration longest{};
  {
    const hogs loops(weft::max_procs() + 1);
    std::thread outside([&, writer = writer, answer_reader = answer_reader] {
      std::array<char, 1> room;
      for (int i = 0; i < 10; ++i) {
        const auto began = std::chrono::steady_clock::now();
        writer.write_all("x");
        answer_reader.read_full(room);
        longest = std::max(longest, std::chrono::steady_clock::now() - began);
      }
      writer.close();
    });
    wg.wait();
    outside.join();
  }
  EXPECT_LT(longest, 1s * time_scale());
}

TEST_FOR_PROCS(busy, yielding_goroutines_do_not_keep_a_connection_waiting) {
  std::atomic<bool> stop{false};
  weft::wait_group yielders;
  for (unsigned i = 0; i < 2 * weft::max_procs(); ++i)
    yielders.go([&] {
      while (!stop) weft::yield();
    });
  talk_in_pairs(2, 20);
  stop = true;
  yielders.wait();
}

namespace {

// How often threads that run goroutines have gone to sleep in the kernel.
long count_sleeps() {
  long sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string word;
    std::ifstream(task.path() / "comm") >> word;
    if (word != "weft") continue;
    std::ifstream status(task.path() / "status");
    while (status >> word && word != "voluntary_ctxt_switches:") continue;
    long n = 0;
    status >> n;
    sum += n;
  }
  return sum;
}

}  // namespace

// Each goroutine is short, and there are always more: the P that runs them asks for news in between. A thread that slept in the poller
// instead would be woken for every few requests, and take the P away each time.
TEST(busy, more_requests_than_one_p_can_serve_wake_no_other_thread) {
  if (is_migrating()) GTEST_SKIP() << "forced migration wakes another thread for everything";
  if (kIsTsan) GTEST_SKIP() << "its client is too slow then to keep a processor busy";
  constexpr int kConns = 300;
  constexpr int kRounds = 10;
  weft::runtime rt({.max_procs = 1});
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::go([&] {
    for (int i = 0; i < kConns; ++i) {
      weft::go([c = l.accept()] {
        std::array<char, 4> room;
        std::error_code ec;
        while (c.read_full(room, ec) == room.size()) {
          const auto until = std::chrono::steady_clock::now() + 10us;  // slower than its client
          while (std::chrono::steady_clock::now() < until) continue;
          c.write_all(room, ec);
        }
      });
    }
  });
  std::vector<net::conn> conns;
  for (int i = 0; i < kConns; ++i) conns.push_back(net::dial("tcp", l.addr().to_string()));
  for (const net::conn& c : conns) c.write_all("pingping");  // one is always on its way
  // Where the client is kept from running there are fewer requests than can be served, and sleeps between them are right: the best of
  // some tries counts, as many as a crowded machine may need.
  long least = LONG_MAX;
  const auto limit = std::chrono::steady_clock::now() + 25s;
  while (least >= kConns * kRounds / 10 && std::chrono::steady_clock::now() < limit) {
    const long before = count_sleeps();
    std::array<char, 4> room;
    for (int k = 0; k < kRounds; ++k) {
      for (const net::conn& c : conns) {
        c.read_full(room);
        c.write_all(room);
      }
    }
    least = std::min(least, count_sleeps() - before);
  }
  EXPECT_LT(least, kConns * kRounds / 10);
  for (const net::conn& c : conns) c.close();
}

// B015
TEST_FOR_PROCS(parallelism, also_while_somebody_waits_for_the_network) {
  const auto [here, there] = connected();
  weft::wait_group waits;
  comer reader;
  waits.go([&, here = here] {
    std::array<char, 1> room;
    std::error_code ec;
    reader.comes();
    here.read_some(room, ec);
  });
  ASSERT_TRUE(reader.waits());
  std::atomic<unsigned> nhere{0};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs(); ++i)
    wg.go([&] {
      ++nhere;
      const auto limit = weft::clock::now() + 30s;
      while (nhere < weft::max_procs() && weft::clock::now() < limit) asm volatile("");
      EXPECT_EQ(nhere, weft::max_procs());
    });
  wg.wait();
  here.close();
  waits.wait();
}

TEST_FOR_PROCS(idle, a_hundred_connections_cost_no_processor) {
  std::vector<conn_pair> pairs;
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::wait_group wg;
  std::array<comer, 100> readers;
  for (comer& each : readers) {
    pairs.push_back(connected(l));
    wg.go([&each, c = pairs.back().here] {
      std::array<char, 1> room;
      std::error_code ec;
      each.comes();
      c.read_some(room, ec);
      EXPECT_EQ(ec, io::errc::closed);
    });
  }
  for (const comer& each : readers) ASSERT_TRUE(each.waits());
  weft::sleep_for(50ms);  // what still spins may come to rest
  const auto cpu_before = cpu_time();
  const auto began = weft::clock::now();
  weft::sleep_for(300ms);
  const auto took = weft::clock::now() - began;
  EXPECT_LT(cpu_time() - cpu_before, took / 5);
  for (const conn_pair& each : pairs) each.here.close();
  wg.wait();
}

// B273, HAZARD 28: a copy of the number in another process keeps the kernel's object alive, so that events go on for one that is closed
// here. Nobody may be kept busy by them.
TEST_FOR_PROCS(idle, events_of_what_another_process_still_has_open_cost_nothing) {
  const auto [reader, writer] = io::pipe();
  const auto other = io::pipe();
  int gate[2];
  ASSERT_EQ(::pipe2(gate, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char c;
    ::close(gate[1]);
    (void)!::read(gate[0], &c, 1);
    ::_exit(0);
  }
  ::close(gate[0]);
  const int raw = ::dup(writer.native_handle());
  reader.close();  // the child still has it
  weft::wait_group wg;
  comer waits;
  wg.go([&] {
    std::array<char, 1> room;
    waits.comes();
    EXPECT_EQ(other.reader.read_some(room), 1u);
  });
  ASSERT_TRUE(waits.waits());
  const auto cpu_before = cpu_time();
  const auto began = weft::clock::now();
  for (int i = 0; i < 100; ++i) {
    (void)!::write(raw, "x", 1);
    weft::sleep_for(2ms);
  }
  EXPECT_LT(cpu_time() - cpu_before, (weft::clock::now() - began) / 3);
  other.writer.write_all("y");
  wg.wait();
  ::close(raw);
  ::close(gate[1]);
  int status = 0;
  weft::blocking([&] { ::waitpid(child, &status, 0); });
  EXPECT_EQ(status, 0);
}

// B058: no byte is lost and nobody hears of the interruptions.
TEST_FOR_PROCS(signals, a_storm_of_them_does_not_disturb_connections) {
  const signal_storm storm;
  talk_in_pairs(4, scaled(150));
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::blocking([&] {
    std::thread server([&] {
      std::error_code ec;
      echo(l.accept(ec));
      EXPECT_FALSE(ec) << ec.message();
    });
    std::thread([&] { talk(net::dial("tcp", l.addr().to_string()), 9, scaled(100)); }).join();
    server.join();
  });
  EXPECT_TRUE(eventually([] { return counted_signal::count() > 20; })) << "there was no storm";
}

TEST_FOR_PROCS(threads, plain_ones_use_connections_beside_goroutines) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::wait_group wg;
  wg.go([&] {
    for (int i = 0; i < 4; ++i) wg.go([c = l.accept()] { echo(c); });
  });
  weft::blocking([&] {
    std::vector<std::thread> clients;
    for (std::uint64_t i = 0; i < 4; ++i)
      clients.emplace_back(
          [&, i] { talk(net::dial("tcp", l.addr().to_string()), 100 * i, scaled(50)); });
    for (auto& each : clients) each.join();
  });
  wg.wait();
}

TEST_FOR_PROCS(threads, close_wakes_a_plain_one_and_one_that_waits_for_its_turn) {
  const auto [here, there] = connected();
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([here = here] {
      std::array<char, 1> room;
      std::error_code ec;
      here.read_some(room, ec);
      EXPECT_EQ(ec, io::errc::closed);
    });
  weft::sleep_for(5ms);
  here.close();
  weft::blocking([&] {
    for (auto& each : readers) each.join();
  });
}

TEST(no_runtime, plain_threads_use_the_network) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  std::thread server([&] { echo(l.accept()); });
  {
    const auto c = net::dial("tcp", l.addr().to_string());
    talk(c, 1, 50);
    c.set_read_deadline(weft::clock::now() + 5ms);
    std::array<char, 1> room;
    std::error_code ec;
    c.read_some(room, ec);
    EXPECT_EQ(ec, io::errc::deadline_exceeded);
  }
  server.join();
}

TEST(no_runtime, connections_live_on_from_one_run_to_the_next_and_between) {
  conn_pair p;
  run_on(2, [&] { p = connected(); });
  for (unsigned i = 0; i < 4; ++i) {
    run_on(1 + i, [&] {
      weft::wait_group wg;
      comer waits;
      std::array<char, 1> room;
      wg.go([&] {
        waits.comes();
        EXPECT_EQ(p.there.read_some(room), 1u);
      });
      ASSERT_TRUE(waits.waits());
      p.here.write_all("x");
      wg.wait();
    });
    std::thread waits([&] {
      std::array<char, 1> room;
      EXPECT_EQ(p.here.read_some(room), 1u);
    });
    p.there.write_all("y");
    waits.join();
  }
}

// What a goroutine that was abandoned waited for must not hurt the next runtime: its events find nobody.
TEST(no_runtime, events_for_goroutines_that_were_abandoned_harm_nobody) {
  for (unsigned i = 0; i < 20; ++i) {
    static io::pipe_ends left;
    run_on(1 + i % 4, [] {
      left = io::pipe();
      static comer waits;
      waits.~comer();
      ::new (&waits) comer;
      weft::go([] {
        std::array<char, 1> room;
        waits.comes();
        (void)left.reader.read_some(room);
        ADD_FAILURE() << "it came back";
      });
      ASSERT_TRUE(waits.waits());
    });
    run_on(1 + i % 3, [&] {
      const auto fresh = io::pipe();
      weft::wait_group wg;
      comer waits;
      wg.go([&] {
        std::array<char, 1> room;
        waits.comes();
        EXPECT_EQ(fresh.reader.read_some(room), 1u);
      });
      ASSERT_TRUE(waits.waits());
      left.writer.write_all("x");
      fresh.writer.write_all("y");
      wg.wait();
      left.reader.close();
      left.writer.close();
    });
  }
}

// They never leave, but what they waited for can be closed, and its address is free.
TEST(no_runtime, what_abandoned_goroutines_waited_for_can_be_closed) {
  static net::listener l;
  static comer waits;
  run_on(2, [] {
    l = net::listen("tcp", "127.0.0.1:0");
    weft::go([] {
      std::error_code ec;
      waits.comes();
      (void)l.accept(ec);
    });
    ASSERT_TRUE(waits.waits());
  });
  const std::string where = l.addr().to_string();
  l.close();
  std::error_code ec;
  const auto again = net::listen("tcp", where, ec);
  EXPECT_FALSE(ec) << ec.message();
}

// B237, HAZARD 25: many use it first, at the same moment. Each time in a fresh process: this program, started again.
void use_it_first() {
  run_on(4, [] {
    weft::wait_group wg;
    std::atomic<int> nmissing{8};
    for (int k = 0; k < 8; ++k)
      wg.go([&] {
        --nmissing;
        while (nmissing > 0) weft::yield();
        const auto p = io::pipe();
        weft::wait_group inner;
        inner.go([&] { p.writer.write_all("x"); });
        std::array<char, 1> room;
        EXPECT_EQ(p.reader.read_some(room), 1u);
        inner.wait();
      });
    wg.wait();
  });
}
TEST(poller_race, the_first_users_come_all_at_once) {
  if (std::getenv("WEFT_TEST_IS_FRESH") != nullptr) return use_it_first();
  std::array<char, 4096> self{};
  ASSERT_GT(::readlink("/proc/self/exe", self.data(), self.size() - 1), 0);
  std::vector<std::string> command = words_of(WEFT_TEST_EMULATOR);
  command.insert(command.end(), {self.data(), "--gtest_filter=poller_race.the_first_users*"});
  for (int i = 0; i < scaled(20); ++i)
    ASSERT_TRUE(
        exited(run_child({.command = command, .environment = {{"WEFT_TEST_IS_FRESH", "1"}}}), 0));
}

// HAZARD 28: programs that are started get none of ours, and we go on.
TEST_FOR_PROCS(programs, started_in_between_neither_disturb_nor_get_descriptors) {
  weft::wait_group wg;
  std::atomic<bool> stop{false};
  wg.go([&] {
    while (!stop) talk_in_pairs(2, 10);
  });
  const auto [here, there] = connected();
  const std::string look =
      "test ! -e /proc/self/fd/" + std::to_string(here.native_handle()) + " && exit 7";
  for (int i = 0; i < scaled(20); ++i) {
    char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                               const_cast<char*>(look.c_str()), nullptr};
    pid_t child = -1;
    ASSERT_EQ(::posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ), 0);
    int status = 0;
    weft::blocking([&] { ::waitpid(child, &status, 0); });
    EXPECT_EQ(WEXITSTATUS(status), 7);
  }
  stop = true;
  wg.wait();
}

// B236: one that sleeps in the poller for long is woken by what has nothing to do with the network, again and again.
TEST_FOR_PROCS(poller, one_that_sleeps_in_it_is_woken_by_other_work) {
  const auto [reader, writer] = io::pipe();
  weft::wait_group wg;
  comer waits;
  wg.go([&, reader = reader] {
    std::array<char, 1> room;
    std::error_code ec;
    waits.comes();
    reader.read_some(room, ec);
  });
  ASSERT_TRUE(waits.waits());
  const auto c = weft::make_chan<int>();
  const auto answers = weft::make_chan<int>();
  wg.go([=] {
    while (const auto n = c.recv()) answers.send(*n);
  });
  const auto began = std::chrono::steady_clock::now();
  weft::blocking([&] {
    std::thread([&] {
      for (int i = 0; i < 50; ++i) {
        c.send(i);
        EXPECT_EQ(answers.recv(), i);
      }
    }).join();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
  for (int i = 0; i < 50; ++i) {  // and by timers
    weft::sleep_for(200us);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
  c.close();
  reader.close();
  wg.wait();
}

}  // namespace
