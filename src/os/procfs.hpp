// procfs.hpp: what /proc says about this process and its threads.
//
// The deadlock check needs to know whether a thread exists that is not weft's and could still wake somebody. The kernel
// also counts threads that never will: io_uring's workers, ThreadSanitizer's own, and the main thread after it has called
// pthread_exit. Those are the ignorable ones.
//
// Called inside the runtime's bracket: no malloc (so no opendir), no throw, no stdio; up to 10 KiB of stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::os {

// One line of /proc/PID/stat or /proc/PID/task/TID/stat, as far as weft cares.
struct thread_stat {
  long tid = 0;
  std::string_view name;  // at most 15 characters; may contain anything, ')' too
  char state = '?';       // R, S, D, ... Z: has ended
  long nthreads = 0;      // of the whole process

  bool is_ignorable() const noexcept;
};

std::optional<thread_stat> parse_thread_stat(std::string_view text) noexcept;

// Threads of this process, or -1 when /proc does not say.
long thread_count() noexcept;

// Calls visit(context, thread) for each thread until it returns false; thread.name is valid during the call. A thread that
// starts or ends meanwhile may be missed. False when /proc could not be read to the end.
using thread_visitor = bool (*)(void* context, const thread_stat& thread);
bool for_each_thread(thread_visitor visit, void* context) noexcept;

struct thread_census {
  unsigned total = 0;      // 0: unknown
  unsigned ignorable = 0;  // of total; 0 when in doubt
};

// Errs on the side of threads that matter: while threads come and go none is called ignorable.
thread_census count_threads() noexcept;

// Memory of this process that is in RAM, 0 when unknown. Some kernels are late by a few hundred KiB.
std::uint64_t resident_bytes() noexcept;

}  // namespace weft::os
