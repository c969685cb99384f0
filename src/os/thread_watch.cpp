// thread_watch.cpp: see thread_watch.hpp.
#include "os/thread_watch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string_view>

#include "os/clock.hpp"
#include "os/line_reader.hpp"
#include "os/parse.hpp"
#include "os/procfs.hpp"
#include "os/system_call.hpp"
#include "os/text.hpp"

namespace weft::os {
namespace {

constexpr std::int64_t kStillLongEnough = kMillisecond;
constexpr int kHighestTid = 1 << 22;

constinit std::atomic<unsigned> nkept{0};

// "/proc/self/task/123/syscall" with its zero.
class task_path {
 public:
  task_path(int tid, std::string_view file) noexcept {
    path_ << "/proc/self/task/" << tid << '/' << file << '\0';
  }
  const char* c_str() const noexcept { return path_.view().data(); }

 private:
  text path_;
};

unsigned most_kept() noexcept {
  rlimit limit{};
  if (call(site::watch_limit, ::getrlimit, RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t share = limit.rlim_cur / 8;  // descriptors are the program's, in the first place
  return share < thread_watch::kMostKept ? static_cast<unsigned>(share) : thread_watch::kMostKept;
}

bool may_keep_one_more() noexcept {
  // relaxed, here and below: a count, which orders nothing
  if (nkept.fetch_add(1, std::memory_order_relaxed) < most_kept()) return true;
  nkept.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// Which file is behind a descriptor; zeros if there is none.
file_identity identity_of(int fd) noexcept {
  struct stat status{};
  // Not libc's: it may be somebody else's, and ThreadSanitizer would take the number for a file that it knows.
  if (call(site::watch_stat, ::syscall, SYS_fstat, fd, &status) != 0) return {};
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

// Not closed by libc's close(), which is a cancellation point and may be somebody else's.
void close_raw(int fd) noexcept { ::syscall(SYS_close, fd); }

// What the file says: "running", or "0 0x3 0x7f.. ...", or "-1 0x7f.. 0x7f.." asleep outside of a call (a page fault).
std::optional<thread_activity> parse_syscall(std::string_view line) noexcept {
  if (line == "running\n") return thread_activity::running;
  const bool is_number = !line.empty() && (line[0] == '-' || (line[0] >= '0' && line[0] <= '9'));
  if (is_number && line.find(" 0x") != line.npos) return thread_activity::asleep;
  return std::nullopt;
}

struct file_look {
  std::optional<thread_activity> seen;
  int error = 0;
};

file_look read_syscall(int fd) noexcept {
  char buffer[256];
  const long n = call(site::watch_read, ::syscall, SYS_pread64, fd, buffer, sizeof buffer, 0L);
  if (n < 0) return {std::nullopt, errno};
  return {parse_syscall({buffer, static_cast<std::size_t>(n)}), 0};
}

// The number behind a key of /proc/self/task/T/status, which begins with the newline before it.
template <class Number>
std::optional<Number> read_status(int tid, std::string_view key, int base) noexcept {
  if (tid <= 0) return std::nullopt;
  const int saved = errno;
  char buffer[4096];
  const task_path path(tid, "status");
  const auto text = read_small_file(path.c_str(), buffer);
  errno = saved;
  const std::size_t at = text ? text->find(key) : std::string_view::npos;
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text->substr(at + key.size());
  return parse_number<Number>(rest.substr(0, rest.find('\n')), base);
}

}  // namespace

std::int64_t thread_cpu_ns(int tid) noexcept {
  // The kernel's clock number of a thread: its id, inverted, above three bits that say "per thread" and "by scheduler".
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6U);
  const int saved = errno;
  timespec used{};
  // 0 would be the caller's own clock; beyond the kernel's limit bits are shifted out, and what is left is another's
  const bool is_known = tid > 0 && tid <= kHighestTid &&
                        call(site::watch_cpu, ::syscall, SYS_clock_gettime, clock, &used) == 0;
  errno = saved;
  return is_known ? static_cast<std::int64_t>(used.tv_sec) * kSecond + used.tv_nsec : -1;
}

void thread_watch::open(int tid) noexcept {
  if (tid == tid_) return;
  close();
  tid_ = tid;
}

void thread_watch::close() noexcept {
  drop();
  tid_ = 0;
  still_cpu_ = -1;
  source_ = watch_source::none;
  has_no_file_ = false;
}

thread_activity thread_watch::look() noexcept {
  const int saved = errno;
  thread_activity seen = thread_activity::gone;
  if (best_ == watch_source::syscall_file && look_at_file(seen)) {
    source_ = watch_source::syscall_file;
  } else if (const std::int64_t before = cpu_ns(); before < 0) {
    drop();
    source_ = watch_source::cpu_clock;
  } else if (const std::int64_t after = cpu_ns(); after != before) {
    seen = thread_activity::running;  // on a CPU at this moment
    source_ = watch_source::cpu_clock;
  } else if (best_ >= watch_source::state_letter && look_at_letter(seen)) {
    source_ = watch_source::state_letter;
  } else {
    seen = look_at_clock(after);
    source_ = watch_source::cpu_clock;
  }
  errno = saved;
  return seen;
}

// False: the file has no answer now.
bool thread_watch::look_at_file(thread_activity& seen) noexcept {
  // Twice at most: a kept descriptor may be of no use any more, a new one tells.
  while (tid_ > 0 && !has_no_file_) {
    const bool was_kept = is_kept();
    const int fd = was_kept ? fd_ : open_file();
    if (fd < 0) return false;
    const file_look found = read_syscall(fd);
    if (found.seen) {
      if (!was_kept) keep(fd);
      seen = *found.seen;
      return true;
    }
    if (was_kept) {
      drop();  // ESRCH: that thread has ended, the number may be another's by now. Else it is not our file any more.
      continue;
    }
    close_raw(fd);
    has_no_file_ = found.error != ESRCH;
    return false;
  }
  return false;
}

int thread_watch::open_file() noexcept {
  const task_path path(tid_, "syscall");
  const long fd = call(site::watch_open, ::syscall, SYS_openat, AT_FDCWD, path.c_str(),
                       O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0) return static_cast<int>(fd);
  // Out of descriptors or memory passes. ENOENT may also mean that the thread is gone, which the clock will say.
  has_no_file_ = errno == EACCES || errno == EPERM || (errno == ENOENT && cpu_ns() >= 0);
  return -1;
}

void thread_watch::keep(int fd) noexcept {
  if (!may_keep_one_more()) return close_raw(fd);
  fd_ = fd;
  file_ = identity_of(fd);
}

// Gives the descriptor up, and closes it if it is still ours.
void thread_watch::drop() noexcept {
  if (fd_ < 0) return;
  const int saved = errno;
  if (identity_of(fd_) == file_) close_raw(fd_);
  errno = saved;
  fd_ = -1;
  nkept.fetch_sub(1, std::memory_order_relaxed);  // only counted
}

// False: there is no such file, or no descriptor for it.
bool thread_watch::look_at_letter(thread_activity& seen) noexcept {
  char buffer[1200];  // as procfs.cpp
  const task_path path(tid_, "stat");
  const auto line = read_small_file(path.c_str(), buffer);
  const auto stat = line ? parse_thread_stat(*line) : std::nullopt;
  if (!stat) return false;
  if (stat->state == 'R')
    seen = thread_activity::running;
  else if (stat->state == 'Z' || stat->state == 'X')
    seen = thread_activity::gone;
  else
    seen = thread_activity::asleep;
  return true;
}

std::int64_t thread_watch::nsleeps() const noexcept {
  return read_status<std::int64_t>(tid_, "\nvoluntary_ctxt_switches:\t", 10).value_or(-1);
}

std::optional<bool> thread_watch::has_pending(int signal) const noexcept {
  const auto all = read_status<std::uint64_t>(tid_, "\nSigPnd:\t", 16);
  if (!all) return std::nullopt;
  return (*all >> (signal - 1) & 1) != 0;
}

thread_activity thread_watch::look_at_clock(std::int64_t cpu_ns) noexcept {
  const std::int64_t now = now_ns();
  if (cpu_ns != still_cpu_) {
    still_cpu_ = cpu_ns;
    still_since_ns_ = now;
  }
  return now - still_since_ns_ >= kStillLongEnough ? thread_activity::asleep
                                                   : thread_activity::running;
}

}  // namespace weft::os
