// sockets.hpp: connections for tests, and counting what they leave behind.
//
//   auto [here, there] = weft::test::connected("tcp");
//   const weft::test::open_fds before;
//   ...
//   EXPECT_TRUE(before.are_back());          // as many descriptors as then
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <weft/io.hpp>
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace weft::test {

// Where nobody else listens: a free port, or a name in the abstract namespace.
inline std::string free_place(std::string_view network) {
  static std::atomic<unsigned> n{0};
  if (network.starts_with("unix"))
    return "@weft-test-" + std::to_string(::getpid()) + "-" + std::to_string(++n);
  return network.ends_with('6') ? "[::1]:0" : "127.0.0.1:0";
}

struct conn_pair {
  net::conn here;
  net::conn there;
};

inline conn_pair connected(const net::listener& l) {
  conn_pair p;
  p.here = net::dial(l.addr().network(), l.addr().to_string());
  p.there = l.accept();
  return p;
}
inline conn_pair connected(std::string_view network = "tcp") {
  return connected(net::listen(network, free_place(network)));
}

// What comes in goes out again, until the other side ends.
inline void echo(const net::conn& c) {
  std::array<char, 2048> room;
  std::error_code ec;
  while (const std::size_t n = c.read_some(room, ec)) c.write_all({room.data(), n}, ec);
}

inline bool has_ipv6() {
  std::error_code ec;
  (void)net::listen("tcp6", "[::1]:0", ec);
  return !ec;
}

// Bytes that tell what they belong to and where in it they stand.
inline char byte_of(std::uint64_t tag, std::uint64_t at) {
  const std::uint64_t x = (tag + 1) * 0x9E3779B97F4A7C15 + at * 0xD1B54A32D192ED03;
  return static_cast<char>(x >> 56 ^ x >> 24);
}
inline std::vector<char> bytes_of(std::uint64_t tag, std::size_t n) {
  std::vector<char> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = byte_of(tag, i);
  return v;
}

// Reads to the end, of a stream or a TLS connection.
template <class Stream>
std::vector<char> read_all(const Stream& from, std::error_code& ec) {
  std::vector<char> all;
  std::array<char, 4096> room;
  for (;;) {
    const std::size_t n = from.read_some(room, ec);
    if (ec || n == 0) return all;
    all.insert(all.end(), room.data(), room.data() + n);
  }
}

// "socket:[4711]" and the like; "" if there is none. What weft itself looks at under /proc is not counted.
inline std::string what_is_open_at(int fd) {
  std::array<char, 256> what;
  const ssize_t n =
      ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), what.data(), what.size());
  std::string text(what.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.starts_with("/proc/") ? std::string() : text;
}

inline std::vector<std::string> list_fds() {
  std::vector<std::string> all;
  DIR* const fds = ::opendir("/proc/self/fd");
  if (fds == nullptr) return all;
  while (const dirent* const each = ::readdir(fds)) {
    const std::string what = what_is_open_at(std::atoi(each->d_name));
    if (each->d_name[0] != '.' && !what.empty()) all.push_back(each->d_name + (" " + what));
  }
  ::closedir(fds);
  return all;
}
inline std::size_t count_fds() { return list_fds().size(); }

// The poller's own are opened with the first descriptor, so one is made before the count.
class open_fds {
 public:
  open_fds() {
    {
      (void)io::pipe();
    }
    n_ = count_fds();
  }
  // Whoever leaves a closed descriptor last closes the number, so it may take a moment.
  [[nodiscard]] testing::AssertionResult are_back() const {
    if (eventually([this] { return count_fds() <= n_; })) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "more than " << n_ << ": " << testing::PrintToString(list_fds());
  }

 private:
  std::size_t n_;
};

// Processor time of this process so far.
inline std::chrono::nanoseconds cpu_time() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// Counts how often a signal is delivered, for a scope. One at a time.
class counted_signal {
 public:
  explicit counted_signal(int number) : number_(number) {
    count() = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { ++count(); };  // without SA_RESTART
    action.sa_flags = SA_ONSTACK;
    ::sigaction(number, &action, &before_);
  }
  // What is still pending on a thread that blocks it is dropped first: the default would be to die of it.
  ~counted_signal() {
    ::signal(number_, SIG_IGN);
    ::sigaction(number_, &before_, nullptr);
  }
  counted_signal(const counted_signal&) = delete;
  counted_signal& operator=(const counted_signal&) = delete;
  static std::atomic<int>& count() {
    static std::atomic<int> n{0};
    return n;
  }

 private:
  int number_;
  struct sigaction before_{};
};

// A thread that interrupts the system calls of all the others, about a thousand times a second, for a scope but no longer than limit.
class signal_storm {
 public:
  explicit signal_storm(std::chrono::seconds limit = std::chrono::seconds(20)) {
    blower_ = std::thread([this, limit] {
      const int self = ::gettid();
      const auto end = std::chrono::steady_clock::now() + limit;
      while (!stop_ && std::chrono::steady_clock::now() < end) {
        send_to_all_but(self);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~signal_storm() {
    stop_ = true;
    blower_.join();
  }
  signal_storm(const signal_storm&) = delete;
  signal_storm& operator=(const signal_storm&) = delete;

 private:
  static void send_to_all_but(int self) {
    DIR* const tasks = ::opendir("/proc/self/task");
    if (tasks == nullptr) return;
    while (const dirent* const task = ::readdir(tasks)) {
      const int id = std::atoi(task->d_name);
      if (id > 0 && id != self) ::syscall(SYS_tgkill, ::getpid(), id, SIGUSR1);
    }
    ::closedir(tasks);
  }

  counted_signal handler_{SIGUSR1};
  std::atomic<bool> stop_{false};
  std::thread blower_;
};

}  // namespace weft::test
