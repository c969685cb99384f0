// crash.cpp: see crash.hpp.
#include "sched/crash.hpp"

#include <atomic>
#include <exception>

#include <weft/error.hpp>
#include <weft/go.hpp>
#include "arch/backtrace.hpp"
#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/keep_loaded.hpp"
#include "os/module_map.hpp"
#include "os/signal.hpp"
#include "os/signal_name.hpp"
#include "os/system_call.hpp"
#include "os/thread.hpp"
#include "sched/current.hpp"
#include "sched/extras.hpp"

namespace weft::sched {

namespace {

std::atomic<std::uintptr_t> crasher{0};
std::atomic<fatal_hook> hook{nullptr};
std::atomic<const char*> note{nullptr};
std::terminate_handler terminate_before = nullptr;
constexpr std::size_t kLongestName =
    200;  // of what users wrote; longer is cut, so that the rest of the message is not

const G* running_g() noexcept {
  M* const mp = current_m();
  return mp != nullptr ? mp->curg() : nullptr;
}

void say(std::string_view line) noexcept { os::write_all(os::kStderr, line); }

void call_hook(std::string_view line) noexcept {
  // acquire: what was done before on_fatal()
  if (const fatal_hook h = hook.load(std::memory_order_acquire)) h(line);
}

// Appends `goroutine 7 "fetch" (made at ...)`.
void describe_with_origin(os::text& t, const G* gp) noexcept {
  describe(t, gp);
  t << " (";
  describe_origin(t, gp);
  t << ')';
}

// Ends the line that t has begun, prints it, and what follows: nothing, or a goroutine's backtrace.
void say_line(const os::text& t, const G* gp) noexcept {
  say(t.view());
  say("\n");
  if (gp != nullptr) print_backtrace();
}

// `goroutine 7 "fetch" [running]:`, where that is, and where it was made.
void say_running(const G* gp) noexcept {
  os::text t;
  t << '\n';
  describe(t, gp);
  t << " [running]:\n";
  say(t.view());
  print_backtrace();
  t.clear();
  describe_origin(t, gp);
  t << '\n';
  say(t.view());
}

void fatal_check(const char* condition, const char* why, const char* file, int line) {
  os::text t;
  t << "weft: internal check failed: " << why << " (" << condition << ") at " << file << ':'
    << line;
  fatal(t.view());
}

void fatal_call(const char* message, std::size_t size) { fatal({message, size}); }

// --- faults, on the alternate stack ---

void report_overflow(const os::fault_info& fault, const stack::fault& hit, const G* gp) noexcept {
  begin_crash();
  os::text first;
  first << "fatal error: goroutine " << gp->goid.load(std::memory_order_relaxed)  // our own
        << " stack exceeds " << hit.usable << "-byte limit";
  os::text t;
  t << "weft: stack overflow: guard hit at "
    << os::hex{reinterpret_cast<std::uintptr_t>(fault.address)} << ", stack ["
    << os::hex{reinterpret_cast<std::uintptr_t>(hit.slot + stack::kGuardBytes)} << ", "
    << os::hex{reinterpret_cast<std::uintptr_t>(hit.slot + stack::kGuardBytes + hit.usable)}
    << "], pc ";
  os::describe_address(t, fault.pc);
  t << '\n';
  say_line(first, nullptr);
  say(t.view());
  say_running(gp);
  say("a larger stack helps: weft::go({.stack_size = ...}, f) or options::stack_size\n");
  call_hook(first.view());
  os::die_of_abort();
}

constinit std::atomic<bool> is_fault_reported{false};
constexpr std::int64_t kPatienceNs = 2 * os::kSecond;

// A fault of a thread of weft's that is nothing else and that nobody else wants: who it was, before the process dies of it.
// Whatever state that thread is in, so a fault in here ends it at once; and whoever crashes already has some time, not for ever: he may be
// waiting for this thread.
void report_fault(const os::fault_info& fault, const G* gp) noexcept {
  if (!try_begin_crash()) return os::sleep_until(os::now_ns() + kPatienceNs);
  if (is_fault_reported.exchange(true, std::memory_order_relaxed))
    return;  // only who crashes comes here: in his own report
  os::text t;
  t << "fatal error: ";
  os::append_signal_name(t, fault.signal);
  t << " at address " << os::hex{reinterpret_cast<std::uintptr_t>(fault.address)} << " (pc ";
  os::describe_address(t, fault.pc);
  t << ") in ";
  if (gp != nullptr) {
    describe(t, gp);
  } else {
    t << "weft's own code, in no goroutine";
  }
  say_line(t, nullptr);
  call_hook(t.view());
  if (gp != nullptr) {
    say_running(gp);
  } else {
    print_backtrace();
  }
}

// Returns: not ours, or only told.
void on_fault(const os::fault_info& fault) {
  if (fault.is_sent || current_m() == nullptr) return;
  const G* const gp = running_g();
  const stack::fault hit = stack::classify(fault.address);
  // A stray pointer into somebody else's guard is a fault like any other.
  if (hit.in_guard && gp != nullptr && gp->stack != nullptr && gp->stack->slot() == hit.slot)
    report_overflow(fault, hit, gp);
  if (fault.is_unclaimed) report_fault(fault, gp);
}

void on_terminate() {
  const G* const gp = running_g();
  if (gp != nullptr && gp->is_exiting) {
    misuse("exit_goroutine() met a noexcept function (or a destructor that threw) on its way out,");
  }
  if (gp != nullptr) begin_crash();
  if (gp != nullptr && !was_panic_printed) {
    os::text t;
    t << "\nweft: std::terminate was called in ";
    describe_with_origin(t, gp);
    say_line(t, gp);
  }
  if (terminate_before != nullptr) terminate_before();
  os::die_of_abort();
}

// The only thread of the child is the one that forked, so relaxed will do. What others held is held for ever.
void on_fork() {
  if (sched.now.load(std::memory_order_relaxed) == phase::stopped) return;
  sched.now.store(phase::forked, std::memory_order_relaxed);
  if (M* const mp = current_m()) {
    mp->is_signalled.store(false,
                           std::memory_order_relaxed);  // it was meant for the parent's thread
    mp->detach.lose();  // its next call takes the slow way and finds out
  }
}

constexpr int kMaxFrames = 100;

bool print_frame(const void* pc, void* arg) {
  int& count = *static_cast<int*>(arg);
  if (count == kMaxFrames) {
    say("\t...additional frames elided...\n");
    return false;
  }
  os::text t;
  t << "\t#" << count++ << ' ';
  os::describe_address(t, pc);
  t << '\n';
  say(t.view());
  return true;
}

}  // namespace

bool was_panic_printed = false;

bool try_begin_crash() noexcept {
  // The goroutine, not its thread: the what() of its exception may take it elsewhere.
  const G* const gp = running_g();
  const std::uintptr_t me = gp != nullptr ? reinterpret_cast<std::uintptr_t>(gp)
                                          : static_cast<std::uintptr_t>(os::thread_id()) * 2 + 1;
  std::uintptr_t nobody = 0;
  // acq_rel: one of several goes on; nothing is handed over
  if (!crasher.compare_exchange_strong(nobody, me, std::memory_order_acq_rel)) return nobody == me;
  // acquire: the text
  if (const char* const text = note.load(std::memory_order_acquire)) say(text);
  return true;
}

// release: the text
void set_crash_note(const char* text) noexcept { note.store(text, std::memory_order_release); }

void begin_crash() noexcept {
  if (try_begin_crash()) return;
  // The one who crashes may still need a P, for the what() of its exception: ours must not be held meanwhile.
  if (M* const mp = current_m();
      mp != nullptr && mp->curg() != nullptr && !mp->detach.is_inside()) {
    weft::detail::begin_blocking();
  }
  os::note never;
  for (;;) never.sleep();
}

void end_crash(std::string_view first_line) noexcept {
  call_hook(first_line);
  os::exit_process(2);
}

void describe(os::text& out, const G* gp) noexcept {
  const std::uint64_t id =
      gp->goid.load(std::memory_order_relaxed);  // does not change while gp lives
  if (gp->is_proxy()) {
    out << "thread " << id - kForeignIds;
  } else {
    out << "goroutine " << id;
  }
  if (gp->extras != nullptr && !gp->extras->name.empty()) {
    out << " \"" << std::string_view(gp->extras->name).substr(0, kLongestName) << '"';
  }
}

void describe_origin(os::text& out, const G* gp) noexcept {
  describe_origin(out, gp->made_at, gp->made_by);
}

void describe_origin(os::text& out, const void* made_at, std::uint64_t made_by) noexcept {
  if (made_at == nullptr) {
    out << "the main goroutine";
    return;
  }
  out << "made at ";
  os::describe_address(out, static_cast<const char*>(made_at) - 1);
  if (made_by != 0) out << " by goroutine " << made_by;
}

void fatal(std::string_view message) noexcept {
  begin_crash();
  os::text t;
  t << "fatal error: " << message;
  say_line(t, nullptr);
  end_crash(t.view());
}

void misuse(std::string_view message) noexcept {
  begin_crash();
  os::text t;
  t << "fatal error: weft: " << message << " by ";
  const G* const gp = running_g();
  if (gp != nullptr) {
    describe_with_origin(t, gp);
  } else {
    t << "a thread that is not a goroutine";
  }
  say_line(t, gp);
  end_crash(t.view());
}

void fatal_no_stack(G* gp, const stack::result& why) noexcept {
  os::text t;
  t << "weft: no stack for ";
  describe(t, gp);
  t << ": " << stack::explain(why.why) << " (errno " << why.error << ')';
  fatal(t.view());
}

void fatal_forked() noexcept {
  fatal(
      "weft: called in the child of a fork; its scheduler threads exist only in the parent (a "
      "child may call exec or _exit)");
}

void print_backtrace() noexcept {
  int count = 0;
  arch::walk_stack(&print_frame, &count);
}

void install_crash_handlers() noexcept {
  static bool is_done = false;  // the start of a runtime is serialised
  if (is_done) return;
  is_done = true;
  base::on_failed_check = &fatal_check;
  os::on_call_failure = &fatal_call;
  arch::prepare_backtrace();
  os::keep_loaded();
  os::install_fault_handler(&on_fault);
  os::on_fork_in_child(&on_fork);
  terminate_before = std::set_terminate(&on_terminate);
}

}  // namespace weft::sched

namespace weft::inline v1 {

fatal_hook on_fatal(fatal_hook h) noexcept {
  // release: what its owner did before; acquire: the same of the one before it
  return sched::hook.exchange(h, std::memory_order_acq_rel);
}

}  // namespace weft::inline v1
