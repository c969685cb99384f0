// locks.cpp: who is inside is alone, and who gives up has waited.
#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>

#include "scenario.hpp"

#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::together;
using weft::seeds::trial;

namespace {

// What a lock is to guard: others may come at the yield.
struct room {
  int ninside = 0;
  int nvisits = 0;

  void visit(trial& t) {
    t.must(++ninside == 1, "one is inside at a time");
    const int before = nvisits;
    weft::yield();
    nvisits = before + 1;
    --ninside;
  }
};

SCENARIO(lock_seeds, a_mutex_lets_in_one_at_a_time) {
  const bool intrudes = t.fault("one comes in without the lock");
  weft::mutex m;
  room guarded;
  int nvisits = 0;
  together(4, [&](int i) {
    for (int k = 0; k < 3; ++k) {
      if (i == 0 && intrudes) {
        guarded.visit(t);
        ++nvisits;
        continue;
      }
      std::unique_lock hold(m, std::defer_lock);
      if (i == 1) {
        if (!hold.try_lock()) continue;
      } else {
        hold.lock();
      }
      guarded.visit(t);
      ++nvisits;
    }
  });
  t.must(guarded.nvisits == nvisits, "no visit is lost");
}

SCENARIO(lock_seeds, a_timed_mutex_lets_in_one_or_says_no_when_the_time_is_over) {
  const bool intrudes = t.fault("one comes in though the time was over");
  const auto limit = t.fault("somebody gives up too soon") ? 1ms : 2ms;
  weft::timed_mutex m;
  room guarded;
  together(4, [&](int i) {
    for (int k = 0; k < 2; ++k) {
      const auto began = weft::clock::now();
      if (m.try_lock_for(limit)) {
        guarded.visit(t);
        weft::sleep_for((i % 2 + 1) * 1ms);
        m.unlock();
      } else {
        t.must(weft::clock::now() - began >= 2ms, "nobody gives up before the time is over");
        if (intrudes) guarded.visit(t);
      }
    }
  });
}

SCENARIO(lock_seeds, a_recursive_mutex_is_kept_until_its_owner_has_left_as_often_as_it_came) {
  const bool is_left_out = t.fault("the outer lock is left out");
  weft::recursive_mutex m;
  int n = 0;
  const auto add_one = [&] {
    const std::lock_guard again(m);
    weft::yield();
    ++n;
  };
  together(3, [&](int) {
    for (int k = 0; k < 2; ++k) {
      std::unique_lock hold(m, std::defer_lock);
      if (!is_left_out) hold.lock();
      const int before = n;
      add_one();
      weft::yield();
      if (m.try_lock()) {  // it is ours
        ++n;
        m.unlock();
      }
      t.must(n == before + 2, "nobody comes between the inner locks of another");
    }
  });
}

SCENARIO(lock_seeds, writers_are_alone_and_readers_see_whole_changes) {
  const bool mistakes = t.fault("a writer comes as a reader");
  weft::shared_mutex m;
  int first = 0;
  int second = 0;
  int nreading = 0;
  int nwriting = 0;
  const auto write = [&] {
    t.must(++nwriting == 1 && nreading == 0, "who writes is alone");
    ++first;
    weft::yield();
    ++second;
    --nwriting;
  };
  together(5, [&](int i) {
    for (int k = 0; k < 2; ++k) {
      if (i < 2 && !mistakes) {
        const std::unique_lock hold(m);
        write();
      } else if (i < 2) {
        const std::shared_lock hold(m);
        write();
      } else {
        const std::shared_lock hold(m);
        ++nreading;
        const int seen = first;
        weft::yield();
        t.must(first == seen && second == seen,
               "who reads sees whole changes, and none come meanwhile");
        --nreading;
      }
    }
  });
}

SCENARIO(lock_seeds, a_condition_wakes_those_for_whom_there_is_something) {
  const bool looks_once = t.fault("who is woken does not look again");
  const bool wakes_any = t.fault("one is woken, of those who wait for different things");
  constexpr int kEach = 4;
  weft::mutex m;
  weft::condition_variable has_values;
  weft::condition_variable has_room;
  weft::condition_variable& for_room = wakes_any ? has_values : has_room;
  std::optional<int> value;
  std::array<int, 2 * kEach> ntaken{};
  together(4, [&](int i) {
    for (int k = 0; k < kEach; ++k) {
      std::unique_lock hold(m);
      if (i < 2) {
        for_room.wait(hold, [&] { return !value; });
        value = kEach * i + k;
        has_values.notify_one();
        continue;
      }
      if (looks_once) {
        if (!value) has_values.wait(hold);
      } else if (i == 3 && !wakes_any) {
        while (!has_values.wait_for(hold, 1ms, [&] { return value.has_value(); })) {
        }
      } else {
        has_values.wait(hold, [&] { return value.has_value(); });
      }
      t.must(value.has_value(), "what was waited for is there");
      if (!value) continue;
      ++ntaken[*value];
      value.reset();
      for_room.notify_one();
    }
  });
  t.must(std::ranges::count(ntaken, 1) == 2 * kEach, "each value is taken once");
}

SCENARIO(lock_seeds, once_is_done_once_and_before_anybody_goes_on) {
  const bool looks_first = t.fault("somebody looks whether it was done, and then does it");
  const bool goes_on = t.fault("somebody goes on while another does it");
  const bool shares = t.fault("everybody gets the exception");
  weft::once init;
  bool has_begun = false;
  bool has_thrown = false;
  int ndone = 0;
  int nthrown = 0;
  const auto do_it = [&] {
    has_begun = true;
    weft::yield();
    if (!has_thrown) {
      has_thrown = true;
      throw std::runtime_error("the first time it fails");
    }
    weft::yield();
    ++ndone;
  };
  together(4, [&](int) {
    try {
      if (looks_first) {
        if (ndone == 0) do_it();
      } else if (!(goes_on && has_begun)) {
        init.call(do_it);
      }
      t.must(ndone > 0, "whoever goes on finds it done");
      if (shares && has_thrown) ++nthrown;
    } catch (const std::runtime_error&) {
      ++nthrown;
    }
  });
  t.must(ndone == 1, "it is done once");
  t.must(nthrown == 1, "who called what failed gets the exception, and nobody else");
}

// All of them may give up, so that nobody waits for what is lost.
SCENARIO(lock_seeds, a_semaphore_gives_no_more_than_it_has_and_loses_nothing) {
  const bool intrudes = t.fault("one takes what it was not given");
  const bool keeps = t.fault("who is cancelled keeps what it has");
  constexpr std::int64_t kAll = 3;
  weft::semaphore s(kAll);
  const auto made = weft::with_timeout(weft::background(), 2ms);
  const weft::context& ctx = made.ctx;
  std::int64_t nheld = 0;
  weft::wait_group all;
  for (int i = 0; i < 6; ++i) {
    all.go([&, n = i % 3 + 1, has_context = i % 2 == 0] {
      for (int k = 0; k < 2; ++k) {
        const bool is_given = has_context ? s.acquire(n, ctx) : s.try_acquire_for(n, 2ms);
        if (is_given || intrudes) {
          t.must((nheld += n) <= kAll, "no more is held than there is");
          weft::sleep_for(1ms);
          nheld -= n;
        }
        if (is_given && !(keeps && ctx.err())) s.release(n);
      }
    });
  }
  all.go([&] {
    weft::sleep_for(1ms);
    weft::yield();
    made.cancel();
  });
  all.wait();
  t.must(s.try_acquire(kAll), "in the end all of it is there");
}

// All of it each, so that the order in which they get it can be seen. Nobody else runs between a number that is drawn and the call in which
// its owner queues up.
SCENARIO(lock_seeds, a_semaphore_serves_first_come_first) {
  const bool dawdles = t.fault("somebody dawdles between its number and its turn");
  weft::semaphore s(2);
  int ncame = 0;
  int nserved = 0;
  together(4, [&](int) {
    for (int k = 0; k < 3; ++k) {
      const int mine = ncame++;
      if (dawdles) weft::yield();
      s.acquire(2);
      t.must(nserved++ == mine, "they are served in the order in which they came");
      weft::yield();
      s.release(2);
    }
  });
}

}  // namespace
