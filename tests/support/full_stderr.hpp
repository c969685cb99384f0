// full_stderr.hpp: standard error as a pipe that is full, and that nobody reads until the test does.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace weft::test {

class full_stderr {
 public:
  full_stderr() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    from_ = ends[0];
    // Those who write to it share no flags with those who read it: these may find it empty, those wait.
    ::fcntl(from_, F_SETFL, O_NONBLOCK);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::string page(4096, '.');
    while (::write(ends[1], page.data(), page.size()) > 0) continue;
    ::fcntl(ends[1], F_SETFL, 0);
    former_ = ::dup(STDERR_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
  }
  ~full_stderr() {
    ::dup2(former_, STDERR_FILENO);
    ::close(former_);
    ::close(from_);
  }
  full_stderr(const full_stderr&) = delete;
  full_stderr& operator=(const full_stderr&) = delete;

  // All that was said, and has been read by now. One thread.
  const std::string& drain() {
    char some[4096];
    for (ssize_t n; (n = ::read(from_, some, sizeof some)) > 0;)
      said_.append(some, static_cast<std::size_t>(n));
    return said_;
  }

 private:
  int from_ = -1;
  int former_ = -1;
  std::string said_;
};

}  // namespace weft::test
