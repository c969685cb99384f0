// late_mark_test.cpp: sched/survivors_core.hpp and sync/event_core.hpp as detail::late_mark uses them, [epoch.end]: a mark that a goroutine has
// promised to set, and the end of its runtime.
//
// What sync/late_mark.cpp and sched/runtime.cpp do around the two is repeated. A goroutine sets the mark inside the runtime, so while it has a
// P; that is a lock here, which the end takes first and keeps nobody out of who has it: the real way there is the stop of the world
// (detach_word_test.cpp, resize.pml).
#include "sched/survivors_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"
#include "sync/event_core.hpp"

namespace weft::model {
namespace {

using core = sync::event_core<model_atomics, party>;
using survivors = sched::basic_survivors<model_atomics, party>;

constexpr std::uint32_t kEpoch = 1;

struct mark {
  core::word state{core::kUnset};
  plain<int> memory{0, "the mark's memory"};
};

// A plain thread.
struct receiver {
  party who;
  core::record record{};
  mark* at = nullptr;
  bool has_left = false;  // its frame is gone
  bool has_come = false;
};

struct world {
  os::basic_lock<model_atomics, os::lock_rank::scheduler> p;
  bool is_stopped = false;  // has the P
  model_atomics::atomic<std::uint32_t> epoch{kEpoch};
  survivors all;
  mortal<mark> late;
  plain<int> value{0, "what was done before set()"};
  bool was_set = false;
  receiver first, second;

  // late_mark::set(), in a goroutine of that runtime: it ends where it would need a P that nobody has any more.
  void set() {
    const os::lock_guard inside(p);
    if (is_stopped) return;
    value.set(7);
    late->memory.get();
    core::set(late->state, wake);
    was_set = true;
  }
  // stop_world(), abandon_goroutines(), wake_survivors()
  void end() {
    {
      const os::lock_guard taken(p);
      is_stopped = true;
    }
    epoch.fetch_add(1, std::memory_order_seq_cst);
    all.wake_all(wake);
  }
  bool is_set() { return late->state.load(std::memory_order_acquire) == core::kSet; }
  // late_mark::wait() on a plain thread.
  bool wait(receiver& me) {
    if (!is_set()) park_while(me);
    me.has_come = is_set();
    if (me.has_come) MODEL_CHECK(value.get() == 7, "what was done before set() is visible");
    return me.has_come;
  }
  void park_while(receiver& me) {
    me.at = &late.get();
    me.record = {&me.who, nullptr};
    survivors::survivor mine{
        .epoch = kEpoch, .publish = &publish, .withdraw = &withdraw, .arg = &me};
    if (all.enter(&mine, &me.who, epoch)) me.who.sleep();
    all.leave(&mine);
    mine.who = forbidden();
    me.record = {forbidden(), nullptr};
    me.has_left = true;
  }
  static bool publish(party*, void* arg) {
    auto* const r = static_cast<receiver*>(arg);
    return core::push(r->at->state, &r->record);
  }
  static bool withdraw(void* arg) {
    auto* const r = static_cast<receiver*>(arg);
    MODEL_CHECK(!r->has_left, "the record of one that has gone on is used");
    return core::withdraw_only(r->at->state, &r->record);
  }
};

//    goroutine            the end                     plain thread
//    set, with a P        no P is held                lock; the epoch is another ? no wait
//                         epoch + 1                   push, enter; unlock; sleep
//                         lock; take it out,
//                           withdraw; unlock; wake    is it set ?
TEST(late_mark_model, a_thread_that_waits_goes_on_when_it_is_set_or_never_will_be) {
  explore<world>(
      {[](world& w) { w.set(); }, [](world& w) { w.end(); }, [](world& w) { w.wait(w.first); }},
      [](world& w) {
        MODEL_CHECK(w.first.has_come == w.was_set, "it was told the wrong thing");
        MODEL_CHECK(w.first.who.is_quiet(), "woken once too often");
      });
}

// Whoever sees another epoch sees the mark set, or nobody ever will.
TEST(late_mark_model, whoever_sees_the_next_runtime_knows_whether_it_was_set) {
  explore<world>({[](world& w) { w.set(); }, [](world& w) { w.end(); },
                  [](world& w) {
                    if (!sched::has_moved_on(w.epoch, kEpoch)) return;
                    const bool is_set = w.is_set();
                    MODEL_CHECK(is_set == w.was_set, "it is set, or nobody ever will");
                    if (is_set) MODEL_CHECK(w.value.get() == 7, "what was done before is visible");
                  }});
}

TEST(late_mark_model, when_it_goes_on_the_mark_may_be_gone) {
  explore<world>({[](world& w) { w.set(); }, [](world& w) { w.end(); },
                  [](world& w) {
                    w.wait(w.first);
                    w.late->memory.set(1);
                    w.late.destroy();
                  }});
}

TEST(late_mark_model, all_who_wait_at_marks_of_that_runtime_are_told) {
  struct two : world {
    mark other;
    bool wait_at_other(receiver& me) {
      me.at = &other;
      me.record = {&me.who, nullptr};
      survivors::survivor mine{
          .epoch = kEpoch, .publish = &publish, .withdraw = &withdraw, .arg = &me};
      if (all.enter(&mine, &me.who, epoch)) me.who.sleep();
      all.leave(&mine);
      return other.state.load(std::memory_order_acquire) == core::kSet;
    }
  };
  explore<two>(
      {[](two& w) { w.wait(w.first); },
       [](two& w) { w.second.has_come = w.wait_at_other(w.second); }, [](two& w) { w.end(); }},
      [](two& w) {
        MODEL_CHECK(!w.first.has_come && !w.second.has_come, "nobody has set them");
        MODEL_CHECK(w.first.who.is_quiet() && w.second.who.is_quiet(), "woken once too often");
      });
}

}  // namespace
}  // namespace weft::model
