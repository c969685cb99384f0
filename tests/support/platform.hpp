// platform.hpp: what the system under a test does to every process, found out by looking. A test that cannot work there skips and
// says what is missing; it does not ask what the system is called.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace weft::test {

inline int count_tasks() {
  int n = 0;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* const task = ::readdir(tasks)) n += task->d_name[0] != '.';
  ::closedir(tasks);
  return n;
}

// Threads in every process that are not the program's, counted before main(). An emulator has some; no census can tell them from threads
// that might wake a goroutine, so there is no deadlock report with them.
inline const int nplatform_threads = count_tasks() - 1;

// Bytes of address space that this process takes, now. A sanitizer's shadow and an emulator's tables are large.
inline std::size_t address_space_taken() {
  std::size_t npages = 0;
  if (std::FILE* const statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%zu", &npages) != 1) npages = 0;
    std::fclose(statm);
  }
  return npages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

#define SKIP_WITHOUT_DEADLOCK_REPORT()                                    \
  if (weft::test::nplatform_threads > 0)                                  \
  GTEST_SKIP() << "no deadlock report: " << weft::test::nplatform_threads \
               << " thread(s) in every process that are not the program's"

}  // namespace weft::test
