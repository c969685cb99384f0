// abandoned_senders.cpp: a runtime ends while one of its goroutines is between "my value was accepted" and "here it is".
//
// Such a value travels in a late cell (docs/design/channels.md). Receivers that outlive the runtime, plain threads or goroutines of the next
// one, pass over it as over a value whose constructor has thrown, and wait for the next.
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

namespace {

using namespace std::chrono_literals;

// Whose copy, when asked to, begins and never ends.
struct endless {
  int n;

  explicit endless(int number) : n(number) {}
  endless(const endless& other) : n(other.n) {
    if (!shall_hang.exchange(false)) return;
    has_begun = true;
    static weft::event never;
    never.wait();
  }

  static inline std::atomic<bool> shall_hang{false};
  static inline std::atomic<bool> has_begun{false};
};

using endless_chan = weft::chan<endless>;

// By this name the leak checker knows that what it holds is never freed (support/lsan.supp).
template <class T>
[[gnu::noinline]] void abandoned_with_its_runtime(const weft::chan<T>& c, T value) {
  weft::select(weft::on_send(c, std::as_const(value)));
}

// A runtime in which a goroutine sends 1 and is abandoned while it copies it; before its end `meanwhile` is asked until it is true.
template <class Condition>
void abandon_a_sender(unsigned nprocs, const endless_chan& c, Condition meanwhile) {
  endless::has_begun = false;
  endless::shall_hang = true;
  weft::test::run_on(nprocs, [&] {
    weft::go([&c] { abandoned_with_its_runtime(c, endless(1)); });
    ASSERT_TRUE(weft::test::eventually([] { return endless::has_begun.load(); }));
    ASSERT_TRUE(weft::test::eventually(meanwhile));
  });
}
void abandon_a_sender(unsigned nprocs, const endless_chan& c) {
  abandon_a_sender(nprocs, c, [] { return true; });
}

std::optional<int> number_in(const std::optional<endless>& e) {
  return e ? std::optional<int>(e->n) : std::nullopt;
}

TEST(abandoned_sender, a_thread_that_waits_for_its_value_gets_the_next_one) {
  for (const unsigned nprocs : {1u, 2u, 4u}) {
    const auto c = weft::make_chan<endless>();
    std::atomic<const weft::rt::G*> receiver{nullptr};
    std::thread t([&] {
      receiver = weft::sched::current_g();
      EXPECT_EQ(number_in(c.recv()), 2);
    });
    // Once the copy has begun the receiver has the cell: if it sleeps then, it waits for the value.
    abandon_a_sender(nprocs, c, [&] {
      const weft::rt::G* const gp = receiver;
      return gp != nullptr && gp->status() == weft::rt::g_status::asleep;
    });
    c.send(endless(2));
    t.join();
  }
}

TEST(abandoned_sender, a_thread_that_comes_later_does_not_wait_for_its_value) {
  const auto c = weft::make_chan<endless>(1);
  abandon_a_sender(2, c);
  EXPECT_EQ(number_in(c.try_recv()), std::nullopt);
  c.send(endless(2));
  EXPECT_EQ(number_in(c.recv()), 2);
}

TEST(abandoned_sender, a_goroutine_of_the_next_runtime_does_not_wait_for_its_value) {
  for (const unsigned nprocs : {1u, 2u, 4u}) {
    const auto c = weft::make_chan<endless>(1);
    abandon_a_sender(nprocs, c);
    weft::test::run_on(nprocs, [&] {
      weft::go([&] { c.send(endless(2)); });
      EXPECT_EQ(number_in(c.recv()), 2);
    });
  }
}

TEST(abandoned_sender, a_channel_that_dies_with_its_value_does_not_wait_for_it) {
  auto c = weft::make_chan<endless>(1);
  abandon_a_sender(2, c);
  c = {};
}

// Not in the middle of anything: it was met, and is about to run again.
TEST(abandoned_sender_race, one_that_was_met_at_the_end_keeps_nobody_waiting) {
  int nsent = 0;
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    const auto c = weft::make_chan<std::string>();
    std::optional<std::string> got;
    std::atomic<bool> is_met{false};
    std::thread t([&] {
      while (!is_met) std::this_thread::yield();
      got = c.recv();
    });
    weft::test::run_on(1 + static_cast<unsigned>(i % 2), [&] {
      weft::test::comer sender;
      weft::go([&, c] {
        sender.comes();
        abandoned_with_its_runtime(c, std::string("hello"));
      });
      ASSERT_TRUE(sender.waits());
      is_met = true;
      for (int n = 0; n < 50 * (i % 20); ++n) weft::checkpoint();
    });
    is_met = true;
    c.close();
    t.join();
    if (!got) continue;
    EXPECT_EQ(*got, "hello");
    ++nsent;
  }
  std::printf("[  CELLS   ] %d came through\n", nsent);
}

// The cell of a select_list is made once and offered many times; what counts is who offers it.
TEST(abandoned_sender, a_select_list_of_an_earlier_runtime_can_still_send) {
  const auto c = weft::make_chan<std::string>();
  weft::select_list list;
  list.add(weft::on_send(c, std::string("late")));
  weft::test::run_on(2, [&] { EXPECT_EQ(list.wait_for(0ms), weft::select_list::npos); });
  std::thread t([&] { EXPECT_EQ(c.recv(), "late"); });
  weft::test::run_on(2, [&] { EXPECT_EQ(list.wait(), 0u); });
  t.join();
}

// A plain thread outlives runtimes, and so does what it has promised.
TEST(abandoned_sender, a_thread_in_its_place_is_waited_for) {
  struct slow {
    slow() = default;
    slow(const slow& other) : is_released(other.is_released) {
      if (is_released != nullptr) is_released->wait(false);
    }
    std::atomic<bool>* is_released = nullptr;
  };
  const auto c = weft::make_chan<slow>(1);
  std::atomic<bool> is_released{false};
  std::thread t([&] {
    slow value;
    value.is_released = &is_released;
    EXPECT_TRUE(c.try_send(value));
  });
  weft::test::run_on(2, [&] { ASSERT_TRUE(weft::test::eventually([&] { return c.len() == 1; })); });
  std::thread receiver([&] { EXPECT_TRUE(c.recv().has_value()); });
  weft::run([] {});
  is_released = true;
  is_released.notify_all();
  receiver.join();
  t.join();
}

}  // namespace
