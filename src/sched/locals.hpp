// locals.hpp: the goroutine-local values of a goroutine, and the end of what it owns besides its stack.
#pragma once

#include "rt/g.hpp"

namespace weft::sched {

void destroy_locals(rt::G* gp) noexcept;
void destroy_extras(rt::G* gp) noexcept;

// Destroys the values, last made first. In user context: their destructors are the user's.
inline void end_locals(rt::G* gp) noexcept {
  if (gp->locals != nullptr) [[unlikely]]
    destroy_locals(gp);
}

// Frees name and labels. In user context.
inline void free_extras(rt::G* gp) noexcept {
  if (gp->extras != nullptr) [[unlikely]]
    destroy_extras(gp);
}

}  // namespace weft::sched
