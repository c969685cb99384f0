// once_test.cpp: sync/once_core.hpp, [once.done] [once.push] [once.no_touch_after_finish].
#include "sync/once_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

using core = sync::once_core<model_atomics, party>;

struct once_word {
  core::word state{core::kNew};
};

struct world {
  mortal<once_word> once;
  party callers[3];
  plain<int> result;
  int nruns = 0;
  int nfails_first = 0;  // so many runs throw
  int nthrough = 0;

  // As once::call(). False: f threw.
  bool call(party& me) {
    for (;;) {
      switch (core::begin(once->state)) {
        case core::step::run:
          return run();
        case core::step::done:
          MODEL_CHECK(result.get() == 1, "what f did is visible");
          return true;
        case core::step::must_wait:
          break;
      }
      core::record mine{&me, nullptr};
      if (core::push(once->state, &mine)) me.sleep();
      mine = {forbidden(), nullptr};
    }
  }
  bool run() {
    const bool is_done = nruns++ >= nfails_first;
    if (is_done) result.set(1);
    core::finish(once->state, is_done, wake);
    return is_done;
  }
};

TEST(once_model, one_runs_and_all_see_what_it_did) {
  explore<world>({[](world& w) { w.call(w.callers[0]); }, [](world& w) { w.call(w.callers[1]); },
                  [](world& w) { w.call(w.callers[2]); }},
                 [](world& w) { MODEL_CHECK(w.nruns == 1, "f ran once"); });
}

TEST(once_model, after_one_that_threw_the_next_one_runs) {
  struct failing : world {
    failing() { nfails_first = 1; }
  };
  explore<failing>(
      {[](failing& w) { w.call(w.callers[0]); }, [](failing& w) { w.call(w.callers[1]); },
       [](failing& w) { w.call(w.callers[2]); }},
      [](failing& w) { MODEL_CHECK(w.nruns == 2, "the second run was the last"); });
}

TEST(once_model, whoever_is_through_may_destroy_it) {
  explore<world>({[](world& w) {
                    w.call(w.callers[0]);
                    if (++w.nthrough == 2) w.once.destroy();
                  },
                  [](world& w) {
                    w.call(w.callers[1]);
                    if (++w.nthrough == 2) w.once.destroy();
                  }});
}

}  // namespace
}  // namespace weft::model
