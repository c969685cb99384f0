// membarrier.cpp: see membarrier.hpp.
#include "os/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "os/system_call.hpp"
#include "os/thread.hpp"

namespace weft::os {

namespace {
bool is_registered = false;
constexpr int kTries = 20;
}  // namespace

bool init_membarrier(bool wanted) noexcept {
  const int saved = errno;
  is_registered = wanted && call(site::barrier_register, ::syscall, SYS_membarrier,
                                 MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  errno = saved;
  return is_registered;
}

void heavy_barrier() noexcept {
  // Without membarrier the hot side has a fence of its own, and this one is enough on our side.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (is_registered) call_barrier(site::barrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void call_barrier(site where, int command) noexcept {
  const int saved = errno;
  // Some kernels need a little memory for it. Whoever relies on it has no fence of his own, so there is no other way.
  for (int i = 1; call(where, ::syscall, SYS_membarrier, command, 0, 0) != 0; ++i) {
    const bool may_pass = errno == ENOMEM || errno == EINTR || errno == EAGAIN;
    if (!may_pass || i == kTries)
      die_of_call(where, errno,
                  "a sandbox must allow it from the start or not at all; WEFT_DEBUG=membarrier=0 "
                  "does without");
    yield_cpu();
  }
  errno = saved;
}

}  // namespace weft::os
