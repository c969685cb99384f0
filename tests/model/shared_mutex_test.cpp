// shared_mutex_test.cpp: sync/shared_mutex_core.hpp as weft::shared_mutex uses it, with the fast ways of its header, [shared_mutex.pass]
// [shared_mutex.no_touch_after_unlock].
#include "sync/shared_mutex_core.hpp"

#include <gtest/gtest.h>

#include "parties.hpp"

namespace weft::model {
namespace {

using core = sync::shared_mutex_core<model_atomics, timed_waiter, timed_waiters>;

struct shared_mutex {
  core::word state{0};
  core::lock guard;
  void* first_writer = nullptr;
  void* last_writer = nullptr;
  void* first_reader = nullptr;
  void* last_reader = nullptr;

  core ops() { return {state, guard, {first_writer, last_writer}, {first_reader, last_reader}}; }

  void lock(party& me) {
    std::uint32_t seen = 0;
    if (state.compare_exchange_strong(seen, core::kWriter, std::memory_order_acquire,
                                      std::memory_order_relaxed))
      return;
    core m = ops();
    core::record mine{};
    park(me, [&](timed_waiter* w) {
      mine.who = w;
      return m.enter_writer(&mine);
    });
  }
  void unlock() {
    std::uint32_t seen = core::kWriter;
    if (state.compare_exchange_strong(seen, 0, std::memory_order_release,
                                      std::memory_order_relaxed))
      return;
    MODEL_CHECK(ops().release_writer(end_wait), "nobody writes");
  }
  void lock_shared(party& me) {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    while ((seen & (core::kWriter | core::kWaiting)) == 0) {
      if (state.compare_exchange_weak(seen, seen + core::kReader, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return;
    }
    core m = ops();
    core::record mine{};
    park(me, [&](timed_waiter* w) {
      mine.who = w;
      return m.enter_reader(&mine);
    });
  }
  void unlock_shared() {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    while ((seen & core::kWaiting) == 0 && seen >= core::kReader) {
      if (state.compare_exchange_weak(seen, seen - core::kReader, std::memory_order_release,
                                      std::memory_order_relaxed))
        return;
    }
    MODEL_CHECK(ops().release_reader(end_wait), "nobody reads");
  }
};

struct world {
  mortal<shared_mutex> m;
  party callers[4];
  plain<int> n;  // how often it was written
  model_atomics::atomic<std::uint32_t> pulse{0};
  int nreading = 0;
  int nwriting = 0;

  // Others may come here: plain data is no point.
  void dwell() { pulse.load(std::memory_order_relaxed); }

  void change() {
    MODEL_CHECK(nwriting++ == 0 && nreading == 0, "who writes is not alone");
    n.set(n.get() + 1);
    dwell();
    --nwriting;
  }
  int look() {
    ++nreading;
    MODEL_CHECK(nwriting == 0, "one reads while another writes");
    const int seen = n.get();
    dwell();
    --nreading;
    return seen;
  }
  void write(int i) {
    m->lock(callers[i]);
    change();
    m->unlock();
  }
  int read(int i) {
    m->lock_shared(callers[i]);
    const int seen = look();
    m->unlock_shared();
    return seen;
  }
  void expect_written(int times) {
    MODEL_CHECK(n.last() == times, "one change was lost");
    MODEL_CHECK(m->state.load() == 0, "it is not free in the end");
  }
};

TEST(shared_mutex_model, two_writers_take_turns) {
  explore<world>(
      {[](world& w) { w.write(0), w.write(0); }, [](world& w) { w.write(1), w.write(1); }},
      [](world& w) { w.expect_written(4); });
}

TEST(shared_mutex_model, writers_are_alone_and_nobody_is_forgotten) {
  explore<world>(
      {[](world& w) { w.write(0); }, [](world& w) { w.write(1); }, [](world& w) { w.read(2); }},
      [](world& w) { w.expect_written(2); });
}

// Of two who read the last to leave knows what the other did, and hands it on to who writes.
TEST(shared_mutex_model, readers_leave_it_to_the_writer) {
  explore<world>(
      {[](world& w) { w.read(0); }, [](world& w) { w.read(1); }, [](world& w) { w.write(2); }},
      [](world& w) { w.expect_written(1); });
}

// One is let in by the writer that leaves; another finds it open then.
TEST(shared_mutex_model, a_reader_that_joins_another_sees_what_was_written) {
  explore<world>({[](world& w) { w.write(0), w.read(0); }, [](world& w) { w.read(1); },
                  [](world& w) { w.read(2); }},
                 [](world& w) { w.expect_written(1); });
}

TEST(shared_mutex_model, two_readers_and_two_writers) {
  explore<world>({[](world& w) { w.read(0); }, [](world& w) { w.write(1); },
                  [](world& w) { w.write(2); }, [](world& w) { w.read(3); }},
                 [](world& w) { w.expect_written(2); });
}

// Who waits from the beginning, in the order in which it came.
struct queued : world {
  core::record records[2];
  timed_waiter waiters[2];

  void enter(int place, party& who, bool writes) {
    core::record& mine = records[place];
    waiters[place] = {&who, nullptr};
    mine.who = &waiters[place];
    MODEL_CHECK(writes ? m->ops().enter_writer(&mine) : m->ops().enter_reader(&mine),
                "it was to be had");
  }
};

TEST(shared_mutex_model, who_waits_to_write_comes_before_new_readers) {
  struct being_read : queued {
    being_read() {
      m->lock_shared(callers[0]);
      enter(0, callers[1], true);
    }
  };
  explore<being_read>({[](being_read& w) {
                         w.look();
                         w.m->unlock_shared();
                       },
                       [](being_read& w) {
                         w.callers[1].sleep();
                         w.change();
                         w.m->unlock();
                       },
                       [](being_read& w) {
                         MODEL_CHECK(w.read(2) == 1, "a new reader passed one who waits to write");
                       }},
                      [](being_read& w) { w.expect_written(1); });
}

TEST(shared_mutex_model, who_waits_to_read_comes_before_the_next_writer) {
  struct being_written : queued {
    being_written() {
      m->lock(callers[0]);
      enter(0, callers[1], true);
      enter(1, callers[2], false);
    }
  };
  explore<being_written>({[](being_written& w) {
                            w.change();
                            w.m->unlock();
                          },
                          [](being_written& w) {
                            w.callers[1].sleep();
                            w.change();
                            w.m->unlock();
                          },
                          [](being_written& w) {
                            w.callers[2].sleep();
                            MODEL_CHECK(w.look() == 1, "two wrote while one waited to read");
                            w.m->unlock_shared();
                          }},
                         [](being_written& w) { w.expect_written(2); });
}

TEST(shared_mutex_model, whoever_had_it_last_may_destroy_it) {
  struct shared : world {
    int ndone = 0;
    void leave_after(int i, bool writes) {
      writes ? m->lock(callers[i]) : m->lock_shared(callers[i]);
      const bool is_last = ++ndone == 3;
      writes ? m->unlock() : m->unlock_shared();
      if (is_last && writes) m.destroy();  // of two readers the other may not have left yet
    }
  };
  explore<shared>({[](shared& w) { w.leave_after(0, true); },
                   [](shared& w) { w.leave_after(1, false); },
                   [](shared& w) { w.leave_after(2, true); }});
}

}  // namespace
}  // namespace weft::model
