// runtime.hpp: starting and ending the scheduler, and looking at it.
//
//   int main() {
//     return weft::run([] {            // the main goroutine; may return void or int
//       weft::go([] { /* ... */ });
//     });                              // like Go: when main's goroutine returns, run() returns
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <weft/detail/config.hpp>
#include <weft/detail/launch.hpp>
#include <weft/detail/unwind.hpp>
#include <weft/error.hpp>

namespace weft::inline v1 {

// How goroutines that wait for the network are told by the kernel: docs/design/netpoll.md.
enum class poller_kind : std::uint8_t {
  automatic,  // epoll
  epoll,
  uring,  // io_uring, from Linux 6.1 on; where it is missing or forbidden a line on stderr says so, and it is epoll
};

// How to start. What is left at its default is filled from the environment (WEFT_MAXPROCS, WEFT_DEBUG;
// WEFT_DEBUG=help lists every key), then from the machine.
struct options {
  unsigned max_procs = 0;      // processors that run goroutines; 0: the CPUs this process may use
  std::size_t stack_size = 0;  // of a goroutine, usable; 0: 192 KiB; 448 unless optimised
  unsigned max_threads = 0;    // more threads than this are a fatal error; 0: 10,000
  std::size_t main_stack_size = 0;  // of the main goroutine; 0: 8 MiB (address space, not memory)
  int preempt_signal = 0;           // stops goroutines that compute for long; 0: SIGURG
  bool lock_main = false;           // keep the main goroutine on the thread that called run()
  poller_kind poller = poller_kind::automatic;
};

// A look at the runtime. Counters never fall while a runtime is active.
struct runtime_stats {
  unsigned max_procs = 0;
  unsigned idle_procs = 0;
  unsigned threads = 0;  // threads that run or may run goroutines
  unsigned idle_threads = 0;
  unsigned spinning_threads = 0;  // looking for work right now
  std::size_t goroutines = 0;     // that have not ended
  std::size_t global_queue = 0;
  std::uint64_t started = 0;          // goroutines begun, ever
  std::uint64_t switches = 0;         // goroutines resumed, ever
  std::uint64_t direct_switches = 0;  // of these, straight from another goroutine
  std::uint64_t steals = 0;           // times a processor took work from another
  std::uint64_t wakeups = 0;          // threads woken to look for work
  std::uint64_t handoffs = 0;         // processors taken from blocked threads
  std::uint64_t world_stops = 0;
  std::uint64_t preemptions = 0;   // slices ended against a goroutine's will
  std::uint64_t borrows = 0;       // processors taken for a moment, for a goroutine that was woken
  std::uint64_t signals_sent = 0;  // to goroutines that compute without a processor
  std::uint64_t signals_unanswered = 0;  // of these, not handled within 5 ms
  std::uint64_t interrupted_calls = 0;   // system calls of the program that one of them cut short
  std::uint64_t threads_created = 0;
  std::uint64_t unconserved =
      0;                   // times a processor rested beside queued work: a bug in weft, made good
  std::size_t stacks = 0;  // stacks that exist, in use or kept for reuse
  const char* stack_guard = "";  // "madvise" or "mprotect"
  const char* poller = "";       // "epoll" or "uring"
};

namespace detail {

struct main_call {
  void (*invoke)(main_call*) = nullptr;
  int code = 0;
  std::exception_ptr error;
};

// Runs call->invoke as goroutine 1 of a new runtime and returns when it has returned.
WEFT_API void run_main(const options& opts, main_call* call);

template <class F>
struct main_of final : main_call {
  F& function;
  explicit main_of(F& f) noexcept : function(f) { invoke = &main_of::call; }

  static void call(main_call* self) {
    auto& me = *static_cast<main_of*>(self);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
        std::invoke(me.function);
      } else {
        me.code = static_cast<int>(std::invoke(me.function));
      }
    } catch (...) {
      if (must_rethrow()) throw;
      me.error = std::current_exception();
    }
  }
};

}  // namespace detail

// Runs `main` as the main goroutine and returns what it returned (0 for void).
// Goroutines still alive then are abandoned: they never return from their current or next weft call,
// and their destructors do not run. An exception that leaves `main` leaves run().
// Throws std::invalid_argument if `main` is empty (a null pointer, a std::function without a target); nothing was started then.
// May be called again afterwards; inside a goroutine, or in two threads at once, it throws std::logic_error.
// Blocks: the calling thread.
template <class F>
  requires std::is_invocable_v<F&>
int run(const options& opts, F&& main) {
  detail::reject_empty(main);
  detail::main_of<std::remove_reference_t<F>> call(main);
  detail::run_main(opts, &call);
  if (call.error) std::rethrow_exception(std::move(call.error));
  return call.code;
}

template <class F>
  requires std::is_invocable_v<F&>
int run(F&& main) {
  return run(options{}, std::forward<F>(main));
}

// The scheduler without a main goroutine, for programs that have their own main loop.
// The constructor starts it (std::logic_error if one is active), the destructor ends it like run().
class WEFT_API runtime {
 public:
  explicit runtime(const options& opts = {});
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
};

// How many processors run goroutines now.
WEFT_API unsigned max_procs() noexcept;

// Changes it and returns the old value; 0 only reads. Stops the world for some microseconds.
// From then on the CPU limit of the machine is not followed any more.
// Throws std::invalid_argument above 4,096, not_running without a runtime.
WEFT_API WEFT_MAY_SWITCH unsigned max_procs(unsigned n);

// Back to the machine's own number, which is then followed again. Returns the new value.
WEFT_API WEFT_MAY_SWITCH unsigned default_max_procs();

// CPUs this process may use (its affinity), at least 1.
WEFT_API unsigned num_cpu() noexcept;

// Goroutines that have not ended; 0 without a runtime.
WEFT_API std::size_t num_goroutines() noexcept;

WEFT_API runtime_stats stats() noexcept;

}  // namespace weft::inline v1

// What there is to start it for. It needs nothing of the above.
#include <weft/go.hpp>
