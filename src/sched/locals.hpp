// locals.hpp: the goroutine-local values of a goroutine, and the end of what it owns besides its stack.
#pragma once

#include "rt/g.hpp"

namespace weft::sched {

// Destroys the values, last made first. In user context: their destructors are the user's.
void end_locals(rt::G* gp) noexcept;

// Frees name and labels. In user context.
void free_extras(rt::G* gp) noexcept;

}  // namespace weft::sched
