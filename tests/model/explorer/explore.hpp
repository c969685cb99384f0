// explore.hpp: what a test writes.
//
//   TEST(note_model, a_wake_up_is_never_lost) {
//     struct world { os::basic_note<model_atomics> note; };
//     explore<world>({[](world& w) { w.note.sleep(); },
//                     [](world& w) { w.note.wake(); }});
//   }
//
// The world is made anew for each execution, by nobody; then each function is a thread; then at_end looks at what is left. It fails when a
// MODEL_CHECK does, when nobody can go on, when it does not end, when something that is gone is used, and by a race on plain<T>.
//
// For each memory: depth first with 0, 1, 2 ... preemptions, until there are no more executions or the budget is used up; then what was not
// reached is sampled, by random walks and by PCT. The budget is executions for each memory of each scenario: WEFT_MODEL_BUDGET.
//
// A failure prints the line that replays it:  WEFT_MODEL_REPLAY=sc:a3b <program> --gtest_filter=<the test>
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <vector>

#include "explorer/atomics.hpp"
#include "explorer/engine.hpp"
#include "explorer/plain.hpp"

namespace weft::model {

struct bounds {
  unsigned preemptions = 250;
  unsigned weak_steps = 2;  // of the memory, in one execution of the depth-first search
  unsigned staleness = 2;
  unsigned spurious_wakes = 0;
  bool may_end_asleep = false;  // then at_end says whether those who sleep may
  unsigned max_steps = 3000;
  unsigned pct_depth = 3;
  bool in_sc = true;
  bool in_store_buffer = true;
  bool in_stale_read = true;
};

// Runs it in each memory and reports to GoogleTest.
void explore_program(const engine::program& p, const bounds& b);

// For a test of the explorer itself: the first failure, or an empty string.
std::string find_failure(const engine::program& p, const bounds& b, memory m);

template <class World>
engine::program program_of(std::initializer_list<void (*)(World&)> threads,
                           void (*at_end)(World&) = nullptr) {
  static std::vector<void (*)(World&)> bodies;
  static void (*end)(World&);
  alignas(World) static std::byte storage[sizeof(World)];
  bodies = threads;
  end = at_end;
  engine::program p{};
  p.world = storage;
  p.make = [](void* w) { ::new (w) World(); };
  p.destroy = [](void* w) { static_cast<World*>(w)->~World(); };
  p.thread = [](void* w, unsigned i) { bodies[i](*static_cast<World*>(w)); };
  p.at_end = [](void* w) {
    if (end != nullptr) end(*static_cast<World*>(w));
  };
  p.nthreads = static_cast<unsigned>(bodies.size());
  return p;
}

template <class World>
void explore(std::initializer_list<void (*)(World&)> threads, void (*at_end)(World&) = nullptr,
             bounds b = {}) {
  explore_program(program_of<World>(threads, at_end), b);
}

}  // namespace weft::model

#define MODEL_TEXT_(x) #x
#define MODEL_TEXT(x) MODEL_TEXT_(x)
#define MODEL_CHECK(condition, why)                                                              \
  ((condition) ? void(0)                                                                         \
               : ::weft::model::the_engine.fail(std::string(why) + " (" #condition ", " __FILE__ \
                                                                   ":" MODEL_TEXT(__LINE__) ")"))
