// bubble.cpp: the keeper of a bubble: what is to be done when all in it are blocked.
//
// It is the goroutine that called testing::bubble(), in user context: it may allocate and throw. In order:
//   timers are due                     one fires, or several: a coin decides whether whom the last one woke goes on first
//   somebody is in testing::wait()     it goes on
//   nobody is left                     the bubble is over
//   the function has returned          the time stands still: deadlock
//   a timer is armed                   it is then that time
//   nothing                            deadlock
//
// A ticker whose channel is full changes nothing by firing, and would be there for ever. So if somebody is to be woken by a timer at all, it
// must be by one of those that are armed when the bubble comes to rest; when the last of these has fired and nobody stirred, nobody will.
#include "testing/bubble.hpp"

#include <new>
#include <utility>

#include "base/rng.hpp"
#include "sched/bubbles.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sched/start.hpp"
#include "testing/goroutines.hpp"

#include <weft/detail/launch.hpp>
#include <weft/event.hpp>
#include <weft/go.hpp>
#include <weft/runtime.hpp>

namespace weft::testing_impl {

namespace {

using call_type = testing::detail::bubble_call;

// The first function of the bubble's own goroutine. It also ends by exit_goroutine().
struct first_goroutine {
  call_type* call;
  bool has_returned = false;

  static void run(void* closure) {
    auto* const me = *static_cast<first_goroutine**>(closure);
    struct at_end {
      first_goroutine* me;
      ~at_end() { me->has_returned = true; }
    } mark{me};
    me->call->invoke(me->call);
  }
};

void start(sched::bubble& b, first_goroutine* first, const void* made_at) {
  const detail::launch l = detail::begin_launch("weft::testing::bubble");
  ::new (l.storage) first_goroutine*(first);
  auto* const gp = static_cast<rt::G*>(l.g);
  const sched::bracket inside;
  sched::set_origin(gp, &first_goroutine::run, made_at, inside.m());
  gp->place = b.number;
  sched::launch(inside.m(), gp);
}

// False: nobody is in testing::wait().
bool wake_waiter(sched::bubble& b) noexcept {
  rt::G* const waiter =
      b.waiter.exchange(nullptr, std::memory_order_acquire);  // stored before it was counted out
  if (waiter == nullptr) return false;
  const sched::bracket inside;
  sched::ready(inside.m(), waiter);
  return true;
}

// Some of what is due by now, one at least; false: nothing is. Each in one bracket from the heap to the end of its fire function: whom another
// one has woken may wait for that.
bool fire_some(sched::bubble& b, base::rng& coin) noexcept {
  const std::int64_t now_ns = b.now_ns.load(std::memory_order_relaxed);  // ours
  bool has_fired = false;
  for (;;) {
    const sched::bracket inside;
    rt::timer_heap::due next{};
    if (b.timers.next_when() > now_ns) return has_fired;
    if (b.timers.pop_due(now_ns, {&next, 1}) == 0) continue;  // only some that were stopped
    next.run();
    has_fired = true;
    if (coin.below(2) == 0) return true;
  }
}

// To the next time at which something is due. False: nothing will ever be.
bool move_on(sched::bubble& b) noexcept {
  const sched::bracket inside;
  for (;;) {
    const std::int64_t next = b.timers.next_when();
    if (next == rt::kNever) return false;
    b.timers.pop_due(next, {});  // drops those at the top that were stopped
    if (b.timers.next_when() != next) continue;
    b.now_ns.store(next, std::memory_order_relaxed);  // who is woken then comes after that
    return true;
  }
}

std::vector<testing::goroutine_info> members(const sched::bubble& b) {
  std::vector<testing::goroutine_info> all;
  for (const sched::goroutine_entry& e : list_goroutines()) {
    const testing::goroutine_info g = info_of(e);
    if (e.bubble == b.number && !g.is_abandoned) all.push_back(g);
  }
  return all;
}

class keeper {
 public:
  keeper(sched::bubble& b, call_type* call, std::uint64_t seed) noexcept
      : bubble_(b), first_{call}, coin_(seed) {}

  void run(const void* made_at) {
    start(bubble_, &first_, made_at);
    for (;;) {
      sched::await_quiet(bubble_);
      if (fire_some(bubble_, coin_) || wake_waiter(bubble_)) continue;
      // relaxed: [bubble.quiet]
      if (bubble_.nlive.load(std::memory_order_relaxed) == 0) return;
      if (first_.has_returned) fail("its function has returned, and others are still blocked");
      if (is_hopeless() || !move_on(bubble_)) fail("all its goroutines are blocked");
    }
  }

 private:
  // By timers that fire again and again, and wake nobody.
  bool is_hopeless() {
    const std::uint64_t nstirred =
        bubble_.nstirred.load(std::memory_order_relaxed);  // [bubble.quiet]
    if (std::exchange(nstirred_, nstirred) != nstirred) {
      const sched::bracket inside;
      last_hope_ns_ = bubble_.timers.latest_when();
      return false;
    }
    return bubble_.now_ns.load(std::memory_order_relaxed) >= last_hope_ns_;  // ours
  }

  // If the function has failed, that is the reason for everything else.
  void fail(const char* why) {
    if (first_.call->error) std::rethrow_exception(std::exchange(first_.call->error, nullptr));
    throw testing::deadlock(why, members(bubble_));
  }

  sched::bubble& bubble_;
  first_goroutine first_;
  base::rng coin_;
  std::uint64_t nstirred_ = 0;
  std::int64_t last_hope_ns_ = rt::kNever;
};

}  // namespace

void run_bubble_here(call_type* call, const bubble_options& how) {
  if (sched::current_bubble() != 0)
    throw std::logic_error("weft::testing::bubble: called inside a bubble");
  sched::bubble* const b = sched::take_bubble(how.is_closed, how.seed);
  if (b == nullptr) throw std::runtime_error("weft::testing::bubble: too many bubbles at once");
  // What is left behind refers to it, and to the call: it stays.
  auto k = std::make_unique<keeper>(*b, call, how.seed);
  struct at_end {
    sched::bubble& b;
    std::unique_ptr<keeper>& k;
    ~at_end() {
      if (b.nlive.load(std::memory_order_relaxed) != 0)
        static_cast<void>(k.release());  // [bubble.quiet]
      sched::end_bubble(b);
    }
  } end{*b, k};
  k->run(how.made_at);
  if (call->error) std::rethrow_exception(std::exchange(call->error, nullptr));
}

namespace {

std::uint64_t any_seed() noexcept {
  const sched::bracket inside;
  return inside.m()->random.next();
}

bool is_runtime_active() noexcept {
  // acquire: as require_running()
  return sched::sched.now.load(std::memory_order_acquire) == sched::phase::running;
}

// On a goroutine that is made for it.
void run_elsewhere(call_type* call, const void* made_at) {
  std::exception_ptr error;
  const auto here = [&] {
    try {
      run_bubble_here(call, {.seed = any_seed(), .made_at = made_at});
    } catch (...) {
      error = std::current_exception();
    }
  };
  if (is_runtime_active()) {
    event done;
    go([&] {
      here();
      done.set();
    });
    done.wait();
  } else {
    run(here);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

}  // namespace weft::testing_impl

namespace weft::inline v1::testing {

using namespace weft::testing_impl;

deadlock::deadlock(const char* why, std::vector<goroutine_info> blocked)
    : std::runtime_error("weft::testing: deadlock in a bubble: " + std::string(why) + '\n' +
                         to_string(blocked)),
      blocked_(std::make_shared<const std::vector<goroutine_info>>(std::move(blocked))) {}

deadlock::~deadlock() = default;

[[gnu::noinline]] void detail::run_bubble(bubble_call* call) {
  const void* const made_at = __builtin_return_address(0);
  if (weft::sched::current_m() == nullptr) return run_elsewhere(call, made_at);
  run_bubble_here(call, {.seed = any_seed(), .made_at = made_at});
}

bool in_bubble() noexcept { return weft::sched::current_bubble() != 0; }

void wait() {
  using namespace weft::sched;
  const std::uint8_t number = current_bubble();
  if (number == 0) throw std::logic_error("weft::testing::wait: called outside of a bubble");
  weft::sched::bubble& b = bubble_at(number);
  // relaxed: the one who finds it false is the only one, until it has gone on
  if (b.has_waiter.exchange(true, std::memory_order_relaxed))
    throw std::logic_error("weft::testing::wait: another goroutine of this bubble is in it");
  const auto publish = [](G* gp, void* arg) {
    // release: to the keeper, when it is counted out
    static_cast<weft::sched::bubble*>(arg)->waiter.store(gp, std::memory_order_release);
    return true;
  };
  park(publish, &b, wait_reason::bubble_wait, nullptr);
  b.has_waiter.store(false, std::memory_order_relaxed);  // as above
}

}  // namespace weft::inline v1::testing
