// channel.hpp: the channel behind every chan<T>: compiled once, carries elements as bytes. Not for users.
//
// Elements are trivially copyable: either what the channel carries, or the address of a cell (cell.hpp). A null channel is Go's nil channel:
// whoever sends to it or receives from it waits for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

// The public part of it: how many handles there are.
class channel {
 public:
  // Relaxed: whoever copies a handle has one. True: there was none, which only the keeper of a channel can see.
  bool retain() noexcept { return nhandles_.fetch_add(1, std::memory_order_relaxed) == 0; }
  void release() noexcept {
    // acq_rel: the last one sees all that was done with the channel
    if (nhandles_.fetch_sub(1, std::memory_order_acq_rel) == 1) abandon();
  }

 protected:
  channel() noexcept = default;
  ~channel() = default;

 private:
  WEFT_API void abandon() noexcept;

  std::atomic<std::size_t> nhandles_{1};
};

// What became of a send or a receive. A receive from a closed channel is `closed` when it is drained.
enum class passed : std::uint8_t { done, closed, not_yet };

// drop: what to do with each element that is left when the channel dies; may be null.
// Throws std::length_error if no buffer can be so large, std::bad_alloc.
WEFT_API channel* make_channel(std::size_t elem_size, std::size_t elem_align, std::size_t capacity,
                               void (*drop)(void* elem) noexcept);

// Until it has passed or the channel is closed. elem is read, or written, also by other threads meanwhile, but only when it passes.
WEFT_API WEFT_MAY_SWITCH passed send(channel* c, const void* elem) noexcept;
WEFT_API WEFT_MAY_SWITCH passed recv(channel* c, void* elem) noexcept;

// Never wait: not_yet.
WEFT_API WEFT_MAY_SWITCH passed try_send(channel* c, const void* elem) noexcept;
WEFT_API WEFT_MAY_SWITCH passed try_recv(channel* c, void* elem) noexcept;

// Wait until then at most (weft's clock): not_yet.
WEFT_API WEFT_MAY_SWITCH passed send_until(channel* c, const void* elem,
                                           std::int64_t deadline_ns) noexcept;
WEFT_API WEFT_MAY_SWITCH passed recv_until(channel* c, void* elem,
                                           std::int64_t deadline_ns) noexcept;

// False: it was closed before.
WEFT_API WEFT_MAY_SWITCH bool close(channel* c) noexcept;

// A cell that was received goes back to the front.
WEFT_API WEFT_MAY_SWITCH void give_back(channel* c, void* cell) noexcept;

// A cell that was sent leaves the buffer, as if it had never been there. False: it is not there, somebody has received it.
WEFT_API WEFT_MAY_SWITCH bool take_back(channel* c, const void* cell) noexcept;

WEFT_API std::size_t length(const channel* c) noexcept;
WEFT_API std::size_t capacity(const channel* c) noexcept;
WEFT_API bool is_closed(const channel* c) noexcept;

}  // namespace weft::inline v1::detail
