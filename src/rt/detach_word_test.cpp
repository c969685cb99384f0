// detach_word_test.cpp: the handshake by which a P leaves an M (the interleavings are tests/model's).
#include "rt/detach_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "os/membarrier.hpp"

namespace weft::rt {
namespace {

using word = basic_detach_word<base::std_atomics>;
constexpr std::uint32_t kRequester = word::kFirstRequester;
const auto kAlways = [] { return true; };

TEST(detach_word, an_m_outside_the_runtime_loses_its_p) {
  word w;
  EXPECT_TRUE(w.enter(false));
  EXPECT_FALSE(w.leave());
  ASSERT_TRUE(w.request(kRequester));
  EXPECT_TRUE(w.request_settle(kRequester, kAlways));
  EXPECT_TRUE(w.is_lost());
  EXPECT_FALSE(w.enter(false));
  EXPECT_FALSE(w.settle());
  w.attach();
  EXPECT_FALSE(w.is_lost());
  EXPECT_TRUE(w.settle());
}

TEST(detach_word, an_m_inside_keeps_its_p_and_is_told_to_look) {
  word w;
  EXPECT_TRUE(w.enter(false));
  EXPECT_TRUE(w.is_inside());
  ASSERT_TRUE(w.request(kRequester));
  EXPECT_FALSE(w.request_settle(kRequester, kAlways));
  EXPECT_FALSE(w.is_lost());
  EXPECT_TRUE(w.leave());
  EXPECT_TRUE(w.take_attention());
  EXPECT_FALSE(w.take_attention());
}

TEST(detach_word, an_m_that_comes_in_while_the_request_stands_turns_it_down_and_owes_a_yield) {
  word w;
  ASSERT_TRUE(w.request(kRequester));
  EXPECT_FALSE(w.enter(false));
  EXPECT_TRUE(w.settle());
  EXPECT_TRUE(w.wants_attention());
  EXPECT_FALSE(w.request_settle(kRequester, kAlways));
  EXPECT_FALSE(w.is_lost());
}

TEST(detach_word, a_request_that_is_not_wanted_any_more_is_withdrawn) {
  word w;
  ASSERT_TRUE(w.request(kRequester));
  EXPECT_FALSE(w.request_settle(kRequester, [] { return false; }));
  EXPECT_TRUE(w.enter(false));
  EXPECT_FALSE(w.leave());
}

TEST(detach_word, a_second_requester_is_turned_away) {
  word w;
  ASSERT_TRUE(w.request(kRequester));
  EXPECT_FALSE(w.request(kRequester + 1));
  EXPECT_TRUE(w.request_settle(kRequester, kAlways));
  EXPECT_FALSE(w.request(kRequester + 1)) << "nothing left to lose";
}

TEST(detach_word, an_m_may_give_its_p_away_itself) {
  word w;
  w.enter(false);
  w.lose();
  EXPECT_TRUE(w.is_lost());
  w.leave();
  EXPECT_FALSE(w.request(kRequester));
}

// Whether a seq_cst store was seen to be overtaken by a later seq_cst load, which C++ and every processor forbid: two threads store 1
// and read what the other stores, and both read 0. qemu-user up to 7.2 does it (stlr and ldar without a barrier between them).
bool has_store_buffering() {
  std::atomic<int> x{0}, y{0}, round{0}, answered{0};
  std::atomic<bool> stop{false};
  int seen_by_other = 0;
  std::thread other([&] {
    for (int last = 0; !stop;) {
      const int now = round;
      if (now == last) continue;
      last = now;
      y = 1;
      seen_by_other = x;
      answered = now;
    }
  });
  bool is_found = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int i = 1; !is_found && std::chrono::steady_clock::now() < end; ++i) {
    x = 0;
    y = 0;
    round = i;
    for (int spin = i % 40; spin > 0; --spin) base::compiler_barrier();
    x = 1;
    const int seen = y;
    while (answered != i) std::this_thread::yield();
    is_found = seen == 0 && seen_by_other == 0;
  }
  stop = true;
  other.join();
  return is_found;
}

TEST(detach_word, what_is_asked_for_good_is_said_each_time_and_is_no_news) {
  word w;
  w.enter(false);
  w.remind_for_good();
  EXPECT_FALSE(w.has_news());
  EXPECT_TRUE(w.leave());
  w.enter(false);
  EXPECT_FALSE(w.take_attention());
  EXPECT_TRUE(w.leave());
  w.ask_attention();
  EXPECT_TRUE(w.has_news());
  EXPECT_TRUE(w.wants_attention());
  EXPECT_TRUE(w.take_attention());
  EXPECT_FALSE(w.has_news());
  EXPECT_TRUE(w.leave());
  w.remind();
  EXPECT_TRUE(w.has_news());
  EXPECT_FALSE(w.take_attention());
  EXPECT_FALSE(w.has_news());
}

// [detach.exclusive]: a plain variable stands for the P; whoever has it writes it. ThreadSanitizer sees a second holder, and so
// does the count.
void contend(bool fence) {
  word w;
  std::atomic<bool> stop{false};
  int p = 0;  // owned by the M while it is inside, by the requester after a detach
  int nmine = 0;
  int ndetached = 0;
  std::thread requester([&] {
    while (!stop) {
      if (!w.request(kRequester)) continue;
      os::heavy_barrier();
      if (w.request_settle(kRequester, kAlways)) {
        ++p;
        ++ndetached;
        w.attach();
      }
    }
  });
  for (int i = 0; i < 10'000; ++i) {
    if (!w.enter(fence)) {
      while (!w.settle()) std::this_thread::yield();
    }
    ++p;
    ++nmine;
    if (w.leave()) w.take_attention();
    if (i % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  requester.join();
  if (fence && p != nmine + ndetached && has_store_buffering())
    GTEST_SKIP() << "this machine breaks the order of sequentially consistent operations";
  EXPECT_EQ(p, nmine + ndetached);
}

TEST(detach_word_race, never_two_holders_when_the_requester_pays) {
  if (!os::init_membarrier(true)) GTEST_SKIP() << "no membarrier here";
  contend(false);
}
TEST(detach_word_race, never_two_holders_when_the_m_pays) { contend(true); }

}  // namespace
}  // namespace weft::rt
