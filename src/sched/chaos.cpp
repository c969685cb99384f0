// chaos.cpp: see chaos.hpp.
#include "sched/chaos.hpp"

#include <algorithm>
#include <utility>

#include "base/rng.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace weft::sched {

namespace {

// One of so many ways out of the runtime is a yield.
constexpr std::uint32_t kYieldEvery = 4;
// So many of those who have waited longest have the same chance: everyone comes to his turn, and 100,000 need not be counted each time.
constexpr std::uint32_t kChoiceOf = 64;
// Of 1024 visits this many each: the CPU is offered to others, turned for a moment, or left for longer. The rest go by.
constexpr std::uint32_t kVisits = 1024;
constexpr std::uint32_t kOffers = 4;
constexpr std::uint32_t kTurns = 128;
constexpr std::uint32_t kNaps = 4;
constexpr std::uint32_t kMostTurns = 500;  // some 15 us
constexpr std::uint32_t kMostNapUs = 200;

constinit std::atomic<std::uint64_t> row{0};  // where the row of numbers is
constinit std::atomic<std::uint64_t> nvisits[static_cast<std::size_t>(window::kCount)]{};

class at_random final : public strategy {
 public:
  bool yields(const G*) noexcept override { return draw(kYieldEvery) == 0; }
  std::uint32_t choose(const rt::g_queue& runnable) noexcept override {
    return draw(std::min(static_cast<std::uint32_t>(runnable.size()), kChoiceOf));
  }
};

constinit at_random by_chance;
constinit strategy* decides = &by_chance;  // fixed while threads run
constinit thread_local const chaos_plan* planned = nullptr;

}  // namespace

void plan_chaos(const chaos_plan* plan) noexcept { planned = plan; }

// Relaxed: before any thread that reads them is made.
void start_chaos() noexcept {
  const os::debug_settings& debug = sched.set.debug;
  const chaos_plan* const plan = std::exchange(planned, nullptr);
  const chaos_plan is = plan != nullptr ? *plan : chaos_plan{debug.chaos, debug.seed};
  const bool migrates = plan == nullptr && debug.migrate;
  decides = is.by != nullptr ? is.by : &by_chance;
  row.store(is.seed, std::memory_order_relaxed);
  sched.chaos.store(is.switches, std::memory_order_relaxed);
  sched.is_timeless.store(is.is_timeless, std::memory_order_relaxed);
  sched.is_migrating.store(migrates, std::memory_order_relaxed);
  sched.is_chaotic.store(migrates || (is.switches & kChaosDelays) != 0, std::memory_order_relaxed);
  sched.is_metered.store(debug.cpu_time, std::memory_order_relaxed);
  sched.is_direct_off.store(migrates || debug.cpu_time || (is.switches & kChaosOrder) != 0,
                            std::memory_order_relaxed);
}

// Relaxed: each gets a number of its own, whoever comes first.
std::uint32_t draw(std::uint32_t n) noexcept {
  return base::rng(row.fetch_add(base::rng::kStep, std::memory_order_relaxed)).below(n);
}

bool must_yield(const G* self) noexcept { return decides->yields(self); }

std::uint32_t choose_next(const rt::g_queue& runnable) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  return decides->choose(runnable);
}

void dawdle_now(window where) noexcept {
  nvisits[static_cast<std::size_t>(where)].fetch_add(1, std::memory_order_relaxed);  // only counted
  const std::uint32_t chance = draw(kVisits);
  if (chance < kOffers) {
    os::yield_cpu();
  } else if (chance < kOffers + kTurns) {
    for (std::uint32_t i = draw(kMostTurns); i > 0; --i) os::futex_atomics::pause();
  } else if (chance < kOffers + kTurns + kNaps) {
    os::note nobody;
    nobody.sleep(os::now_ns() + (1 + draw(kMostNapUs)) * os::kMicrosecond);
  }
}

std::uint64_t visits(window where) noexcept {
  return nvisits[static_cast<std::size_t>(where)].load(std::memory_order_relaxed);  // only counted
}

}  // namespace weft::sched
