// child.cpp: see child.hpp.
#include "io/child.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/system_call.hpp"
#include "sched/entry.hpp"

#include <weft/go.hpp>

namespace weft::inline v1::io::detail {

namespace {

// Not in every C library yet; the same numbers on all machines.
constexpr auto kByPidfd = static_cast<idtype_t>(3);  // P_PIDFD
constexpr long kPidfdOpen = 434;
constexpr long kPidfdSendSignal = 424;

// Closed: this kernel has none, or there are no descriptors left.
async_fd watch(pid_t pid) {
  const auto fd = static_cast<int>(os::call(os::site::child_watch, ::syscall, kPidfdOpen, pid, 0));
  if (fd == -1) return {};
  std::error_code ec;
  async_fd watch(fd, ec);
  if (ec) ::close(fd);
  return watch;
}

int wait_by(idtype_t by, id_t id, siginfo_t& info, int how) noexcept {
  while (os::call(os::site::child_wait, ::waitid, by, id, &info, how) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

exit_status status_of(const siginfo_t& info) noexcept {
  if (info.si_code == CLD_EXITED) return {info.si_status, 0};
  return {-1, info.si_status};
}

constinit os::lock<os::lock_rank::waiters> strays_lock;
// Under the lock. Not destroyed: threads may still come when static destructors run.
std::shared_ptr<child>& strays() noexcept {
  static auto& first = *new std::shared_ptr<child>;
  return first;
}

}  // namespace

void child::begin(pid_t pid) noexcept {
  pid_ = pid;
  try {
    watch_ = watch(pid);
  } catch (...) {  // no memory: a thread waits for it
  }
}

// By the descriptor if there is one: the number is another's if somebody has waited behind our back.
int child::take_end(siginfo_t& info) const noexcept {
  constexpr int kHow = WEXITED | WNOHANG;
  if (const int fd = watch_.native_handle(); fd != -1) {
    const int error = wait_by(kByPidfd, static_cast<id_t>(fd), info, kHow);
    if (error != EINVAL) return error;  // a kernel that does not know it
  }
  return wait_by(P_PID, static_cast<id_t>(pid_), info, kHow);
}

bool child::try_reap() noexcept {
  {
    const sched::bracket inside;
    const os::lock_guard hold(lock_);
    if (is_over_) return true;
    siginfo_t info{};
    error_ = take_end(info);
    if (error_ == 0 && info.si_pid == 0) return false;
    is_over_ = true;
    if (error_ == 0) how_ = status_of(info);
  }
  watch_.close();  // whoever waits looks again
  return true;
}

void child::wait_for_end(std::error_code& ec) const {
  ec.clear();
  if (watch_) {
    watch_.wait_readable(ec);
    if (ec == errc::closed) ec.clear();  // it is over
    return;
  }
  // WNOWAIT: its end is for try_reap(), which also says what is wrong.
  blocking([this] {
    siginfo_t info{};
    return wait_by(P_PID, static_cast<id_t>(pid_), info, WEXITED | WNOWAIT);
  });
}

exit_status child::how(std::error_code& ec) const noexcept {
  ec.clear();
  if (error_ != 0) ec = {error_, std::system_category()};
  return how_;
}

int child::signal(int number) noexcept {
  const sched::bracket inside;
  const os::lock_guard hold(lock_);
  if (is_over_) return ESRCH;
  if (const int fd = watch_.native_handle(); fd != -1) {
    if (os::call(os::site::child_signal, ::syscall, kPidfdSendSignal, fd, number, nullptr, 0) == 0)
      return 0;
    if (errno != ENOSYS && errno != EPERM) return errno;  // a sandbox may forbid it
  }
  return os::call(os::site::child_kill, ::kill, pid_, number) == 0 ? 0 : errno;
}

void child::add_stray(std::shared_ptr<child> c) noexcept {
  std::shared_ptr<child>& first = strays();
  const sched::bracket inside;
  const os::lock_guard hold(strays_lock);
  c->next_ = std::move(first);
  first = std::move(c);
}

void child::reap_strays() noexcept {
  std::shared_ptr<child>& first = strays();
  std::shared_ptr<child> all;
  {
    const sched::bracket inside;
    const os::lock_guard hold(strays_lock);
    all.swap(first);
  }
  while (all != nullptr) {
    std::shared_ptr<child> c = std::exchange(all, std::move(all->next_));
    if (!c->try_reap()) add_stray(std::move(c));
  }
}

void child::give_up(std::shared_ptr<child> c) noexcept {
  if (c->try_reap()) return;
  add_stray(c);
  try {
    go([c] {
      std::error_code ec;
      while (!c->try_reap() && !ec) c->wait_for_end(ec);
      reap_strays();
    });
  } catch (...) {  // no runtime, no memory: it is among the strays
  }
}

}  // namespace weft::inline v1::io::detail
