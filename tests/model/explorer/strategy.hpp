// strategy.hpp: who goes on at each scheduling point, and what a weak memory does where it has a choice.
//
// An execution is nothing but its choices, so a strategy is a source of choices. Four of them:
//   depth_first  every execution with at most so many preemptions, and at most so many steps of the memory that a sequentially
//                consistent one would not do; one after the other, each by re-execution
//   random_walk  any enabled thread at each point
//   pct          priorities, and d - 1 places where the running thread falls to the lowest: a fault that needs d things in order is found
//                with a probability of at least 1/(n * k^(d-1)) for n threads and k steps (Burckhardt and others, 2010)
//   replay       what a schedule string says (schedule.hpp)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "explorer/schedule.hpp"

namespace weft::model {

class strategy {
 public:
  virtual ~strategy() = default;
  // One of `enabled`, a set of thread numbers. must_leave: the current one waits, or has ended; else leaving it is a preemption.
  virtual unsigned pick(unsigned enabled, unsigned current, bool must_leave) = 0;
  // Below n. For choose_weak, 0 is what a sequentially consistent memory does.
  virtual unsigned choose(unsigned n) = 0;
  virtual unsigned choose_weak(unsigned n) = 0;
};

class depth_first final : public strategy {
 public:
  depth_first(unsigned preemptions, unsigned weak_steps)
      : max_preemptions_(preemptions), max_weak_(weak_steps) {}

  // Before each execution.
  void begin() noexcept {
    at_ = 0;
    npreempted_ = 0;
    nweak_ = 0;
  }
  // After it. False: there is no other one.
  bool next() noexcept;
  // Of the last one.
  unsigned npreempted() const noexcept { return npreempted_; }
  // Some execution would have had one preemption more.
  bool was_bound_felt() const noexcept { return was_bound_felt_; }

  unsigned pick(unsigned enabled, unsigned current, bool must_leave) override;
  unsigned choose(unsigned n) override;
  unsigned choose_weak(unsigned n) override;

 private:
  struct choice {
    std::uint8_t n;
    std::uint8_t chosen;
  };

  const unsigned max_preemptions_;
  const unsigned max_weak_;
  std::vector<choice> path_;
  std::size_t at_ = 0;
  unsigned npreempted_ = 0;
  unsigned nweak_ = 0;
  bool was_bound_felt_ = false;
};

class random_walk final : public strategy {
 public:
  explicit random_walk(std::uint64_t seed) : random_(seed) {}
  unsigned pick(unsigned enabled, unsigned current, bool must_leave) override;
  unsigned choose(unsigned n) override { return random_.below(n); }
  unsigned choose_weak(unsigned n) override;

 private:
  base::rng random_;
};

class pct final : public strategy {
 public:
  // nsteps: about how many points an execution has.
  pct(std::uint64_t seed, unsigned depth, unsigned nsteps);
  unsigned pick(unsigned enabled, unsigned current, bool must_leave) override;
  unsigned choose(unsigned n) override { return random_.below(n); }
  unsigned choose_weak(unsigned n) override;

 private:
  static constexpr unsigned kThreads = 8;
  base::rng random_;
  unsigned step_ = 0;
  int lowest_ = 0;
  int priority_[kThreads];
  std::vector<unsigned> changes_;
};

class replay final : public strategy {
 public:
  explicit replay(schedule s) : schedule_(std::move(s)) {}
  unsigned pick(unsigned enabled, unsigned current, bool must_leave) override;
  unsigned choose(unsigned n) override;
  unsigned choose_weak(unsigned n) override { return choose(n); }
  // The program has gone another way than the schedule.
  bool has_strayed() const noexcept { return has_strayed_; }

 private:
  unsigned next(unsigned otherwise) noexcept;

  const schedule schedule_;
  std::size_t at_ = 0;
  bool has_strayed_ = false;
};

}  // namespace weft::model
