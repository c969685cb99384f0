// survivors.cpp: see survivors.hpp.
#include "sched/survivors.hpp"

#include "os/futex.hpp"
#include "sched/foreign.hpp"

namespace weft::sched {

namespace {

using survivors = basic_survivors<os::futex_atomics, G>;

constinit survivors all;

bool enter(G* gp, void* arg) {
  return all.enter(static_cast<survivors::survivor*>(arg), gp, sched.epoch);
}

}  // namespace

void park_foreign_while(std::uint32_t epoch, publish_fn publish, bool (*withdraw)(void* arg),
                        void* arg, wait_reason why) noexcept {
  survivors::survivor mine{.epoch = epoch, .publish = publish, .withdraw = withdraw, .arg = arg};
  park_foreign(&enter, &mine, why);
  all.leave(&mine);
}

void wake_survivors() noexcept {
  all.wake_all([](G* gp) { wake_foreign(gp); });
}

}  // namespace weft::sched
