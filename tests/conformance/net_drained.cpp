// net_drained.cpp: a read that got less than it asked for, and what was told together with it: the next read must not wait for more news.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "support/parked.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

enum class reader { dialled, accepted };

// What a goroutine reads that waits already when `act` happens all at once; "|" between reads, "." at the end, "!" if it waits for ever.
template <class Act>
std::string read_by_one_who_waits(reader who, std::size_t nreads, Act act) {
  auto [here, there] = connected("tcp");
  if (who == reader::dialled) std::swap(here, there);
  std::string got;
  weft::wait_group done;
  done.go([&, there = there] {
    std::array<char, 4096> room;
    for (std::size_t i = 0; i < nreads; ++i) {
      there.set_read_deadline(weft::clock::now() + 5s);
      std::error_code ec;
      const std::size_t n = there.read_some(room, ec);
      got.append(room.data(), n);
      got += ec ? "!" : n == 0 ? "." : "|";
    }
  });
  weft::sleep_for(5ms);  // it waits: and if not, it reads the same
  act(here);
  done.wait();
  return got;
}

}  // namespace

// On one P nobody asks the kernel between the two, so both come as one piece of news.
TEST_FOR_PROCS(drained, an_end_that_came_with_the_last_bytes_is_read) {
  for (int i = 0; i < 20; ++i) {
    for (const reader who : {reader::dialled, reader::accepted}) {
      const std::string got = read_by_one_who_waits(who, 2, [](const net::conn& c) {
        c.write_all("last words");
        c.shutdown();
      });
      EXPECT_EQ(got, "last words|.");
    }
  }
}

// Reads stop at the mark of urgent data, whatever comes after it.
TEST_FOR_PROCS(drained, what_comes_after_urgent_data_is_read) {
  for (int i = 0; i < 20; ++i) {
    for (const reader who : {reader::dialled, reader::accepted}) {
      const std::string got = read_by_one_who_waits(who, 2, [](const net::conn& c) {
        c.write_all("before");
        ::send(c.native_handle(), "!", 1, MSG_OOB | MSG_NOSIGNAL);
        c.write_all("after");
      });
      EXPECT_EQ(got, "before|after|");
    }
  }
}

// At the mark recv() says EAGAIN when a signal is pending for its thread, though there is something: of that no news comes.
TEST_FOR_PROCS(drained, what_comes_after_urgent_data_is_read_under_signals) {
  const counted_signal handled(SIGUSR1);
  std::atomic<bool> is_over{false};
  std::atomic<int> reader_thread{::gettid()};
  std::thread storm([&] {
    while (!is_over) ::syscall(SYS_tgkill, ::getpid(), reader_thread.load(), SIGUSR1);
  });
  auto [here, there] = connected("tcp");
  there.set_read_deadline(weft::clock::now() + 60s);
  const auto whole = weft::make_chan<bool>(1);
  weft::wait_group done;
  done.go([&, there = there] {
    std::array<char, 64> room;
    std::error_code ec;
    while (!ec) {
      std::size_t n = 0;
      while (n < 11 && !ec) {
        reader_thread = ::gettid();
        n += there.read_some({room.data() + n, room.size() - n}, ec);
      }
      if (!ec) whole.send(std::string_view(room.data(), n) == "beforeafter");
    }
    whole.close();
  });
  for (int i = 0; i < 400; ++i) {
    here.write_all("before");
    ::send(here.native_handle(), "!", 1, MSG_OOB | MSG_NOSIGNAL);
    here.write_all("after");
    const auto was_whole = whole.recv();
    EXPECT_TRUE(was_whole.has_value() && *was_whole) << "round " << i;
    if (!was_whole) break;
  }
  there.close();
  done.wait();
  is_over = true;
  storm.join();
}

TEST_FOR_PROCS(drained, much_in_small_pieces_arrives_whole) {
  constexpr std::size_t kPieces = 5000;
  auto [here, there] = connected("tcp");
  weft::wait_group done;
  std::size_t nread = 0;
  done.go([&, there = there] {
    std::array<char, 4096> room;
    there.set_read_deadline(weft::clock::now() + 30s);
    while (const std::size_t n = there.read_some(room)) nread += n;
  });
  for (std::size_t i = 0; i < kPieces; ++i) {
    here.write_all("piece");
    if (i % 16 == 0) weft::yield();
  }
  here.shutdown();
  done.wait();
  EXPECT_EQ(nread, kPieces * 5);
}
