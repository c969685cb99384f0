// thread.hpp: making, naming and leaving threads.
//
// Threads are made by pthread_create, so that thread_local, exceptions and every C library work on them. It takes
// foreign locks, so only the spawner (sched/spawner.cpp), the start of the runtime, and those who are outside it anyway (net/errand.cpp)
// call start_thread().
#pragma once

#include <cstdint>

#include "os/call_sites.hpp"

namespace weft::os {

// A thread to be waited for or let go, exactly once.
struct thread {
  std::uintptr_t handle = 0;
  bool joinable = false;
};

struct thread_result {
  thread made;
  int error = 0;  // errno value; 0: made
};

// Starts body(arg) on a thread with all signals blocked and the given name (at most 15 characters are seen). pthread_create's kind of
// function, so that nothing need be allocated here and freed there: the first free() on a thread makes malloc an arena of 64 MiB for it.
// `at`: what it is called when a test lets it fail.
thread_result start_thread(const char* name, void* (*body)(void*), void* arg,
                           site at = site::thread_create) noexcept;

template <void (*Body)(void*)>
thread_result start_thread(const char* name, void* arg, site at = site::thread_create) noexcept {
  const auto body = [](void* p) -> void* {
    Body(p);
    return nullptr;
  };
  return start_thread(name, body, arg, at);
}

void join_thread(thread& t) noexcept;
void detach_thread(thread& t) noexcept;

int thread_id() noexcept;  // gettid
int process_id() noexcept;
void yield_cpu() noexcept;  // sched_yield

// The signal mask with which the program's own threads run; those that run goroutines take it over.
struct signal_mask {
  alignas(std::uint64_t) unsigned char bits[128];
};
signal_mask current_signal_mask() noexcept;
void set_signal_mask(const signal_mask& mask) noexcept;

// An address between the lowest and highest byte of the calling thread's own stack; nulls if unknown.
struct stack_bounds {
  void* low = nullptr;
  void* high = nullptr;
};
stack_bounds thread_stack() noexcept;

}  // namespace weft::os
