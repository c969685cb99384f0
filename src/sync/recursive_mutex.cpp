// recursive_mutex.cpp: weft::recursive_mutex: a mutex, who holds it, and how often.
//
// holder_ is written by the holder only, and asked by everybody whether it is himself: only he can have written that, so relaxed will do.
// An id is never used again, so one who left without unlocking is not mistaken for another.
#include "sched/crash.hpp"

#include <weft/go.hpp>
#include <weft/recursive_mutex.hpp>

namespace weft::inline v1 {

void recursive_mutex::lock() noexcept {
  const std::uint64_t me = this_goroutine::id();
  if (holder_.load(std::memory_order_relaxed) != me) {  // see above
    mutex_.lock();
    holder_.store(me, std::memory_order_relaxed);  // see above
  }
  ++depth_;
}

bool recursive_mutex::try_lock() noexcept {
  const std::uint64_t me = this_goroutine::id();
  if (holder_.load(std::memory_order_relaxed) != me) {  // see above
    if (!mutex_.try_lock()) return false;
    holder_.store(me, std::memory_order_relaxed);  // see above
  }
  ++depth_;
  return true;
}

void recursive_mutex::unlock() noexcept {
  if (holder_.load(std::memory_order_relaxed) != this_goroutine::id())  // see above
    sched::misuse("unlock of a recursive_mutex that is not held");
  if (--depth_ != 0) return;
  holder_.store(0, std::memory_order_relaxed);  // see above
  mutex_.unlock();
}

}  // namespace weft::inline v1
