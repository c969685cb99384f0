// crash.hpp: the last words of a program: what goes wrong for good, said in one line that names the culprit.
//
// fatal() is for what the runtime cannot survive, misuse() for what the user did wrong; both end the process with exit code 2, as
// Go does. The first to fail speaks; others that fail meanwhile wait for the end in silence.
#pragma once

#include <string_view>

#include "os/text.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// Prints "fatal error: <message>", calls the hook, exits with code 2.
[[noreturn, gnu::cold]] void fatal(std::string_view message) noexcept;

// Prints "weft: <message> by goroutine 7 "name" (made at ...)", then like fatal().
[[noreturn, gnu::cold]] void misuse(std::string_view message) noexcept;

[[noreturn, gnu::cold]] void fatal_no_stack(G* gp, const stack::result& why) noexcept;

// Only the first thread that calls it goes on.
void begin_crash() noexcept;
bool try_begin_crash() noexcept;  // false: somebody else crashes
[[noreturn]] void end_crash(std::string_view first_line) noexcept;

// Printed before all else when the process crashes: what it was doing, a line or more. It stays the caller's; null: nothing.
void set_crash_note(const char* text) noexcept;

// `goroutine 7 "reader"`, and where it was made.
void describe(os::text& out, const G* gp) noexcept;
void describe_origin(os::text& out, const G* gp) noexcept;
void describe_origin(os::text& out, const void* made_at, std::uint64_t made_by) noexcept;

// The report of an uncaught exception has been printed: std::terminate() need not name the goroutine again.
extern bool was_panic_printed;

// One line per frame of this stack, from here down.
void print_backtrace() noexcept;

// In the child of a fork nothing works: its threads are gone.
inline bool is_forked() noexcept {
  // relaxed: written by the child's only thread, before it comes back from fork()
  return sched.now.load(std::memory_order_relaxed) == phase::forked;
}
[[noreturn, gnu::cold]] void fatal_forked() noexcept;
inline void die_if_forked() noexcept {
  if (is_forked()) [[unlikely]]
    fatal_forked();
}

// Fault handler, fork handler and terminate handler, once per process.
void install_crash_handlers() noexcept;

}  // namespace weft::sched
