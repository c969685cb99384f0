// signals.cpp: from a handler of the kernel's to a channel.
//
//    handler, on any thread          forwarder, a goroutine                listeners, from anywhere
//    calls who was there before      sleeps on the eventfd                 enter, leave: under the lock
//    arrived |= its bit              takes `arrived`                         wanted changes
//    write to the eventfd            under the lock: sends to those          handlers are installed, and put
//                                      who want it, never waiting            back as they were
//
// The handler reads atomics only and takes no lock. A channel is kept by its listener without a handle, so that it is told when the last handle
// is gone (chan/impl.hpp); it unlinks itself under the lock, so the forwarder never sends to a channel that is being freed.
//
// The lock is one of the runtime's own: nobody who holds it can be stopped, or abandoned at the end of a runtime. Nothing is allocated under it.
//
// A signal belongs to those who want it when its handler runs. One that goes is given what has arrived before it leaves, as Go's Stop does,
// so a signal that was handled never comes back. The one race:
//
//    handler                                   leaver, under the lock
//    H1  wanted has its bit                    L1  wanted loses the bit; handlers are put back
//    H2  arrived |= bit                        L2  takes `arrived`, the leaving one gets its share
//    H3  wanted still has it: the forwarder
//        is woken; else takes the bit back
//
// All are seq_cst. H3 before L1: H2 is before L2, which takes the bit. H3 after L1: the bit is in L2's hands or back in H3's, so none is left
// for a forwarder that has gone. What nobody wants (H3's, or a runtime has ended) goes to whom it would have gone: to the function that was
// there before, or to the kernel once more, after the default action was put back.
//
// There is one forwarder in each runtime, from the first listener to the last one. It is abandoned with its runtime; the next one throws
// it out of its place at the eventfd, which stays open as long as the process lives.
//
// Rank `alarm`: it sends to channels while it is held.
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "chan/impl.hpp"
#include "io/descriptor.hpp"
#include "os/lock.hpp"
#include "os/signal_name.hpp"
#include "os/system_call.hpp"
#include "os/text.hpp"
#include "rt/poll_desc.hpp"
#include "sched/bubbles.hpp"
#include "sched/entry.hpp"
#include "sched/netpoll.hpp"
#include "sched/park.hpp"
#include "sched/start.hpp"

#include <weft/clock.hpp>
#include <weft/go.hpp>
#include <weft/io/signals.hpp>

namespace weft::inline v1::io {

namespace {

using signal_set = std::uint64_t;  // the kernel's numbers 1 to 64
using os::kHighestSignal;

constexpr std::size_t kRoom = 16;
constexpr auto kPause = std::chrono::milliseconds(10);

constexpr signal_set bit(int number) noexcept { return signal_set{1} << (number - 1); }

// Takes the lowest one out.
int take_first(signal_set& set) noexcept {
  const int number = std::countr_zero(set) + 1;
  set &= set - 1;
  return number;
}

struct listener {
  channels::impl* to = nullptr;
  signal_set wants = 0;
  listener* next = nullptr;
  bool is_linked = false;
};

// Who was there before us, for the handler: at most one of the two.
using info_function = void (*)(int, siginfo_t*, void*);
using plain_function = void (*)(int);
struct predecessor {
  std::atomic<info_function> with_info{nullptr};
  std::atomic<plain_function> plain{nullptr};
};

// --- what the handler reads; all seq_cst, they change rarely ---

constinit std::atomic<signal_set> arrived{0};
constinit std::atomic<signal_set> wanted{0};
constinit std::atomic<std::uint32_t> wanted_in{
    0};                                  // the runtime that those who want them belong to
constinit std::atomic<int> wake_fd{-1};  // an eventfd, once there is one
constinit predecessor predecessors[kHighestSignal + 1];

// --- under the lock ---

constinit os::lock<os::lock_rank::alarm> lock;
constinit listener* first = nullptr;
constinit signal_set installed = 0;
constinit bool is_forwarding = false;        // in wanted_in
constinit rt::poll_desc* wake_up = nullptr;  // wake_fd's; made once
struct sigaction before[kHighestSignal + 1];

bool is_of_this_runtime() noexcept {
  return sched::sched.now.load(std::memory_order_seq_cst) == sched::phase::running &&
         sched::sched.epoch.load(std::memory_order_seq_cst) == wanted_in;
}

void wake_forwarder() noexcept {
  const std::uint64_t one = 1;
  // It cannot be full, and there is nobody to tell.
  [[maybe_unused]] const ssize_t n =
      os::call(os::site::signals_wake, ::write, wake_fd.load(), &one, sizeof one);
}

// --- the handler ---

void handle(int number, siginfo_t* info, void* context) noexcept;

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handle;
}
bool is_plain(const struct sigaction& action, plain_function what) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == what;
}

// False: there was no function.
bool call_predecessor(int number, siginfo_t* info, void* context) noexcept {
  const predecessor& p = predecessors[number];
  if (const info_function f = p.with_info) return f(number, info, context), true;
  if (const plain_function f = p.plain; f != nullptr && f != SIG_IGN) return f(number), true;
  return false;
}

// Nobody wants it, and nobody has a function for it. It is blocked until we return, and then comes once more.
void let_default_act(int number) noexcept {
  if (predecessors[number].plain == SIG_IGN) return;
  struct sigaction now{};
  if (::sigaction(number, nullptr, &now) != 0) return;
  if (!is_ours(now) && !is_plain(now, SIG_DFL)) return;  // somebody else's, who has called us
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(number, &plain, nullptr);
  ::raise(number);
}

bool is_wanted(int number) noexcept { return (wanted & bit(number)) != 0 && is_of_this_runtime(); }

// False: it is nobody's.
bool hand_over(int number) noexcept {
  if (!is_wanted(number)) return false;
  arrived |= bit(number);
  if (!is_wanted(number) && (arrived.fetch_and(~bit(number)) & bit(number)) != 0) return false;
  wake_forwarder();
  return true;
}

void handle(int number, siginfo_t* info, void* context) noexcept {
  const int saved = errno;
  const bool was_called = call_predecessor(number, info, context);
  const bool was_taken = hand_over(number);
  if (!was_taken && !was_called) let_default_act(number);
  errno = saved;
}

// --- installing, and putting back ---

void remember(int number, const struct sigaction& action) noexcept {
  before[number] = action;
  predecessor& p = predecessors[number];
  const bool has_info = (action.sa_flags & SA_SIGINFO) != 0;
  p.with_info = has_info ? action.sa_sigaction : nullptr;
  p.plain = has_info || action.sa_handler == SIG_DFL ? nullptr : action.sa_handler;
}

// 0, or errno.
int install_locked(int number) noexcept {
  struct sigaction now{};
  if (::sigaction(number, nullptr, &now) != 0) return errno;
  if (is_ours(now)) return 0;  // a runtime has ended with it
  remember(number, now);       // before ours can be called
  struct sigaction ours{};
  ours.sa_sigaction = &handle;
  // What it says about children stays. Calls are restarted: nobody wrote them with this signal in mind.
  ours.sa_flags =
      SA_SIGINFO | SA_ONSTACK | SA_RESTART | (now.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT));
  // No goroutine is stopped in here; but faults must reach their handlers.
  sigfillset(&ours.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&ours.sa_mask, fault);
  return os::call(os::site::signals_install, ::sigaction, number, &ours, nullptr) == 0 ? 0 : errno;
}

void restore_locked(int number) noexcept {
  struct sigaction now{};
  // Somebody who has put his own over ours keeps it.
  if (::sigaction(number, nullptr, &now) == 0 && is_ours(now))
    ::sigaction(number, &before[number], nullptr);
}

// The listeners have changed. 0, or why one of the signals cannot be had.
int settle_locked() noexcept {
  signal_set all = 0;
  for (const listener* l = first; l != nullptr; l = l->next) all |= l->wants;
  wanted = all;  // first: what comes before the next lines finds its way
  int why = 0;
  for (signal_set more = all & ~installed; more != 0;) {
    const int error = install_locked(take_first(more));
    if (why == 0) why = error;
  }
  for (signal_set less = installed & ~all; less != 0;) restore_locked(take_first(less));
  installed = all;
  return why;
}

void unlink_locked(listener* l) noexcept {
  l->is_linked = false;
  listener** at = &first;
  while (*at != l) at = &(*at)->next;
  *at = l->next;
}

// --- to the channels ---

void send_one_locked(rt::M* mp, const listener& l, int number) noexcept {
  rt::G* woken = nullptr;
  {
    channels::core& c = l.to->c;
    const os::lock_guard hold(c.lock());
    // Two, since the compiler believes that the channel could copy a whole word.
    const int value[] = {number, 0};
    c.send(value, woken);  // or not: it is full
  }
  if (woken != nullptr) sched::ready(mp, woken);
}

void send_locked(rt::M* mp, const listener& l, signal_set numbers) noexcept {
  for (signal_set mine = numbers & l.wants; mine != 0;) send_one_locked(mp, l, take_first(mine));
}

// Those that nobody wants any more.
signal_set deliver_locked(rt::M* mp, signal_set numbers) noexcept {
  signal_set left = numbers;
  for (const listener* l = first; l != nullptr; l = l->next) {
    left &= ~l->wants;
    send_locked(mp, *l, numbers);
  }
  return left;
}

// Not under the lock: it may end the program.
void send_again(signal_set numbers) noexcept {
  while (numbers != 0) ::kill(::getpid(), take_first(numbers));
}

// --- leaving ---

// What nobody wants any more, for send_again().
[[nodiscard]] signal_set leave_locked(rt::M* mp, listener* l) noexcept {
  if (!l->is_linked) return 0;
  unlink_locked(l);
  settle_locked();
  const signal_set numbers = arrived.exchange(0);  // L2, above
  send_locked(mp, *l, numbers);
  const signal_set left = deliver_locked(mp, numbers) & ~l->wants;
  if (first == nullptr && is_forwarding) wake_forwarder();  // it may go
  return left;
}

// The channel's last handle is gone.
void let_go(void* keeper) noexcept {
  const std::unique_ptr<listener> l(static_cast<listener*>(keeper));
  signal_set left = 0;
  {
    const sched::bracket inside;
    const os::lock_guard hold(lock);
    left = leave_locked(inside.m(), l.get());
  }
  l->to->disown();
  send_again(left);
}

// --- the forwarder ---

signal_set deliver_arrived() noexcept {
  const sched::bracket inside;
  const os::lock_guard hold(lock);
  return deliver_locked(inside.m(), arrived.exchange(0));
}

bool is_over() noexcept {
  const sched::bracket inside;
  const os::lock_guard hold(lock);
  if (first == nullptr) is_forwarding = false;
  return !is_forwarding;
}

void forward() {
  sched::set_poll_deadline(wake_up, rt::poll_for::reading, rt::kNever);  // out with a former one
  do {
    std::uint64_t count = 0;
    while (os::call(os::site::signals_take, ::read, wake_fd.load(), &count, sizeof count) == -1) {
      // Not errno itself: its address is this thread's, and we may be on another one after the wait.
      const int why = detail::last_error();
      if (detail::is_would_block(why)) {
        // `closing`: no poller can be had just now.
        if (sched::wait_polled(wake_up, rt::poll_for::reading) == sched::poll_result::closing)
          sleep_for(kPause);
      } else if (!detail::is_interrupted(why)) {
        os::die_of_call(os::site::signals_take, why,
                        "somebody has closed the descriptor by which signals are handed over");
      }
    }
    send_again(deliver_arrived());
  } while (!is_over());
}

// --- from the user's side ---

// Once; stays for ever.
void make_wake_up() {
  if (wake_fd != -1) return;
  const int fd = os::call(os::site::signals_eventfd, ::eventfd, 0u, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd == -1) throw std::system_error(errno, std::system_category(), "signals: eventfd");
  int why = 0;
  rt::poll_desc* const desc = sched::begin_polling(fd, why);
  bool is_first = false;
  if (desc != nullptr) {
    const sched::bracket inside;
    const os::lock_guard hold(lock);
    is_first = wake_up == nullptr;
    if (is_first) {
      wake_up = desc;
      wake_fd = fd;
    }
  }
  if (is_first) return;
  if (desc != nullptr) {
    sched::end_polling(desc);
    sched::forget_polled(desc);
  }
  ::close(fd);
  if (desc == nullptr) throw std::system_error(why, std::system_category(), "signals: eventfd");
}

[[noreturn]] void refuse(int number, const char* why) {
  os::text t;
  t << "weft: io::signals: ";
  os::append_signal_name(t, number);
  t << ' ' << why;
  throw std::invalid_argument(std::string(t.view()));
}

void check(int number) {
  if (number < 1 || number > kHighestSignal)
    throw std::invalid_argument("weft: io::signals: there is no signal " + std::to_string(number));
  if (number == SIGKILL || number == SIGSTOP) refuse(number, "cannot be caught by any program");
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    if (number == fault) refuse(number, "tells of faults of the program itself");
  if (number >= 32 && number < SIGRTMIN) refuse(number, "belongs to the C library");
  if (number == sched::sched.preempt_signal)
    refuse(number, "is the one that weft stops goroutines with (options::preempt_signal)");
}

struct entrance {
  int error = 0;                 // why a signal cannot be had; then the listener is not there
  bool needs_forwarder = false;  // the caller starts one
};

entrance enter(listener* l) noexcept {
  const sched::bracket inside;
  const os::lock_guard hold(lock);
  // relaxed: we are in that runtime, or it ends right now and nothing comes of it
  const std::uint32_t epoch = sched::sched.epoch.load(std::memory_order_relaxed);
  if (wanted_in != epoch) {  // those of another runtime are out
    while (first != nullptr) unlink_locked(first);
    settle_locked();
    arrived = 0;
    is_forwarding = false;
    wanted_in = epoch;
  }
  l->next = first;
  l->is_linked = true;
  first = l;
  if (const int error = settle_locked(); error != 0) {
    unlink_locked(l);
    settle_locked();
    return {.error = error};
  }
  return {.needs_forwarder = !std::exchange(is_forwarding, true)};
}

// It could not be started: the next one tries again.
void forget_forwarder() noexcept {
  const sched::bracket inside;
  const os::lock_guard hold(lock);
  is_forwarding = false;
}

}  // namespace

recv_chan<int> signal_chan(std::initializer_list<int> numbers) {
  if (numbers.size() == 0) throw std::invalid_argument("weft: io::signals: no signal was named");
  sched::require_running("weft::io::signals");
  signal_set wants = 0;
  for (const int number : numbers) {
    check(number);
    wants |= bit(number);
  }
  make_wake_up();
  const sched::outside_bubble all;  // a signal comes to all, and so does who forwards it
  auto made = std::make_unique<listener>();
  const auto to = make_chan<int>(kRoom);
  made->to = channels::of(to.raw());
  made->wants = wants;
  listener* const l = made.release();
  l->to->keep_by(l, &let_go);
  const entrance in = enter(l);
  if (in.error != 0)
    throw std::system_error(in.error, std::system_category(), "signals: sigaction");
  if (in.needs_forwarder) {
    try {
      go(&forward);
    } catch (...) {
      forget_forwarder();
      throw;
    }
  }
  return to;
}

void stop_signals(const recv_chan<int>& from) {
  bool was_listening = false;
  signal_set left = 0;
  {
    const sched::bracket inside;
    const os::lock_guard hold(lock);
    listener* l = first;
    while (l != nullptr && l->to != from.raw()) l = l->next;
    was_listening = l != nullptr;
    if (was_listening) left = leave_locked(inside.m(), l);
  }
  if (was_listening) weft::detail::close(from.raw());
  send_again(left);
}

}  // namespace weft::inline v1::io
