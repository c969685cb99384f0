#include "os/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/test_support.hpp"

namespace weft::os {
namespace {

std::vector<std::string> said;  // what went to `say` since the last clear()
void listen(std::string_view line) { said.emplace_back(line); }

debug_settings debug(std::string_view value) {
  said.clear();
  debug_settings settings;
  parse_debug(value, settings, listen);
  return settings;
}

// The one complaint about this value, checked to be a single line.
std::string complaint(std::string_view value) {
  debug(value);
  EXPECT_EQ(said.size(), 1U) << value;
  return said.empty() ? "" : said[0];
}

TEST(weft_debug, sets_every_key) {
  const debug_settings s = debug(
      "migrate=1,guard=mprotect,stacksize=256K,maxthreads=50,updatemaxprocs=0,scavenge=0,deadlock="
      "0,membarrier=0,seed=42,asyncpreemptoff=1,preemptsignal=USR2,poller=uring,chaos=delay,"
      "conserve=1,cputime=1");
  EXPECT_TRUE(said.empty());
  EXPECT_TRUE(s.migrate);
  EXPECT_EQ(s.guard, guard_choice::mprotect);
  EXPECT_EQ(s.stack_size, 256U << 10);
  EXPECT_EQ(s.max_threads, 50U);
  EXPECT_FALSE(s.update_max_procs);
  EXPECT_FALSE(s.scavenge);
  EXPECT_FALSE(s.deadlock);
  EXPECT_FALSE(s.membarrier);
  EXPECT_EQ(s.seed, 42U);
  EXPECT_TRUE(s.async_preempt_off);
  EXPECT_EQ(s.preempt_signal, SIGUSR2);
  EXPECT_EQ(s.poller, poller_choice::uring);
  EXPECT_EQ(s.chaos, kChaosDelays);
  EXPECT_TRUE(s.conserve);
  EXPECT_TRUE(s.cpu_time);
}

TEST(weft_debug, chaos_is_any_of_its_words) {
  EXPECT_EQ(debug("").chaos, 0U);
  EXPECT_FALSE(debug("chaos=yield").migrate);
  EXPECT_EQ(debug("chaos=yield").chaos, kChaosYields);
  EXPECT_EQ(debug("chaos=order+yield").chaos, kChaosOrder | kChaosYields);
  EXPECT_EQ(debug("chaos=migrate").chaos, 0U);
  EXPECT_TRUE(debug("chaos=migrate").migrate);
  EXPECT_EQ(debug("chaos=all").chaos, kChaosYields | kChaosOrder | kChaosDelays);
  EXPECT_TRUE(debug("chaos=all").migrate);
  EXPECT_EQ(debug("chaos=all,chaos=delay").chaos, kChaosDelays);
  EXPECT_EQ(debug("chaos=all,chaos=0").chaos, 0U);
  EXPECT_TRUE(debug("migrate=1,chaos=0").migrate) << "a switch of its own";
  for (const std::string_view bad :
       {"chaos", "chaos=", "chaos=1", "chaos=yield+", "chaos=yield+x"}) {
    EXPECT_EQ(complaint(bad),
              "weft: WEFT_DEBUG: " + std::string(bad) +
                  " is not 0, all, or some of yield, order, delay and migrate with + between them;"
                  " ignored\n");
  }
}

TEST(weft_debug, the_poller_is_the_programs_choice_unless_named) {
  EXPECT_EQ(debug("").poller, poller_choice::automatic);
  EXPECT_EQ(debug("poller=epoll").poller, poller_choice::epoll);
  EXPECT_EQ(debug("poller=uring,poller=auto").poller, poller_choice::automatic);
  EXPECT_EQ(complaint("poller=kqueue"),
            "weft: WEFT_DEBUG: poller=kqueue is not auto, epoll or uring; ignored\n");
}

TEST(weft_debug, goroutines_are_stopped_by_signal_unless_told_otherwise) {
  EXPECT_FALSE(debug("").async_preempt_off);
  EXPECT_EQ(debug("").preempt_signal, 0) << "what the program says";
  EXPECT_FALSE(debug("asyncpreemptoff=1,asyncpreemptoff=0").async_preempt_off);
}

TEST(weft_debug, the_signal_goes_by_name_and_by_number) {
  for (const std::string_view value :
       {"preemptsignal=URG", "preemptsignal=SIGURG", "preemptsignal=23"}) {
    EXPECT_EQ(debug(value).preempt_signal, SIGURG) << value;
    EXPECT_TRUE(said.empty()) << value;
  }
  EXPECT_EQ(debug("preemptsignal=40").preempt_signal, 40);
  EXPECT_EQ(debug("preemptsignal=KILL").preempt_signal, SIGKILL) << "refused when it is installed";
  for (const std::string_view bad : {"preemptsignal", "preemptsignal=", "preemptsignal=0",
                                     "preemptsignal=65", "preemptsignal=urg"}) {
    EXPECT_EQ(complaint(bad), "weft: WEFT_DEBUG: " + std::string(bad) +
                                  " is not a signal (e.g. URG, SIGUSR2 or 23); ignored\n");
  }
  debug_settings kept;
  parse_debug("preemptsignal=USR1,preemptsignal=nonsense", kept, listen);
  EXPECT_EQ(kept.preempt_signal, SIGUSR1);
}

TEST(weft_debug, says_nothing_about_empty_items) {
  for (const std::string_view value : {"", ",", ",,,", "seed=7,", ",seed=7", "seed=7,,migrate=1"}) {
    debug(value);
    EXPECT_TRUE(said.empty()) << value;
  }
}

TEST(weft_debug, the_last_of_two_wins) { EXPECT_EQ(debug("seed=1,seed=2").seed, 2U); }

TEST(weft_debug, sizes) {
  EXPECT_EQ(debug("stacksize=65536").stack_size, 65536U);
  EXPECT_EQ(debug("stacksize=64k").stack_size, 65536U);
  EXPECT_EQ(debug("stacksize=3M").stack_size, 3U << 20);
  EXPECT_EQ(debug("stacksize=1G").stack_size, 1U << 30);
  for (const std::string_view bad :
       {"stacksize=", "stacksize=K", "stacksize=-1", "stacksize=+4096", "stacksize=64KB",
        "stacksize=1T", "stacksize=64 K", "stacksize=0x10000", "stacksize=18446744073709551616",
        "stacksize=18014398509481984K"}) {
    EXPECT_EQ(complaint(bad),
              "weft: WEFT_DEBUG: " + std::string(bad) + " is not a size (e.g. 256K); ignored\n");
  }
  for (const std::string_view bad :
       {"stacksize=0", "stacksize=4095", "stacksize=1073741825", "stacksize=2G"}) {
    EXPECT_EQ(complaint(bad),
              "weft: WEFT_DEBUG: " + std::string(bad) + " is not a size from 4K to 1G; ignored\n");
  }
}

TEST(weft_debug, complains_once_and_names_key_value_and_what_is_accepted) {
  EXPECT_EQ(complaint("stacksize=banana"),
            "weft: WEFT_DEBUG: stacksize=banana is not a size (e.g. 256K); ignored\n");
  EXPECT_EQ(complaint("migrate=2"), "weft: WEFT_DEBUG: migrate=2 is not 0 or 1; ignored\n");
  EXPECT_EQ(complaint("migrate"), "weft: WEFT_DEBUG: migrate is not 0 or 1; ignored\n");
  EXPECT_EQ(complaint("deadlock=yes"), "weft: WEFT_DEBUG: deadlock=yes is not 0 or 1; ignored\n");
  EXPECT_EQ(complaint("guard=none"),
            "weft: WEFT_DEBUG: guard=none is not auto, madvise or mprotect; ignored\n");
  EXPECT_EQ(complaint("maxthreads=0"),
            "weft: WEFT_DEBUG: maxthreads=0 is not a number from 1 to 4194304; ignored\n");
  EXPECT_EQ(complaint("maxthreads=4194305"),
            "weft: WEFT_DEBUG: maxthreads=4194305 is not a number from 1 to 4194304; ignored\n");
  EXPECT_EQ(complaint("seed=-1"),
            "weft: WEFT_DEBUG: seed=-1 is not a number from 0 to 2^64 - 1; ignored\n");
  EXPECT_EQ(complaint("sead=1"),
            "weft: WEFT_DEBUG: sead=1: no such key (WEFT_DEBUG=help lists them); ignored\n");
  EXPECT_EQ(complaint("=1"),
            "weft: WEFT_DEBUG: =1: no such key (WEFT_DEBUG=help lists them); ignored\n");
}

TEST(weft_debug, a_bad_item_spoils_no_other) {
  const debug_settings s = debug("migrate=1,stacksize=banana,nonsense,seed=9");
  EXPECT_TRUE(s.migrate);
  EXPECT_EQ(s.stack_size, 0U);
  EXPECT_EQ(s.seed, 9U);
  EXPECT_EQ(said.size(), 2U);
}

TEST(weft_debug, what_is_echoed_is_printable_and_short) {
  EXPECT_EQ(complaint("seed=\n\033[2J\xff"),
            "weft: WEFT_DEBUG: seed=??[2J? is not a number from 0 to 2^64 - 1; ignored\n");
  EXPECT_LT(complaint(std::string(100'000, 'x')).size(), 200U);
}

TEST(weft_debug, help_lists_every_key_and_goes_on) {
  EXPECT_EQ(debug("help,seed=3").seed, 3U);
  std::string all;
  for (const std::string& line : said) {
    EXPECT_TRUE(line.starts_with("weft: ")) << line;
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
    EXPECT_LE(line.size(), 120U) << line;
    all += line;
  }
  for (const char* key :
       {"help", "migrate=0|1", "guard=auto|madvise|mprotect", "stacksize=BYTES", "maxthreads=N",
        "updatemaxprocs=0|1", "scavenge=0|1", "deadlock=0|1", "membarrier=0|1", "seed=N",
        "asyncpreemptoff=0|1", "preemptsignal=NAME|N", "poller=auto|epoll|uring"}) {
    EXPECT_NE(all.find("\nweft:   " + std::string(key) + " "), all.npos) << key << " in\n" << all;
  }
}

TEST(weft_debug, survives_mutated_input) {
  constexpr std::string_view kSeeds[] = {"migrate=1,guard=mprotect,stacksize=256K,maxthreads=50",
                                         "help", "seed=18446744073709551615,deadlock=0",
                                         "stacksize=18014398509481984K",
                                         "updatemaxprocs=0,,scavenge=0"};
  std::size_t ncomplaints = 0;
  test::for_each_mutation(kSeeds, 100'000, [&](std::string_view input) {
    const debug_settings s = debug(input);
    EXPECT_TRUE(s.stack_size == 0 || (s.stack_size >= 4096 && s.stack_size <= std::size_t{1} << 30))
        << input;
    ncomplaints += said.size();
    for (const std::string& line : said) {
      EXPECT_EQ(std::ranges::count_if(line, [](char c) { return c < ' ' || c > '~'; }), 1) << line;
      EXPECT_TRUE(line.ends_with('\n')) << line;
    }
  });
  EXPECT_GT(ncomplaints, 1'000U);
}

TEST(weft_maxprocs, takes_numbers_up_to_the_limit) {
  said.clear();
  EXPECT_EQ(parse_max_procs("1", 64, listen), 1U);
  EXPECT_EQ(parse_max_procs("64", 64, listen), 64U);
  EXPECT_TRUE(said.empty());
}

TEST(weft_maxprocs, anything_else_costs_one_line) {
  for (const std::string_view bad :
       {"0", "65", "-1", "+1", " 1", "1 ", "2x", "1.5", "banana", "4294967297"}) {
    said.clear();
    EXPECT_EQ(parse_max_procs(bad, 64, listen), 0U);
    EXPECT_EQ(said, std::vector<std::string>{"weft: WEFT_MAXPROCS=" + std::string(bad) +
                                             " is not a number from 1 to 64; ignored\n"});
  }
}

TEST(read_environment, takes_both_variables) {
  said.clear();
  ::setenv("WEFT_MAXPROCS", "3", 1);
  ::setenv("WEFT_DEBUG", "seed=5,x", 1);
  const environment found = read_environment(64, listen);
  EXPECT_EQ(found.max_procs, 3U);
  EXPECT_EQ(found.debug.seed, 5U);
  EXPECT_EQ(said.size(), 1U);

  said.clear();
  ::setenv("WEFT_MAXPROCS", "", 1);
  ::unsetenv("WEFT_DEBUG");
  EXPECT_EQ(read_environment(64, listen).max_procs, 0U);
  EXPECT_TRUE(said.empty()) << "empty is as good as unset";
  ::unsetenv("WEFT_MAXPROCS");
}

TEST(read_environment, complains_on_stderr) {
  ::setenv("WEFT_MAXPROCS", "many", 1);
  testing::internal::CaptureStderr();
  read_environment(64);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: WEFT_MAXPROCS=many is not a number from 1 to 64; ignored\n");
  ::unsetenv("WEFT_MAXPROCS");
}

// Run by the test below in a copy of this program: its exit code says what it saw.
constexpr int kNotSecure = 99;
constexpr int kNotStartable = 98;
TEST(read_environment, DISABLED_as_a_child) {
  const bool wants_secure = std::getenv("WEFT_TEST_WANTS_SECURE") != nullptr;
  if (wants_secure && ::getauxval(AT_SECURE) == 0) ::_exit(kNotSecure);
  ::_exit(static_cast<int>(10 + read_environment(64).max_procs));
}

int exit_code_of_child(const std::string& program, bool wants_secure) {
  const pid_t child = ::fork();
  if (child == 0) {
    const char* const arguments[] = {program.c_str(), "--gtest_also_run_disabled_tests",
                                     "--gtest_filter=read_environment.DISABLED_as_a_child",
                                     nullptr};
    const char* const variables[] = {"WEFT_MAXPROCS=3",
                                     wants_secure ? "WEFT_TEST_WANTS_SECURE=1" : nullptr, nullptr};
    ::dup2(::open("/dev/null", O_WRONLY), 1);  // GoogleTest's greeting
    ::execve(program.c_str(), const_cast<char* const*>(arguments),
             const_cast<char* const*>(variables));
    ::_exit(errno == ENOEXEC ? kNotStartable : 127);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(read_environment, a_set_uid_program_takes_no_orders) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program to somebody else";
  test::fake_root root;
  const std::string copy = root.at("/program");
  std::filesystem::copy_file(std::filesystem::read_symlink("/proc/self/exe"), copy);
  ASSERT_EQ(::chmod(copy.c_str(), 0755), 0);
  const int control = exit_code_of_child(copy, false);
  if (control == kNotStartable)
    GTEST_SKIP() << "the kernel cannot start programs for this processor by itself (ENOEXEC)";
  EXPECT_EQ(control, 13) << "the control: not set-uid";

  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(copy.c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
  const int code = exit_code_of_child(copy, true);
  if (code == kNotSecure) GTEST_SKIP() << "set-uid has no effect in the temporary directory";
  EXPECT_EQ(code, 10);
}

}  // namespace
}  // namespace weft::os
