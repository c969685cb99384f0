// event_test.cpp: sync/event_core.hpp, [event.set] [event.push] [event.no_touch_after_set].
#include "sync/event_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

using core = sync::event_core<model_atomics, party>;

struct event_word {
  core::word state{core::kUnset};
};

struct world {
  mortal<event_word> event;
  party first;
  party second;
  plain<int> news;

  void wait(party& me) {
    core::record mine{&me, nullptr};
    if (core::push(event->state, &mine)) me.sleep();
    mine = {forbidden(), nullptr};
    MODEL_CHECK(news.get() == 1, "what was done before set() is visible");
  }
  void set() {
    news.set(1);
    core::set(event->state, wake);
  }
};

TEST(event_model, who_waits_is_woken_once_and_sees_what_was_done) {
  explore<world>({[](world& w) { w.wait(w.first); }, [](world& w) { w.wait(w.second); },
                  [](world& w) { w.set(); }});
}

TEST(event_model, whoever_was_woken_may_destroy_it) {
  explore<world>({[](world& w) {
                    w.wait(w.first);
                    w.event.destroy();
                  },
                  [](world& w) { w.set(); }});
}

TEST(event_model, of_two_setters_one_wakes) {
  explore<world>({[](world& w) {
                    core::record mine{&w.first, nullptr};
                    if (core::push(w.event->state, &mine)) w.first.sleep();
                  },
                  [](world& w) { core::set(w.event->state, wake); },
                  [](world& w) { core::set(w.event->state, wake); }},
                 [](world& w) { MODEL_CHECK(w.first.is_quiet(), "woken once too often"); });
}

TEST(event_model, who_withdraws_is_not_woken_and_who_is_in_hand_is) {
  explore<world>(
      {[](world& w) {
         core::record mine{&w.first, nullptr};
         if (!core::push(w.event->state, &mine)) return;
         if (!core::withdraw_only(w.event->state, &mine)) w.first.sleep();
         mine = {forbidden(), nullptr};
       },
       [](world& w) { w.set(); }},
      [](world& w) { MODEL_CHECK(w.first.is_quiet(), "woken though it had withdrawn"); });
}

// completion: the handle is given up, or the goroutine ends; the last of the two frees what they share.
TEST(event_model, a_handle_and_an_end_agree_on_who_is_last) {
  struct completion {
    mortal<event_word> event;
    plain<int> shared;
    int nfreed = 0;
    void free() {
      shared.set(2);
      ++nfreed;
      event.destroy();
    }
  };
  explore<completion>({[](completion& w) {
                         if (core::detach(w.event->state)) w.free();
                       },
                       [](completion& w) {
                         w.shared.set(1);
                         if (!core::set(w.event->state, wake)) w.free();
                       }},
                      [](completion& w) { MODEL_CHECK(w.nfreed == 1, "freed by one of the two"); });
}

TEST(event_model, a_reset_leaves_those_who_wait_alone) {
  explore<world>({[](world& w) {
                    core::record mine{&w.first, nullptr};
                    if (core::push(w.event->state, &mine)) w.first.sleep();
                  },
                  [](world& w) {
                    core::set(w.event->state, wake);
                    core::reset(w.event->state);
                    core::reset(w.event->state);
                    core::set(w.event->state, wake);
                  },
                  [](world& w) {
                    core::record mine{&w.second, nullptr};
                    if (core::push(w.event->state, &mine)) w.second.sleep();
                  }});
}

}  // namespace
}  // namespace weft::model
