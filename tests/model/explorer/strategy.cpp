// strategy.cpp: see strategy.hpp.
#include "explorer/strategy.hpp"

#include <bit>
#include <utility>

namespace weft::model {

namespace {

unsigned nth_of(unsigned set, unsigned n) noexcept {
  while (n-- > 0) set &= set - 1;
  return static_cast<unsigned>(std::countr_zero(set));
}

unsigned count(unsigned set) noexcept { return static_cast<unsigned>(std::popcount(set)); }

bool is_in(unsigned set, unsigned thread) noexcept { return (set >> thread & 1) != 0; }

// Mostly as a strong memory: else nothing would ever be seen in time.
unsigned mostly_strong(base::rng& random, unsigned n) noexcept {
  return random.below(4) == 0 ? random.below(n) : 0;
}

}  // namespace

// --- depth first ---

bool depth_first::next() noexcept {
  while (!path_.empty() && path_.back().chosen + 1u == path_.back().n) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().chosen;
  return true;
}

unsigned depth_first::choose(unsigned n) {
  if (at_ == path_.size()) path_.push_back({static_cast<std::uint8_t>(n), 0});
  return path_[at_++].chosen;
}

unsigned depth_first::choose_weak(unsigned n) {
  if (nweak_ == max_weak_) return 0;
  const unsigned chosen = choose(n);
  if (chosen != 0) ++nweak_;
  return chosen;
}

// The current one first, so that the first execution has no preemption at all.
unsigned depth_first::pick(unsigned enabled, unsigned current, bool must_leave) {
  if (must_leave || !is_in(enabled, current)) {
    const unsigned n = count(enabled);
    return nth_of(enabled, n == 1 ? 0 : choose(n));
  }
  const unsigned others = enabled & ~(1u << current);
  if (others == 0) return current;
  if (npreempted_ == max_preemptions_) {
    was_bound_felt_ = true;
    return current;
  }
  const unsigned chosen = choose(count(others) + 1);
  if (chosen == 0) return current;
  ++npreempted_;
  return nth_of(others, chosen - 1);
}

// --- random ---

unsigned random_walk::pick(unsigned enabled, unsigned, bool) {
  return nth_of(enabled, random_.below(count(enabled)));
}

unsigned random_walk::choose_weak(unsigned n) { return mostly_strong(random_, n); }

pct::pct(std::uint64_t seed, unsigned depth, unsigned nsteps) : random_(seed) {
  for (unsigned i = 0; i < kThreads; ++i) priority_[i] = static_cast<int>(i) + 1;
  for (unsigned i = kThreads; i > 1; --i) std::swap(priority_[i - 1], priority_[random_.below(i)]);
  for (unsigned i = 1; i < depth; ++i) changes_.push_back(random_.below(nsteps > 0 ? nsteps : 1));
}

unsigned pct::pick(unsigned enabled, unsigned current, bool) {
  for (const unsigned at : changes_) {
    if (at == step_ && current < kThreads) priority_[current] = --lowest_;
  }
  ++step_;
  unsigned best = nth_of(enabled, 0);
  for (unsigned i = best + 1; i < kThreads; ++i) {
    if (is_in(enabled, i) && priority_[i] > priority_[best]) best = i;
  }
  return best;
}

unsigned pct::choose_weak(unsigned n) { return mostly_strong(random_, n); }

// --- replay ---

unsigned replay::next(unsigned otherwise) noexcept {
  if (at_ < schedule_.size()) return schedule_[at_++];
  has_strayed_ = true;
  return otherwise;
}

unsigned replay::pick(unsigned enabled, unsigned, bool) {
  const unsigned first = nth_of(enabled, 0);
  if (count(enabled) == 1) return first;
  const unsigned thread = next(first);
  if (is_in(enabled, thread)) return thread;
  has_strayed_ = true;
  return first;
}

unsigned replay::choose(unsigned n) {
  const unsigned chosen = next(0);
  if (chosen < n) return chosen;
  has_strayed_ = true;
  return 0;
}

}  // namespace weft::model
