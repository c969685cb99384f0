// channels.hpp: a channel of longs between parties: chan_core with parking, as chan/chan.cpp does it.
#pragma once

#include <cstddef>

#include "chan/chan_core.hpp"
#include "parties.hpp"

namespace weft::model {

using channels::step;

template <std::size_t Capacity>
struct channel {
  using core_type = channels::chan_core<model_atomics, party, parties>;
  using record = typename core_type::record_type;

  alignas(long) std::byte buffer[(Capacity + 1) * sizeof(long)];
  core_type c{sizeof(long), Capacity, buffer};

  step send(party& me, long v) {
    party* wake = nullptr;
    c.lock().lock();
    const step s = c.send(&v, wake);
    if (s == step::must_wait) return wait_at(me, c.senders(), &v);
    return finish(s, wake);
  }
  step recv(party& me, long& v) {
    party* wake = nullptr;
    c.lock().lock();
    const step s = c.recv(&v, wake);
    if (s == step::must_wait) return wait_at(me, c.receivers(), &v);
    return finish(s, wake);
  }
  struct inside {
    void wake(party* p) const noexcept { p->wake(); }
  };
  step try_recv(long& v) { return c.template try_recv<inside>(&v); }

  bool close() {
    record* first = nullptr;
    {
      const os::lock_guard hold(c.lock());
      if (!c.close()) return false;
      record** end = &first;
      while (record* const r = c.take_waiter()) {
        r->next = nullptr;
        *end = r;
        end = &r->next;
      }
    }
    while (first != nullptr) {
      party* const p = first->who;
      first = first->next;
      p->wake();
    }
    return true;
  }

 private:
  step wait_at(party& me, typename core_type::queue_type& queue, void* elem) {
    record mine{.who = &me, .elem = elem};
    queue.push(&mine);
    c.lock().unlock();  // the parking step
    me.sleep();
    mine.who = forbidden();
    return mine.has_passed ? step::done : step::closed;
  }
  step finish(step s, party* wake) {
    c.lock().unlock();
    if (wake != nullptr) wake->wake();
    return s;
  }
};

}  // namespace weft::model
