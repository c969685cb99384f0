// net.cpp: listening, dialling, talking.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <mutex>

#include <weft/io.hpp>
#include <weft/net.hpp>

#include "scenario.hpp"
#include "support/sockets.hpp"

using namespace faults;
using namespace std::chrono_literals;
namespace io = weft::io;
namespace net = weft::net;

namespace {

constexpr std::size_t kMuch = 300'000;
constexpr auto kLong = 20s;  // against hangs only

void in_runtime(void (*f)()) {
  weft::run({.max_procs = 2}, [f] {
    {
      (void)io::pipe();
    }
    f();
  });
}

// Both ways; the first error is told, and nobody is left waiting.
void talk(const net::conn& a, const net::conn& b) {
  const std::string all = pattern(kMuch);
  weft::mutex lock;
  std::error_code failed;
  const auto note = [&](const std::error_code& ec) {  // the first: others may follow from it
    const std::lock_guard mine(lock);
    if (ec && !failed) failed = ec;
  };
  auto echoing = weft::spawn([&] {
    std::array<char, 8192> room;
    std::error_code ec;
    while (const std::size_t n = b.read_some(room, ec)) {
      b.write_all({room.data(), n}, ec);
      if (ec) break;
    }
    note(ec);
    b.close();
  });
  auto writing = weft::spawn([&] {
    std::error_code ec;
    a.write_all(all, ec);
    if (!ec) a.shutdown(net::direction::write, ec);
    note(ec);
    if (ec) a.close();
  });
  std::string got;
  std::array<char, 8192> room;
  std::error_code ec;
  while (const std::size_t n = a.read_some(room, ec)) got.append(room.data(), n);
  note(ec);
  a.close();
  writing.join();
  echoing.join();
  if (failed) throw std::system_error(failed, "talk");
  REQUIRE(got == all);
}

void dial_and_talk(std::string_view network) {
  const auto l = net::listen(network, weft::test::free_place(network));
  net::conn there;
  auto accepting = weft::spawn([&] {
    std::error_code ec;
    l.set_deadline(weft::clock::now() + kLong);
    there = l.accept(ec);
    if (ec) throw std::system_error(ec, "accept");
  });
  net::conn here;
  try {
    here = net::dial(network, l.addr().to_string());
  } catch (...) {
    l.close();
    try {
      accepting.join();
    } catch (...) {
    }
    there.close();
    throw;
  }
  accepting.join();
  talk(here, there);
}

}  // namespace

SCENARIO(tcp) {
  in_runtime([] { attempt([] { dial_and_talk("tcp"); }); });
}

SCENARIO(unix) {
  in_runtime([] { attempt([] { dial_and_talk("unix"); }); });
}

// A path in the file system, which goes with the listener.
SCENARIO(unix_path) {
  in_runtime([] {
    const std::string path = temporary_file() + ".socket";
    attempt([&] {
      const auto l = net::listen("unix", path);
      l.close();
    });
    ::unlink(path.c_str());
  });
}

SCENARIO(shared_port) {
  in_runtime(
      [] { attempt([] { (void)net::listen("tcp", "127.0.0.1:0", {.reuse_port = true}); }); });
}

SCENARIO(pieces) {
  in_runtime([] {
    attempt([] {
      const auto [here, there] = weft::test::connected("tcp");
      const std::array<io::const_buffer, 3> pieces{"one ", "two ", "three"};
      here.write_all(pieces);
      std::array<char, 13> room;
      there.read_full(room);
      REQUIRE(std::string_view(room.data(), room.size()) == "one two three");
    });
  });
}

SCENARIO(options) {
  in_runtime([] {
    const auto [here, there] = weft::test::connected("tcp");
    attempt([&here = here] { here.set_no_delay(false); });
  });
}

// Whoever accepts goes on where one connection is lost, and waits where there is a shortage.
SCENARIO(accept) {
  in_runtime([] {
    attempt([] {
      const auto l = net::listen("tcp", "127.0.0.1:0");
      const auto here = net::dial("tcp", l.addr().to_string());
      l.set_deadline(weft::clock::now() + kLong);
      const auto there = l.accept();
      REQUIRE(there.remote_addr() == here.local_addr());
    });
  });
}

// Until its time is up.
SCENARIO(accept_in_vain) {
  in_runtime([] {
    attempt([] {
      const auto l = net::listen("tcp", "127.0.0.1:0");
      const auto here = net::dial("tcp", l.addr().to_string());
      l.set_deadline(weft::clock::now() + 200ms);
      (void)l.accept();
    });
  });
}

// The same, and somebody closes the listener instead of a deadline.
SCENARIO(accept_until_closed) {
  in_runtime([] {
    attempt([] {
      const auto l = net::listen("tcp", "127.0.0.1:0");
      const auto here = net::dial("tcp", l.addr().to_string());
      auto closing = weft::spawn([&] {
        weft::sleep_for(100ms);
        l.close();
      });
      std::error_code ec;
      const auto there = l.accept(ec);
      closing.join();
      if (ec) throw std::system_error(ec, "accept");
    });
  });
}

SCENARIO(packets) {
  in_runtime([] {
    attempt([] {
      const auto a = net::listen_packet("udp", "127.0.0.1:0");
      const auto b = net::listen_packet("udp", "127.0.0.1:0");
      a.write_to("hello", b.local_addr());
      std::array<char, 16> room;
      b.set_deadline(weft::clock::now() + kLong);
      const auto got = b.read_from(room);
      REQUIRE(std::string_view(room.data(), got.size) == "hello");
      REQUIRE(got.from == a.local_addr());
    });
  });
}

SCENARIO(file_to_socket) {
  in_runtime([] {
    const std::string path = temporary_file();
    const std::string all = pattern(kMuch);
    io::file::open(path, io::open_mode::write).write_all(all);
    attempt([&] {
      const auto [here, there] = weft::test::connected("tcp");
      std::string got;
      auto reading = weft::spawn([&, there = there] {
        std::array<char, 8192> room;
        std::error_code ec;
        while (const std::size_t n = there.read_some(room, ec)) got.append(room.data(), n);
      });
      const io::file f = io::file::open(path);
      std::error_code ec;
      const std::uint64_t n = here.send_file(f.native_handle(), 0, all.size(), ec);
      here.close();
      reading.join();
      REQUIRE(got == all.substr(0, n));
      if (ec) throw std::system_error(ec, "send file");
      REQUIRE(n == all.size());
    });
  });
}

SCENARIO(lookup) {
  in_runtime([] { attempt([] { REQUIRE(!net::lookup_host("localhost").empty()); }); });
}

// A plain thread that may have to stop waiting sends another.
SCENARIO(lookup_from_a_thread) {
  const auto [ctx, cancel] = weft::with_cancel(weft::background());
  attempt([&] { REQUIRE(!net::lookup_host(ctx, "localhost").empty()); });
  REQUIRE(!net::lookup_host(ctx, "localhost").empty());
}

SCENARIO(lookup_from_a_thread_by_code) {
  const auto [ctx, cancel] = weft::with_cancel(weft::background());
  attempt([&] {
    std::error_code ec;
    const auto found = net::lookup_host(ctx, "localhost", ec);
    REQUIRE(found.empty() == static_cast<bool>(ec));
    if (ec) throw std::system_error(ec, "by its code");
  });
  REQUIRE(!net::lookup_host(ctx, "localhost").empty());
}

SCENARIO(dial_from_a_thread) {
  const auto [ctx, cancel] = weft::with_cancel(weft::background());
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const std::string where = "localhost:" + std::to_string(l.addr().port());
  attempt([&] { (void)net::dial("tcp4", where, ctx); });
  REQUIRE(net::dial("tcp4", where, ctx).is_open());
}

SCENARIO(lookup_of_a_port) {
  in_runtime([] { attempt([] { (void)net::listen("tcp", "127.0.0.1:weft-no-such-service"); }); });
}

// Whether there is IPv6 is found out once: what was a shortage must not be taken for an answer.
SCENARIO(ipv6) {
  if (!weft::test::has_ipv6()) {
    say("outcome: no IPv6 here");
    return;
  }
  in_runtime([] {
    attempt([] { (void)net::listen("tcp", ":0"); });
    const auto l = net::listen("tcp", ":0");
    REQUIRE(!l.addr().is_v4());
  });
}
