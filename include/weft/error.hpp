// error.hpp: the exceptions that weft's own calls throw, and the hook that sees its last words.
#pragma once

#include <stdexcept>
#include <string_view>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

// `go` or `spawn` while neither `run` nor a `runtime` is active.
class WEFT_API not_running : public std::logic_error {
 public:
  explicit not_running(const char* what_was_called);
};

// `join` of a goroutine that ended by exit_goroutine(): there is no result.
class WEFT_API goroutine_exited : public std::runtime_error {
 public:
  goroutine_exited();
};

// A send on a closed channel, or a second close.
class WEFT_API closed_channel : public std::runtime_error {
 public:
  explicit closed_channel(const char* what_was_done);
};

// A close of a channel that was never made.
class WEFT_API nil_channel : public std::logic_error {
 public:
  nil_channel();
};

// Called once with the first line of a fatal error, after it was printed and before the process ends.
// It runs on the thread that failed, perhaps in a signal handler: only async-signal-safe calls are safe.
// Returns the hook that was there before.
using fatal_hook = void (*)(std::string_view message);
WEFT_API fatal_hook on_fatal(fatal_hook hook) noexcept;

}  // namespace weft::inline v1
