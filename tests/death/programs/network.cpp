// network.cpp: programs in which somebody waits for the network, or nobody does any more.
#include <fcntl.h>
#include <sys/wait.h>

#include <array>

#include <weft/io.hpp>
#include <weft/net.hpp>

#include "scenario.hpp"

using namespace scenario;
namespace net = weft::net;
namespace io = weft::io;

// All others wait for a channel: but a connection may come any time.
SCENARIO(no_deadlock_while_somebody_accepts) {
  weft::run([] {
    static const auto l = net::listen("tcp", "127.0.0.1:0");
    weft::go([] {
      (void)l.accept();
      say("somebody came");
      std::_Exit(0);
    });
    std::thread([] {
      ::usleep(300'000);
      (void)net::dial("tcp", l.addr().to_string());
      ::pause();
    }).detach();
    wait_for_ever();
  });
}

// The same without any other thread that could be the one to wait for: the news comes from another process.
SCENARIO(no_deadlock_while_somebody_reads_what_another_process_writes) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  if (::fork() == 0) {
    ::usleep(400'000);
    REQUIRE(::write(ends[1], "x", 1) == 1);
    ::_exit(0);
  }
  ::close(ends[1]);
  weft::run([&] {
    const io::async_fd from(ends[0]);
    weft::event came;
    weft::go([&] {
      std::array<char, 1> room;
      REQUIRE(from.read_some(room) == 1);
      came.set();
    });
    came.wait();
    say("it came");
  });
}

SCENARIO(deadlock_after_the_listener_is_closed) {
  weft::run([] {
    const auto l = net::listen("tcp", "127.0.0.1:0");
    weft::go({.name = "acceptor"}, [l] {
      std::error_code ec;
      (void)l.accept(ec);
      REQUIRE(ec == io::errc::closed);
      say("woken");
      wait_for_ever();
    });
    weft::sleep_for(20ms);
    l.close();
    wait_for_ever();
  });
}

// Every way in which a wait can end, many times over. If any of them left one waiter counted there would be no report.
SCENARIO(deadlock_after_many_waits_for_the_network) {
  weft::run({.max_procs = 2}, [] {
    for (int i = 0; i < 200; ++i) {
      const auto p = io::pipe();
      weft::wait_group wg;
      if (i % 5 == 3) p.reader.set_read_deadline(weft::clock::now() + std::chrono::microseconds(i));
      wg.go([&] {
        std::array<char, 1> room;
        std::error_code ec;
        p.reader.read_some(room, ec);
      });
      if (i % 2 == 0) weft::yield();
      if (i % 5 == 0) p.writer.write_all("x");
      if (i % 5 == 1) p.reader.close();
      if (i % 5 == 2) p.writer.close();
      if (i % 5 == 4) p.reader.set_deadline(weft::time_point());
      wg.wait();
    }
    say("all came back");
    wait_for_ever();
  });
}

// Those that an earlier runtime left waiting are not counted in the next one.
SCENARIO(deadlock_beside_waits_of_an_earlier_run) {
  static io::pipe_ends left;
  weft::run([] {
    left = io::pipe();
    for (int i = 0; i < 3; ++i)
      weft::go([] {
        std::array<char, 1> room;
        (void)left.reader.read_some(room);
      });
    weft::sleep_for(10ms);
  });
  weft::run([] { wait_for_ever(); });
}

// A child that was forked between two runs has a runtime of its own; what the kernel tells the one must not get lost at the other.
SCENARIO(fork_between_runs_that_use_the_network) {
  const auto talk = [](int n) {
    const auto to = io::pipe();
    const auto back = io::pipe();
    weft::go([=] {
      std::array<char, 1> room;
      std::error_code ec;
      while (to.reader.read_some(room, ec) == 1) back.writer.write_all(room);
    });
    std::array<char, 1> room;
    for (int i = 0; i < n; ++i) {
      to.writer.write_all("x");
      back.reader.read_full(room);
      if (i % 100 == 0) weft::sleep_for(1ms);
    }
    to.writer.close();
  };
  weft::run([&] { talk(10); });
  const pid_t child = ::fork();
  if (child == 0) {
    weft::run({.max_procs = 2}, [&] { talk(2000); });
    ::_exit(6);
  }
  weft::run({.max_procs = 2}, [&] { talk(2000); });
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 6);
  say("both came through");
}

// What a child inherits it may use in a runtime of its own, and closing it there takes nothing from the parent.
SCENARIO(fork_between_runs_shares_what_is_open) {
  static const auto l = net::listen("tcp", "127.0.0.1:0");
  const auto p = io::pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    weft::run([&] {
      weft::go([&] { p.writer.write_all("x"); });
      std::array<char, 1> room;
      REQUIRE(p.reader.read_some(room) == 1);
      l.close();
    });
    ::_exit(6);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 6);
  weft::run([] {
    weft::wait_group wg;
    wg.go([] { REQUIRE(l.accept().is_open()); });
    weft::sleep_for(20ms);  // it waits
    (void)net::dial("tcp", l.addr().to_string());
    wg.wait();
  });
  say("accepted");
}
