// g_slab.cpp: see g_slab.hpp.
#include "rt/g_slab.hpp"

namespace weft::rt {

namespace {

constinit slab<G, &G::link, std::size_t{1} << 20> goroutines;

}  // namespace

g_chain take_free(std::uint32_t want) noexcept { return goroutines.take(want); }

void put_free(g_chain chain) noexcept { goroutines.put(chain); }

void for_each_g(void (*visit)(G*, void*), void* arg) noexcept {
  goroutines.for_each([&](G* gp) { visit(gp, arg); });
}

}  // namespace weft::rt
