// gates.cpp: barrier, latch, event, wait_group: nobody is let through before what it waits for was done.
#include <string>
#include <vector>

#include "scenario.hpp"

#include <weft/weft.hpp>

using weft::seeds::together;

namespace {

SCENARIO(gate_seeds, nobody_passes_a_barrier_before_all_have_come) {
  const bool hastes = t.fault("one comes and does not wait");
  const bool is_late = t.fault("the completion says later that it was there");
  constexpr int kPhases = 4;
  int narrived[kPhases] = {};
  int ncompleted = 0;
  weft::event late;
  weft::wait_group lateness;
  const auto complete = [&]() noexcept { is_late ? late.set() : void(++ncompleted); };
  weft::barrier step(3, complete);
  if (is_late) {
    lateness.go([&] {
      late.wait();
      ncompleted = kPhases;
    });
  }
  together(3, [&](int i) {
    for (int k = 0; k < kPhases; ++k) {
      ++narrived[k];
      if (i == 2 && k == 2 && !hastes) {
        step.arrive_and_drop();
        return;
      }
      if (i == 0 && hastes) {
        static_cast<void>(step.arrive());
      } else {
        step.arrive_and_wait();
      }
      const int nawaited = k < 3 || hastes ? 3 : 2;
      t.must(narrived[k] == nawaited, "nobody goes on before all have come");
      t.must(ncompleted > k, "nobody goes on before the completion has run");
    }
  });
  lateness.wait();
}

SCENARIO(gate_seeds, whoever_was_let_through_sees_what_was_done_before) {
  const bool latch_hastes = t.fault("one counts down before it has done it");
  const bool event_hastes = t.fault("the event is set before it has happened");
  const bool group_hastes = t.fault("one says that it is done before it is");
  constexpr int kWorkers = 3;
  int ndone = 0;
  bool has_happened = false;
  weft::latch all_done(kWorkers);
  weft::event happened;
  weft::wait_group all;
  all.add(kWorkers);
  weft::wait_group ended;
  for (int i = 0; i < kWorkers; ++i) {
    ended.go([&] {
      if (group_hastes) all.done();
      if (latch_hastes) all_done.count_down();
      weft::yield();
      ++ndone;
      if (!latch_hastes) all_done.count_down();
      if (!group_hastes) all.done();
    });
  }
  for (int i = 0; i < 2; ++i) {
    ended.go([&] {
      all_done.wait();
      t.must(ndone == kWorkers, "a latch opens when all have counted down");
    });
    ended.go([&] {
      happened.wait();
      t.must(has_happened, "an event lets nobody through before it is set");
    });
  }
  if (event_hastes) happened.set();
  all.wait();
  t.must(ndone == kWorkers, "a wait group lets nobody through before all are done");
  has_happened = true;
  if (!event_hastes) happened.set();
  ended.wait();
}

// A wait group is used again as soon as wait() has returned.
SCENARIO(gate_seeds, a_wait_group_counts_each_round_anew) {
  const bool hastes = t.fault("one is counted when it runs, not when it is started");
  weft::wait_group all;
  weft::wait_group ended;
  int ndone = 0;
  int nrounds = 0;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 3; ++i) {
      if (!hastes) all.add();
      ended.go([&] {
        if (hastes) all.add();
        weft::yield();
        ++ndone;
        all.done();
      });
    }
    all.wait();
    t.must(ndone == 3 * ++nrounds, "each round is over when all of it is done");
  }
  ended.wait();
}

SCENARIO(gate_seeds, two_who_wake_one_another_take_turns) {
  const bool stays_open = t.fault("the door stays open");
  const bool closes_late = t.fault("the door is closed when the other may be through again");
  weft::event doors[2];
  std::string turns;
  doors[0].set();
  together(2, [&](int i) {
    for (int k = 0; k < 4; ++k) {
      doors[i].wait();
      if (!stays_open && !closes_late) doors[i].reset();
      turns += i == 0 ? 'a' : 'b';
      doors[1 - i].set();
      if (closes_late) doors[i].reset();
    }
  });
  t.must(turns == "abababab", "they take turns");
}

}  // namespace
