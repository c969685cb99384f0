// lock_test.cpp: os/lock.hpp, [lock].
#include "os/lock.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"
#include "parties.hpp"

namespace weft::model {
namespace {

using lock = os::basic_lock<model_atomics, os::lock_rank::waiters>;

struct counted {
  lock l;
  plain<int> n;
  int ninside = 0;

  void count() {
    l.lock();
    MODEL_CHECK(ninside++ == 0, "two hold it");
    n.set(n.get() + 1);
    --ninside;
    l.unlock();
  }
};

TEST(lock_model, two_count_and_nothing_is_lost) {
  explore<counted>(
      {[](counted& w) { w.count(), w.count(); }, [](counted& w) { w.count(), w.count(); }},
      [](counted& w) { MODEL_CHECK(w.n.last() == 4, "one count was lost"); });
}

TEST(lock_model, three_count_and_nobody_waits_for_ever) {
  explore<counted>(
      {[](counted& w) { w.count(); }, [](counted& w) { w.count(); }, [](counted& w) { w.count(); }},
      [](counted& w) { MODEL_CHECK(w.n.last() == 3, "one count was lost"); });
}

TEST(lock_model, try_lock_takes_it_or_leaves_it) {
  explore<counted>({[](counted& w) { w.count(); },
                    [](counted& w) {
                      if (!w.l.try_lock()) return;
                      MODEL_CHECK(w.ninside == 0, "two hold it");
                      w.n.set(w.n.get() + 1);
                      w.l.unlock();
                    },
                    [](counted& w) { w.count(); }});
}

// unlock() is its last step with the lock: whoever gets it next may destroy it.
TEST(lock_model, whoever_has_it_last_may_destroy_it) {
  struct world {
    mortal<counted> c;
    int ndone = 0;
    static void use(world& w) {
      w.c->l.lock();
      const bool is_last = ++w.ndone == 2;
      w.c->l.unlock();
      if (is_last) w.c.destroy();
    }
  };
  explore<world>({&world::use, &world::use});
}

}  // namespace
}  // namespace weft::model
