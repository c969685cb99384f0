// g_slab.cpp: see g_slab.hpp.
#include "rt/g_slab.hpp"

#include <atomic>
#include <new>

#include "arch/sanitizer.hpp"
#include "os/lock.hpp"
#include "os/vm.hpp"

namespace weft::rt {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

struct chunk {
  chunk* next;
  std::uint32_t nused;  // Gs handed out so far, in order; under the lock
};
constexpr std::size_t kFirstG = 192;  // the chunk's own header takes the room of one G
constexpr std::uint32_t kPerChunk = static_cast<std::uint32_t>((kChunkBytes - kFirstG) / sizeof(G));

struct {
  os::lock lock;
  G* free_first = nullptr;
  std::uint32_t nfree = 0;
  std::atomic<chunk*> chunks{nullptr};  // newest first; pushed under the lock, read by anyone
} slab;

G* g_at(chunk* c, std::uint32_t index) noexcept {
  return reinterpret_cast<G*>(reinterpret_cast<std::byte*>(c) + kFirstG) + index;
}

// A fresh G out of the newest chunk, so that its pages are touched only when it is needed.
G* carve() noexcept {
  chunk* c = slab.chunks.load(std::memory_order_relaxed);  // written under the lock we hold
  if (c == nullptr || c->nused == kPerChunk) {
    void* const memory = os::reserve(kChunkBytes, kChunkBytes).base;
    if (memory == nullptr) return nullptr;
    arch::register_root(memory, kChunkBytes);  // closures live here
    c = ::new (memory) chunk{c, 0};
    slab.chunks.store(c, std::memory_order_release);  // its header is complete
  }
  return ::new (g_at(c, c->nused++)) G;
}

}  // namespace

g_chain take_free(std::uint32_t want) noexcept {
  os::lock_guard guard(slab.lock);
  g_chain chain;
  while (chain.count < want) {
    G* gp = slab.free_first;
    if (gp != nullptr) {
      slab.free_first = gp->link;
      --slab.nfree;
    } else {
      gp = carve();
      if (gp == nullptr) break;
    }
    gp->link = chain.first;
    chain.first = gp;
    ++chain.count;
  }
  return chain;
}

void put_free(g_chain chain) noexcept {
  if (chain.first == nullptr) return;
  G* last = chain.first;
  while (last->link != nullptr) last = last->link;
  os::lock_guard guard(slab.lock);
  last->link = slab.free_first;
  slab.free_first = chain.first;
  slab.nfree += chain.count;
}

void for_each_g(void (*visit)(G*, void*), void* arg) noexcept {
  for (chunk* c = slab.chunks.load(std::memory_order_acquire); c != nullptr; c = c->next) {
    std::uint32_t nused;
    {
      os::lock_guard guard(slab.lock);
      nused = c->nused;
    }
    for (std::uint32_t i = 0; i < nused; ++i) visit(g_at(c, i), arg);
  }
}

}  // namespace weft::rt
