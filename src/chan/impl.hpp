// impl.hpp: the channel as the runtime knows it: chan_core with goroutines, and its memory.
//
// It dies with its last handle, outside the bracket, since the destructors of what is left in it are the user's code. Whoever waits at a
// channel without handles waits for ever, unless its time ends or it waits elsewhere as well: then the channel is an *orphan*, and the last
// of those who leaves it frees it.
#pragma once

#include "chan/chan_core.hpp"
#include "os/futex.hpp"
#include "rt/g.hpp"
#include "sched/park.hpp"

#include <weft/detail/channel.hpp>
#include <weft/detail/select_slot.hpp>

namespace weft::channels {

// (sync/waiting.hpp has one for those who wait with a sched::waiter; both only pass the question on.)
struct goroutines {
  static bool is_gone(const rt::G* gp) noexcept { return sched::is_abandoned(gp); }
};

using core = chan_core<os::futex_atomics, rt::G, goroutines>;
using waiting = core::record_type;
using waiting_at_several = shared_wait<os::futex_atomics, rt::G>;

class impl final : public detail::channel {
 public:
  // Throws std::length_error, std::bad_alloc.
  static impl* make(std::size_t elem_size, std::size_t elem_align, std::size_t capacity,
                    void (*drop)(void*) noexcept);

  core c;

  // An alarm lives and dies with the channel, and sends to it; its buffer is not to be seen then.
  // catch_up: inside the runtime; afterwards what is due has been sent.
  void attach_alarm(void* alarm, void (*free)(void*) noexcept,
                    void (*catch_up)(void*) noexcept) noexcept {
    attached_ = alarm;
    free_attached_ = free;
    catch_up_ = catch_up;
    c.set_timed();
  }
  void* attached() const noexcept { return attached_; }
  // It is timed. Without a lock of any channel: the alarm's comes first.
  void catch_up() const noexcept { catch_up_(attached_); }

  // Somebody keeps it who is no handle: it lives until disown(), and when it loses its last handle the keeper is told. The keeper may make
  // new ones by retain(), so that may happen again.
  void keep_by(void* keeper, void (*let_go)(void*) noexcept) noexcept {
    attached_ = keeper;
    let_go_ = let_go;
  }
  void disown() noexcept {
    let_go_ = nullptr;
    lose_last_handle();
  }

  // The last handle has gone. From user context.
  void lose_last_handle() noexcept;
  // Under the lock, by one who has left a queue. True, once: nobody needs it any more, and the caller calls destroy() from user context.
  bool was_last_to_leave() noexcept {
    if (!is_orphan_ || c.has_waiters()) return false;
    is_orphan_ = false;
    return true;
  }
  void destroy() noexcept;

 private:
  impl(std::size_t elem_size, std::size_t capacity, std::byte* buffer, std::size_t align,
       void (*drop)(void*) noexcept) noexcept
      : c(elem_size, capacity, buffer), align_(align), drop_(drop) {}
  ~impl() = default;

  const std::size_t align_;
  void (*const drop_)(void*) noexcept;
  void* attached_ = nullptr;
  void (*free_attached_)(void*) noexcept = nullptr;
  void (*catch_up_)(void*) noexcept = nullptr;
  void (*let_go_)(void*) noexcept = nullptr;
  bool is_orphan_ = false;  // under the lock
};

// The one case of a select that can ever pass: a send or a receive that says "select" while it waits.
detail::passed select_only(detail::select_slot& s) noexcept;

inline impl* of(detail::channel* c) noexcept { return static_cast<impl*>(c); }
inline const impl* of(const detail::channel* c) noexcept { return static_cast<const impl*>(c); }

}  // namespace weft::channels
