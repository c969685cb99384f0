// chan.cpp: sending, receiving, closing: chan_core with parking.
#include "chan/impl.hpp"
#include "sched/entry.hpp"
#include "sched/foreign.hpp"

#include <weft/chan.hpp>
#include <weft/go.hpp>

namespace weft::channels {

namespace {

using detail::channel;
using detail::passed;

enum class direction : std::uint8_t { send, receive };

passed as_passed(step s) noexcept { return s == step::closed ? passed::closed : passed::done; }

// elem is only read when sending.
step take_step(core& c, direction to, void* elem, rt::G*& wake) noexcept {
  return to == direction::send ? c.send(elem, wake) : c.recv(elem, wake);
}

// The record stands in its queue: now it may be found.
bool unlock(rt::G*, void* arg) {
  static_cast<core*>(arg)->lock().unlock();
  return true;
}

void leave_if_inside(rt::M* mp) noexcept {
  if (mp != nullptr) sched::leave(mp);
}

// The same wait at a channel that was not made in the bubble of the one who waits: it is not durably blocked (bubbles.hpp).
rt::wait_reason outside(rt::wait_reason why) noexcept {
  using enum rt::wait_reason;
  return why == chan_send      ? chan_send_outside
         : why == chan_receive ? chan_receive_outside
                               : select_outside;
}

// Inside, with the lock held, which it gives up. The record is in a frame of its own, so that who need not wait has a small one.
[[gnu::noinline]] passed wait_at(rt::M* mp, core& c, direction to, void* elem,
                                 rt::wait_reason why) noexcept {
  waiting mine{.who = mp != nullptr ? mp->curg() : sched::foreign_g(), .elem = elem};
  (to == direction::send ? c.senders() : c.receivers()).push(&mine);
  if (c.home() != mine.who->bubble()) why = outside(why);
  mp = sched::park_inside(mp, &unlock, &c, why, &c);
  leave_if_inside(mp);
  return mine.has_passed ? passed::done : passed::closed;
}

[[gnu::always_inline]] inline passed pass(core& c, direction to, void* elem,
                                          rt::wait_reason why) noexcept {
  rt::M* const mp = sched::enter();
  rt::G* wake = nullptr;
  c.lock().lock();
  const step s = take_step(c, to, elem, wake);
  if (s == step::must_wait) return wait_at(mp, c, to, elem, why);
  c.lock().unlock();
  if (wake != nullptr) sched::ready(mp, wake);
  leave_if_inside(mp);
  return as_passed(s);
}

struct inside : sched::bracket {
  void wake(rt::G* gp) const noexcept { sched::ready(m(), gp); }
};

// There was nothing in it: but is there anything that only the scheduler did not come to yet?
[[gnu::noinline]] step try_recv_timed(impl* c, void* elem) noexcept {
  {
    const sched::bracket inside;
    c->catch_up();
  }
  return c->c.try_recv<inside>(elem);
}

passed as_tried(step s) noexcept { return s == step::must_wait ? passed::not_yet : as_passed(s); }

}  // namespace

passed select_only(detail::select_slot& s) noexcept {
  return pass(of(s.chan)->c, s.is_send ? direction::send : direction::receive, s.elem,
              rt::wait_reason::select);
}

}  // namespace weft::channels

namespace weft::inline v1::detail {

using channels::direction;
using channels::of;

passed send(channel* c, const void* elem) noexcept {
  if (c == nullptr) sched::park_for_ever(rt::wait_reason::nil_chan_send);
  return channels::pass(of(c)->c, direction::send, const_cast<void*>(elem),
                        rt::wait_reason::chan_send);
}

passed recv(channel* c, void* elem) noexcept {
  if (c == nullptr) sched::park_for_ever(rt::wait_reason::nil_chan_receive);
  return channels::pass(of(c)->c, direction::receive, elem, rt::wait_reason::chan_receive);
}

passed try_send(channel* c, const void* elem) noexcept {
  if (c == nullptr) return passed::not_yet;
  return channels::as_tried(of(c)->c.try_send<channels::inside>(elem));
}

passed try_recv(channel* c, void* elem) noexcept {
  if (c == nullptr) return passed::not_yet;
  channels::step s = of(c)->c.try_recv<channels::inside>(elem);
  if (s == channels::step::must_wait && of(c)->c.is_timed()) [[unlikely]]
    s = channels::try_recv_timed(of(c), elem);
  return channels::as_tried(s);
}

bool close(channel* c) noexcept {
  const sched::bracket inside;
  auto& core = of(c)->c;
  channels::waiting* first = nullptr;  // in the order in which they came, by way of their own links
  {
    const os::lock_guard hold(core.lock());
    if (!core.close()) return false;
    channels::waiting** end = &first;
    while (channels::waiting* const r = core.take_waiter()) {
      r->next = nullptr;
      *end = r;
      end = &r->next;
    }
  }
  while (first != nullptr) {
    rt::G* const gp = first->who;
    first = first->next;  // before its owner runs on
    sched::ready(inside.m(), gp);
  }
  return true;
}

void close_or_throw(channel* c) {
  if (c == nullptr) throw nil_channel();
  if (!close(c)) throw closed_channel("close of closed channel");
}

void give_back(channel* c, void* cell) noexcept {
  const sched::bracket inside;
  rt::G* wake = nullptr;
  {
    const os::lock_guard hold(of(c)->c.lock());
    of(c)->c.give_back(cell, wake);
  }
  if (wake != nullptr) sched::ready(inside.m(), wake);
}

bool take_back(channel* c, const void* cell) noexcept {
  const sched::bracket inside;
  rt::G* wake = nullptr;
  bool was_there = false;
  {
    const os::lock_guard hold(of(c)->c.lock());
    was_there = of(c)->c.take_back(cell, wake);
  }
  if (wake != nullptr) sched::ready(inside.m(), wake);
  return was_there;
}

std::size_t length(const channel* c) noexcept {
  return of(c)->c.is_timed() ? 0 : of(c)->c.length();
}
std::size_t capacity(const channel* c) noexcept {
  return of(c)->c.is_timed() ? 0 : of(c)->c.capacity();
}
bool is_closed(const channel* c) noexcept { return of(c)->c.is_closed(); }

}  // namespace weft::inline v1::detail

namespace weft::inline v1 {

closed_channel::closed_channel(const char* what_was_done)
    : std::runtime_error(std::string("weft: ") + what_was_done) {}

nil_channel::nil_channel() : std::logic_error("weft: close of nil channel") {}

}  // namespace weft::inline v1
