// impl.cpp: how a channel comes and goes.
#include "chan/impl.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

#include "sched/bubbles.hpp"
#include "sched/entry.hpp"

namespace weft::channels {

impl* impl::make(std::size_t elem_size, std::size_t elem_align, std::size_t capacity,
                 void (*drop)(void*) noexcept) {
  const std::size_t align = std::max(elem_align, alignof(impl));
  const std::size_t head = (sizeof(impl) + elem_align - 1) / elem_align * elem_align;
  constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
  if (elem_size != 0 && capacity > (kMost - head) / elem_size)
    throw std::length_error("weft: make_chan: no memory can hold so large a buffer");
  void* const memory = ::operator new(head + elem_size * capacity, std::align_val_t(align));
  return ::new (memory)
      impl(elem_size, capacity, static_cast<std::byte*>(memory) + head, align, drop);
}

void impl::lose_last_handle() noexcept {
  if (let_go_ != nullptr) return let_go_(attached_);
  {
    const sched::bracket inside;
    const os::lock_guard hold(c.lock());
    is_orphan_ = c.has_waiters();
    if (is_orphan_) return;  // only they can know of it now
  }
  destroy();
}

void impl::destroy() noexcept {
  if (free_attached_ != nullptr) free_attached_(attached_);
  if (drop_ != nullptr) {
    void* element = nullptr;  // the address of a cell
    while (c.take_left(&element)) drop_(&element);
  }
  const std::size_t align = align_;
  this->~impl();
  ::operator delete(static_cast<void*>(this), std::align_val_t(align));
}

}  // namespace weft::channels

namespace weft::inline v1::detail {

void channel::abandon() noexcept { channels::of(this)->lose_last_handle(); }

channel* make_channel(std::size_t elem_size, std::size_t elem_align, std::size_t capacity,
                      void (*drop)(void*) noexcept) {
  channels::impl* const made = channels::impl::make(elem_size, elem_align, capacity, drop);
  made->c.set_home(sched::current_bubble());
  return made;
}

}  // namespace weft::inline v1::detail
