#include "os/procfs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/test_support.hpp"

extern "C" [[gnu::weak]] void __tsan_init();

namespace weft::os {
namespace {

constexpr std::string_view kStat =
    "5216 (a name) S 5208 5208 2812 0 -1 4194304 4193 165 0 2 0 1 0 0 20 0 37 0 97350 "
    "126443920715776 4854\n";

// n threads that stay until the end, each with a name of its own.
class sleepers {
 public:
  explicit sleepers(std::vector<std::string> names)
      : ready_(static_cast<std::ptrdiff_t>(names.size())) {
    for (const std::string& name : names) {
      threads_.emplace_back([this, name] {
        ::prctl(PR_SET_NAME, name.c_str());
        ready_.count_down();
        end_.wait();
      });
    }
    ready_.wait();
  }
  ~sleepers() {
    end_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::latch ready_;
  std::latch end_{1};
  std::vector<std::thread> threads_;
};

std::vector<std::string> thread_names() {
  std::vector<std::string> names;
  const auto collect = [](void* context, const thread_stat& thread) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(thread.name);
    return true;
  };
  EXPECT_TRUE(for_each_thread(collect, &names));
  return names;
}

// The threads of a process that has made none, found by another way than the one under test: 1, unless whatever runs the
// program (an emulator) has threads of its own in it.
const long nalone = [] {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<long>(std::distance(begin(tasks), end(tasks)));
}();

// The same after the first thread was made: ThreadSanitizer's own comes with it and stays.
const long nafter_first = __tsan_init != nullptr ? 2 : nalone;

// A thread that was joined is counted until the kernel has put it away, a little later.
void wait_for_thread_count(long wanted) {
  for (int i = 0; i < 5'000 && thread_count() != wanted; ++i) ::usleep(1'000);
  EXPECT_EQ(thread_count(), wanted);
}

TEST(thread_stat, takes_name_state_and_number_of_threads) {
  const auto stat = parse_thread_stat(kStat);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->tid, 5216);
  EXPECT_EQ(stat->name, "a name");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->nthreads, 37);
}

TEST(thread_stat, names_may_contain_anything) {
  for (const std::string name : {"", ")", ") Z 1 ", "a) (b", "((", " ", ") R 1 2 3"}) {
    const std::string line = "7 (" + name + std::string(kStat.substr(kStat.find(") ")));
    const auto stat = parse_thread_stat(line);
    ASSERT_TRUE(stat) << line;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->nthreads, 37);
  }
}

TEST(thread_stat, malformed_lines_are_rejected) {
  for (const std::string_view line :
       {"", "7", "7 (x", "7 (x)", "7 (x) ", "x (x) S 1", "7 x) S 1 2 3 4 5",
        "7 (x) S 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6", ") (", "7 () S"}) {
    EXPECT_FALSE(parse_thread_stat(line)) << line;
  }
}

TEST(thread_stat, workers_of_io_uring_and_ended_threads_are_ignorable) {
  const auto ignorable = [](std::string_view name, char state) {
    return thread_stat{.tid = 1, .name = name, .state = state, .nthreads = 2}.is_ignorable();
  };
  EXPECT_TRUE(ignorable("iou-wrk-1234", 'S'));
  EXPECT_TRUE(ignorable("iou-sqp-1234", 'R'));
  EXPECT_TRUE(ignorable("main", 'Z'));
  EXPECT_FALSE(ignorable("main", 'S'));
  EXPECT_FALSE(ignorable("", 'S'));
  EXPECT_FALSE(ignorable("my iou-wrk-1", 'S'));
}

TEST(thread_stat, survives_mutated_input) {
  const std::string_view seeds[] = {kStat,
                                    "1 (iou-wrk-77) Z 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9\n"};
  int naccepted = 0;
  test::for_each_mutation(seeds, 100'000, [&](std::string_view input) {
    if (const auto stat = parse_thread_stat(input)) {
      ++naccepted;
      EXPECT_TRUE(stat->name.data() >= input.data() &&
                  stat->name.data() + stat->name.size() < input.data() + input.size());
    }
  });
  EXPECT_GT(naccepted, 1'000);
}

TEST(threads, are_counted_and_named) {
  {
    const sleepers first({"first"});
  }
  wait_for_thread_count(nafter_first);
  {
    const sleepers more({"one", "tw)o (x", "three"});
    EXPECT_EQ(thread_count(), nafter_first + 3);
    const auto names = thread_names();
    EXPECT_EQ(names.size(), static_cast<std::size_t>(nafter_first + 3));
    for (const char* name : {"one", "tw)o (x", "three"})
      EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
  wait_for_thread_count(nafter_first);
}

TEST(threads, more_than_one_buffer_of_them) {
  const sleepers many(std::vector<std::string>(200, "many"));
  EXPECT_EQ(std::ranges::count(thread_names(), "many"), 200);
}

TEST(threads, the_visitor_can_end_the_walk) {
  const sleepers some({"a", "b"});
  int nvisits = 0;
  const auto visit_one = [](void* context, const thread_stat&) {
    return ++*static_cast<int*>(context) < 1;
  };
  EXPECT_TRUE(for_each_thread(visit_one, &nvisits));
  EXPECT_EQ(nvisits, 1);
}

TEST(threads, the_census_leaves_the_ignorable_out) {
  {
    const sleepers first({"first"});
  }
  wait_for_thread_count(nafter_first);
  const sleepers some({"iou-wrk-1", "iou-sqp-1", "iou-other"});
  const thread_census census = count_threads();
  EXPECT_EQ(census.total - census.ignorable, static_cast<unsigned>(nalone + 1))
      << "this one and iou-other, also under ThreadSanitizer";
  EXPECT_EQ(census.total, static_cast<unsigned>(thread_count()));
}

TEST(threads, a_main_thread_that_has_ended_does_not_count) {
  if (__tsan_init != nullptr) {
    GTEST_SKIP()
        << "a forked child lacks ThreadSanitizer's own thread, which the census leaves out";
  }
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A new process has one thread of its own, the main one. It makes a second and ends.
    const auto last_thread = [](void*) -> void* {
      const auto wanted = static_cast<unsigned>(nalone);
      for (int i = 0; i < 5'000; ++i) {
        const thread_census census = count_threads();
        if (census.total > wanted && census.total - census.ignorable == wanted) ::_exit(0);
        ::usleep(1'000);
      }
      ::_exit(1);
    };
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, last_thread, nullptr) != 0) ::_exit(2);
    ::syscall(SYS_exit, 0);  // this thread only, and without unwinding into the test's frames
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(resident_bytes, grows_with_touched_memory) {
  constexpr std::size_t kSize = std::size_t{64} << 20;
  const std::uint64_t before = resident_bytes();
  void* const memory =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  // The kernel touches it: where the program does, a sanitizer's shadow grows as well.
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::syscall(SYS_read, zero, memory, kSize), static_cast<long>(kSize));
  ::close(zero);
  const std::uint64_t during = resident_bytes();
  ::munmap(memory, kSize);
  EXPECT_GT(before, 0U);
  EXPECT_GE(during, before + kSize * 9 / 10);
  EXPECT_LE(during, before + kSize * 11 / 10);
}

}  // namespace
}  // namespace weft::os
