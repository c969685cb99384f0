// parked.hpp: knowing that somebody has come to wait, without guessing how long that takes.
//
//   weft::test::comer sender;
//   weft::go([&] {
//     sender.comes();
//     c.send(1);
//   });
//   ASSERT_TRUE(sender.waits());     // it stands in the channel's queue
#pragma once

#include <atomic>

#include "rt/g.hpp"
#include "sched/park.hpp"
#include "support/for_procs.hpp"

namespace weft::test {

class comer {
 public:
  // By the goroutine, right before the call that waits.
  void comes() { gp_ = sched::current_g(); }

  // By another one. False: it did not within half a minute.
  [[nodiscard]] bool waits() const {
    return eventually([this] {
      const rt::G* const gp = gp_;
      return gp != nullptr && gp->status() == rt::g_status::waiting;
    });
  }

 private:
  std::atomic<const rt::G*> gp_{nullptr};
};

}  // namespace weft::test
