// membarrier.cpp: see membarrier.hpp.
#include "os/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "os/system_call.hpp"

namespace weft::os {

namespace {
bool is_registered = false;
}

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
  if (!is_registered) return;
  const int saved = errno;
  call(site::barrier, ::syscall, SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  errno = saved;
}

}  // namespace weft::os
