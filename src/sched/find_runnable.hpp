// find_runnable.hpp: where the next goroutine comes from.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// The most goroutines that run one after the other on a P before the global queue is looked at first.
inline constexpr std::uint32_t kGlobalEvery = 61;

// A goroutine for this M to run, which holds a P when it returns. Sleeps as long as there is none.
// Null: this thread is to end, and has no P. On g0.
G* find_runnable(M* mp) noexcept;

// A goroutine to switch to straight from another one, without a look round; null: go through g0.
G* pick_direct(M* mp, P* pp) noexcept;

// From the queue of another P, or null (steal.cpp).
G* steal_work(M* mp) noexcept;

}  // namespace weft::sched
