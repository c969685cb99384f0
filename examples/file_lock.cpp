// file_lock.cpp: a call that blocks its thread, inside blocking(): the others get the processor.
//
// Eight goroutines take turns at a file lock. Those that wait for it are stuck in the kernel, a thread each; on the one
// processor of this program the ticker still runs.
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>

#include <weft/weft.hpp>

namespace {

class locked_file {
 public:
  explicit locked_file(const std::string& path) : file_(std::fopen(path.c_str(), "a")) {
    if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), path);
    // errno is that of flock: blocking() returns on the thread that made the call.
    if (weft::blocking([&] { return ::flock(::fileno(file_), LOCK_EX); }) != 0) {
      throw std::system_error(errno, std::generic_category(), "flock");
    }
  }
  ~locked_file() { std::fclose(file_); }  // lets the lock go
  locked_file(const locked_file&) = delete;
  locked_file& operator=(const locked_file&) = delete;

 private:
  std::FILE* file_;
};

}  // namespace

int main() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/weft-file-lock-XXXXXX";
  const int fd = ::mkstemp(path.data());
  if (fd < 0) return std::perror("mkstemp"), 1;
  ::close(fd);

  int nturns = 0;  // guarded by the file lock
  long nticks = 0;
  const int code = weft::run({.max_procs = 1}, [&] {
    weft::wait_group workers;
    bool is_over = false;  // one processor: no two goroutines run at once
    auto ticker = weft::spawn([&] {
      while (!is_over) {
        weft::yield();
        ++nticks;
      }
    });
    for (int i = 0; i < 8; ++i) {
      workers.go([&] {
        const locked_file mine(path);
        weft::yield();  // with the lock in hand: everyone else is stuck in flock meanwhile
        ++nturns;
      });
    }
    workers.wait();
    is_over = true;
    ticker.join();
    return nturns == 8 ? 0 : 1;
  });
  std::cout << nturns << " turns at the lock, "
            << (nticks > 0 ? "and the ticker ran on" : "no tick") << '\n';
  ::unlink(path.c_str());
  return code == 0 && nticks > 0 ? 0 : 1;
}
