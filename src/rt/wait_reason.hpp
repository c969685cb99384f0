// wait_reason.hpp: why a goroutine waits, in the words a dump prints.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::rt {

enum class wait_reason : std::uint8_t {
  none,
  event,
  join,
  wait_group,
  mutex_lock,
  shared_mutex_lock_shared,
  shared_mutex_lock,
  condition_wait,
  once_call,
  semaphore_acquire,
  latch_wait,
  barrier_wait,
  sleep,
  chan_send,
  chan_receive,
  nil_chan_send,
  nil_chan_receive,
  select,
  empty_select,
  io,
  main_goroutine,  // a thread in run()
  // Those that a bubble must tell apart (sched/bubbles.hpp).
  timed_mutex_lock,
  chan_send_outside,  // at a channel that was not made in the bubble of the one who waits
  chan_receive_outside,
  select_outside,
  bubble,       // until all goroutines of a bubble are blocked: testing::bubble()
  bubble_wait,  // the same from inside: testing::wait()
};

constexpr std::string_view name_of(wait_reason r) noexcept {
  switch (r) {
    case wait_reason::none:
      return "";
    case wait_reason::event:
      return "event wait";
    case wait_reason::join:
      return "join";
    case wait_reason::wait_group:
      return "wait_group wait";
    case wait_reason::mutex_lock:
    case wait_reason::timed_mutex_lock:
      return "sync.Mutex.Lock";
    case wait_reason::shared_mutex_lock_shared:
      return "sync.RWMutex.RLock";
    case wait_reason::shared_mutex_lock:
      return "sync.RWMutex.Lock";
    case wait_reason::condition_wait:
      return "sync.Cond.Wait";
    case wait_reason::once_call:
      return "once call";
    case wait_reason::semaphore_acquire:
      return "semacquire";
    case wait_reason::latch_wait:
      return "latch wait";
    case wait_reason::barrier_wait:
      return "barrier wait";
    case wait_reason::sleep:
      return "sleep";
    case wait_reason::chan_send:
    case wait_reason::chan_send_outside:
      return "chan send";
    case wait_reason::chan_receive:
    case wait_reason::chan_receive_outside:
      return "chan receive";
    case wait_reason::nil_chan_send:
      return "chan send (nil chan)";
    case wait_reason::nil_chan_receive:
      return "chan receive (nil chan)";
    case wait_reason::select:
    case wait_reason::select_outside:
      return "select";
    case wait_reason::empty_select:
      return "select (no cases)";
    case wait_reason::io:
      return "IO wait";
    case wait_reason::main_goroutine:
      return "running main";
    case wait_reason::bubble:
      return "bubble";
    case wait_reason::bubble_wait:
      return "bubble wait";
  }
  return "unknown";
}

}  // namespace weft::rt
