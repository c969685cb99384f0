// shared_mutex.cpp: weft::shared_mutex on shared_mutex_core.
#include "sched/crash.hpp"
#include "sync/shared_mutex_core.hpp"
#include "sync/waiting.hpp"

#include <weft/shared_mutex.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::shared_mutex_core<os::futex_atomics, sched::waiter, sync::goroutines>;

core core_of(std::atomic<std::uint32_t>& state, detail::waiters& writers,
             detail::waiter_queue& readers) noexcept {
  return {state,
          sync::lock_of(writers),
          {writers.queue.first, writers.queue.last},
          {readers.first, readers.last}};
}

struct waiting {
  core mutex;
  core::record mine{};
};

bool enter_writer(sched::waiter* w, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  me->mine.who = w;
  return me->mutex.enter_writer(&me->mine);
}

bool enter_reader(sched::waiter* w, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  me->mine.who = w;
  return me->mutex.enter_reader(&me->mine);
}

}  // namespace

void shared_mutex::lock_slow() noexcept {
  static_assert(kWriter == core::kWriter && kWaiting == core::kWaiting && kReader == core::kReader);
  waiting me{core_of(state_, writers_, readers_)};
  sync::wait_until({&enter_writer, nullptr, &me}, rt::kNever, rt::wait_reason::shared_mutex_lock,
                   this);
}

void shared_mutex::lock_shared_slow() noexcept {
  waiting me{core_of(state_, writers_, readers_)};
  sync::wait_until({&enter_reader, nullptr, &me}, rt::kNever,
                   rt::wait_reason::shared_mutex_lock_shared, this);
}

void shared_mutex::unlock_slow() noexcept {
  const sched::bracket inside;
  if (!core_of(state_, writers_, readers_).release_writer(sync::waker{inside.m()}))
    sched::misuse("unlock of unlocked shared_mutex");
}

void shared_mutex::unlock_shared_slow() noexcept {
  const sched::bracket inside;
  if (!core_of(state_, writers_, readers_).release_reader(sync::waker{inside.m()}))
    sched::misuse("unlock_shared of unlocked shared_mutex");
}

}  // namespace weft::inline v1
