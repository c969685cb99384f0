// survivors.cpp: see survivors.hpp.
#include "sched/survivors.hpp"

#include "base/list.hpp"
#include "os/lock.hpp"
#include "sched/foreign.hpp"

namespace weft::sched {

namespace {

struct survivor {
  const std::uint32_t epoch;
  const publish_fn publish;
  bool (*const withdraw)(void* arg);
  void* const arg;
  G* who = nullptr;
  base::list_link<survivor> link{};
};

constinit os::lock<os::lock_rank::waiters> lock;
constinit base::linked_list<survivor, &survivor::link> all;

bool enter(G* gp, void* arg) {
  auto* const mine = static_cast<survivor*>(arg);
  const os::lock_guard hold(lock);
  if (has_ended(mine->epoch) || !mine->publish(gp, mine->arg)) return false;
  mine->who = gp;
  all.push_back(mine);
  return true;
}

struct next_survivor {
  bool is_there = false;
  G* to_wake = nullptr;  // null: somebody does
};
next_survivor take_one() noexcept {
  const os::lock_guard hold(lock);
  survivor* const first = all.pop_front();
  if (first == nullptr) return {};
  return {true, first->withdraw(first->arg) ? first->who : nullptr};
}

}  // namespace

void park_foreign_while(std::uint32_t epoch, publish_fn publish, bool (*withdraw)(void* arg),
                        void* arg, wait_reason why) noexcept {
  survivor mine{.epoch = epoch, .publish = publish, .withdraw = withdraw, .arg = arg};
  park_foreign(&enter, &mine, why);
  const os::lock_guard hold(lock);  // V2
  if (all.contains(&mine)) all.remove(&mine);
}

void wake_survivors() noexcept {
  for (next_survivor next = take_one(); next.is_there; next = take_one()) {
    if (next.to_wake != nullptr) wake_foreign(next.to_wake);
  }
}

}  // namespace weft::sched
