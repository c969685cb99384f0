// quiet_write_test.cpp: a write that finds nobody raises no SIGPIPE, and one that is not ours stays.
#include "io/quiet_write.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace weft::io::detail {
namespace {

std::atomic<int> nraised{0};

class counting {
 public:
  counting() {
    nraised = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { ++nraised; };
    ::sigaction(SIGPIPE, &action, &before_);
  }
  ~counting() { ::sigaction(SIGPIPE, &before_, nullptr); }
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;

 private:
  struct sigaction before_{};
};

// The writing end of a pipe that nobody reads.
class broken_pipe {
 public:
  broken_pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    fd_ = ends[1];
  }
  ~broken_pipe() { ::close(fd_); }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

bool is_blocked() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, SIGPIPE) == 1;
}
bool is_pending() {
  sigset_t waiting;
  ::sigpending(&waiting);
  return sigismember(&waiting, SIGPIPE) == 1;
}
void block(int how) {
  sigset_t pipe_only;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  ::pthread_sigmask(how, &pipe_only, nullptr);
}

TEST(quiet_write, says_epipe_and_raises_nothing) {
  const counting c;
  const broken_pipe p;
  for (int i = 0; i < 3; ++i) {
    errno = 0;
    EXPECT_EQ(write_quietly(p.fd(), "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    EXPECT_FALSE(is_blocked()) << "as before";
    EXPECT_FALSE(is_pending());
  }
  EXPECT_EQ(nraised, 0);
}

TEST(quiet_write, a_file_is_sent_quietly_too) {
  const counting c;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ::close(ends[1]);
  char path[] = "/tmp/weft-quiet-XXXXXX";
  const int file = ::mkstemp(path);
  ::unlink(path);
  ASSERT_EQ(::write(file, "text", 4), 4);
  off_t at = 0;
  EXPECT_EQ(send_file_quietly(ends[0], file, &at, 4), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_EQ(nraised, 0);
  EXPECT_FALSE(is_pending());
  ::close(ends[0]);
  ::close(file);
}

TEST(quiet_write, writes_all_parts_in_order) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  char a[] = "ab";
  char b[] = "cd";
  const iovec parts[] = {{a, 2}, {b, 2}};
  EXPECT_EQ(write_quietly(ends[1], parts, 2), 4);
  char got[8];
  EXPECT_EQ(::read(ends[0], got, sizeof got), 4);
  EXPECT_EQ(std::string_view(got, 4), "abcd");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(quiet_write, other_errors_come_through) {
  EXPECT_EQ(write_quietly(-1, "x", 1), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(quiet_write, the_mask_of_one_who_blocks_it_stays) {
  const counting c;
  const broken_pipe p;
  block(SIG_BLOCK);
  EXPECT_EQ(write_quietly(p.fd(), "x", 1), -1);
  EXPECT_TRUE(is_blocked());
  EXPECT_FALSE(is_pending()) << "ours was taken away";
  block(SIG_UNBLOCK);
  EXPECT_EQ(nraised, 0);
}

TEST(quiet_write, one_that_was_pending_before_is_not_taken_away) {
  const counting c;
  const broken_pipe p;
  block(SIG_BLOCK);
  ::pthread_kill(::pthread_self(), SIGPIPE);
  ASSERT_TRUE(is_pending());
  EXPECT_EQ(write_quietly(p.fd(), "x", 1), -1);
  EXPECT_TRUE(is_pending());
  block(SIG_UNBLOCK);
  EXPECT_EQ(nraised, 1);
}

}  // namespace
}  // namespace weft::io::detail
