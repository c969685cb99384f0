// slab.hpp: memory for objects of one type: type-stable, never given back, never from malloc.
//
// An object that was handed out once is an object of that type for ever, so a late look at one that has a new owner, or none, is sound.
// Chunks are mapped as needed and linked; an object's pages are touched only when it is first handed out. The free ones lie in one
// list under a lock, linked through a member of theirs; whoever needs many takes them by the chain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "arch/sanitizer.hpp"
#include "os/lock.hpp"
#include "os/vm.hpp"

namespace weft::rt {

template <class T>
struct slab_chain {
  T* first = nullptr;
  std::uint32_t count = 0;
};

template <class T, T* T::* Link, std::size_t ChunkBytes>
class slab {
 public:
  // At most `want`, fewer when there is no memory.
  slab_chain<T> take(std::uint32_t want) noexcept {
    os::lock_guard guard(lock_);
    slab_chain<T> chain;
    while (chain.count < want) {
      T* object = free_first_;
      if (object != nullptr) {
        free_first_ = object->*Link;
      } else {
        object = carve();
        if (object == nullptr) break;
      }
      object->*Link = chain.first;
      chain.first = object;
      ++chain.count;
    }
    return chain;
  }

  void put(slab_chain<T> chain) noexcept {
    if (chain.first == nullptr) return;
    T* last = chain.first;
    while (last->*Link != nullptr) last = last->*Link;
    os::lock_guard guard(lock_);
    last->*Link = free_first_;
    free_first_ = chain.first;
  }

  // visit(object) for each that was ever handed out. They may change meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) noexcept {
    // acquire: with carve(), the chunk's header
    for (chunk* c = chunks_.load(std::memory_order_acquire); c != nullptr; c = c->next) {
      std::uint32_t nused;
      {
        os::lock_guard guard(lock_);
        nused = c->nused;
      }
      for (std::uint32_t i = 0; i < nused; ++i) visit(c->at(i));
    }
  }

 private:
  struct chunk {
    chunk* next;
    std::uint32_t nused;  // handed out so far, in order; under the lock

    // The chunk's own header takes the room of one object.
    T* at(std::uint32_t index) noexcept { return reinterpret_cast<T*>(this) + 1 + index; }
  };
  static_assert(sizeof(chunk) <= sizeof(T) && alignof(chunk) <= alignof(T));
  static constexpr std::uint32_t kPerChunk = static_cast<std::uint32_t>(ChunkBytes / sizeof(T) - 1);

  // A fresh one out of the newest chunk. Under the lock.
  T* carve() noexcept {
    chunk* c = chunks_.load(std::memory_order_relaxed);  // written under the lock we hold
    if (c == nullptr || c->nused == kPerChunk) {
      void* const memory = os::reserve(ChunkBytes, ChunkBytes).base;
      if (memory == nullptr) return nullptr;
      arch::register_root(memory, ChunkBytes);  // what they point to is in use
      c = ::new (memory) chunk{c, 0};
      chunks_.store(c, std::memory_order_release);  // its header is complete
    }
    return ::new (c->at(c->nused++)) T;
  }

  os::lock<os::lock_rank::slab> lock_;
  T* free_first_ = nullptr;
  std::atomic<chunk*> chunks_{nullptr};  // newest first; pushed under the lock, read by anyone
};

}  // namespace weft::rt
