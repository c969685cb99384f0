// strategies.hpp: who goes on next in an explored run (sched/chaos.hpp asks).
//
// PCT: every goroutine has a priority from its number and the seed, and the highest of those that can run does. At depth - 1 steps of the run
// whoever runs then falls behind all others, the later the further. A bug that needs d particular changes is found with a
// probability that does not shrink as fast as that of choosing at random at each step does. Which steps they are must not depend on
// how long other runs were, or a seed alone could not be replayed; so they are drawn such that each power of two is as likely as another.
// One who is chosen again and again, and yields, may wait for somebody: then it falls behind as well.
#pragma once

#include <array>
#include <cstdint>

#include "base/rng.hpp"
#include "sched/chaos.hpp"

namespace weft::testing_impl {

class by_chance final : public sched::strategy {
 public:
  bool yields(const rt::G*) noexcept override { return true; }
  std::uint32_t choose(const rt::g_queue& runnable) noexcept override {
    return sched::draw(static_cast<std::uint32_t>(runnable.size()));
  }
};

class by_priority final : public sched::strategy {
 public:
  static constexpr unsigned kDeepest = 64;

  by_priority(std::uint64_t seed, unsigned depth) noexcept;
  bool yields(const rt::G*) noexcept override { return true; }
  std::uint32_t choose(const rt::g_queue& runnable) noexcept override;

 private:
  static constexpr std::uint32_t kPatience = 1000;  // times in a row

  std::uint64_t priority_of(std::uint64_t goid) const noexcept;
  void demote(std::uint64_t goid) noexcept;

  std::uint64_t seed_;
  unsigned nchanges_;
  std::array<std::uint64_t, kDeepest> changes_{};  // the steps
  std::array<std::uint64_t, kDeepest> demoted_{};  // goroutines, the last one lowest; a ring
  std::uint64_t ndemoted_ = 0;
  std::uint64_t nsteps_ = 0;
  std::uint64_t last_ = 0;  // goid
  std::uint32_t nsame_ = 0;
};

}  // namespace weft::testing_impl
