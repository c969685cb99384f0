// g_slab.hpp: the memory of goroutines: type-stable, never given back, never from malloc.
//
// Chunks of 1 MiB are mapped as needed and linked, so that dumps and the deadlock report can walk over every G there
// is: a G with goid 0 is nobody. Each P keeps some free ones; the rest lie in one list under a lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/g.hpp"

namespace weft::rt {

// A chain of at most `want` free Gs (through G::link, status dead), or null when there is no memory. Thread safe.
struct g_chain {
  G* first = nullptr;
  std::uint32_t count = 0;
};
g_chain take_free(std::uint32_t want) noexcept;

// Gives a chain back.
void put_free(g_chain chain) noexcept;

// Calls visit(gp) for every G that was ever used. They may change meanwhile: compare goids.
void for_each_g(void (*visit)(G* gp, void* arg), void* arg) noexcept;

}  // namespace weft::rt
