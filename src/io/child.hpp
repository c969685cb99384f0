// child.hpp: a child process until it has been waited for.
//
// Somebody must wait for it, once, or it stays in the kernel as a zombie; and nobody may use its number afterwards. So both go through one
// lock: try_reap(), which takes the child's end from the kernel if it has come, and signal(), which does nothing after that. The lock is one
// of the runtime's own (nobody is abandoned with it in hand), and no call under it waits.
//
// Waiting itself is done on a descriptor of the process (pidfd), which the kernel makes readable when it ends; where there is none a thread
// waits in blocking(), without taking the end.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <system_error>

#include "os/lock.hpp"

#include <weft/io/async_fd.hpp>
#include <weft/io/process.hpp>

namespace weft::inline v1::io::detail {

class child {
 public:
  child() = default;
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // It has been started. Before anybody else knows of it.
  void begin(pid_t pid) noexcept;
  pid_t pid() const noexcept { return pid_; }
  // True: it is over, and how() is known.
  bool try_reap() noexcept;
  // Until try_reap() is worth a try. An error: there is no use in waiting.
  void wait_for_end(std::error_code& ec) const;
  // Once it is over.
  exit_status how(std::error_code& ec) const noexcept;
  // 0, or errno.
  int signal(int number) noexcept;

  // Nobody has a handle any more. It is waited for by a goroutine; what the end of a runtime leaves over, by reap_strays().
  static void give_up(std::shared_ptr<child> c) noexcept;
  // Those that were given up and have ended since.
  static void reap_strays() noexcept;

 private:
  int take_end(siginfo_t& info) const noexcept;
  static void add_stray(std::shared_ptr<child> c) noexcept;

  pid_t pid_ = 0;
  async_fd watch_;  // closed: there is none, or it is over
  os::lock<os::lock_rank::waiters> lock_;
  // Under the lock; not changed once it is over:
  bool is_over_ = false;
  exit_status how_;
  int error_ = 0;                // why how_ is not known
  std::shared_ptr<child> next_;  // among the strays
};

}  // namespace weft::inline v1::io::detail
