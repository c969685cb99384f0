// pipes.cpp: connections in memory: bytes come in order, whole writes stay whole, and deadlines and close() wake whoever waits.
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>

#include "scenario.hpp"

#include <weft/testing.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::together;

namespace {

SCENARIO(pipe_seeds, a_write_is_not_broken_by_another) {
  const bool halves = t.fault("a message is written in two halves");
  const bool drops = t.fault("what does not fit at once is dropped");
  constexpr std::size_t kLength = 6;
  const auto [to, from] = weft::testing::pipe(4);
  std::size_t nread = 0;
  weft::wait_group writers;
  for (const char letter : {'a', 'b'}) {
    writers.go([&, letter, to = to] {
      const std::string message(kLength, letter);
      for (int k = 0; k < 3; ++k) {
        if (halves) {
          to.write_all(std::string_view(message).substr(3));
          to.write_all(std::string_view(message).substr(0, 3));
        } else if (drops) {
          to.write_some(message);
        } else {
          to.write_all(message);
        }
      }
    });
  }
  auto reader = weft::spawn([&, from = from] {
    char room[kLength];
    std::error_code ec;
    for (;;) {
      const std::size_t n = from.read_full(room, ec);
      nread += n;
      if (n < kLength) return;
      t.must(std::string_view(room, n).find_first_not_of(room[0]) == std::string_view::npos,
             "no other write comes in between");
    }
  });
  writers.wait();
  to.close();
  reader.join();
  t.must(nread == 6 * kLength, "every byte that was written is read");
}

SCENARIO(pipe_seeds, a_deadline_is_never_early_and_loses_no_byte) {
  const bool hastes = t.fault("the deadline is set too early");
  const bool loses = t.fault("a byte is given up with the time");
  const auto [to, from] = weft::testing::pipe(2);
  auto writer = weft::spawn([to = to] {
    for (char c = 'a'; c <= 'h'; ++c) {
      to.write_all({&c, 1});
      weft::sleep_for((c % 3) * 1ms);
    }
    to.close();
  });
  std::string read;
  for (;;) {
    const auto deadline = weft::clock::now() + 1ms;
    from.set_read_deadline(hastes ? deadline - 500us : deadline);
    char room[3];
    std::error_code ec;
    const std::size_t n = from.read_some(room, ec);
    if (ec) {
      t.must(weft::clock::now() >= deadline, "nobody gives up before the time is over");
      if (loses) {
        from.set_read_deadline(weft::time_point::max());
        static_cast<void>(from.read_some({room, 1}, ec));
      }
      continue;
    }
    if (n == 0) break;
    read.append(room, n);
  }
  writer.join();
  t.must(read == "abcdefgh", "every byte comes once and in order, whatever gave up meanwhile");
}

SCENARIO(pipe_seeds, close_wakes_all_who_wait) {
  const bool mistakes = t.fault("the other end is closed");
  const auto [mine, other] = weft::testing::pipe(1);
  int nwoken = 0;
  weft::wait_group waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.go([&, end = mine] {
      char c = 0;
      std::error_code ec;
      static_cast<void>(end.read_full({&c, 1}, ec));
      if (ec == weft::io::errc::closed) ++nwoken;
    });
    waiting.go([&, end = mine] {
      std::error_code ec;
      static_cast<void>(end.write_all("more than fits", ec));
      if (ec == weft::io::errc::closed) ++nwoken;
    });
  }
  for (int k = 0; k < 3; ++k) weft::yield();
  (mistakes ? other : mine).close();
  waiting.wait();
  t.must(nwoken == 4, "everybody at that end learns that it is closed");
}

}  // namespace
