// system_call.hpp: how weft calls the kernel: by name of the place (call_sites.hpp), so that tests can let each of them fail.
//
//   const int fd = os::call(os::site::file_open, ::open, path, flags, mode);
//   const int error = os::call_for_error(os::site::thread_create, pthread_create, &handle, ...);
//   const ssize_t n = os::transfer(os::site::file_read, size, [&](std::size_t most) { return ::read(fd, into, most); });
//
// In a program nobody arms a fault (fault.hpp), and then each of these is the call itself, after one load of a word that nobody writes and a
// branch that is never taken. That branch ships, so what the tests show is shown of what users run.
//
// Why not an interposed C library, or seccomp: those know the call but not the place, cannot shorten a count, miss raw system calls (or are missed by
// them), and do not go with the sanitizers, which interpose the same functions.
//
// Usable everywhere: inside the bracket, under locks, in signal handlers. Nothing here allocates or locks. errno is written as the call
// itself would.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "os/call_sites.hpp"

namespace weft::os {

// What is to become of one call.
struct verdict {
  int error = 0;                // 0: it is made
  std::size_t most = SIZE_MAX;  // bytes (or pieces) that it may move
};

// Written by fault.cpp alone.
inline constinit std::atomic<bool> is_any_fault_armed{false};

// Counts the call, delays it if it is to be delayed, and says what else. Leaves errno alone.
[[gnu::cold, gnu::noinline]] verdict judge_call(site at) noexcept;

inline verdict judge(site at) noexcept {
  // relaxed: whoever arms one does so before he does what shall fail
  if (is_any_fault_armed.load(std::memory_order_relaxed)) [[unlikely]]
    return judge_call(at);
  return {};
}

// As a system call that failed: -1, or MAP_FAILED, which is the same as a pointer.
template <class Result>
Result fail_with(int error) noexcept {
  errno = error;
  if constexpr (std::is_pointer_v<Result>) {
    return reinterpret_cast<Result>(std::intptr_t{-1});
  } else {
    return Result(-1);
  }
}

// A call that answers -1 or MAP_FAILED, and errno.
template <class Function, class... Arguments>
[[gnu::always_inline]] inline auto call(site at, Function* function,
                                        Arguments... arguments) noexcept {
  using result = decltype(function(arguments...));
  if (const verdict v = judge(at); v.error != 0) [[unlikely]]
    return fail_with<result>(v.error);
  return function(arguments...);
}

// One that answers the error's number, as those of pthreads do.
template <class Function, class... Arguments>
[[gnu::always_inline]] inline int call_for_error(site at, Function* function,
                                                 Arguments... arguments) noexcept {
  if (const verdict v = judge(at); v.error != 0) [[unlikely]]
    return v.error;
  return function(arguments...);
}

// What a call that was made answers; for close(), which lets go of the number whatever it says.
inline int answer(site at, int result) noexcept {
  if (const verdict v = judge(at); v.error != 0) [[unlikely]]
    return fail_with<int>(v.error);
  return result;
}

// function(most): one that moves at most so many bytes, or pieces of them.
template <class Function>
[[gnu::always_inline]] inline auto transfer(site at, std::size_t wanted,
                                            Function function) noexcept {
  using result = decltype(function(wanted));
  const verdict v = judge(at);
  if (v.error != 0) [[unlikely]]
    return fail_with<result>(v.error);
  return function(wanted < v.most ? wanted : v.most);
}

// --- what nobody can go on without ---

// Told the whole message, without its newline. sched/crash.cpp puts fatal() there.
using call_failure_handler = void (*)(const char* message, std::size_t size);
inline constinit std::atomic<call_failure_handler> on_call_failure{nullptr};

// "weft: futex(2) failed (errno=38); <next step>", and the end of the process with code 2.
[[noreturn, gnu::cold, gnu::noinline]] void die_of_call(site at, int error,
                                                        const char* next_step) noexcept;

}  // namespace weft::os
