// process.hpp: child processes: start, talk to, wait for, kill.
//
//   using weft::io::process, weft::io::redirect;
//   auto sort = process::start({"sort", "-r"}, {.in = redirect::pipe(), .out = redirect::pipe()});
//   sort.in().write_all("a\nb\n");
//   sort.in().close();                                               // or it waits for more
//   ... sort.out().read_some(room) ...
//   weft::io::exit_status end = sort.wait();
//
//   auto [status, out, err] = weft::io::run_command({"git", "describe"});   // all of it at once
//
// A process is a handle: copies are the same child. When the last one goes the child lives on, and is waited for behind the scenes: there
// are no zombies. The child gets the descriptors 0, 1 and 2 and no others, the caller's signal mask, and default actions for all signals but
// those that the program ignores.
//
// Errors as in <weft/io/handle.hpp>: "fork/exec /nonexistent: No such file or directory".
// Blocks: this goroutine only (from a plain thread: that thread). Async-signal-safe: no.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/context.hpp>
#include <weft/detail/config.hpp>
#include <weft/io/async_fd.hpp>

namespace weft::inline v1::io {

// What the child has as its standard input, output or error output.
class redirect {
 public:
  enum class kind : std::uint8_t { inherit, null, pipe, descriptor, same_as_out };

  static redirect inherit() noexcept { return redirect(kind::inherit); }  // what we have
  static redirect null() noexcept { return redirect(kind::null); }        // /dev/null
  static redirect pipe() noexcept { return redirect(kind::pipe); }        // its other end is ours
  // A descriptor of the kernel's, which stays the caller's: a file's native_handle().
  static redirect to(int fd) noexcept { return redirect(kind::descriptor, fd); }
  // For the error output only: both go the same way.
  static redirect same_as_out() noexcept { return redirect(kind::same_as_out); }

  redirect() noexcept = default;
  kind what() const noexcept { return kind_; }
  int fd() const noexcept { return fd_; }

 private:
  explicit redirect(kind k, int fd = -1) noexcept : kind_(k), fd_(fd) {}

  kind kind_ = kind::inherit;
  int fd_ = -1;
};

struct process_options {
  redirect in = {};
  redirect out = {};
  redirect err = {};
  std::string directory = {};                                // "": ours
  std::optional<std::vector<std::string>> environment = {};  // "NAME=value"; none: ours
};

// How a process has ended.
struct exit_status {
  int code = -1;   // what it returned; -1: it died of a signal
  int signal = 0;  // what it died of; 0: it ended by itself

  [[nodiscard]] bool success() const noexcept { return code == 0; }
  // "exit code 1", "SIGKILL"
  [[nodiscard]] WEFT_API std::string message() const;
  friend bool operator==(const exit_status&, const exit_status&) noexcept = default;
};

namespace detail {
class process_state;
}

class WEFT_API process {
 public:
  // None.
  process() noexcept = default;

  // Starts command[0], looked for along PATH unless it has a slash in it, and returns when it runs. Throws std::system_error;
  // std::invalid_argument for an empty command.
  [[nodiscard]] WEFT_MAY_SWITCH static process start(const std::vector<std::string>& command,
                                                     const process_options& options = {});
  [[nodiscard]] WEFT_MAY_SWITCH static process start(const std::vector<std::string>& command,
                                                     const process_options& options,
                                                     std::error_code& ec);

  // Our ends of its pipes; closed unless redirect::pipe() was asked for.
  [[nodiscard]] const async_fd& in() const noexcept;
  [[nodiscard]] const async_fd& out() const noexcept;
  [[nodiscard]] const async_fd& err() const noexcept;

  // 0: none. After the end another process may have it.
  [[nodiscard]] int pid() const noexcept;
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  // Until it has ended; any number of times, by anybody. std::errc::no_child_process: somebody else has waited for it, or SIGCHLD is ignored.
  WEFT_MAY_SWITCH exit_status wait() const;
  WEFT_MAY_SWITCH exit_status wait(std::error_code& ec) const;
  // When the context ends first it is killed. What it was in the middle of is told by ctx.err().
  WEFT_MAY_SWITCH exit_status wait(const context& ctx) const;
  WEFT_MAY_SWITCH exit_status wait(const context& ctx, std::error_code& ec) const;
  // Without waiting. None: it runs, or nobody can know.
  [[nodiscard]] std::optional<exit_status> try_wait() const;

  // std::errc::no_such_process: it has ended. Never another process that got its number.
  void kill() const;
  void kill(int signal) const;
  void kill(int signal, std::error_code& ec) const noexcept;

  friend bool operator==(const process&, const process&) noexcept = default;

 private:
  std::shared_ptr<detail::process_state> impl_;
};

struct command_result {
  exit_status status;
  std::string out;
  std::string err;
};

// Starts it, writes `input` to it (none: it reads /dev/null), and waits until it has ended and both its outputs are closed. They are caught
// unless the options say where they go; so is the input. Throws not_running without a runtime.
WEFT_API WEFT_MAY_SWITCH command_result run_command(const std::vector<std::string>& command,
                                                    const process_options& options = {},
                                                    std::string_view input = {});
// When the context ends first it is killed, and what it has written by then is all there is.
WEFT_API WEFT_MAY_SWITCH command_result run_command(const context& ctx,
                                                    const std::vector<std::string>& command,
                                                    const process_options& options = {},
                                                    std::string_view input = {});

}  // namespace weft::inline v1::io
