// start.hpp: the beginning and the end of a goroutine's life.
#pragma once

#include <bit>
#include <cstddef>

#include "sched/state.hpp"

namespace weft::sched {

// A dead G made into a new one: id, epoch, nothing else. Null: no memory. pp: the P the caller holds, or null.
G* new_g(P* pp) noexcept;

// Never started after all, or ended: back to the pool. pp as above.
void free_g(P* pp, G* gp) noexcept;

// Makes gp runnable. Its closure is in place. mp: this thread's M, inside the bracket, or null.
void launch(M* mp, G* gp) noexcept;
// The same by a timer's fire function, perhaps on a thread without a P. One of a runtime that has ended is abandoned with it.
void launch_by_timer(G* gp) noexcept;

// What does not change any more once the goroutine can be seen (spawn.cpp).
void set_origin(G* gp, void (*entry)(void*), const void* made_at, const M* mp) noexcept;

// Gives gp a stack on which it can begin: of the size it wants, or ends the process with a message. On g0, or
// (bind_cached_stack) anywhere: a default stack from pp's cache, if gp wants one and there is one.
void bind_stack(P* pp, G* gp) noexcept;
bool bind_cached_stack(P* pp, G* gp) noexcept;

// Which slot holds so many usable bytes and its guard (log2); 0: those that the stack layer keeps ready do.
inline std::uint8_t slot_bits_for(std::size_t bytes) noexcept {
  const std::size_t slot = bytes + stack::kGuardBytes;
  if (bytes <= stack::default_bytes() && slot > (stack::default_bytes() + stack::kGuardBytes) / 2)
    return 0;
  return static_cast<std::uint8_t>(std::bit_width(slot - 1));
}

// Throws not_running if this is a plain thread and there is no runtime (spawn.cpp).
void require_running(const char* what);

// The first function on every goroutine's stack.
[[noreturn]] void goroutine_main(void* g) noexcept(false);

// Leaves this goroutine for good. Its closure is gone.
[[noreturn]] void end_goroutine() noexcept;

}  // namespace weft::sched
