// note_test.cpp: os/note.hpp, [note.wake] and [note.no_lost_wake].
#include "os/note.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"

namespace weft::model {
namespace {

using note = os::basic_note<model_atomics>;
using flag = model_atomics::atomic<std::uint32_t>;

constexpr std::int64_t kSoon = 1;

struct one_sleeper {
  note bed;
  plain<int> news;
};

TEST(note_model, a_wake_up_is_found_before_and_during_the_sleep) {
  explore<one_sleeper>({[](one_sleeper& w) {
                          w.bed.sleep();
                          MODEL_CHECK(w.news.get() == 7, "what the waker did is visible");
                        },
                        [](one_sleeper& w) {
                          w.news.set(7);
                          w.bed.wake();
                        }},
                       nullptr, {.spurious_wakes = 2});
}

struct two_flags {
  note bed;
  flag first;
  flag second;
  static void raise(note& bed, flag& f) {
    f.store(1, std::memory_order_relaxed);
    bed.wake();
  }
};

// As the spawner and sysmon use it: several have something to say, and whoever sleeps looks at all of it each time.
TEST(note_model, of_two_wakers_neither_is_overheard) {
  explore<two_flags>({[](two_flags& w) {
                        // relaxed: the note says that there is something to see
                        while (w.first.load(std::memory_order_relaxed) +
                                   w.second.load(std::memory_order_relaxed) !=
                               2)
                          w.bed.sleep();
                      },
                      [](two_flags& w) { two_flags::raise(w.bed, w.first); },
                      [](two_flags& w) { two_flags::raise(w.bed, w.second); }});
}

TEST(note_model, one_waker_twice_is_heard_the_second_time_too) {
  explore<two_flags>({[](two_flags& w) {
                        while (w.second.load(std::memory_order_relaxed) == 0) w.bed.sleep();
                      },
                      [](two_flags& w) {
                        w.bed.wake();
                        two_flags::raise(w.bed, w.second);
                      }},
                     nullptr, {.spurious_wakes = 1});
}

struct timed_sleeper {
  note bed;
  flag has_come;
  bool was_woken = false;
};

TEST(note_model, who_gives_up_at_the_last_moment_has_the_wake_up_or_leaves_it) {
  explore<timed_sleeper>({[](timed_sleeper& w) {
                            w.was_woken = w.bed.sleep(kSoon);
                            if (!w.was_woken) w.bed.sleep();  // it comes all the same
                            MODEL_CHECK(w.has_come.load(std::memory_order_relaxed) == 1,
                                        "woken by the waker");
                          },
                          [](timed_sleeper& w) { two_flags::raise(w.bed, w.has_come); }});
}

// As sleep_in_poller() in sched/netpoll.cpp: the poller remembers an interrupt.
struct elsewhere_sleeper {
  note bed;
  flag interrupt;
  flag work;
};

TEST(note_model, one_who_sleeps_elsewhere_is_fetched_from_there) {
  explore<elsewhere_sleeper>({[](elsewhere_sleeper& w) {
                                while (w.work.load(std::memory_order_relaxed) == 0) {
                                  if (!w.bed.begin_elsewhere()) continue;
                                  while (w.interrupt.exchange(0, std::memory_order_acquire) == 0)
                                    model_atomics::wait(w.interrupt, 0);
                                  w.bed.end_elsewhere();
                                }
                              },
                              [](elsewhere_sleeper& w) {
                                w.work.store(1, std::memory_order_relaxed);
                                if (!w.bed.wake()) return;
                                w.interrupt.exchange(1, std::memory_order_release);
                                model_atomics::wake(w.interrupt, 1);
                              }});
}

}  // namespace
}  // namespace weft::model
