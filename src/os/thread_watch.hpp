// thread_watch.hpp: looking at another thread of this process: does it sleep in the kernel, how much CPU has it used?
//
// The runtime takes the P of a thread that sleeps without having said so, and sends no signal to one that sleeps. Both need
// an answer within a microsecond, about threads that cannot be asked. There are three sources, best first:
//
//   syscall_file  /proc/self/task/T/syscall says "running" (on a CPU or waiting for one) or where the thread sleeps.
//                 0.5-1 us with a kept descriptor. May be missing: old kernels, sandboxes, a process that may not be
//                 dumped, a hidden /proc.
//   state_letter  the CPU clock twice: if it moves, the thread runs. If not, the letter in /proc/self/task/T/stat, which
//                 everybody may read. Some 5 us.
//   cpu_clock     without /proc or without a free descriptor: the clock has not moved since an earlier look, at least 1 ms
//                 ago. A guess: a thread that waits for a CPU looks the same.
//
// Callers need not know which one answered. Every answer may be out of date the moment it is given. Nobody looks at himself:
// whoever looks is in a system call, and the file says so.
//
// Descriptors are opened at the first look, close-on-exec, and kept by the first kMostKept watches only (fewer where
// RLIMIT_NOFILE is small): the others open and close one for each look. A program may close descriptors that it does not
// know (daemons do) and get the number again for a file of its own. So what is read is checked, and a descriptor
// is closed only if it is still the file that was opened.
//
// A kept descriptor belongs to one thread, not to its number: after that thread's end a new one with the same number is
// seen as well, since the file is then opened again.
//
// Owner: one thread at a time looks, rebinds and closes; nothing here is atomic. The thread that is looked at does nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::os {

enum class thread_activity : std::uint8_t {
  running,  // on a CPU or waiting for one; also when in doubt
  asleep,   // in the kernel, waiting for something else
  gone,     // there is no such thread in this process
};

enum class watch_source : std::uint8_t { none, cpu_clock, state_letter, syscall_file };

struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const file_identity&) const = default;
};

// CPU time that a thread of this process has used; -1 when there is no such thread. 0.3 us.
std::int64_t thread_cpu_ns(int tid) noexcept;

class thread_watch {
 public:
  static constexpr unsigned kMostKept = 128;

  // Tests pass less than the best to see the others.
  constexpr explicit thread_watch(watch_source best = watch_source::syscall_file) noexcept
      : best_(best) {}
  ~thread_watch() { close(); }
  thread_watch(const thread_watch&) = delete;
  thread_watch& operator=(const thread_watch&) = delete;

  // Looks at this thread from now on. Costs nothing if it did already, and opens nothing yet.
  void open(int tid) noexcept;
  // Gives the descriptor back. The next look needs open() first.
  void close() noexcept;

  thread_activity look() noexcept;
  bool is_asleep() noexcept { return look() == thread_activity::asleep; }
  std::int64_t cpu_ns() const noexcept { return thread_cpu_ns(tid_); }
  // How often it has gone to sleep (or yielded its CPU) so far; -1: the system does not say. 15 us.
  std::int64_t nsleeps() const noexcept;
  // Whether a signal sent to it, and not to the process, has yet to be delivered; nothing: the system does not say. 15 us.
  std::optional<bool> has_pending(int signal) const noexcept;

  int tid() const noexcept { return tid_; }  // 0: closed
  // Which source gave the last answer.
  watch_source source() const noexcept { return source_; }
  bool is_kept() const noexcept { return fd_ >= 0; }

 private:
  bool look_at_file(thread_activity& seen) noexcept;
  bool look_at_letter(thread_activity& seen) noexcept;
  thread_activity look_at_clock(std::int64_t cpu_ns) noexcept;
  int open_file() noexcept;
  void keep(int fd) noexcept;
  void drop() noexcept;

  int tid_ = 0;
  int fd_ = -1;         // the kept descriptor
  file_identity file_;  // what it stood for when it was opened
  std::int64_t still_cpu_ =
      -1;  // the clock's last value, for cpu_clock, and since when it has had it
  std::int64_t still_since_ns_ = 0;
  watch_source best_;
  watch_source source_ = watch_source::none;
  bool has_no_file_ =
      false;  // the system does not give it to us: not tried again before the next open()
};

}  // namespace weft::os
