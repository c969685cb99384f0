// net_close.cpp: closing wakes whoever waits, and what was closed is never somebody else's
// (B238, B248, B249, B251, B254, HAZARDS 24 and 29).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/meeting.hpp"
#include "support/parked.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

// B248
TEST_FOR_PROCS(close, wakes_everybody_who_reads_and_who_writes) {
  for (const std::string_view network : {"tcp", "unix"}) {
    const auto [here, there] = connected(network);
    weft::wait_group wg;
    std::array<comer, 5> readers;
    std::array<comer, 5> writers;
    for (comer& each : readers)
      wg.go([&, here = here] {
        std::array<char, 8> room;
        std::error_code ec;
        each.comes();
        EXPECT_EQ(here.read_some(room, ec), 0u);
        EXPECT_EQ(ec, io::errc::closed) << ec.message();
      });
    for (comer& each : writers)
      wg.go([&, here = here] {
        const std::vector<char> much(16 << 20);
        std::error_code ec;
        each.comes();
        EXPECT_LT(here.write_all(much, ec), much.size());
        EXPECT_EQ(ec, io::errc::closed) << ec.message();
      });
    for (const comer& each : readers) ASSERT_TRUE(each.waits());
    for (const comer& each : writers) ASSERT_TRUE(each.waits());
    here.close();
    wg.wait();
    EXPECT_FALSE(here.is_open());
  }
}

TEST_FOR_PROCS(close, wakes_everybody_who_accepts) {
  for (const std::string_view network : {"tcp", "unix"}) {
    const auto l = net::listen(network, free_place(network));
    weft::wait_group wg;
    std::array<comer, 5> acceptors;
    for (comer& each : acceptors)
      wg.go([&] {
        std::error_code ec;
        each.comes();
        EXPECT_FALSE(l.accept(ec).is_open());
        EXPECT_EQ(ec, io::errc::closed) << ec.message();
      });
    for (const comer& each : acceptors) ASSERT_TRUE(each.waits());
    l.close();
    wg.wait();
  }
}

TEST_FOR_PROCS(close_race, with_one_who_is_about_to_wait_never_leaves_him_waiting) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  for (int i = 0; i < scaled(200); ++i) {
    const auto [here, there] = connected(l);
    meeting both(2);
    weft::wait_group wg;
    wg.go([&, here = here] {
      std::array<char, 8> room;
      std::error_code ec;
      both.comes();
      here.read_some(room, ec);
      EXPECT_EQ(ec, io::errc::closed);
    });
    both.comes();
    for (int k = 0; k < i % 200; ++k) asm volatile("");
    here.close();
    wg.wait();
  }
}

// B251
TEST_FOR_PROCS(close, every_call_on_what_is_closed_says_so) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto [here, there] = connected(l);
  const auto p = net::listen_packet("udp", "127.0.0.1:0");
  const auto to = p.local_addr();
  here.close();
  l.close();
  p.close();
  for (const auto& c : {here, net::conn()}) {
    std::array<char, 8> room;
    std::error_code ec;
    const auto expect_closed = [&](const char* what) {
      EXPECT_EQ(ec, io::errc::closed) << what << ": " << ec.message();
      EXPECT_EQ(ec, std::errc::bad_file_descriptor);
      ec.clear();
    };
    EXPECT_EQ(c.read_some(room, ec), 0u);
    expect_closed("read_some");
    EXPECT_EQ(c.read_full(room, ec), 0u);
    expect_closed("read_full");
    EXPECT_EQ(c.read_some(io::mutable_buffer(), ec), 0u);
    expect_closed("read_some of nothing");
    EXPECT_EQ(c.write_some("x", ec), 0u);
    expect_closed("write_some");
    EXPECT_EQ(c.write_some("", ec), 0u);
    expect_closed("write_some of nothing");
    EXPECT_EQ(c.write_all("x", ec), 0u);
    expect_closed("write_all");
    EXPECT_EQ(c.write_all("", ec), 0u);
    expect_closed("write_all of nothing");
    c.set_deadline(weft::clock::now(), ec);
    expect_closed("set_deadline");
    c.set_read_deadline(weft::clock::now(), ec);
    expect_closed("set_read_deadline");
    c.set_write_deadline(weft::clock::now(), ec);
    expect_closed("set_write_deadline");
    c.shutdown(net::direction::both, ec);
    expect_closed("shutdown");
    c.set_no_delay(true, ec);
    expect_closed("set_no_delay");
    c.set_keep_alive(1s, ec);
    expect_closed("set_keep_alive");
    c.set_linger(1s, ec);
    expect_closed("set_linger");
    c.send_file(0, 0, 1, ec);
    expect_closed("send_file");
    c.close(ec);
    expect_closed("close");
    c.close();
    EXPECT_FALSE(c.is_open());
    EXPECT_EQ(c.native_handle(), -1);
    EXPECT_THROW(c.read_some(room), std::system_error);
  }
  std::error_code ec;
  std::array<char, 8> room;
  EXPECT_FALSE(l.accept(ec).is_open());
  EXPECT_EQ(ec, io::errc::closed);
  EXPECT_EQ(net::listener().accept(ec), net::conn());
  EXPECT_EQ(ec, io::errc::closed);
  EXPECT_EQ(p.read_from(room, ec).size, 0u);
  EXPECT_EQ(ec, io::errc::closed);
  EXPECT_EQ(p.write_to("x", to, ec), 0u);
  EXPECT_EQ(ec, io::errc::closed);
}

TEST_FOR_PROCS(close, what_was_written_before_is_still_sent) {
  const auto [here, there] = connected();
  const auto sent = bytes_of(1, 100'000);
  std::vector<char> got;
  weft::wait_group wg;
  wg.go([&, there = there] {
    std::error_code ec;
    got = read_all(there, ec);
    EXPECT_FALSE(ec) << ec.message();
  });
  here.write_all(sent);
  here.close();
  wg.wait();
  EXPECT_TRUE(got == sent);
}

TEST_FOR_PROCS(close, comes_with_the_last_copy) {
  const open_fds before;
  {
    auto [here, there] = connected();
    auto copy = here;
    EXPECT_EQ(copy, here);
    here = net::conn();
    copy.write_all("x");
    std::array<char, 2> room;
    EXPECT_EQ(there.read_some(room), 1u);
    copy = net::conn();
    EXPECT_EQ(there.read_some(room), 0u) << "the end";
  }
  EXPECT_TRUE(before.are_back());
}

// B249
TEST_FOR_PROCS(close, of_a_listener_frees_its_address_at_once) {
  for (int i = 0; i < 20; ++i) {
    const auto l = net::listen("tcp", "127.0.0.1:0");
    const std::string where = l.addr().to_string();
    const auto [here, there] = connected(l);  // it lives on
    l.close();
    std::error_code ec;
    const auto again = net::listen("tcp", where, ec);
    ASSERT_FALSE(ec) << ec.message();
    here.write_all("x");
    std::array<char, 1> room;
    there.read_full(room);
  }
}

TEST_FOR_PROCS(close, of_a_listener_frees_its_address_at_once_also_while_others_accept) {
  for (const std::string_view network : {"tcp", "unix"}) {
    for (int i = 0; i < 20; ++i) {
      const auto l = net::listen(network, free_place(network));
      const std::string where = l.addr().to_string();
      weft::wait_group wg;
      std::array<comer, 3> acceptors;
      for (comer& each : acceptors)
        wg.go([&] {
          std::error_code ec;
          each.comes();
          (void)l.accept(ec);
          EXPECT_EQ(ec, io::errc::closed);
        });
      for (const comer& each : acceptors) ASSERT_TRUE(each.waits());
      l.close();
      std::error_code ec;
      const auto again = net::listen(network, where, ec);
      EXPECT_FALSE(ec) << network << ": " << ec.message();
      wg.wait();
    }
  }
}

TEST_FOR_PROCS(close, of_a_packet_socket_frees_its_address_at_once_also_while_others_read) {
  const auto p = net::listen_packet("udp", "127.0.0.1:0");
  const std::string where = p.local_addr().to_string();
  weft::wait_group wg;
  comer reader;
  wg.go([&] {
    std::array<char, 1> room;
    std::error_code ec;
    reader.comes();
    (void)p.read_from(room, ec);
    EXPECT_EQ(ec, io::errc::closed);
  });
  ASSERT_TRUE(reader.waits());
  p.close();
  std::error_code ec;
  const auto again = net::listen_packet("udp", where, ec);
  EXPECT_FALSE(ec) << ec.message();
  wg.wait();
}

TEST_FOR_PROCS(close, of_a_unix_listener_takes_its_path_away) {
  const std::string path =
      "/tmp/weft-net-close-" + std::to_string(::getpid()) + "-" + std::to_string(weft::max_procs());
  struct stat info{};
  for (int i = 0; i < 3; ++i) {
    const auto l = net::listen("unix", path);
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    const auto pair = connected(l);
    EXPECT_EQ(pair.there.local_addr().to_string(), path);
    l.close();
    EXPECT_NE(::stat(path.c_str(), &info), 0);
  }
}

// B238, B251, HAZARD 24. Numbers and records are used again at once, so a call that came too late, or an event that did, would hit a
// neighbour: his bytes would be missing, come with a wrong tag, or his wait would end with a deadline or a close that was not his.
TEST_FOR_PROCS(close_race, what_is_closed_is_never_somebody_elses) {
  constexpr std::uint64_t kPairs = 8;
  const open_fds before;
  weft::wait_group all;
  for (std::uint64_t tag = 0; tag < kPairs; ++tag)
    all.go([tag] {
      const auto l = net::listen("tcp", "127.0.0.1:0");
      for (int i = 0; i < scaled(200); ++i) {
        const auto [here, there] = connected(l);
        const auto mine = bytes_of(tag, 64);
        weft::wait_group wg;
        // Reads on, also when it is closed and the number somebody else's.
        wg.go([&, here = here] {
          std::error_code ec;
          std::size_t at = 0;
          for (;;) {
            std::array<char, 16> room;
            const std::size_t n = here.read_some(room, ec);
            if (ec) break;
            ASSERT_GT(n, 0u) << "an end that was not ours";
            for (std::size_t k = 0; k < n; ++k)
              ASSERT_EQ(room[k], mine[at++ % mine.size()]) << "somebody else's bytes";
          }
          EXPECT_EQ(ec, io::errc::closed) << ec.message();
          for (int k = 0; k < 3; ++k) {
            here.write_some("not for you", ec);
            EXPECT_EQ(ec, io::errc::closed);
            here.set_deadline(weft::time_point(), ec);
            EXPECT_EQ(ec, io::errc::closed);
            here.shutdown(net::direction::both, ec);
            EXPECT_EQ(ec, io::errc::closed);
            weft::yield();
          }
        });
        there.write_all(mine);
        if (i % 3 == 0) weft::yield();
        there.write_all(mine);
        if (i % 2 == 0) weft::yield();
        here.close();
        wg.wait();
      }
    });
  all.wait();
  EXPECT_TRUE(before.are_back());
}

TEST_FOR_PROCS(close_race, whoever_asks_for_the_number_meanwhile_gets_it_or_none) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  for (int i = 0; i < scaled(150); ++i) {
    const auto [here, there] = connected(l);
    const int number = here.native_handle();
    meeting both(2);
    weft::wait_group wg;
    wg.go([&, here = here] {
      both.comes();
      for (int k = 0; k < 20; ++k) {
        const int now = here.native_handle();
        EXPECT_TRUE(now == number || now == -1) << now << " for " << number;
      }
    });
    both.comes();
    here.close();
    const auto other = io::pipe();
    wg.wait();
  }
}

// --- no descriptor is left ---

// UBSan checks each type of object once, and makes a pipe to do so: what is called for the first time without descriptors it takes for broken.
void know_errors() {
  for (const std::error_code ec :
       {std::error_code(io::errc::closed), std::error_code(weft::net::errc::no_such_host),
        make_error_code(weft::context_errc::canceled),
        std::error_code(EMFILE, std::system_category()),
        std::error_code(EMFILE, std::generic_category())}) {
    EXPECT_NE(ec, std::errc::operation_in_progress);
    EXPECT_FALSE(ec.message().empty());
  }
  const std::system_error error(EMFILE, std::system_category(), "what");
  EXPECT_EQ(error.code(), std::errc::too_many_files_open);
  EXPECT_NE(error.what(), nullptr);
}

// Nobody in this process gets another descriptor, but for so many, for a scope. weft itself may close one of its own meanwhile (it looks at
// threads under /proc), so a few more may be had: tests go on until there are none.
class descriptor_famine {
 public:
  explicit descriptor_famine(int nfree) {
    know_errors();
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int top = ::dup(0);
    const rlimit now{static_cast<rlim_t>(top) + 100, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
    for (int fd = top; fd != -1; fd = ::dup(0)) fillers_.push_back(fd);
    for (int i = 0; i < nfree; ++i) free_one();
  }
  ~descriptor_famine() { end(); }
  void end() {
    while (!fillers_.empty()) free_one();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  void free_one() {
    ::close(fillers_.back());
    fillers_.pop_back();
  }
  descriptor_famine(const descriptor_famine&) = delete;
  descriptor_famine& operator=(const descriptor_famine&) = delete;

 private:
  rlimit before_{};
  std::vector<int> fillers_;
};

// B254, HAZARD 29
TEST_FOR_PROCS(listener,
               without_descriptors_waits_without_spinning_and_goes_on_when_there_are_some) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  constexpr int kClients = 200;
  std::vector<net::conn> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(net::dial("tcp", l.addr().to_string()));
  descriptor_famine famine(20);  // weft may take some of them to look at its threads
  std::atomic<int> naccepted{0};
  std::vector<net::conn> kept;
  weft::wait_group wg;
  wg.go([&] {
    for (int i = 0; i < kClients; ++i) {
      std::error_code ec;
      kept.push_back(l.accept(ec));
      ASSERT_FALSE(ec) << ec.message();
      ++naccepted;
    }
  });
  EXPECT_TRUE(eventually([&] { return naccepted >= 5; }));
  const auto cpu_before = cpu_time();
  const auto began = weft::clock::now();
  weft::sleep_for(300ms);
  const auto took = weft::clock::now() - began;
  EXPECT_LT(cpu_time() - cpu_before, took / 3) << "it spins";
  EXPECT_LT(naccepted, kClients / 2);
  famine.end();
  wg.wait();
  EXPECT_EQ(naccepted, kClients);
}

// Until there is none: what was accepted is kept.
std::error_code accept_in_vain(const net::listener& l) {
  std::vector<net::conn> kept;
  std::error_code ec;
  while (!ec) kept.push_back(l.accept(ec));
  return ec;
}
std::vector<net::conn> many_callers(const net::listener& l) {
  std::vector<net::conn> all;
  for (int i = 0; i < 50; ++i) all.push_back(net::dial("tcp", l.addr().to_string()));
  return all;
}

TEST_FOR_PROCS(listener, that_waits_for_descriptors_can_be_closed) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto callers = many_callers(l);
  descriptor_famine famine(0);
  weft::wait_group wg;
  std::atomic<bool> is_begun{false};
  wg.go([&] {
    is_begun = true;
    const std::error_code ec = accept_in_vain(l);
    EXPECT_EQ(ec, io::errc::closed) << ec.message();
  });
  EXPECT_TRUE(eventually([&] { return is_begun.load(); }));
  weft::sleep_for(30ms);
  l.close();
  wg.wait();
}

// It tries again ever more seldom, up to once a second. The deadline must not have to wait for that: once it has passed, the call is to
// end before the pause that was under way does, so nothing may pass for a second try.
TEST_FOR_PROCS(listener, that_waits_for_descriptors_keeps_its_deadline) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto callers = many_callers(l);
  descriptor_famine famine(0);
  // The pauses of 5, 10 .. 640 ms are over after 1,275 ms: then one of a second begins.
  const auto when = weft::clock::now() + 1'300ms;
  l.set_deadline(when);
  const std::error_code ec = accept_in_vain(l);
  const auto late = weft::clock::now() - when;
  EXPECT_EQ(ec, io::errc::deadline_exceeded) << ec.message();
  EXPECT_GE(late, 0ns);
  EXPECT_LT(late, 900ms) << "it ended with the pause";
}

TEST_FOR_PROCS(dial, without_descriptors_says_so_and_leaves_nothing) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const open_fds before;
  {
    descriptor_famine famine(0);
    std::error_code ec;
    std::vector<net::conn> kept;
    for (int i = 0; i < 50 && !ec; ++i) kept.push_back(net::dial("tcp", l.addr().to_string(), ec));
    EXPECT_EQ(ec, std::errc::too_many_files_open) << ec.message();
    famine.free_one();  // a pipe needs two
    std::vector<io::pipe_ends> pipes;
    EXPECT_THROW(for (int i = 0; i < 50; ++i) pipes.push_back(io::pipe()), std::system_error);
  }
  EXPECT_TRUE(before.are_back());
}

}  // namespace
