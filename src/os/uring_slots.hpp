// uring_slots.hpp: what the io_uring poller knows of each descriptor, found by its number, and the list of those that want something.
//
// A slot says what is wanted of a descriptor (`state`, by whoever adds or removes it) and what there is (`is_armed`, by the helper): the
// helper makes the second follow the first. A slot that wants something is put into the list of wishes once; the helper takes the whole
// list, and then one after the other as it has room. Nobody waits for a lock here: goroutines add and remove, and may be stopped anywhere.
//
//    add, remove                              helper
//    state = what is wanted                   the first of the list, which is its own by then
//    is_listed: was it? else into the list    is_listed = false
//                                             state: what is wanted?
// Whoever finds is_listed set comes before the helper's clearing of it, in the one order of that word; so the helper sees that wish.
//    [uring.wish]
//
// Slots lie in type-stable memory that is never given back but by close().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::os {

struct alignas(64) uring_slot {
  // What is wanted. A futex word: whoever removes sleeps on it.
  enum : std::uint32_t {
    kIdle,      // nobody's
    kClaimed,   // being added
    kAdded,     // to be polled
    kRemoving,  // to be polled no more; somebody waits for kIdle
  };
  std::atomic<std::uint32_t> state{kIdle};
  std::atomic<bool> is_listed{false};
  uring_slot* next_wish = nullptr;  // by whoever set is_listed, then by the helper
  std::uint64_t cookie = 0;         // written while kClaimed

  // The helper's:
  int fd = -1;
  bool is_armed = false;      // there is a request: its last completion has not been seen
  bool is_cancelled = false;  // and it was asked to end

  // Guarded by the lock of the news (uring_news.hpp):
  bool is_news = false;       // in its queue
  std::uint32_t changes = 0;  // that nobody has been told of
  uring_slot* next_news = nullptr;
};

class uring_slots {
 public:
  constexpr uring_slots() noexcept = default;

  // False: no memory.
  bool open() noexcept;
  void close() noexcept;

  // Null: never asked for (find), no memory or a number beyond all bounds (make).
  uring_slot* find(int fd) const noexcept;
  uring_slot* make(int fd) noexcept;

  // True: the list was empty, so the helper may not know of it.
  bool wish(uring_slot* slot) noexcept;
  // By the helper: makes all that were wished until now its own.
  void gather() noexcept;
  // By the helper, of its own: the next one, in the order in which they came; null: none.
  uring_slot* take_wish() noexcept;
  bool has_gathered() const noexcept { return first_ != nullptr; }
  // By the helper, for itself: after all others.
  void wish_again(uring_slot* slot) noexcept;

 private:
  static constexpr std::size_t kPerChunk = 1024;
  static constexpr std::size_t kChunks = std::size_t{1} << 16;
  using chunk = std::atomic<uring_slot*>;

  chunk* chunks_ = nullptr;
  std::atomic<std::size_t> nchunks_{0};       // none beyond was ever made
  std::atomic<uring_slot*> wishes_{nullptr};  // the last one is the first
  // The helper's: those it has taken from there, in order.
  uring_slot* first_ = nullptr;
  uring_slot* last_ = nullptr;
};

}  // namespace weft::os
