// detach_word_test.cpp: rt/detach_word.hpp: an M's way into the runtime against requesters that want its P, and blocking() on top of it.
// [detach.exclusive] [detach.leave] [detach.attach]; detach.pml has the same handshake in Promela.
#include "rt/detach_word.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "explorer/explore.hpp"
#include "os/lock.hpp"
#include "os/note.hpp"

namespace weft::model {
namespace {

using detach_word = rt::basic_detach_word<model_atomics>;

constexpr std::uint32_t kFirst = detach_word::kFirstRequester;

struct world {
  detach_word word;
  plain<int> p{0, "the P"};
  model_atomics::atomic<int> elsewhere{0};  // something to do inside, so that others can come
  bool is_m_in = false;
  bool is_taken = false;

  // M: one call into the runtime. False: the P is gone.
  bool call(bool fence) {
    if (!word.enter(fence) && !word.settle()) {
      word.leave();
      return false;
    }
    MODEL_CHECK(!is_taken, "the M is inside with a P that was taken");
    is_m_in = true;
    p.set(p.get() + 1);
    elsewhere.store(1, std::memory_order_relaxed);
    MODEL_CHECK(!is_taken, "the P was taken while the M is inside");
    is_m_in = false;
    if (word.leave()) word.take_attention();
    return true;
  }

  // As sched::detach(). True: the P is ours.
  bool detach(std::uint32_t id, bool with_barrier) {
    if (!word.request(id)) return false;
    if (with_barrier) heavy_barrier();
    if (!word.request_settle(id, [] { return true; })) return false;
    MODEL_CHECK(!is_m_in, "the P was taken while the M is inside");
    MODEL_CHECK(!std::exchange(is_taken, true), "two have taken it");
    p.set(p.get() + 1);
    return true;
  }
};

void m_calls(world& w) {
  for (int i = 0; i < 2 && w.call(false); ++i) continue;
}
void m_calls_with_a_fence(world& w) {
  for (int i = 0; i < 2 && w.call(true); ++i) continue;
}

TEST(detach_model, the_p_has_one_holder_when_the_requester_pays) {
  explore<world>({&m_calls, [](world& w) { w.detach(kFirst, true); }});
}

TEST(detach_model, the_p_has_one_holder_when_the_m_pays) {
  explore<world>({&m_calls_with_a_fence, [](world& w) { w.detach(kFirst, false); }});
}

TEST(detach_model, of_two_requesters_one_takes_it_at_most) {
  explore<world>({&m_calls, [](world& w) { w.detach(kFirst, true); },
                  [](world& w) { w.detach(kFirst + 1, true); }});
}

TEST(detach_model, one_that_asks_again_does_not_take_what_was_settled) {
  explore<world>({&m_calls, [](world& w) {
                    if (!w.detach(kFirst, true)) w.detach(kFirst, true);
                  }});
}

// What the requester did with the P is seen by the M that has it back.
TEST(detach_model, who_gets_it_back_sees_what_was_done_with_it) {
  explore<world>({[](world& w) {
                    for (int i = 0; i < 3; ++i) w.call(false);
                  },
                  [](world& w) {
                    if (!w.detach(kFirst, true)) return;
                    w.is_taken = false;
                    w.word.attach();
                  }});
}

// sched/wake.hpp: somebody is kept in the P. The M takes it at its next call, or sysmon takes it away and gives the P back.
struct handy_world {
  detach_word word;
  plain<int> handy{0, "the handy one"};
  model_atomics::atomic<std::uint32_t> deferral{0};  // odd: there is one
  int nrun = 0;

  template <class Act>
  void call(Act act) {
    if (word.enter(false) || word.settle()) act();
    word.leave();
  }
  void change(int n) {
    handy.set(n);
    deferral.store(deferral.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void take() {
    if (handy.get() == 0) return;
    change(0);
    ++nrun;
  }
  bool is_deferring() const { return (deferral.load(std::memory_order_relaxed) & 1) != 0; }
};

TEST(detach_model, what_is_handy_is_run_once_by_its_p_or_by_who_takes_it_away) {
  explore<handy_world>({[](handy_world& w) {
                          w.call([&] { w.change(1); });
                          w.call([&] { w.take(); });
                        },
                        [](handy_world& w) {
                          if (!w.word.request(kFirst)) return;
                          heavy_barrier();
                          if (!w.word.request_settle(kFirst, [&] { return w.is_deferring(); }))
                            return;
                          MODEL_CHECK(w.handy.get() != 0, "what is seen from outside is so");
                          w.take();
                          w.word.attach();
                        }},
                       [](handy_world& w) { MODEL_CHECK(w.nrun == 1, "it is run, and once"); });
}

// The timeline at leave(): a request may come too late for the look of an M that is on its way out, and that does happen; then it stands.
struct asked_world : world {
  bool was_asked = false;
  bool was_heard = false;
};
int nmissed = 0;

TEST(detach_model, what_is_asked_too_late_for_one_way_out_is_heard_on_the_next) {
  nmissed = 0;
  explore<asked_world>({[](asked_world& w) {
                          w.word.enter(false) || w.word.settle();
                          if (w.word.leave()) w.was_heard = w.word.take_attention();
                        },
                        [](asked_world& w) {
                          if (!w.word.request(kFirst)) return;
                          heavy_barrier();
                          w.was_asked = !w.word.request_settle(kFirst, [] { return true; });
                        }},
                       [](asked_world& w) {
                         if (!w.was_asked || w.was_heard) return;
                         ++nmissed;
                         MODEL_CHECK(w.word.leave(), "the next way out says so");
                         MODEL_CHECK(w.word.take_attention(), "and that it was asked for");
                       });
  EXPECT_GT(nmissed, 0);
}

// --- blocking(): an M in a system call, sysmon that retakes its P, and another M that needs one ---

struct blocking_world {
  using lock_type = os::basic_lock<model_atomics, os::lock_rank::scheduler>;

  struct M {
    detach_word detach;
    os::basic_note<model_atomics> park;
    bool has_p = false;  // L, or its own
  };

  M caller;
  M other;
  lock_type lock;
  bool is_p_idle = false;  // L
  M* waits[2] = {};        // L: asleep until they are given the P
  plain<int> p{0, "the P"};
  int nholders = 0;
  model_atomics::atomic<int> status{0};  // 1: in a system call

  blocking_world() { other.detach.lose(); }

  void hold() {
    MODEL_CHECK(nholders++ == 0, "two hold the P");
    p.set(p.get() + 1);
  }
  void drop() { --nholders; }

  // L. For the M that waits, or nobody.
  M* give_locked() {
    M* const mp = std::exchange(waits[0], std::exchange(waits[1], nullptr));
    if (mp == nullptr) {
      is_p_idle = true;
      return nullptr;
    }
    mp->has_p = true;
    mp->detach.attach();
    return mp;
  }
  void hand_off() {
    M* woken = nullptr;
    {
      const os::lock_guard l(lock);
      woken = give_locked();
    }
    if (woken != nullptr) woken->park.wake();
  }
  // enter_slow(): mp is inside, without a P.
  void await_p(M& mp) {
    {
      const os::lock_guard l(lock);
      if (std::exchange(is_p_idle, false)) {
        mp.detach.attach();
        return;
      }
      (waits[0] == nullptr ? waits[0] : waits[1]) = &mp;
    }
    for (;;) {
      mp.park.sleep();
      const os::lock_guard l(lock);
      if (std::exchange(mp.has_p, false)) return;
    }
  }
  void enter(M& mp) {
    if (!mp.detach.enter(false) && !mp.detach.settle()) await_p(mp);
  }

  void block_and_return() {
    enter(caller);
    hold();
    status.store(1, std::memory_order_release);
    drop();
    caller.detach.leave();
    // f() runs
    enter(caller);
    hold();
    status.store(0, std::memory_order_release);
    drop();
  }
  void give_up_p(M& mp) {
    mp.detach.lose();
    hand_off();
  }
  void retake() {
    if (!caller.detach.request(kFirst)) return;
    heavy_barrier();
    const bool is_ours = caller.detach.request_settle(
        kFirst, [&] { return status.load(std::memory_order_acquire) == 1; });
    if (!is_ours) return;
    hold();
    drop();
    hand_off();
  }
};

TEST(detach_model, a_call_that_blocks_has_its_p_back_or_another_when_it_returns) {
  explore<blocking_world>(
      {[](blocking_world& w) { w.block_and_return(); }, [](blocking_world& w) { w.retake(); }});
}

TEST(detach_model, the_p_of_one_that_blocks_goes_to_one_that_waits_and_back) {
  explore<blocking_world>({[](blocking_world& w) {
                             w.block_and_return();
                             w.give_up_p(w.caller);
                           },
                           [](blocking_world& w) { w.retake(); },
                           [](blocking_world& w) {
                             w.enter(w.other);
                             w.hold();
                             w.drop();
                             w.give_up_p(w.other);
                           }});
}

}  // namespace
}  // namespace weft::model
