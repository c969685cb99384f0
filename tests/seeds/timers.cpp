// timers.cpp: what was due before stop() or reset() is not received after it, and what is stopped in time does not happen.
#include <chrono>
#include <optional>

#include "scenario.hpp"

#include <weft/testing/bubble.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::together;

namespace {

// A timer as they were before Go 1.23: its channel has a buffer, in which an old time may lie.
class old_timer {
 public:
  explicit old_timer(std::chrono::milliseconds d)
      : timer_(weft::after_func(d, [to = chan_] { to.try_send(weft::clock::now()); })) {}
  weft::recv_chan<weft::time_point> chan() const { return chan_; }
  bool stop() { return timer_.stop(); }
  bool reset(std::chrono::milliseconds d) { return timer_.reset(d); }

 private:
  weft::chan<weft::time_point> chan_ = weft::make_chan<weft::time_point>(1);
  weft::timer timer_;
};

template <class Timer>
void use_again_and_again(weft::seeds::trial& t) {
  Timer timer(2ms);
  for (int k = 1; k < 4; ++k) {
    timer.reset(2ms);
    weft::sleep_for(k * 1ms);  // also just when it is due
    const auto began = weft::clock::now();
    timer.reset(2ms);
    const auto due = timer.chan().recv();
    t.must(due && *due >= began + 2ms, "no time is received that was due before reset()");
  }
  for (int k = 1; k < 4; ++k) {
    timer.reset(2ms);
    weft::sleep_for(k * 1ms);
    timer.stop();
    t.must(!timer.chan().try_recv() && !timer.chan().recv_for(5ms),
           "no time is received after stop()");
  }
}

SCENARIO(timer_seeds, nothing_stale_is_received) {
  if (t.fault("the timer's channel has a buffer")) {
    use_again_and_again<old_timer>(t);
  } else {
    use_again_and_again<weft::timer>(t);
  }
}

SCENARIO(timer_seeds, a_timer_is_received_by_one_or_was_stopped) {
  const bool trusts = t.fault("who stops does not look whether it came in time");
  weft::timer timer(2ms);
  auto quit = weft::make_chan<void>();
  int nreceived = 0;
  bool is_stopped = false;
  together(3, [&](int i) {
    if (i < 2) {
      weft::select(weft::on_recv(timer.chan(), [&](auto) { ++nreceived; }), weft::on_recv(quit));
      return;
    }
    weft::sleep_for(2ms);
    is_stopped = timer.stop() || trusts;
    quit.close();
  });
  t.must(nreceived + static_cast<int>(is_stopped) == 1, "it is received once, or was stopped");
}

SCENARIO(timer_seeds, a_ticker_keeps_its_new_period_and_stops) {
  const auto period = t.fault("the period is shorter than was meant") ? 1ms : 3ms;
  const bool forgets = t.fault("nobody stops it");
  weft::ticker ticker(1ms);
  std::optional<weft::time_point> reset_at;
  bool is_stopped = false;
  weft::wait_group all;
  for (int i = 0; i < 2; ++i) {
    all.go([&] {
      for (int k = 0; k < 5; ++k) {
        const auto was_reset_at = reset_at;  // before we begin to wait
        const bool was_stopped = is_stopped;
        const auto tick = ticker.chan().recv_for(6ms);
        t.must(!(tick && was_stopped), "nothing ticks after stop()");
        if (tick && was_reset_at)
          t.must(*tick >= *was_reset_at + 3ms, "the new period counts from reset()");
      }
    });
  }
  weft::sleep_for(2ms);
  ticker.reset(period);
  reset_at = weft::clock::now();
  weft::sleep_for(6ms);
  if (!forgets) ticker.stop();
  is_stopped = true;
  all.wait();
}

SCENARIO(timer_seeds, a_function_is_called_for_each_setting_that_nobody_prevented) {
  const bool trusts = t.fault("who sets it anew does not look whether it came in time");
  int nset = 1;
  int nprevented = 0;
  int ncalls = 0;
  weft::timer timer = weft::after_func(2ms, [&] { ++ncalls; });
  together(2, [&](int i) {
    for (int k = 0; k < 3; ++k) {
      weft::sleep_for((i + k) * 1ms);
      ++nset;
      if (timer.reset(2ms) || trusts) ++nprevented;
    }
  });
  weft::sleep_for(2ms);
  if (timer.stop()) ++nprevented;
  weft::testing::wait();  // it runs in a goroutine of its own
  t.must(ncalls == nset - nprevented, "it is called as often as it was due");
}

}  // namespace
