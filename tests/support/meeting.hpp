// meeting.hpp: several goroutines that begin at the same moment, each on a processor of its own if there are so many.
//
//   weft::test::meeting both(2);
//   wg.go([&] { both.comes(); cancel(); });
//   wg.go([&] { both.comes(); stop(); });
//
// Whoever yields while it waits is run again beside the others on its own processor, one after the other. So each spins first, long
// enough for an idle processor to take one of them; where there is one processor only, that would be time for nothing.
#pragma once

#include <atomic>

#include <weft/go.hpp>
#include <weft/runtime.hpp>

namespace weft::test {

class meeting {
 public:
  explicit meeting(int n) : nmissing_(n) {}

  void comes() {
    --nmissing_;
    const int nspins = weft::max_procs() > 1 ? kSpins : 0;
    for (int i = 0; nmissing_ > 0; ++i) {
      if (i > nspins) weft::yield();
    }
  }

 private:
  static constexpr int kSpins = 200'000;
  std::atomic<int> nmissing_;
};

}  // namespace weft::test
