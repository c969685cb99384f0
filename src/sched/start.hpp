// start.hpp: the beginning and the end of a goroutine's life.
#pragma once

#include <cstddef>

#include "sched/state.hpp"

namespace weft::sched {

// A dead G made into a new one: id, epoch, nothing else. Null: no memory. pp: the P the caller holds, or null.
G* new_g(P* pp) noexcept;

// Never started after all, or ended: back to the pool. pp as above.
void free_g(P* pp, G* gp) noexcept;

// Makes gp runnable. Its closure is in place. mp: this thread's M, inside the bracket, or null.
void launch(M* mp, G* gp) noexcept;

// Gives gp a stack on which it can begin: of the size it wants, or ends the process with a message. On g0, or
// (bind_cached_stack) anywhere: a default stack from pp's cache, if gp wants one and there is one.
void bind_stack(P* pp, G* gp) noexcept;
bool bind_cached_stack(P* pp, G* gp) noexcept;

// The first function on every goroutine's stack.
[[noreturn]] void goroutine_main(void* g) noexcept(false);

// Leaves this goroutine for good. Its closure is gone.
[[noreturn]] void end_goroutine() noexcept;

}  // namespace weft::sched
