// bubble.hpp: tests of code that waits and sleeps, which take no time and come out the same each time.
//
//   weft::testing::bubble([] {
//     auto [ctx, cancel] = weft::with_timeout(weft::background(), 5s);
//     weft::go([ctx] { fetch(ctx); });
//     weft::sleep_for(4999ms);             // returns at once: nobody else has anything to do
//     weft::testing::wait();               // and now everyone else has done what could be done by then
//     EXPECT_FALSE(ctx.err());
//     weft::sleep_for(1ms);
//     weft::testing::wait();
//     EXPECT_EQ(ctx.err(), weft::context_errc::deadline_exceeded);
//   });
//
// The function, and all goroutines that are started in it, live in a bubble. It has its own weft::clock, which stands still while any of them
// can go on. When all are durably blocked, so that nothing but the time can wake them, the clock jumps to where the next of them is to
// wake. docs/guide/testing.md has the table of what counts as durably blocked; in short: channels, condition_variable,
// wait_group, sleep and their kin do, while locks, the network and blocking() do not.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/config.hpp>
#include <weft/detail/unwind.hpp>
#include <weft/testing/goroutines.hpp>

namespace weft::inline v1::testing {

// Every goroutine of a bubble is blocked, and no timer will ever wake one.
class WEFT_API deadlock : public std::runtime_error {
 public:
  deadlock(const char* why, std::vector<goroutine_info> blocked);
  ~deadlock() override;
  // Who is blocked, and where. what() has it all as text.
  const std::vector<goroutine_info>& goroutines() const noexcept { return *blocked_; }

 private:
  std::shared_ptr<const std::vector<goroutine_info>>
      blocked_;  // shared: an exception must not throw when it is copied
};

namespace detail {

struct bubble_call {
  void (*invoke)(bubble_call*) = nullptr;
  std::exception_ptr error;
};

// Throws what call->invoke did, std::logic_error, deadlock.
WEFT_API WEFT_MAY_SWITCH void run_bubble(bubble_call* call);

template <class F>
struct bubble_of final : bubble_call {
  F& function;
  explicit bubble_of(F& f) noexcept : function(f) { invoke = &bubble_of::call; }

  static void call(bubble_call* self) {
    auto& me = *static_cast<bubble_of*>(self);
    try {
      std::invoke(me.function);
    } catch (...) {
      if (weft::detail::must_rethrow()) throw;
      me.error = std::current_exception();
    }
  }
};

}  // namespace detail

// Runs f in a goroutine of a new bubble, and returns when that goroutine and all others of the bubble have ended. An exception that leaves
// f leaves bubble(), then.
//
// From a goroutine, or from a plain thread: if there is no runtime, one runs for as long.
// Each bubble begins at the same time, 1 January 2000 by a weft::clock that counts from 1970. Timers that are due at the same time fire in a
// random order. Other clocks, and deadlines of descriptors, go by the machine's time.
//
// Throws deadlock if all are blocked and nothing is to come, or if f has returned and others are still blocked: from then on the time
// stands still. A ticker from which nobody receives is nothing to come. Those who are blocked stay so for ever.
// Throws std::logic_error inside another bubble.
// Blocks: this goroutine only (from a plain thread: that thread).
template <class F>
  requires std::is_invocable_v<F&>
void bubble(F&& f) {
  detail::bubble_of<std::remove_reference_t<F>> call(f);
  detail::run_bubble(&call);
}

// Waits until every other goroutine of this bubble is durably blocked, or has ended. The time does not change meanwhile.
// Throws std::logic_error outside of a bubble, or if another goroutine of the bubble is in it.
WEFT_API WEFT_MAY_SWITCH void wait();

// Whether this goroutine is in a bubble.
WEFT_API bool in_bubble() noexcept;

}  // namespace weft::inline v1::testing
