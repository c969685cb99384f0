// signal.cpp: see signal.hpp.
#include "os/signal.hpp"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/system_call.hpp"
#include "os/vm.hpp"

namespace weft::os {

namespace {

fault_handler on_fault = nullptr;
struct sigaction before_segv;
struct sigaction before_bus;

const void* pc_of(const void* context) noexcept {
  const auto* const u = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(u->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(u->uc_mcontext.pc);
#endif
}

const struct sigaction& before(int number) noexcept {
  return number == SIGBUS ? before_bus : before_segv;
}

bool is_nobody(const struct sigaction& action) noexcept {
  return !(action.sa_flags & SA_SIGINFO) &&
         (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

// To whoever was there first; without one, the default action: by returning to the faulting instruction with it installed,
// so that the dump shows the fault and not this handler.
void chain(int number, siginfo_t* info, void* context) noexcept {
  const struct sigaction& first = before(number);
  if (is_nobody(first)) {
    struct sigaction plain{};
    plain.sa_handler = SIG_DFL;
    ::sigaction(number, &plain, nullptr);
    if (info->si_code <= 0) ::raise(number);  // sent by kill: returning would not bring it back
  } else if (first.sa_flags & SA_SIGINFO) {
    first.sa_sigaction(number, info, context);
  } else {
    first.sa_handler(number);
  }
}

void handle(int number, siginfo_t* info, void* context) noexcept {
  const int saved = errno;
  const bool is_sent = info->si_code <= 0;
  on_fault({number, is_sent ? nullptr : info->si_addr, pc_of(context), context, is_sent,
            is_nobody(before(number))});
  chain(number, info, context);
  errno = saved;
}

}  // namespace

void use_alternate_stack(void*& memory) noexcept {
  if (memory == nullptr) memory = reserve(kAlternateStackBytes, kAlternateStackBytes).base;
  if (memory == nullptr) return;  // overflows will be reported by the kernel alone
  // What the thread had before is kept at the low end, which the handler never reaches.
  auto* const old = static_cast<stack_t*>(memory);
  stack_t mine{};
  mine.ss_sp = static_cast<std::byte*>(memory) + sizeof(stack_t);
  mine.ss_size = kAlternateStackBytes - sizeof(stack_t);
  call(site::alternate_stack, ::sigaltstack, &mine, old);
}

void leave_alternate_stack(void* memory) noexcept {
  if (memory != nullptr) ::sigaltstack(static_cast<const stack_t*>(memory), nullptr);
}

void install_fault_handler(fault_handler handler) noexcept {
  if (on_fault != nullptr) return;
  on_fault = handler;
  struct sigaction action{};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  call(site::fault_action, ::sigaction, SIGSEGV, &action, &before_segv);
  call(site::fault_action, ::sigaction, SIGBUS, &action, &before_bus);
}

void die_of(int number) noexcept {
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(number, &plain, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(number);
  ::_exit(128 + number);
}

void die_of_abort() noexcept { die_of(SIGABRT); }

void exit_process(int code) noexcept { ::_exit(code); }

void on_fork_in_child(void (*child)()) noexcept { ::pthread_atfork(nullptr, nullptr, child); }

}  // namespace weft::os
