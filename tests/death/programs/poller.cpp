// poller.cpp: programs that want io_uring, and may not have it.
#include <sys/syscall.h>

#include <array>
#include <cstddef>

#include <weft/io.hpp>
#include <weft/net.hpp>

#include "scenario.hpp"
#include "support/forbid_call.hpp"

using namespace scenario;
namespace net = weft::net;
namespace io = weft::io;

namespace {

// From now on this process has no io_uring: setting one up fails in that way.
void forbid_uring(int error) { REQUIRE(weft::test::forbid_call(SYS_io_uring_setup, error)); }

void talk() {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::go([l] {
    const auto c = l.accept();
    std::array<char, 8> room;
    std::error_code ec;
    while (const std::size_t n = c.read_some(room, ec)) c.write_all({room.data(), n}, ec);
  });
  const auto c = net::dial("tcp", l.addr().to_string());
  std::array<char, 5> room;
  c.write_all("hello");
  c.read_full(room);
  say("%s: %.5s", weft::stats().poller, room.data());
}

}  // namespace

SCENARIO(uring_where_the_kernel_has_none) {
  forbid_uring(ENOSYS);
  weft::run({.poller = weft::poller_kind::uring}, &talk);
}

SCENARIO(uring_where_it_is_forbidden) {
  forbid_uring(EPERM);
  weft::run(&talk);
}

// A connection is carried from one runtime to the next, each with the other kind.
SCENARIO(uring_and_epoll_by_turns) {
  static io::pipe_ends to, back;
  static net::listener l;
  for (const auto kind : {weft::poller_kind::epoll, weft::poller_kind::uring,
                          weft::poller_kind::epoll, weft::poller_kind::uring}) {
    weft::run({.max_procs = 2, .poller = kind}, [] {
      if (!to.reader.is_open()) to = io::pipe();
      if (!back.reader.is_open()) back = io::pipe();
      weft::wait_group wg;
      wg.go([] {
        std::array<char, 1> room;
        for (int i = 0; i < 100; ++i) {
          to.reader.read_full(room);
          back.writer.write_all(room);
        }
      });
      std::array<char, 1> room;
      for (int i = 0; i < 100; ++i) {
        if (i % 10 == 0) weft::sleep_for(1ms);
        to.writer.write_all("x");
        back.reader.read_full(room);
      }
      wg.wait();
      // The number that the last runtime listened at is free once it is closed.
      const std::string address = l.is_open() ? l.addr().to_string() : "127.0.0.1:0";
      l.close();
      l = net::listen("tcp", address);
      say("%s", weft::stats().poller);
    });
  }
}
