// preempt_signal.hpp: the signal that stops a goroutine which will not stop by itself.
//
// Sysmon sends it to one thread, and that thread's handler does the rest (sched). This file knows only the signal: how it
// is installed beside whoever was there before, how it is sent so that it can be told from a stranger's with the same
// number, and what the interrupted thread was doing.
//
// Whose signal is it? Ours is queued with a value that nobody else would send. But a standard signal does not queue: while a
// stranger's is pending for a thread, ours sent to it vanishes, and beyond RLIMIT_SIGPENDING the kernel drops the value. So
// the handler is called for a stranger's too, with is_ours false, and must decide by a flag of its own that the sender
// raised. Afterwards the stranger's goes to the handler that was there before.
// The other way round a stranger's vanishes into ours if it is sent to the same thread within microseconds; whoever sends
// to the process (kill, a socket's out-of-band data) is not affected, since the kernel keeps those apart.
//
// Rules
//   S1  a program's handler is called for every signal that is not ours, as it would be without weft, but on the alternate
//       stack. Default action and SIG_IGN are not imitated: whoever gives weft a signal gives up its default action.
//   S2  the handler never changes errno, and a system call it ends is restarted (SA_RESTART) where the kernel can do that.
//   S3  in the handler everything is blocked except
//         SEGV BUS FPE ILL TRAP SYS  a fault in there must reach its handler; blocked, it kills the process without a word
//         ABRT                       a report from in there ends in it
//         32, 33 (34 in musl)        the C library's own: setuid() waits until every thread has taken one, and a goroutine
//                                    may stay stopped in the handler for long
//   S4  a handler that was installed over ours and calls it does no harm, also when ours is then put on top once more: the
//       inner call of such a circle does nothing.
//   S5  nothing is ever uninstalled: a signal may still be under way to a thread when a runtime ends. A later runtime may take
//       another number; the former one then goes to its former handler only.
//
// install_preempt_handler() is called while no other thread does (the start of a runtime); all else from anywhere.
#pragma once

#include <cstdint>

namespace weft::os {

int default_preempt_signal() noexcept;  // SIGURG: ignored by default, and nobody misses one too many

// A real-time signal that is sent while one like it is pending comes twice; any other comes once.
constexpr bool does_queue_up(int number) noexcept { return number >= 32; }

// What the handler is told about the thread that it interrupted.
struct interrupted {
  const void* pc = nullptr;  // the next instruction
  void* context = nullptr;   // ucontext_t*, for a backtrace
  std::uint32_t cookie = 0;  // what the sender gave; 0 if the signal is a stranger's
  bool is_ours = false;
  // A system call of the program has just been ended by a signal and will return EINTR: nothing restarts it. True once per
  // call, however many signals come before the program goes on.
  bool was_call_cut_short = false;
};

using preempt_handler = void (*)(const interrupted& at);

enum class signal_verdict : std::uint8_t {
  accepted,
  out_of_range,
  uncatchable,
  synchronous,
  reserved,
  blocked,
  ignored,
  refused,
};

// The end of a message that begins "weft: cannot stop goroutines with SIGURG: ".
const char* describe(signal_verdict verdict) noexcept;

// Makes `number` the signal that calls `handler`. Not accepted: nothing has changed. Again for the same number: nothing is
// changed either, unless somebody stands over ours: then that one is what is chained to from now on.
// `blocked` speaks of the calling thread's mask, which is the one that the threads of the runtime will have.
signal_verdict install_preempt_handler(int number, preempt_handler handler) noexcept;

// Whether the kernel would call ours now. A system call, some 0.3 us.
bool is_preempt_handler_installed() noexcept;

// Sends it to a thread of this process. False: there is no such thread (any more), or the kernel has no room or no wish.
bool send_preempt_signal(int pid, int tid, int number, std::uint32_t cookie) noexcept;

}  // namespace weft::os
