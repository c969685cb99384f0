// preempt_signal.cpp: see preempt_signal.hpp.
#include "os/preempt_signal.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "os/signal_name.hpp"
#include "os/system_call.hpp"

namespace weft::os {
namespace {

// The upper half of the value that ours carry; the cookie is the lower. No pointer has it, and no number that anybody would
// send. Why not a code of our own in place of SI_QUEUE: the kernel takes those it does not know only from callers that have
// cleared every byte of the record, which emulators and tracers that pass it on have not.
constexpr std::uint64_t kOurMark = 0x77656674;

std::uint64_t value_of(const siginfo_t& info) noexcept {
  return reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
}
bool is_marked(const siginfo_t& info) noexcept {
  return info.si_code == SI_QUEUE && value_of(info) >> 32 == kOurMark;
}

// Atomics throughout, and all of them seq_cst: they are written when a runtime starts and read by handlers on any thread.
using info_function = void (*)(int, siginfo_t*, void*);
using plain_function = void (*)(int);

// Who was there before us. At most one of the two is set, and while one replaces the other either is right.
struct predecessor {
  std::atomic<info_function> with_info{nullptr};
  std::atomic<plain_function> plain{nullptr};
};

constinit predecessor predecessors[kHighestSignal + 1];
constinit std::atomic<preempt_handler> on_preempt{nullptr};
constinit std::atomic<int> preempt_number{0};

// The signal that this thread is chaining, and from which frame. A call for the same one from a deeper frame comes from
// the handler we chained to (S4). The frame tells it from a new signal on the same spot of the alternate stack, after the
// chained handler has left by longjmp.
struct chained_signal {
  const siginfo_t* info;
  const void* frame;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local chained_signal chaining{nullptr, nullptr};

bool is_synchronous(int number) noexcept {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
         number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

// sigset_t begins with the kernel's 64 bits. Not by sigdelset: it refuses to touch the C library's own.
std::uint64_t bits_of(const sigset_t& set) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &set, sizeof bits);
  return bits;
}
constexpr std::uint64_t bit(int number) noexcept { return std::uint64_t{1} << (number - 1); }

sigset_t all_but_synchronous() noexcept {
  std::uint64_t bits = ~std::uint64_t{0};
  for (int number = 1; number <= kHighestSignal; ++number) {
    if (is_synchronous(number)) bits &= ~bit(number);
  }
  for (int number = 32; number < SIGRTMIN; ++number) bits &= ~bit(number);
  sigset_t set;
  sigemptyset(&set);
  std::memcpy(&set, &bits, sizeof bits);
  return set;
}

// --- what was interrupted ---

struct machine_state {
  std::uintptr_t pc;
  std::uintptr_t sp;
  std::intptr_t result;  // where a system call leaves its result
};

// Whether the handler has met this very call before, where the CPU lets us know.
enum class met : std::uint8_t { unknown, never, before };

#if defined(__x86_64__)
machine_state state_of(const ucontext_t& u) noexcept {
  return {static_cast<std::uintptr_t>(u.uc_mcontext.gregs[REG_RIP]),
          static_cast<std::uintptr_t>(u.uc_mcontext.gregs[REG_RSP]),
          static_cast<std::intptr_t>(u.uc_mcontext.gregs[REG_RAX])};
}
using instruction = std::uint16_t;
constexpr bool is_system_call(instruction i) noexcept { return i == 0x050f; }  // 0f 05: syscall

// The instruction leaves in rcx where it returns to, and no program may rely on what is there afterwards. So rcx == pc says that this call has
// just ended; what the handler puts there instead stays until the thread makes its next call. (A CPU or an emulator that leaves rcx alone
// is not written to: rcx may be the program's there.)
constexpr std::uintptr_t mark_of(std::uintptr_t pc) noexcept { return ~pc; }
met how_met(const ucontext_t& u, const machine_state& state) noexcept {
  const auto trace = static_cast<std::uintptr_t>(u.uc_mcontext.gregs[REG_RCX]);
  return trace == state.pc ? met::never : trace == mark_of(state.pc) ? met::before : met::unknown;
}
void mark_as_met(ucontext_t& u, const machine_state& state) noexcept {
  u.uc_mcontext.gregs[REG_RCX] = static_cast<greg_t>(mark_of(state.pc));
}
#elif defined(__aarch64__)
machine_state state_of(const ucontext_t& u) noexcept {
  return {static_cast<std::uintptr_t>(u.uc_mcontext.pc),
          static_cast<std::uintptr_t>(u.uc_mcontext.sp),
          static_cast<std::intptr_t>(u.uc_mcontext.regs[0])};
}
using instruction = std::uint32_t;
constexpr bool is_system_call(instruction i) noexcept {
  return (i & 0xffe0001fU) == 0xd4000001U;  // svc #n
}
met how_met(const ucontext_t&, const machine_state&) noexcept { return met::unknown; }
void mark_as_met(ucontext_t&, const machine_state&) noexcept {}
#endif

// The instruction before pc. Through the kernel, because what lies before pc may be another page, and that may not be
// there or not be readable.
bool read_before(std::uintptr_t pc, instruction& into) noexcept {
  constexpr std::uintptr_t kSmallestPage = 4096;
  const std::uintptr_t from = pc - sizeof into;
  const iovec local{&into, sizeof into};
  const iovec remote{reinterpret_cast<void*>(from), sizeof into};
  if (call(site::preempt_peek, ::syscall, SYS_process_vm_readv, ::getpid(), &local, 1UL, &remote,
           1UL, 0UL) == static_cast<long>(sizeof into))
    return true;
  if (errno == EFAULT) return false;
  // Some emulators and sandboxes do not have the call. The page that runs can be read, as a rule.
  if (from / kSmallestPage != pc / kSmallestPage) return false;
  std::memcpy(&into, reinterpret_cast<const void*>(from), sizeof into);
  return true;
}

// The kernel rewinds pc to the call when it will restart it, so behind a call with EINTR means: this one ends.
bool was_cut_short(const machine_state& state) noexcept {
  if (state.result != -EINTR) return false;  // nearly always: the rest costs a system call
  instruction before;
  return read_before(state.pc, before) && is_system_call(before);
}

// A signal that was sent while the handler ran comes as soon as it returns, before the program has made a step, and sees the
// same call cut short once more. The same place alone does not tell: the program may have made the same call again, from
// there. On x86-64 a mark tells (mark_of). Elsewhere: if it has, it has slept in it, and the kernel counts that. (Not quite: one that was
// interrupted at its very entrance has not slept, and is missed there.)
struct cut_call {
  std::uintptr_t pc;
  std::uintptr_t sp;
  long nsleeps;  // of the thread, when the handler was done with it
};
[[gnu::tls_model("initial-exec")]] constinit thread_local cut_call last_cut{0, 0, 0};

long nsleeps_of_thread() noexcept {
  rusage usage{};
  ::syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

bool is_last_cut(const machine_state& state, met how) noexcept {
  if (how != met::unknown) return how == met::before;
  return state.pc == last_cut.pc && state.sp == last_cut.sp &&
         nsleeps_of_thread() == last_cut.nsleeps;
}

void remember_cut(ucontext_t& u, const machine_state& state, met how) noexcept {
  if (how == met::unknown) {
    last_cut = {state.pc, state.sp, nsleeps_of_thread()};
  } else {
    mark_as_met(u, state);
  }
}

// --- the handler ---

void chain(int number, siginfo_t* info, void* context) noexcept {
  const predecessor& before = predecessors[number];
  if (const info_function f = before.with_info.load()) {
    f(number, info, context);
  } else if (const plain_function f = before.plain.load()) {
    f(number);
  }
}

void handle(int number, siginfo_t* info, void* context) noexcept {
  const void* const frame = __builtin_frame_address(0);
  if (chaining.info == info && frame < chaining.frame) return;  // S4
  const int saved = errno;
  const bool is_ours = is_marked(*info);
  ucontext_t& program = *static_cast<ucontext_t*>(context);
  const machine_state state = state_of(program);
  const bool is_cut = was_cut_short(state);
  const met how = is_cut ? how_met(program, state) : met::unknown;
  if (number == preempt_number.load()) {  // S5
    const std::uint32_t cookie = is_ours ? static_cast<std::uint32_t>(value_of(*info)) : 0;
    on_preempt.load()({reinterpret_cast<const void*>(state.pc), context, cookie, is_ours,
                       is_cut && !is_last_cut(state, how)});
  }
  if (!is_ours) {
    chaining = {info, frame};
    chain(number, info, context);  // S1
    chaining = {nullptr, nullptr};
  }
  if (is_cut) remember_cut(program, state, how);
  errno = saved;  // S2
}

// --- installing ---

bool is_handle(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handle;
}

bool is_plain(const struct sigaction& action, plain_function what) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == what;
}

void remember(int number, const struct sigaction& action) noexcept {
  predecessor& before = predecessors[number];
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    before.with_info.store(action.sa_sigaction);
    before.plain.store(nullptr);
  } else {
    const bool is_function = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    before.plain.store(is_function ? action.sa_handler : nullptr);
    before.with_info.store(nullptr);
  }
}

signal_verdict judge(int number) noexcept {
  if (number < 1 || number > kHighestSignal) return signal_verdict::out_of_range;
  if (number == SIGKILL || number == SIGSTOP) return signal_verdict::uncatchable;
  if (is_synchronous(number)) return signal_verdict::synchronous;
  if (number >= 32 && number < SIGRTMIN) return signal_verdict::reserved;
  sigset_t mask;
  sigemptyset(&mask);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  if ((bits_of(mask) & bit(number)) != 0) return signal_verdict::blocked;
  return signal_verdict::accepted;
}

}  // namespace

int default_preempt_signal() noexcept { return SIGURG; }

const char* describe(signal_verdict verdict) noexcept {
  switch (verdict) {
    case signal_verdict::accepted:
      return "it is accepted";
    case signal_verdict::out_of_range:
      return "signals are numbered from 1 to 64";
    case signal_verdict::uncatchable:
      return "no program can catch it";
    case signal_verdict::synchronous:
      return "it reports faults of the program";
    case signal_verdict::reserved:
      return "the C library keeps it for itself";
    case signal_verdict::blocked:
      return "the thread that starts the runtime has it blocked";
    case signal_verdict::ignored:
      return "it is set to be ignored";
    case signal_verdict::refused:
      return "the system refuses a handler for it";
  }
  return "";
}

signal_verdict install_preempt_handler(int number, preempt_handler handler) noexcept {
  const signal_verdict verdict = judge(number);
  if (verdict != signal_verdict::accepted) return verdict;
  struct sigaction now{};
  if (call(site::preempt_query, ::sigaction, number, nullptr, &now) != 0)
    return signal_verdict::refused;
  if (is_plain(now, SIG_IGN)) return signal_verdict::ignored;

  on_preempt.store(handler);
  if (!is_handle(now)) {
    remember(number, now);  // before ours can be called
    struct sigaction ours{};
    ours.sa_sigaction = &handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    ours.sa_mask = all_but_synchronous();
    if (call(site::preempt_install, ::sigaction, number, &ours, &now) != 0)
      return signal_verdict::refused;
    remember(number, now);  // another thread of the program may have been quicker
  }
  preempt_number.store(number);
  return signal_verdict::accepted;
}

bool is_preempt_handler_installed() noexcept {
  const int saved = errno;
  const int number = preempt_number.load();
  struct sigaction now{};
  const bool is_ours = number != 0 &&
                       call(site::preempt_query, ::sigaction, number, nullptr, &now) == 0 &&
                       is_handle(now);
  errno = saved;
  return is_ours;
}

bool send_preempt_signal(int pid, int tid, int number, std::uint32_t cookie) noexcept {
  const int saved = errno;
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  info.si_signo = number;
  info.si_code = SI_QUEUE;
  info.si_pid = pid;
  info.si_value.sival_ptr = reinterpret_cast<void*>(kOurMark << 32 | cookie);
  long result = call(site::preempt_send, ::syscall, SYS_rt_tgsigqueueinfo, pid, tid, number, &info);
  // A sandbox without the call: then it comes as a stranger's, and the receiver's own flag makes it ours.
  if (result != 0 && (errno == ENOSYS || errno == EPERM))
    result = call(site::preempt_send_plainly, ::syscall, SYS_tgkill, pid, tid, number);
  errno = saved;
  return result == 0;
}

}  // namespace weft::os
