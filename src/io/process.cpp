// process.cpp: starting programs.
//
// posix_spawn, not fork and exec: it shares our memory until the program runs, so it costs the same however large we are, it blocks all signals
// meanwhile, and the error of the exec comes back as a number. It waits for that, so it goes on in blocking().
//
// What becomes 0, 1 or 2 in the child is first moved to a number above 2: so no move can overwrite another's source, whatever
// numbers are free in this program. All of weft's descriptors are closed at the exec; those of others are closed by number where the C library
// can do that.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "io/child.hpp"
#include "io/owned_fd.hpp"
#include "os/signal_name.hpp"
#include "os/system_call.hpp"
#include "os/text.hpp"
#include "sched/start.hpp"

#include <weft/go.hpp>
#include <weft/io/process.hpp>
#include <weft/join_handle.hpp>

extern char** environ;

namespace weft::inline v1::io {

namespace detail {

class process_state {
 public:
  std::string program;
  std::array<async_fd, 3> pipes;
  std::shared_ptr<child> it;

  process_state() = default;
  ~process_state() {
    if (it != nullptr) child::give_up(std::move(it));
  }
  process_state(const process_state&) = delete;
  process_state& operator=(const process_state&) = delete;
};

}  // namespace detail

namespace {

using detail::owned_fd;
using detail::process_state;

constexpr int kFirstFree = 3;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

int moved_up(int fd) {
  const int moved = os::call(os::site::spawn_dup, ::fcntl, fd, F_DUPFD_CLOEXEC, kFirstFree);
  if (moved == -1) throw_errno("dup");
  return moved;
}

// What the child gets as number `which`; -1: what we have there. Our end of a pipe is left in `ours`.
int source_of(const redirect& r, int which, async_fd& ours) {
  const bool is_input = which == STDIN_FILENO;
  switch (r.what()) {
    case redirect::kind::inherit:
      break;
    case redirect::kind::same_as_out:
      throw std::invalid_argument("weft: io::process: only the error output can go where out does");
    case redirect::kind::null: {
      const owned_fd null(os::call(os::site::spawn_null, ::open, "/dev/null",
                                   (is_input ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
      if (null.get() == -1) throw_errno("open /dev/null");
      return moved_up(null.get());
    }
    case redirect::kind::descriptor:
      return moved_up(r.fd());
    case redirect::kind::pipe: {
      int ends[2];
      if (os::call(os::site::spawn_pipe, ::pipe2, ends, O_CLOEXEC) != 0) throw_errno("pipe");
      const owned_fd theirs(ends[is_input ? 0 : 1]);
      owned_fd mine(ends[is_input ? 1 : 0]);  // theirs stays blocking: most programs expect it
      ours = async_fd(mine.get());
      mine.release();
      return moved_up(theirs.get());
    }
  }
  return -1;
}

// Everything that posix_spawn wants to know.
class plan {
 public:
  plan() { check(::posix_spawn_file_actions_init(&actions_)); }
  ~plan() { ::posix_spawn_file_actions_destroy(&actions_); }
  plan(const plan&) = delete;
  plan& operator=(const plan&) = delete;

  void use(int source, int target) {
    if (source != -1) check(::posix_spawn_file_actions_adddup2(&actions_, source, target));
  }
  void enter(const std::string& directory) {
    if (!directory.empty())
      check(::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str()));
  }
  void close_others() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    check(::posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstFree));
#endif
  }

  // 0, or errno. Waits until the program runs.
  int start(const std::vector<std::string>& command,
            const std::optional<std::vector<std::string>>& environment, pid_t& pid) const {
    const std::vector<char*> arguments = pointers_to(command);
    const std::vector<char*> variables =
        environment ? pointers_to(*environment) : std::vector<char*>();
    char* const* const env = environment ? variables.data() : ::environ;
    return blocking([&] {
      return os::call_for_error(os::site::spawn, ::posix_spawnp, &pid, arguments[0], &actions_,
                                nullptr, arguments.data(), env);
    });
  }

 private:
  static void check(int error) {
    if (error != 0) throw std::system_error(error, std::system_category(), "posix_spawn");
  }
  static std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (const std::string& text : texts) {
      if (text.find('\0') != std::string::npos) check(EINVAL);
      all.push_back(const_cast<char*>(text.c_str()));
    }
    all.push_back(nullptr);
    return all;
  }

  posix_spawn_file_actions_t actions_;
};

[[noreturn]] void throw_start_error(int error, const std::string& program,
                                    const std::string& directory) {
  struct stat info{};
  // The child says only a number: was it the directory?
  if (!directory.empty() && ::stat(directory.c_str(), &info) != 0)
    throw std::system_error(errno, std::system_category(), "chdir " + directory);
  throw std::system_error(error, std::system_category(), "fork/exec " + program);
}

void start(process_state& p, const std::vector<std::string>& command,
           const process_options& options) {
  detail::child::reap_strays();
  const std::array<redirect, 3> wanted{options.in, options.out, options.err};
  std::array<owned_fd, 3> sources;
  plan how;
  for (int i = 0; i < 3; ++i) {
    if (wanted[i].what() == redirect::kind::same_as_out && i == STDERR_FILENO) {
      how.use(STDOUT_FILENO, i);  // after that one was put in place
      continue;
    }
    sources[i].reset(source_of(wanted[i], i, p.pipes[i]));
    how.use(sources[i].get(), i);
  }
  how.enter(options.directory);
  how.close_others();
  // Before there is a child: nothing may fail once it runs.
  p.program = command[0];
  auto it = std::make_shared<detail::child>();
  pid_t pid = -1;
  if (const int error = how.start(command, options.environment, pid); error != 0)
    throw_start_error(error, command[0], options.directory);
  it->begin(pid);
  p.it = std::move(it);
}

// Reads to the end; what came before an error is kept.
std::string read_all(const async_fd& from) {
  std::string all;
  std::array<char, 4096> room;
  std::error_code ec;
  while (const std::size_t n = from.read_some(room, ec)) all.append(room.data(), n);
  return all;
}

// Never destroyed: threads may still ask when static destructors run.
const async_fd& closed() {
  static const async_fd& only = *new async_fd;
  return only;
}

}  // namespace

std::string exit_status::message() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  os::text t;
  os::append_signal_name(t, signal);
  return std::string(t.view());
}

process process::start(const std::vector<std::string>& command, const process_options& options) {
  if (command.empty()) throw std::invalid_argument("weft: io::process: no program was named");
  process p;
  p.impl_ = std::make_shared<process_state>();
  io::start(*p.impl_, command, options);
  return p;
}

process process::start(const std::vector<std::string>& command, const process_options& options,
                       std::error_code& ec) {
  ec.clear();
  try {
    return start(command, options);
  } catch (const std::system_error& e) {
    ec = e.code();
    return {};
  }
}

const async_fd& process::in() const noexcept { return impl_ ? impl_->pipes[0] : closed(); }
const async_fd& process::out() const noexcept { return impl_ ? impl_->pipes[1] : closed(); }
const async_fd& process::err() const noexcept { return impl_ ? impl_->pipes[2] : closed(); }
int process::pid() const noexcept { return impl_ ? impl_->it->pid() : 0; }

exit_status process::wait(std::error_code& ec) const {
  ec.clear();
  if (impl_ == nullptr) {
    ec = std::make_error_code(std::errc::no_child_process);
    return {};
  }
  while (!impl_->it->try_reap()) {
    impl_->it->wait_for_end(ec);
    if (ec) return {};
  }
  return impl_->it->how(ec);
}

exit_status process::wait() const {
  std::error_code ec;
  const exit_status status = wait(ec);
  if (ec) throw std::system_error(ec, "wait " + (impl_ ? impl_->program : std::string()));
  return status;
}

exit_status process::wait(const context& ctx, std::error_code& ec) const {
  const context_stop at_its_end = after_func(ctx, [p = *this] {
    std::error_code ignored;  // it has ended already
    p.kill(SIGKILL, ignored);
  });
  const exit_status status = wait(ec);
  at_its_end.stop();
  return status;
}

exit_status process::wait(const context& ctx) const {
  std::error_code ec;
  const exit_status status = wait(ctx, ec);
  if (ec) throw std::system_error(ec, "wait " + (impl_ ? impl_->program : std::string()));
  return status;
}

std::optional<exit_status> process::try_wait() const {
  if (impl_ == nullptr || !impl_->it->try_reap()) return std::nullopt;
  std::error_code ec;
  const exit_status status = impl_->it->how(ec);
  return ec ? std::nullopt : std::optional(status);
}

void process::kill(int signal, std::error_code& ec) const noexcept {
  const int error = impl_ ? impl_->it->signal(signal) : ESRCH;
  ec = error != 0 ? std::error_code(error, std::system_category()) : std::error_code();
}

void process::kill(int signal) const {
  std::error_code ec;
  kill(signal, ec);
  if (ec) throw std::system_error(ec, "kill " + (impl_ ? impl_->program : std::string()));
}

void process::kill() const { kill(SIGKILL); }

command_result run_command(const context& ctx, const std::vector<std::string>& command,
                           const process_options& options, std::string_view input) {
  sched::require_running("weft::io::run_command");
  process_options all = options;
  const auto is_open = [](const redirect& r) { return r.what() == redirect::kind::inherit; };
  if (is_open(all.in)) all.in = input.empty() ? redirect::null() : redirect::pipe();
  if (is_open(all.out)) all.out = redirect::pipe();
  if (is_open(all.err)) all.err = redirect::pipe();
  const process p = process::start(command, all);
  // Others may have its ends of the pipes and go on after its death.
  const context_stop at_its_end = after_func(ctx, [p] {
    std::error_code ignored;
    p.kill(SIGKILL, ignored);
    p.out().close();
    p.err().close();
  });
  auto out = spawn([p] { return read_all(p.out()); });
  auto err = spawn([p] { return read_all(p.err()); });
  auto in = spawn([p, text = std::string(input)] {
    std::error_code ignored;  // it need not read all of it
    p.in().write_all(text, ignored);
    p.in().close();
  });
  command_result result;
  result.status = p.wait();
  p.in().close();
  in.join();
  result.out = out.join();
  result.err = err.join();
  at_its_end.stop();
  p.out().close();  // the goroutines may have their handles for a moment yet
  p.err().close();
  return result;
}

command_result run_command(const std::vector<std::string>& command, const process_options& options,
                           std::string_view input) {
  return run_command(background(), command, options, input);
}

}  // namespace weft::inline v1::io
