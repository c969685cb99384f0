// child_process.cpp: see child_process.hpp.
#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(x) __has_feature(x)
#else
#define WEFT_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    WEFT_HAS_FEATURE(address_sanitizer) || WEFT_HAS_FEATURE(thread_sanitizer)
#define WEFT_IS_SANITIZED 1
#else
#define WEFT_IS_SANITIZED 0
#endif

namespace weft::test {

namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct pipe_ends {
  int read = -1;
  int write = -1;

  pipe_ends() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) fail("pipe2");
    read = fds[0];
    write = fds[1];
  }
  ~pipe_ends() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;

  void close_write() {
    ::close(write);
    write = -1;
  }
  // Takes what is there. False: nothing more will come.
  bool drain_into(std::string& out) const {
    char buffer[16384];
    for (;;) {
      const ssize_t n = ::read(read, buffer, sizeof buffer);
      if (n > 0) {
        out.append(buffer, static_cast<std::size_t>(n));
      } else if (n < 0 && errno == EINTR) {
        continue;
      } else {
        return n < 0;  // EAGAIN
      }
    }
  }
};

// The sanitizers' own handlers for deadly signals would change how the program ends; and goroutines that a program leaves
// behind, with all they own, are no leak. What the preset says comes first.
constexpr std::pair<const char*, const char*> kSanitizerOptions[] = {
    {"ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0:detect_leaks=0"},
    {"TSAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0:report_thread_leaks=0"},
};

void set_environment(const child& what) {
  for (const auto& [name, value] : kSanitizerOptions) {
    const char* const before = ::getenv(name);
    ::setenv(name,
             (before != nullptr ? std::string(before) + ':' + value : std::string(value)).c_str(),
             1);
  }
  for (const auto& [name, value] : what.environment) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
}

// In the child. The test that forks has one thread, so all of libc may be used here.
[[noreturn]] void become(const child& what, pid_t parent, int out, int err) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  set_environment(what);
  std::vector<char*> arguments;
  for (const std::string& word : what.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const std::string message = "cannot run " + what.command[0] + ": " + std::strerror(errno) + "\n";
  [[maybe_unused]] const ssize_t n = ::write(2, message.data(), message.size());
  ::_exit(127);
}

class watcher {
 public:
  watcher(pid_t pid, steady::time_point deadline) : pid_(pid), deadline_(deadline) {}

  void watch(pipe_ends& out, pipe_ends& err, child_end& end) {
    bool is_out_open = true;
    bool is_err_open = true;
    while (!has_ended_) {
      pollfd fds[2] = {{is_out_open ? out.read : -1, POLLIN, 0},
                       {is_err_open ? err.read : -1, POLLIN, 0}};
      // The program may end while others keep the pipes open, so look now and then.
      ::poll(fds, 2, is_out_open || is_err_open ? 20 : 1);
      look(end);  // before the last read: what it wrote before its end is then there
      if (is_out_open) is_out_open = out.drain_into(end.out);
      if (is_err_open) is_err_open = err.drain_into(end.err);
      if (!has_ended_ && steady::now() >= deadline_) {
        end.is_timeout = true;
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);  // should it have left its group
        wait_for_end(end);
      }
    }
    ::kill(-pid_, SIGKILL);  // those it left behind
    if (is_out_open) out.drain_into(end.out);
    if (is_err_open) err.drain_into(end.err);
  }

 private:
  void look(child_end& end) {
    int status;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) note(status, end);
  }
  void wait_for_end(child_end& end) {
    int status;
    while (::waitpid(pid_, &status, 0) != pid_) continue;
    note(status, end);
  }
  void note(int status, child_end& end) {
    has_ended_ = true;
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  }

  const pid_t pid_;
  const steady::time_point deadline_;
  bool has_ended_ = false;
};

std::string describe(const child_end& e) {
  std::ostringstream text;
  if (e.is_timeout) {
    text << "did not end and was killed";
  } else if (e.signal != 0) {
    text << "died of signal " << e.signal << " (" << ::strsignal(e.signal) << ')';
  } else {
    text << "exited with code " << e.exit_code;
  }
  constexpr std::size_t kMost = 6000;
  text << " after " << e.took.count() << " ms\n--- stdout\n"
       << e.out.substr(0, kMost) << "\n--- stderr\n"
       << e.err.substr(0, kMost) << "\n---";
  return text.str();
}

testing::AssertionResult verdict(bool is_as_expected, const child_end& ended,
                                 const std::string& expected) {
  if (is_as_expected) return testing::AssertionSuccess() << describe(ended);
  return testing::AssertionFailure() << "expected: " << expected << "; but it " << describe(ended);
}

struct compiled {
  regex_t expression;
  explicit compiled(const std::string& pattern) {
    if (::regcomp(&expression, pattern.c_str(), REG_EXTENDED | REG_NEWLINE) != 0) {
      throw std::invalid_argument("bad pattern " + pattern);
    }
  }
  ~compiled() { ::regfree(&expression); }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;
};

}  // namespace

int time_scale() {
#ifdef WEFT_TEST_EMULATOR
  constexpr bool is_emulated = sizeof(WEFT_TEST_EMULATOR) > 1;
#elif defined(__aarch64__)
  constexpr bool is_emulated = true;  // perhaps; a limit that is too long costs nothing
#else
  constexpr bool is_emulated = false;
#endif
  return is_emulated || WEFT_IS_SANITIZED ? 4 : 1;
}

child_end run_child(const child& what) {
  pipe_ends out;
  pipe_ends err;
  const auto start = steady::now();
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail("fork");
  if (pid == 0) become(what, self, out.write, err.write);
  ::setpgid(pid, pid);  // the child does the same: whoever is first
  out.close_write();
  err.close_write();
  for (const int fd : {out.read, err.read}) ::fcntl(fd, F_SETFL, O_NONBLOCK);

  child_end end;
  watcher(pid, start + what.limit * time_scale()).watch(out, err, end);
  end.took = std::chrono::duration_cast<milliseconds>(steady::now() - start);
  return end;
}

testing::AssertionResult exited(const child_end& ended, int code) {
  return verdict(!ended.is_timeout && ended.signal == 0 && ended.exit_code == code, ended,
                 "exit code " + std::to_string(code));
}

testing::AssertionResult died_of(const child_end& ended, int signal) {
  return verdict(!ended.is_timeout && ended.signal == signal, ended,
                 "death by signal " + std::to_string(signal));
}

testing::AssertionResult timed_out(const child_end& ended) {
  return verdict(ended.is_timeout, ended, "that it does not end");
}

testing::AssertionResult said(const std::string& output, std::string_view text) {
  if (output.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "it did not say \"" << text << "\" but:\n" << output;
}

testing::AssertionResult said_like(const std::string& output, const std::string& pattern) {
  const compiled regex(pattern);
  if (::regexec(&regex.expression, output.c_str(), 0, nullptr, 0) == 0)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "it said nothing like \"" << pattern << "\" but:\n"
                                     << output;
}

std::string find_like(const std::string& output, const std::string& pattern, int group) {
  const compiled regex(pattern);
  regmatch_t found[10];
  if (group > 9 || ::regexec(&regex.expression, output.c_str(), 10, found, 0) != 0 ||
      found[group].rm_so < 0)
    return {};
  return output.substr(static_cast<std::size_t>(found[group].rm_so),
                       static_cast<std::size_t>(found[group].rm_eo - found[group].rm_so));
}

int count_of(std::string_view output, std::string_view text) {
  int count = 0;
  for (std::size_t at = output.find(text); at != std::string_view::npos;
       at = output.find(text, at + text.size()))
    ++count;
  return count;
}

std::vector<std::string> words_of(std::string_view emulator) {
  std::istringstream in{std::string(emulator)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace weft::test
