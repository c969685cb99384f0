// io.cpp: pipes, copies, files.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

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

// The poller's descriptors are there before they are counted.
void in_runtime(void (*f)()) {
  weft::run({.max_procs = 2}, [f] {
    {
      (void)io::pipe();
    }
    f();
  });
}

// What is written to one end comes out at the other, whole.
template <class Writer, class Reader>
void send_through(const Writer& to, const Reader& from) {
  const std::string all = pattern(kMuch);
  auto writing = weft::spawn([&] {
    try {
      to.write_all(all);
    } catch (...) {
      to.close();
      throw;
    }
    to.close();
  });
  std::string got;
  std::array<char, 4096> room;
  try {
    while (const std::size_t n = from.read_some(room)) got.append(room.data(), n);
  } catch (...) {
    from.close();
    try {
      writing.join();
    } catch (...) {
    }
    throw;
  }
  writing.join();
  REQUIRE(got == all);
}

}  // namespace

// The first use of a descriptor opens the poller.
SCENARIO(first_pipe) {
  weft::run({.max_procs = 2}, [] {
    attempt_anyhow([] {
      const io::pipe_ends p = io::pipe();
      send_through(p.writer, p.reader);
    });
    const io::pipe_ends p = io::pipe();
    send_through(p.writer, p.reader);
  });
}

SCENARIO(pipe) {
  in_runtime([] {
    attempt([] {
      const io::pipe_ends p = io::pipe();
      send_through(p.writer, p.reader);
    });
  });
}

SCENARIO(pipe_on_uring) {
  weft::run({.max_procs = 2, .poller = weft::poller_kind::uring}, [] {
    {
      (void)io::pipe();
    }
    attempt([] {
      const io::pipe_ends p = io::pipe();
      send_through(p.writer, p.reader);
    });
  });
}

SCENARIO(start_on_uring) {
  attempt_anyhow([] {
    weft::run({.max_procs = 2, .poller = weft::poller_kind::uring}, [] {
      const io::pipe_ends p = io::pipe();
      send_through(p.writer, p.reader);
      say(weft::stats().poller);
    });
  });
}

// A descriptor that is neither a socket nor a pipe.
SCENARIO(terminal_on_uring) {
  weft::run({.max_procs = 2, .poller = weft::poller_kind::uring}, [] {
    {
      (void)io::pipe();
    }
    attempt([] {
      const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
      REQUIRE(master != -1);
      try {
        const io::async_fd t(master);
      } catch (...) {
        ::close(master);
        throw;
      }
    });
  });
}

SCENARIO(pipe_in_pieces) {
  in_runtime([] {
    attempt([] {
      const io::pipe_ends p = io::pipe();
      const std::array<io::const_buffer, 3> pieces{"one ", "two ", "three"};
      p.writer.write_all(pieces);
      std::array<char, 13> room;
      p.reader.read_full(room);
      REQUIRE(std::string_view(room.data(), room.size()) == "one two three");
    });
  });
}

// Somebody else's descriptor, which blocks until it is adopted.
SCENARIO(adopt) {
  in_runtime([] {
    attempt([] {
      int ends[2];
      REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
      try {
        const io::async_fd reader(ends[0]);
      } catch (...) {
        REQUIRE((::fcntl(ends[0], F_GETFL) & O_NONBLOCK) == 0);  // as it was, and still ours
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
      }
      ::close(ends[1]);
    });
  });
}

SCENARIO(adopt_socket) {
  in_runtime([] {
    attempt([] {
      int ends[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
      const io::async_fd one(ends[0]);
      const io::async_fd other(ends[1]);
      send_through(one, other);
    });
  });
}

SCENARIO(wait_readable) {
  in_runtime([] {
    attempt([] {
      const io::pipe_ends p = io::pipe();
      auto writing = weft::spawn([&] {
        weft::sleep_for(5ms);
        p.writer.write_all("x");
      });
      std::error_code ec;
      p.reader.wait_readable(ec);
      if (!ec) {
        p.reader.set_read_deadline(weft::clock::now());  // it must be there: nobody waits any more
        char c = 0;
        REQUIRE(::read(p.reader.native_handle(), &c, 1) == 1);
      }
      writing.join();
      if (ec) throw std::system_error(ec, "wait for fd");
    });
  });
}

// Nobody writes.
SCENARIO(wait_readable_in_vain) {
  in_runtime([] {
    attempt([] {
      const io::pipe_ends p = io::pipe();
      p.reader.set_read_deadline(weft::clock::now() + 100ms);
      p.reader.wait_readable();
    });
  });
}

// From a plain thread, which waits in the kernel itself.
SCENARIO(pipe_of_threads) {
  weft::run({.max_procs = 2}, [] {
    weft::blocking([] {
      std::thread([] {
        const io::pipe_ends p = io::pipe();
        attempt([&p] {
          std::thread late([&p] {
            ::usleep(20'000);
            p.writer.write_all("x");
          });
          char c = 0;
          p.reader.read_full({&c, 1});
          REQUIRE(c == 'x');
          late.join();
        });
      }).join();
    });
  });
}

// Closed while somebody waits in it.
SCENARIO(close_under_a_reader) {
  in_runtime([] {
    attempt([] {
      const io::pipe_ends p = io::pipe();
      auto reading = weft::spawn([&] {
        std::array<char, 1> room;
        std::error_code ec;
        p.reader.read_some(room, ec);
        REQUIRE(ec == io::errc::closed);
      });
      weft::sleep_for(5ms);
      p.reader.close();
      reading.join();
    });
  });
}

namespace {

// All of it, or as much as copy() says.
void copy_between(const io::stream& from_writer, const io::stream& from, const io::stream& to,
                  const io::stream& to_reader) {
  const std::string all = pattern(kMuch);
  auto writing = weft::spawn([&] {
    std::error_code ignored;  // whoever copies says what is wrong
    from_writer.write_all(all, ignored);
    from_writer.close();
  });
  std::string got;
  auto reading = weft::spawn([&] {
    std::array<char, 4096> room;
    std::error_code ignored;
    while (const std::size_t n = to_reader.read_some(room, ignored)) got.append(room.data(), n);
  });
  std::error_code ec;
  const std::uint64_t n = io::copy(to, from, ec);
  to.close();
  from.close();
  writing.join();
  reading.join();
  REQUIRE(got.size() == n && got == all.substr(0, n));  // no more than it says, and in its order
  if (ec) throw std::system_error(ec, "copy");
  REQUIRE(n == all.size());  // nothing is lost in silence
}

}  // namespace

SCENARIO(copy) {
  in_runtime([] {
    attempt([] {
      const auto a = weft::test::connected("unix");
      const auto b = weft::test::connected("unix");
      copy_between(a.here, a.there, b.here, b.there);
    });
  });
}

// The kernel splices nothing into what is there to be appended to: what is in the pipe already goes through memory.
SCENARIO(copy_by_half) {
  in_runtime([] {
    attempt([] {
      const auto a = weft::test::connected("unix");
      const auto b = weft::test::connected("unix");
      REQUIRE(::fcntl(b.here.native_handle(), F_SETFL, O_APPEND | O_NONBLOCK) == 0);
      copy_between(a.here, a.there, b.here, b.there);
    });
  });
}

// --- files ---

// All that can be done to one.
SCENARIO(file) {
  in_runtime([] {
    const std::string path = temporary_file();
    attempt([&] {
      const std::string all = pattern(kMuch);
      const io::file f = io::file::open(path, io::open_mode::read_write | io::open_mode::truncate);
      f.write_all(all);
      REQUIRE(f.size() == all.size());
      f.seek(0);
      REQUIRE(f.read_all() == all);
      std::string part(1000, '\0');
      REQUIRE(f.read_at(500, {part.data(), part.size()}) == 1000);
      REQUIRE(part == all.substr(500, 1000));
      f.write_at(10, "0123456789");
      f.sync();
      f.truncate(20);
      REQUIRE(f.size() == 20);
      std::error_code ec;
      f.close(ec);
      if (ec) throw std::system_error(ec, "close");
    });
  });
}

// What a close that is not looked at says is lost, but never a descriptor or a program.
SCENARIO(file_that_nobody_closes) {
  in_runtime([] {
    const std::string path = temporary_file();
    attempt([&] {
      const io::file f = io::file::open(path);
      REQUIRE(f.size() == 0);
    });
  });
}

// Descriptors and timers at once: whoever sleeps in the poller has a deadline.
SCENARIO(waiting_for_both) {
  in_runtime([] {
    attempt([] {
      const io::pipe_ends p = io::pipe();
      auto reading = weft::spawn([&] {
        std::array<char, 1> room;
        for (int i = 0; i < 10; ++i) p.reader.read_full(room);
      });
      auto sleeping = weft::spawn([] {
        for (int i = 0; i < 10; ++i) weft::sleep_for(3ms);
      });
      for (int i = 0; i < 10; ++i) {
        weft::blocking([] { ::usleep(4'000); });
        p.writer.write_all("x");
      }
      reading.join();
      sleeping.join();
    });
  });
}

// Whoever sleeps in the poller is called away, since a plain thread has something for it to do.
SCENARIO(called_away) {
  weft::run({.max_procs = 1}, [] {
    {
      (void)io::pipe();
    }
    attempt([] {
      const io::pipe_ends p = io::pipe();
      auto reading = weft::spawn([&] {
        std::array<char, 1> room;
        p.reader.read_full(room);
      });
      const auto news = weft::make_chan<int>();
      std::thread outside([news] {
        for (int i = 0; i < 10; ++i) {
          ::usleep(3'000);
          news.send(i);
        }
      });
      for (int i = 0; i < 10; ++i) REQUIRE(news.recv() == i);
      p.writer.write_all("x");
      reading.join();
      weft::blocking([&] { outside.join(); });
    });
  });
}
