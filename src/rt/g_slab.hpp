// g_slab.hpp: the memory of goroutines, so that dumps and the deadlock report can walk over every G there is: a G with goid 0 is
// nobody. Each P keeps some free ones.
#pragma once

#include <cstdint>

#include "rt/g.hpp"
#include "rt/slab.hpp"

namespace weft::rt {

using g_chain = slab_chain<G>;

// A chain of at most `want` free Gs (through G::link, status dead), or null when there is no memory. Thread safe.
g_chain take_free(std::uint32_t want) noexcept;

// Gives a chain back.
void put_free(g_chain chain) noexcept;

// Calls visit(gp, arg) for every G that was ever used. They may change meanwhile: compare goids.
void for_each_g(void (*visit)(G* gp, void* arg), void* arg) noexcept;

}  // namespace weft::rt
