// text_test.cpp: who must not wait writes where there is room, or not at all.
#include "os/text.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace weft::os {
namespace {

class pipe_ends {
 public:
  pipe_ends() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~pipe_ends() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;

  int in() const { return ends_[1]; }
  void close_reader() { ::close(ends_[0]), ends_[0] = -1; }
  void fill() const {
    ::fcntl(in(), F_SETFL, O_NONBLOCK);
    const std::string page(4096, '.');
    while (::write(in(), page.data(), page.size()) > 0) continue;
    ::fcntl(in(), F_SETFL, 0);
  }
  // All that is in it.
  std::string read() const {
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    std::string all;
    char some[4096];
    for (ssize_t n; (n = ::read(ends_[0], some, sizeof some)) > 0;)
      all.append(some, static_cast<std::size_t>(n));
    return all;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(write_if_room, writes_to_a_pipe_that_has_some) {
  const pipe_ends pipe;
  errno = 7;
  EXPECT_TRUE(write_if_room(pipe.in(), "a word"));
  EXPECT_EQ(errno, 7);
  EXPECT_EQ(pipe.read(), "a word");
}

TEST(write_if_room, leaves_a_full_pipe_alone_until_somebody_has_read) {
  const pipe_ends pipe;
  pipe.fill();
  errno = 7;
  EXPECT_FALSE(write_if_room(pipe.in(), "a word"));
  EXPECT_EQ(errno, 7);
  EXPECT_EQ(pipe.read().find_first_not_of('.'), std::string::npos);
  EXPECT_TRUE(write_if_room(pipe.in(), "a word"));
  EXPECT_EQ(pipe.read(), "a word");
}

// Nobody will ever read it, so there is nothing to come back for.
TEST(write_if_room, is_done_with_one_that_nobody_can_read) {
  sigset_t broken;
  sigset_t before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken, &before);
  pipe_ends pipe;
  pipe.fill();
  pipe.close_reader();
  EXPECT_TRUE(write_if_room(pipe.in(), "a word"));
  const int closed = ::dup(pipe.in());
  ::close(closed);
  EXPECT_TRUE(write_if_room(closed, "a word"));
  const timespec at_once{};
  while (::sigtimedwait(&broken, nullptr, &at_once) == SIGPIPE) continue;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(write_if_room, writes_to_a_file) {
  char name[] = "/tmp/weft-text-XXXXXX";
  const int fd = ::mkstemp(name);
  ASSERT_NE(fd, -1);
  ::unlink(name);
  EXPECT_TRUE(write_if_room(fd, "a word"));
  char found[16];
  EXPECT_EQ(::pread(fd, found, sizeof found, 0), 6);
  ::close(fd);
}

}  // namespace
}  // namespace weft::os
