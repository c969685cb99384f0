// io_process.cpp: child processes: what they get, how they end, and what is left of them: nothing.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/io.hpp>
#include <weft/weft.hpp>

#include "stack/test_support.hpp"
#include "support/for_procs.hpp"
#include "support/parked.hpp"
#include "support/what_of.hpp"

using namespace std::chrono_literals;
using weft::io::exit_status;
using weft::io::process;
using weft::io::redirect;
using weft::io::run_command;
using weft::test::eventually;
using weft::test::what_of;

namespace {

std::vector<std::string> shell(std::string script) { return {"/bin/sh", "-c", std::move(script)}; }

// Without those that weft looks at its own threads with (/proc/self/task/N/syscall): they come with new threads.
int count_descriptors() {
  int n = 0;
  DIR* const all = ::opendir("/proc/self/fd");
  while (const dirent* const one = ::readdir(all)) {
    std::array<char, 256> to{};
    const ssize_t length = ::readlinkat(::dirfd(all), one->d_name, to.data(), to.size());
    n += length > 0 && std::string_view(to.data(), length).find("/task/") == std::string_view::npos;
  }
  ::closedir(all);
  return n;
}

// Neither running nor a zombie.
bool is_gone(int pid) { return ::kill(pid, 0) == -1 && errno == ESRCH; }
bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Something to wait for that ends only when it is told to: reads from a pipe that we hold.
process start_patient() { return process::start({"cat"}, {.in = redirect::pipe()}); }

TEST_FOR_PROCS(io_process, tells_how_it_has_ended) {
  EXPECT_EQ(process::start({"true"}).wait(), (exit_status{0, 0}));
  EXPECT_TRUE(process::start({"true"}).wait().success());
  const exit_status three = process::start(shell("exit 3")).wait();
  EXPECT_EQ(three, (exit_status{3, 0}));
  EXPECT_EQ(three.message(), "exit code 3");
  const exit_status killed = process::start(shell("kill -TERM $$")).wait();
  EXPECT_EQ(killed, (exit_status{-1, SIGTERM}));
  EXPECT_EQ(killed.message(), "SIGTERM");
  EXPECT_FALSE(killed.success());
}

TEST_FOR_PROCS(io_process, talks_through_pipes) {
  const process p = process::start({"cat"}, {.in = redirect::pipe(), .out = redirect::pipe()});
  std::array<char, 5> room{};
  for (int i = 0; i < 10; ++i) {
    p.in().write_all("hello");
    p.out().read_full(room);
    EXPECT_EQ(std::string_view(room.data(), 5), "hello");
  }
  EXPECT_FALSE(p.err());
  p.in().close();
  EXPECT_EQ(p.out().read_some(room), 0U);
  EXPECT_TRUE(p.wait().success());
}

TEST_FOR_PROCS(io_process, a_command_is_run_with_all_it_reads_and_writes) {
  const auto r = run_command(shell("cat; echo oops >&2; exit 4"), {}, "some text");
  EXPECT_EQ(r.status, (exit_status{4, 0}));
  EXPECT_EQ(r.out, "some text");
  EXPECT_EQ(r.err, "oops\n");
  const std::string large(1'000'000, 'x');  // both pipes are full several times over
  EXPECT_TRUE(run_command({"cat"}, {}, large).out == large);
  EXPECT_EQ(run_command({"true"}, {}, large).status, (exit_status{0, 0}));
  EXPECT_EQ(run_command({"cat"}).out, "");
  EXPECT_EQ(run_command(shell("echo a; echo b >&2"), {.err = redirect::same_as_out()}).out,
            "a\nb\n");
}

TEST_FOR_PROCS(io_process, has_the_directory_and_the_environment_it_was_given) {
  EXPECT_EQ(run_command({"pwd"}, {.directory = "/"}).out, "/\n");
  EXPECT_EQ(
      run_command({"env"}, {.environment = std::vector<std::string>{"A=1", "B=two words"}}).out,
      "A=1\nB=two words\n");
  EXPECT_NE(run_command({"env"}).out.find("PATH="), std::string::npos);
}

TEST_FOR_PROCS(io_process, reads_from_and_writes_to_descriptors_and_nothing) {
  auto [reader, writer] = weft::io::pipe();
  const process p =
      process::start({"echo", "straight"}, {.out = redirect::to(writer.native_handle())});
  EXPECT_TRUE(p.wait().success());
  writer.close();
  std::array<char, 16> room{};
  EXPECT_EQ(std::string(room.data(), reader.read_some(room)), "straight\n");
  EXPECT_EQ(reader.read_some(room), 0U);
  EXPECT_TRUE(
      process::start(shell("echo x; cat"), {.in = redirect::null(), .out = redirect::null()})
          .wait()
          .success());
}

TEST_FOR_PROCS(io_process, errors_name_the_program) {
  if (weft::stack::test::is_emulated())
    GTEST_SKIP() << "a vfork() in qemu-user is a fork(): nobody says that the exec failed";
  EXPECT_EQ(what_of([] { (void)process::start({"/nonexistent"}); }),
            "fork/exec /nonexistent: No such file or directory");
  EXPECT_EQ(what_of([] { (void)process::start({"weft-no-such-program"}); }),
            "fork/exec weft-no-such-program: No such file or directory");
  EXPECT_EQ(what_of([] { (void)process::start({"/"}); }), "fork/exec /: Permission denied");
  EXPECT_EQ(what_of([] { (void)process::start({"true"}, {.directory = "/nonexistent"}); }),
            "chdir /nonexistent: No such file or directory");
  std::error_code ec;
  EXPECT_FALSE(process::start({"/nonexistent"}, {}, ec));
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  EXPECT_THROW((void)process::start({}), std::invalid_argument);
  EXPECT_THROW((void)process::start({"true"}, {.in = redirect::same_as_out()}),
               std::invalid_argument);
  (void)process::start({"true"}, {.in = redirect::to(9999)}, ec);
  EXPECT_EQ(ec, std::errc::bad_file_descriptor);
  (void)process::start({std::string("tr\0ue", 5)}, {}, ec);
  EXPECT_EQ(ec, std::errc::invalid_argument);
  EXPECT_FALSE(has_children());
}

TEST_FOR_PROCS(io_process, whoever_waits_holds_no_processor_and_all_are_told) {
  const process p = start_patient();
  EXPECT_EQ(p.try_wait(), std::nullopt);
  std::array<weft::test::comer, 3> waiters;
  std::atomic<int> ntold{0};
  weft::wait_group wg;
  for (auto& who : waiters) {
    wg.go([&who, p, &ntold] {
      who.comes();
      ntold += p.wait().success();
    });
  }
  for (auto& who : waiters) ASSERT_TRUE(who.waits());
  p.in().close();
  wg.wait();
  EXPECT_EQ(ntold, 3);
  EXPECT_EQ(p.wait(), (exit_status{0, 0}));
  EXPECT_EQ(p.try_wait(), (exit_status{0, 0}));
}

TEST_FOR_PROCS(io_process, is_killed_and_never_after_its_end) {
  const process p = start_patient();
  p.kill(SIGTERM);
  EXPECT_EQ(p.wait(), (exit_status{-1, SIGTERM}));
  std::error_code ec;
  p.kill(SIGTERM, ec);
  EXPECT_EQ(ec, std::errc::no_such_process);
  EXPECT_EQ(what_of([&] { p.kill(); }), "kill cat: No such process");
  const process q = start_patient();
  q.kill();
  EXPECT_EQ(q.wait(), (exit_status{-1, SIGKILL}));
}

TEST_FOR_PROCS(io_process, the_end_of_a_context_kills_it) {
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  const process p = start_patient();
  weft::test::comer waiter;
  auto ended = weft::spawn([&, ctx = ctx] {
    waiter.comes();
    return p.wait(ctx);
  });
  ASSERT_TRUE(waiter.waits());
  cancel();
  EXPECT_EQ(ended.join(), (exit_status{-1, SIGKILL}));
  auto [other, cancel_other] = weft::with_cancel(weft::background());
  EXPECT_TRUE(process::start({"true"}).wait(other).success());
  cancel_other();
}

// A grandchild has the pipe and lives on: the end of the context is the end all the same.
TEST_FOR_PROCS(io_process, the_end_of_a_context_ends_a_command) {
  auto [ctx, cancel] = weft::with_timeout(weft::background(), 50ms);
  const auto r = run_command(ctx, shell("echo started; sleep 2 & wait"));
  EXPECT_EQ(r.status, (exit_status{-1, SIGKILL}));
  EXPECT_TRUE(ctx.err());
}

// --- nothing is left ---

TEST_FOR_PROCS(io_process, nobody_waits_and_no_zombie_is_left) {
  std::vector<int> pids;
  for (int i = 0; i < 10; ++i) {
    pids.push_back(process::start({"true"}).pid());  // may have ended when the handle goes
    pids.push_back(process::start(shell("read x"), {.in = redirect::pipe()}).pid());
    pids.push_back(process::start(shell("sleep 0.02")).pid());  // outlives it
  }
  for (const int pid : pids) EXPECT_TRUE(eventually([=] { return is_gone(pid); })) << pid;
  EXPECT_FALSE(has_children());
  EXPECT_TRUE(eventually([] { return weft::num_goroutines() == 1; }));
}

// The goroutine that would have waited is abandoned with its runtime: the next start does it.
TEST(io_process, a_child_of_a_former_runtime_becomes_no_zombie) {
  int stray = 0;
  process kept;
  weft::test::run_on(2, [&] {
    kept = process::start({"true"});
    stray = process::start(shell("sleep 0.05")).pid();
  });
  EXPECT_TRUE(kept.wait().success());  // also without a runtime
  kept = {};
  weft::test::run_on(2, [&] {
    EXPECT_TRUE(eventually([&] {
      (void)process::start({"true"}).wait();
      return is_gone(stray);
    }));
  });
  EXPECT_FALSE(has_children());
}

TEST_FOR_PROCS(io_process, no_descriptor_is_left) {
  (void)run_command({"cat"}, {}, "x");  // the poller is open
  const int before = count_descriptors();
  for (int i = 0; i < 5; ++i) {
    (void)run_command({"cat"}, {}, "x");
    std::error_code ec;
    (void)process::start({"/nonexistent"}, {.in = redirect::pipe(), .out = redirect::null()}, ec);
    (void)process::start({"true"}, {.in = redirect::pipe(), .out = redirect::pipe()});
    EXPECT_TRUE(process::start({"true"}, {.err = redirect::pipe()}).wait().success());
  }
  EXPECT_TRUE(eventually([=] { return count_descriptors() == before; }))
      << before << " before, " << count_descriptors() << " now";
}

// Also those that somebody has opened without saying that a program must not have them.
TEST_FOR_PROCS(io_process, a_child_has_three_descriptors) {
  const int careless = ::open("/dev/null", O_RDONLY);
  auto [reader, writer] = weft::io::pipe();
  const weft::io::file f = weft::io::file::open("/dev/null");
  const auto signals = weft::io::signal_chan(SIGUSR1);
  const process other = start_patient();
  const auto r = run_command({"ls", "/proc/self/fd"}, {.in = redirect::pipe()}, "x");
  EXPECT_EQ(r.out, "0\n1\n2\n3\n");  // the last one is how ls reads the folder
  ::close(careless);
}

// The reader must see the end when the one child that writes has ended, whatever others were started meanwhile.
TEST_FOR_PROCS(io_process, many_at_once) {
  std::atomic<int> nwell{0};
  weft::wait_group wg;
  constexpr int kAtOnce = 6;
  for (int i = 0; i < kAtOnce; ++i) {
    wg.go([&, i] {
      for (int k = 0; k < weft::test::scaled(10); ++k) {
        const std::string text = std::to_string(i) + "/" + std::to_string(k);
        nwell += run_command({"cat"}, {}, text).out == text;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(nwell, kAtOnce * weft::test::scaled(10));
  EXPECT_FALSE(has_children());
}

// As a program that is started without weft would see it.
std::string signals_of(const std::string& status) {
  std::string all;
  for (const char* name : {"SigBlk:", "SigIgn:", "SigCgt:"}) {
    const std::size_t at = status.find(name);
    all += status.substr(at, status.find('\n', at) - at) + "\n";
  }
  return all;
}
std::string signals_without_weft() {
  std::FILE* const out = ::popen("cat /proc/self/status", "r");
  std::array<char, 8192> room{};
  const std::size_t n = std::fread(room.data(), 1, room.size(), out);
  ::pclose(out);
  return signals_of(std::string(room.data(), n));
}

TEST(io_process, has_the_programs_mask_and_dispositions) {
  const std::string usual = signals_without_weft();
  ASSERT_NE(usual.find("SigBlk:\t"), std::string::npos);
  weft::test::run_on(2, [&] {
    const auto c = weft::io::signal_chan(SIGINT, SIGTERM, SIGPIPE);
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(signals_of(run_command({"cat", "/proc/self/status"}).out), usual);
  });
}

TEST_FOR_PROCS(io_process, one_that_somebody_else_has_waited_for_is_an_error) {
  const process p = process::start({"true"});
  int status = 0;
  ASSERT_EQ(weft::blocking([&] { return ::waitpid(p.pid(), &status, 0); }), p.pid());
  EXPECT_EQ(what_of([&] { (void)p.wait(); }), "wait true: No child processes");
  EXPECT_EQ(p.try_wait(), std::nullopt);
}

TEST(io_process, is_started_and_waited_for_by_a_plain_thread) {
  const process p = process::start({"cat"}, {.in = redirect::pipe(), .out = redirect::pipe()});
  p.in().write_all("plain");
  p.in().close();
  std::array<char, 5> room{};
  p.out().read_full(room);
  EXPECT_EQ(std::string_view(room.data(), 5), "plain");
  EXPECT_TRUE(p.wait().success());
  EXPECT_THROW((void)run_command({"true"}), weft::not_running);
  EXPECT_FALSE(process().wait(*std::make_unique<std::error_code>()).success());
}

}  // namespace
