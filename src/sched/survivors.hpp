// survivors.hpp: plain threads that wait for something only a goroutine can do, and outlive its runtime.
//
// A goroutine that waits is abandoned together with the one it waits for. A plain thread is not: it would wait for ever. So it enters itself
// here, and the end of the runtime wakes it, unless somebody has done so before.
//
// Invariants, under the list's lock
//   V1  who is in the list waits for a goroutine of the present runtime, or is just being woken
//   V2  a record is not touched once the lock is free: its thread takes the lock before it leaves the frame
//
//    plain thread                                    the end of the runtime
//    lock; epoch is another ? do not wait            epoch moves on
//    enter the list; unlock; sleep                   lock; take each one out, withdraw it, wake it; unlock
// The lock makes one of the two come first: the thread sees the new epoch, or is found in the list.
//
// Edges
//   [epoch.end]  abandon_goroutines: epoch seq_cst  ->  has_ended: acquire (all that goroutines of that runtime ever did inside weft)
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/park.hpp"
#include "sched/state.hpp"

namespace weft::sched {

inline bool has_ended(std::uint32_t epoch) noexcept {
  return sched.epoch.load(std::memory_order_acquire) != epoch;  // [epoch.end]
}

// On a plain thread. As park_foreign(), but no longer than the runtime `epoch` lasts: then withdraw(arg) takes back what publish entered.
// False from withdraw: somebody is waking this thread already.
void park_foreign_while(std::uint32_t epoch, publish_fn publish, bool (*withdraw)(void* arg),
                        void* arg, wait_reason why) noexcept;

// The epoch has moved on: ends all these waits.
void wake_survivors() noexcept;

}  // namespace weft::sched
