// thread.cpp: see thread.hpp.
#include "os/thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/system_call.hpp"

namespace weft::os {

namespace {

// The scheduler itself needs little, but the thread's static TLS lies in the same block.
constexpr std::size_t kThreadStack = 512 * 1024;

pthread_t native(const thread& t) noexcept { return static_cast<pthread_t>(t.handle); }

}  // namespace

thread_result start_thread(const char* name, void* (*body)(void*), void* arg, site at) noexcept {
  // The new thread inherits a mask that blocks everything: no handler runs on it before it is ready.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);

  pthread_t handle{};
  int error = call_for_error(at, pthread_create, &handle, &attributes, body, arg);
  // EINVAL: this program has so much static TLS that it does not fit
  if (error == EINVAL)
    error =
        call_for_error(site::thread_create_plainly, pthread_create, &handle, nullptr, body, arg);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return {{}, error};
  pthread_setname_np(handle, name);
  return {{static_cast<std::uintptr_t>(handle), true}, 0};
}

void join_thread(thread& t) noexcept {
  if (!t.joinable) return;
  pthread_join(native(t), nullptr);
  t.joinable = false;
}

void detach_thread(thread& t) noexcept {
  if (!t.joinable) return;
  pthread_detach(native(t));
  t.joinable = false;
}

int thread_id() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

int process_id() noexcept { return static_cast<int>(::getpid()); }

void yield_cpu() noexcept { ::sched_yield(); }

signal_mask current_signal_mask() noexcept {
  static_assert(sizeof(sigset_t) <= sizeof(signal_mask::bits));
  sigset_t now;
  sigemptyset(&now);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  signal_mask mask{};
  std::memcpy(mask.bits, &now, sizeof now);
  return mask;
}

void set_signal_mask(const signal_mask& mask) noexcept {
  sigset_t set;
  std::memcpy(&set, mask.bits, sizeof set);
  pthread_sigmask(SIG_SETMASK, &set, nullptr);
}

stack_bounds thread_stack() noexcept {
  stack_bounds bounds;
  pthread_attr_t attributes;
  if (call_for_error(site::thread_bounds, pthread_getattr_np, pthread_self(), &attributes) != 0)
    return bounds;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &bounds.low, &size) == 0) {
    bounds.high = static_cast<char*>(bounds.low) + size;
  }
  pthread_attr_destroy(&attributes);
  return bounds;
}

}  // namespace weft::os
