// "## Time (<weft/time.hpp>)"
#include <chrono>

#include <weft/time.hpp>

using namespace std::chrono_literals;

weft::time_point times() {
  weft::sleep_for(1ms);
  weft::sleep_until(weft::clock::now());
  const weft::recv_chan<weft::time_point> once = weft::after(1ms);
  weft::ticker every{1ms};
  every.reset(2ms);
  every.stop();
  weft::timer later{1ms};
  weft::timer call = weft::after_func(1ms, [] {});
  if (later.stop() || later.reset(1ms) || call.stop() || call.reset(1ms)) return *once.recv();
  static_assert(std::is_same_v<weft::time_point, weft::clock::time_point>);
  static_assert(weft::clock::is_steady);
  return *every.chan().recv() < *later.chan().recv() ? weft::time_point() : weft::clock::now();
}
