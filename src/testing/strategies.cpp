// strategies.cpp: see strategies.hpp.
#include "testing/strategies.hpp"

#include <algorithm>

namespace weft::testing_impl {

namespace {

constexpr std::uint32_t kLongestLog = 16;  // changes within the first 64 Ki steps

}  // namespace

by_priority::by_priority(std::uint64_t seed, unsigned depth) noexcept
    : seed_(seed), nchanges_(std::min(depth == 0 ? 0 : depth - 1, kDeepest)) {
  base::rng random(~seed);
  for (unsigned i = 0; i < nchanges_; ++i) {
    const std::uint64_t least = std::uint64_t{1} << random.below(kLongestLog);
    changes_[i] = least + random.next() % least;
  }
}

// Above all that were demoted: these have 0 and less, as it were, by when that was.
std::uint64_t by_priority::priority_of(std::uint64_t goid) const noexcept {
  const std::uint64_t nkept = std::min<std::uint64_t>(ndemoted_, kDeepest);
  for (std::uint64_t ago = 0; ago < nkept; ++ago)
    if (demoted_[(ndemoted_ - 1 - ago) % kDeepest] == goid) return ago;
  return kDeepest + (base::rng(seed_ + goid * base::rng::kStep).next() >> 1);
}

void by_priority::demote(std::uint64_t goid) noexcept { demoted_[ndemoted_++ % kDeepest] = goid; }

std::uint32_t by_priority::choose(const rt::g_queue& runnable) noexcept {
  ++nsteps_;
  if (std::find(changes_.begin(), changes_.begin() + nchanges_, nsteps_) !=
      changes_.begin() + nchanges_)
    demote(last_);
  std::uint32_t best = 0;
  std::uint32_t i = 0;
  std::uint64_t highest = 0;
  std::uint64_t chosen = 0;
  for (const rt::G* gp = runnable.front(); gp != nullptr; gp = gp->link, ++i) {
    const std::uint64_t goid = gp->goid.load(std::memory_order_relaxed);  // in a queue: it stays
    const std::uint64_t priority = priority_of(goid);
    if (chosen != 0 && priority <= highest) continue;
    highest = priority;
    chosen = goid;
    best = i;
  }
  nsame_ = chosen == last_ ? nsame_ + 1 : 0;
  last_ = chosen;
  if (nsame_ == kPatience) {
    nsame_ = 0;
    demote(chosen);
  }
  return best;
}

}  // namespace weft::testing_impl
