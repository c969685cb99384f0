// on_a_thread.hpp: a plain thread that runs beside the test while the main goroutine lets its P go.
#pragma once

#include <thread>
#include <utility>

#include <weft/weft.hpp>

namespace weft::test {

template <class F>
void on_a_thread(F f) {
  std::thread t(std::move(f));
  weft::blocking([&] { t.join(); });
}

}  // namespace weft::test
