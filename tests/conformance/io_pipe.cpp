// io_pipe.cpp: pipes, and descriptors that somebody else has opened (B248, B266, B267, B268).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/meeting.hpp"
#include "support/parked.hpp"
#include "support/sockets.hpp"

using namespace std::chrono_literals;
using namespace weft::test;
namespace io = weft::io;

namespace {

// B266
TEST_FOR_PROCS(pipe, the_reader_sees_everything_and_then_the_end) {
  const auto [reader, writer] = io::pipe();
  const auto sent = bytes_of(1, 1'000'000);
  weft::wait_group wg;
  wg.go([&, writer = writer] {
    writer.write_all(sent);
    writer.close();
  });
  std::error_code ec;
  EXPECT_TRUE(read_all(reader, ec) == sent);
  EXPECT_FALSE(ec) << ec.message();
  wg.wait();
}

TEST_FOR_PROCS(pipe, the_end_wakes_a_reader_that_waits) {
  auto [reader, writer] = io::pipe();
  comer waits;
  weft::wait_group wg;
  wg.go([&, reader = reader] {
    std::array<char, 4> room;
    waits.comes();
    EXPECT_EQ(reader.read_some(room), 0u);
  });
  ASSERT_TRUE(waits.waits());
  writer = io::async_fd();  // its last copy
  wg.wait();
}

TEST_FOR_PROCS(pipe, without_a_reader_writing_fails_and_raises_no_signal) {
  const counted_signal sigpipe(SIGPIPE);
  const auto [reader, writer] = io::pipe();
  reader.close();
  std::error_code ec;
  EXPECT_EQ(writer.write_some("x", ec), 0u);
  EXPECT_EQ(ec, std::errc::broken_pipe) << ec.message();
  const std::array<io::const_buffer, 2> pieces = {io::const_buffer("a"), io::const_buffer("b")};
  EXPECT_EQ(writer.write_all(pieces, ec), 0u);
  EXPECT_EQ(ec, std::errc::broken_pipe);
  EXPECT_EQ(counted_signal::count(), 0);
}

TEST_FOR_PROCS(pipe, a_reader_that_goes_away_wakes_a_writer_that_waits) {
  const counted_signal sigpipe(SIGPIPE);
  const auto [reader, writer] = io::pipe();
  comer waits;
  weft::wait_group wg;
  wg.go([&, writer = writer] {
    const std::vector<char> much(1 << 20);
    std::error_code ec;
    waits.comes();
    EXPECT_LT(writer.write_all(much, ec), much.size());
    EXPECT_EQ(ec, std::errc::broken_pipe) << ec.message();
  });
  ASSERT_TRUE(waits.waits());
  reader.close();
  wg.wait();
  EXPECT_EQ(counted_signal::count(), 0);
}

// B248
TEST_FOR_PROCS(pipe, close_wakes_whoever_waits_at_either_end) {
  const auto [reader, writer] = io::pipe();
  comer reads;
  weft::wait_group wg;
  wg.go([&, reader = reader] {
    std::array<char, 4> room;
    std::error_code ec;
    reads.comes();
    reader.read_some(room, ec);
    EXPECT_EQ(ec, io::errc::closed);
  });
  ASSERT_TRUE(reads.waits());
  reader.close();
  wg.wait();
  const auto other = io::pipe();
  comer writes;
  wg.go([&] {
    const std::vector<char> much(1 << 20);
    std::error_code ec;
    writes.comes();
    other.writer.write_all(much, ec);
    EXPECT_EQ(ec, io::errc::closed);
  });
  ASSERT_TRUE(writes.waits());
  other.writer.close();
  wg.wait();
}

// B268. The numbers are used again at once: whoever comes too late must not reach the pipe that has his number now.
TEST_FOR_PROCS(pipe_race, reading_writing_and_closing_never_reach_another_pipe) {
  const open_fds before;
  weft::wait_group all;
  for (std::uint64_t tag = 0; tag < 8; ++tag)
    all.go([tag] {
      for (int i = 0; i < scaled(60); ++i) {
        const auto [reader, writer] = io::pipe();
        ::fcntl(writer.native_handle(), F_SETPIPE_SZ,
                4096);  // it is the closing that counts, and not what flows
        const auto mine = bytes_of(tag, 32);
        weft::wait_group wg;
        wg.go([&, reader = reader] {
          std::error_code ec;
          std::size_t at = 0;
          std::array<char, 64> room;
          for (;;) {
            const std::size_t n = reader.read_some(room, ec);
            if (ec || n == 0) break;
            for (std::size_t k = 0; k < n; ++k)
              ASSERT_EQ(room[k], mine[at++ % mine.size()]) << "another pipe's bytes";
          }
          EXPECT_TRUE(!ec || ec == io::errc::closed) << ec.message();
        });
        wg.go([&, writer = writer] {
          std::error_code ec;
          while (!ec) writer.write_all(mine, ec);
          EXPECT_TRUE(ec == io::errc::closed || ec == std::errc::broken_pipe) << ec.message();
        });
        if (i % 2 == 0) weft::yield();
        (i % 3 == 0 ? reader : writer).close();
        (i % 3 == 0 ? writer : reader).close();
        wg.wait();
      }
    });
  all.wait();
  EXPECT_TRUE(before.are_back());
}

TEST_FOR_PROCS(pipe, deadlines_hold) {
  const auto [reader, writer] = io::pipe();
  const auto when = weft::clock::now() + 5ms;
  reader.set_read_deadline(when);
  std::array<char, 4> room;
  std::error_code ec;
  EXPECT_EQ(reader.read_some(room, ec), 0u);
  EXPECT_EQ(ec, io::errc::deadline_exceeded);
  EXPECT_GE(weft::clock::now(), when);
  const std::vector<char> much(1 << 20);
  writer.set_write_deadline(weft::clock::now() + 5ms);
  const std::size_t n = writer.write_all(much, ec);
  EXPECT_EQ(ec, io::errc::deadline_exceeded);
  EXPECT_LT(n, much.size());
  writer.close();
  reader.set_read_deadline(io::no_deadline);
  EXPECT_EQ(read_all(reader, ec).size(), n);
}

TEST_FOR_PROCS(pipe, is_closed_when_a_program_is_executed) {
  const auto [reader, writer] = io::pipe();
  for (const auto& end : {reader, writer})
    EXPECT_NE(::fcntl(end.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
}

// B267
TEST_FOR_PROCS(async_fd, a_regular_file_is_refused_and_stays_the_callers) {
  char path[] = "/tmp/weft-io-pipe-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_NE(file, -1);
  ::unlink(path);
  const int flags = ::fcntl(file, F_GETFL);
  std::error_code ec;
  const io::async_fd refused(file, ec);
  EXPECT_EQ(ec, std::errc::operation_not_permitted) << ec.message();
  EXPECT_FALSE(refused.is_open());
  EXPECT_EQ(::fcntl(file, F_GETFL), flags) << "as it was";
  EXPECT_THROW(io::async_fd{file}, std::system_error);
  EXPECT_EQ(::close(file), 0) << "it was still open";
  const io::async_fd none(-1, ec);
  EXPECT_EQ(ec, std::errc::bad_file_descriptor);
}

TEST_FOR_PROCS(async_fd, can_be_waited_for_and_used_by_other_means) {
  const int number = ::eventfd(0, EFD_CLOEXEC);
  const io::async_fd e(number);
  EXPECT_NE(::fcntl(number, F_GETFL) & O_NONBLOCK, 0);
  e.wait_writable();
  for (int i = 0; i < 3; ++i) {
    comer waits;
    weft::wait_group wg;
    std::atomic<bool> is_over{false};
    wg.go([&] {
      waits.comes();
      e.wait_readable();
      is_over = true;
    });
    ASSERT_TRUE(waits.waits());
    EXPECT_FALSE(is_over);
    EXPECT_EQ(::eventfd_write(number, 1), 0);
    wg.wait();
    e.wait_readable();  // it still is
    eventfd_t value = 0;
    EXPECT_EQ(::eventfd_read(number, &value), 0);
    EXPECT_EQ(value, 1u);
  }
  std::error_code ec;
  e.set_read_deadline(weft::clock::now() + 2ms);
  e.wait_readable(ec);
  EXPECT_EQ(ec, io::errc::deadline_exceeded);
  e.close();
  e.wait_readable(ec);
  EXPECT_EQ(ec, io::errc::closed);
  e.wait_writable(ec);
  EXPECT_EQ(ec, io::errc::closed);
}

TEST_FOR_PROCS(async_fd, a_timer_of_the_kernels_wakes) {
  const int number = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const io::async_fd t(number);
  for (int i = 0; i < 5; ++i) {
    const itimerspec soon{{}, {0, 2'000'000}};
    const auto began = weft::clock::now();
    ASSERT_EQ(::timerfd_settime(number, 0, &soon, nullptr), 0);
    std::uint64_t nfired = 0;
    t.read_full({&nfired, sizeof nfired});
    EXPECT_EQ(nfired, 1u);
    EXPECT_GE(weft::clock::now() - began, 2ms);
  }
}

// Two handles of one pipe of the kernel's, by two numbers: events for both.
TEST_FOR_PROCS(async_fd, a_copy_of_a_number_is_another_descriptor) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const io::async_fd writer(ends[1]);
  const io::async_fd first(ends[0]);
  const io::async_fd second(::dup(ends[0]));
  weft::wait_group wg;
  std::atomic<int> nread{0};
  std::array<comer, 2> readers;
  for (std::size_t i = 0; i < 2; ++i)
    wg.go([&, i, from = i == 0 ? first : second] {
      std::array<char, 1> room;
      readers[i].comes();
      while (from.read_some(room) == 1) ++nread;
    });
  for (const comer& each : readers) ASSERT_TRUE(each.waits());
  for (int i = 0; i < 100; ++i) writer.write_all("x");
  writer.close();
  wg.wait();
  EXPECT_EQ(nread, 100);
}

TEST_FOR_PROCS(async_fd, sockets_of_the_programs_own_are_as_good) {
  const counted_signal sigpipe(SIGPIPE);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const io::async_fd here(ends[0]);
  const io::async_fd there(ends[1]);
  weft::wait_group wg;
  wg.go([&] { here.write_all(bytes_of(7, 500'000)), here.close(); });
  std::error_code ec;
  EXPECT_TRUE(read_all(there, ec) == bytes_of(7, 500'000));
  wg.wait();
  there.write_all("x", ec);
  EXPECT_EQ(ec, std::errc::broken_pipe);
  EXPECT_EQ(counted_signal::count(), 0);
}

}  // namespace
