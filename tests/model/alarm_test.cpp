// alarm_test.cpp: time/alarm_core.hpp over rt/timer_heap.hpp, [alarm.over]: a timer of the user's fires, is stopped, moved and dropped, and its
// runtime ends.
//
// What acts is a number: how often the time was sent and nobody has taken it back. What time/alarm.cpp does around the core is repeated: nodes of
// a slab, which is never freed, and a period. Whoever reads or writes the alarm reads `memory`, and its last owner writes it: as free() does.
#include "time/alarm_core.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"
#include "parties.hpp"

namespace weft::model {
namespace {

using heap = rt::basic_timer_heap<model_atomics>;
using node = heap::timer;
using core = alarms::basic_alarm_core<model_atomics>;

struct world {
  static constexpr int kNodes = 4;

  heap timers;
  node slab[kNodes];
  model_atomics::atomic<bool> is_used[kNodes];
  mortal<core> alarm;
  plain<int> memory{0, "the alarm's memory"};
  plain<int> sent{0, "what it sent"};  // under its lock
  std::int64_t when = 5;               // under its lock
  std::int64_t period = 0;
  int nacts = 0;
  int nstopped = 0;

  node* take() {
    int i = 0;
    while (is_used[i].exchange(true, std::memory_order_acquire)) ++i;
    return &slab[i];
  }
  void give_back(node* t) {
    const bool was_used = is_used[t - slab].exchange(false, std::memory_order_release);
    MODEL_CHECK(was_used, "a node is given back twice");
  }

  static void on_time(node* t, void* arg, std::uint64_t seq) {
    world& w = *static_cast<world*>(arg);
    w.memory.get();
    const bool is_armed_again =
        w.alarm->fire(t, seq, [&] { return w.act_locked([t] { return t; }); });
    if (!is_armed_again) w.give_back(t);
  }
  template <class Node>
  bool act_locked(Node&& next) {
    sent.set(sent.get() + 1);
    ++nacts;
    if (period == 0) return false;
    when += period;
    arm_node_locked(next());
    return true;
  }
  static void on_release(node* t, rt::timer_state was) {
    world& w = *static_cast<world*>(t->arg);
    w.give_back(t);
    if (was == rt::timer_state::cleared) w.memory.get();
    core::forget(&w.alarm.get(), was);
  }
  void arm_node_locked(node* t) {
    alarm->arm_locked(t, [&](node* n) { return timers.arm(n, when).seq; });
  }
  node* new_node() {
    node* const t = take();
    t->fire = &on_time;
    t->arg = this;
    t->release = &on_release;
    return t;
  }
  void arm_locked(std::int64_t when_ns) {
    when = when_ns;
    arm_node_locked(new_node());
  }
  // Whoever looks at its channel when it is `now`.
  void look(std::int64_t now) {
    const os::lock_guard hold(alarm->lock);
    if (!alarm->is_armed_locked() || when > now) return;
    alarm->disarm_locked();
    act_locked([this] { return new_node(); });
  }
  // True: it would have been received.
  bool stop_locked() {
    const bool was_armed = alarm->disarm_locked();
    const bool was_sent = sent.get() != 0;
    sent.set(0);
    return was_armed || was_sent;
  }

  void arm(std::int64_t when_ns) {
    const os::lock_guard hold(alarm->lock);
    arm_locked(when_ns);
  }
  bool stop() {
    const os::lock_guard hold(alarm->lock);
    return stop_locked();
  }
  bool reset(std::int64_t when_ns) {
    const os::lock_guard hold(alarm->lock);
    const bool was_to_come = stop_locked();
    arm_locked(when_ns);
    return was_to_come;
  }
  // The last handle goes.
  void drop() {
    stop();
    alarm->wait_until_over([] { model_atomics::pause(); });
    memory.set(1);
    alarm.destroy();
  }
  void pop(std::int64_t now_ns) {
    heap::due batch[2];
    const std::size_t n = timers.pop_due(now_ns, batch);
    for (std::size_t i = 0; i < n; ++i) batch[i].run();
  }
  void clear() { timers.clear(); }
  void check_nodes(int nused) {
    for (const auto& each : is_used) nused -= each.load();
    MODEL_CHECK(nused == 0, "each node is somewhere");
  }
};

struct armed : world {
  armed() { arm(5); }
};

//    stop                           fire
//    lock                           taken from the heap
//    not armed any more             lock
//    take back what was sent        not the present one, or: send
TEST(alarm_model, it_is_stopped_or_has_acted_and_that_is_taken_back) {
  explore<armed>({[](armed& w) {
                    MODEL_CHECK(w.stop(), "it was to come, or has come and was not received");
                    MODEL_CHECK(!w.stop(), "once");
                  },
                  [](armed& w) { w.pop(10); }, [](armed& w) { w.pop(10); }},
                 [](armed& w) {
                   MODEL_CHECK(w.sent.last() == 0, "it acts after it was stopped");
                   w.pop(10);
                   w.check_nodes(0);
                 });
}

// The number of an arming says nothing without its node: those that are armed first have the same.
//
//    reset                          fire, of the first arming
//    lock                           taken from the heap
//    another node is armed
//    unlock                         lock: not the present one
TEST(alarm_model, the_arming_before_does_not_act_for_the_present_one) {
  explore<armed>({[](armed& w) {
                    MODEL_CHECK(w.reset(20), "it was to come, or has come and was not received");
                    w.memory.get();
                  },
                  [](armed& w) { w.pop(10); }, [](armed& w) { w.pop(10); }},
                 [](armed& w) {
                   MODEL_CHECK(w.sent.last() == 0, "its new time has not come");
                   w.pop(30);
                   MODEL_CHECK(w.sent.last() == 1, "its new time has come");
                   w.check_nodes(0);
                 });
}

TEST(alarm_model, of_two_who_move_it_each_takes_back_the_others_arming) {
  explore<armed>({[](armed& w) { w.nstopped += w.reset(6); },
                  [](armed& w) { w.nstopped += w.reset(7); }, [](armed& w) { w.pop(10); }},
                 [](armed& w) {
                   MODEL_CHECK(w.nstopped == 2, "each found it to come, or not received");
                   w.pop(10);
                   MODEL_CHECK(w.sent.last() == 1, "one arming is left, and acts once");
                   w.check_nodes(0);
                 });
}

//    the last owner                 fire
//    stop: cannot be cancelled      taken from the heap
//    nended_ == narmed_ ?           lock, unlock
//      no: waits                    nended_ + 1
//    frees it
TEST(alarm_model, is_freed_when_nobody_is_in_it) {
  explore<armed>({[](armed& w) { w.drop(); }, [](armed& w) { w.pop(10); }}, [](armed& w) {
    w.pop(10);
    w.check_nodes(0);
  });
}

TEST(alarm_model, is_freed_after_it_was_moved_while_several_look_at_the_clock) {
  explore<armed>({[](armed& w) {
                    w.reset(6);
                    w.drop();
                  },
                  [](armed& w) { w.pop(10); }, [](armed& w) { w.pop(10); }},
                 [](armed& w) {
                   w.pop(10);
                   w.check_nodes(0);
                 });
}

//    look                           fire
//    lock                           taken from the heap
//    not armed any more, send       lock
//    unlock                         not the present one
TEST(alarm_model, of_one_who_looks_and_the_time_one_acts) {
  explore<armed>(
      {[](armed& w) { w.look(10); }, [](armed& w) { w.pop(10); }, [](armed& w) { w.look(10); }},
      [](armed& w) {
        MODEL_CHECK(w.nacts == 1, "once, although all came for it");
        w.pop(10);
        MODEL_CHECK(w.nacts == 1, "once, although all came for it");
        w.check_nodes(0);
      });
}

TEST(alarm_model, what_was_stopped_is_not_found_by_one_who_looks) {
  explore<armed>({[](armed& w) {
                    MODEL_CHECK(w.stop(), "it was to come, or has come and was not received");
                    MODEL_CHECK(!w.stop(), "once");
                  },
                  [](armed& w) { w.look(10); }, [](armed& w) { w.pop(10); }},
                 [](armed& w) {
                   MODEL_CHECK(w.sent.last() == 0, "it acts after it was stopped");
                   w.pop(10);
                   w.check_nodes(0);
                 });
}

// A ticker arms itself again, and may be due again before the first fire() has come to its end.
TEST(alarm_model, one_that_arms_itself_is_freed_when_nobody_is_in_it) {
  struct ticking : world {
    ticking() {
      period = 1;
      arm(5);
    }
  };
  explore<ticking>(
      {[](ticking& w) { w.drop(); }, [](ticking& w) { w.pop(5); }, [](ticking& w) { w.pop(6); }},
      [](ticking& w) {
        w.pop(100);
        w.check_nodes(0);
      });
  explore<ticking>({[](ticking& w) {
                      w.look(5);
                      w.drop();
                    },
                    [](ticking& w) { w.pop(6); }},
                   [](ticking& w) {
                     w.pop(100);
                     w.check_nodes(0);
                   });
}

// --- the end of its runtime: every heap is emptied ---

//    the last owner                 the end                          a thread without a P
//    stop: cannot be cancelled      armed -> cleared                 or: taken from the heap
//    nended_ == narmed_ ?           out of the heap                  lock ...
//      no: waits                    forget: nended_ + 1              nended_ + 1
//    frees it
TEST(alarm_model, is_freed_beside_the_end_of_its_runtime) {
  explore<armed>(
      {[](armed& w) { w.drop(); }, [](armed& w) { w.clear(); }, [](armed& w) { w.pop(10); }},
      [](armed& w) { w.check_nodes(0); });
}

// A plain thread moves it, before the heap is emptied or after: nobody tells which.
TEST(alarm_model, what_is_armed_beside_the_end_of_a_runtime_has_an_end) {
  explore<armed>({[](armed& w) {
                    w.reset(20);
                    w.drop();
                  },
                  [](armed& w) { w.clear(); }},
                 [](armed& w) {
                   w.clear();
                   w.check_nodes(0);
                 });
}

TEST(alarm_model, what_is_armed_after_the_end_of_a_runtime_acts_in_the_next) {
  explore<armed>({[](armed& w) { w.clear(); }, [](armed& w) { w.pop(10); }}, [](armed& w) {
    const bool was_sent = w.nacts == 1;
    MODEL_CHECK(w.reset(20), "it was not received, and else to come for ever");
    w.pop(30);
    MODEL_CHECK(w.nacts == (was_sent ? 2 : 1), "its new time has come");
    w.check_nodes(0);
  });
}

// Whether the end of its runtime, the time or one who looks comes first: it acts once, and is freed when nobody is in it.
TEST(alarm_model, acts_once_for_those_who_look_while_its_runtime_ends) {
  explore<armed>({[](armed& w) {
                    w.look(10);
                    MODEL_CHECK(w.nacts == 1, "its time has come");
                    w.drop();
                  },
                  [](armed& w) { w.clear(); }, [](armed& w) { w.pop(10); }},
                 [](armed& w) {
                   MODEL_CHECK(w.nacts == 1, "once, although all came for it");
                   w.check_nodes(0);
                 });
}

}  // namespace
}  // namespace weft::model
