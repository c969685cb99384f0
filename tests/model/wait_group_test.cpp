// wait_group_test.cpp: sync/wait_group_core.hpp, [wait_group.done] [wait_group.no_touch_after_wake].
#include "sync/wait_group_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

using core = sync::wait_group_core<model_atomics, party>;

struct group {
  core::word state{0};
  core::lock guard;
  void* waiters = nullptr;
};

struct world {
  mortal<group> wg;
  party callers[2];
  plain<int> first{0, "what the first did"};
  plain<int> second{0, "what the second did"};

  void add(int n) { core::add(wg->state, wg->guard, wg->waiters, n, wake); }
  // As wait_group::wait(): the quick way, or parked.
  void wait(party& me) {
    if (wg->state.load(std::memory_order_acquire) == 0) return;
    core::record mine{&me, nullptr};
    if (core::push(wg->state, wg->guard, wg->waiters, &mine)) me.sleep();
    mine = {forbidden(), nullptr};
  }
};

struct two_to_come : world {
  two_to_come() { add(2); }
};

TEST(wait_group_model, wait_ends_with_the_last_done_and_sees_all) {
  explore<two_to_come>({[](two_to_come& w) {
                          w.wait(w.callers[0]);
                          MODEL_CHECK(w.first.get() + w.second.get() == 2, "both were done");
                        },
                        [](two_to_come& w) {
                          w.first.set(1);
                          w.add(-1);
                        },
                        [](two_to_come& w) {
                          w.second.set(1);
                          w.add(-1);
                        }});
}

TEST(wait_group_model, two_who_wait_are_both_woken) {
  struct one_to_come : world {
    one_to_come() { add(1); }
  };
  explore<one_to_come>(
      {[](one_to_come& w) { w.wait(w.callers[0]); }, [](one_to_come& w) { w.wait(w.callers[1]); },
       [](one_to_come& w) { w.add(-1); }},
      [](one_to_come& w) { MODEL_CHECK(w.wg->waiters == nullptr, "somebody is left"); });
}

TEST(wait_group_model, whoever_has_waited_may_destroy_it) {
  explore<two_to_come>({[](two_to_come& w) {
                          w.wait(w.callers[0]);
                          w.wg.destroy();
                        },
                        [](two_to_come& w) { w.add(-1); }, [](two_to_come& w) { w.add(-1); }});
}

TEST(wait_group_model, may_be_used_again_right_after_wait) {
  explore<two_to_come>({[](two_to_come& w) {
                          w.wait(w.callers[0]);
                          w.add(1);
                          w.add(-1);
                          w.wait(w.callers[0]);
                        },
                        [](two_to_come& w) { w.add(-1); }, [](two_to_come& w) { w.add(-1); }});
}

}  // namespace
}  // namespace weft::model
