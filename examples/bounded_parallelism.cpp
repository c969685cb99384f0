// bounded_parallelism.cpp: many goroutines, of which only a few do the expensive thing at a time: by a semaphore, by a buffered channel used as
// one, and by a group with a limit.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include <weft/weft.hpp>

namespace {

constexpr int kJobs = 40;
constexpr int kAtOnce = 4;

// Counts how many are inside at once.
class expensive {
 public:
  void use() {
    const int now = ++ninside_;
    for (int most = nmost_; now > most && !nmost_.compare_exchange_weak(most, now);) {
    }
    weft::sleep_for(std::chrono::microseconds(200));
    --ninside_;
    ++nuses_;
  }
  bool report(const char* how) const {
    std::printf("%-18s %d uses, at most %d at once\n", how, nuses_.load(), nmost_.load());
    return nuses_ == kJobs && nmost_ <= kAtOnce;
  }

 private:
  std::atomic<int> ninside_{0};
  std::atomic<int> nmost_{0};
  std::atomic<int> nuses_{0};
};

bool by_semaphore() {
  expensive thing;
  weft::semaphore places(kAtOnce);
  weft::wait_group wg;
  for (int i = 0; i < kJobs; ++i) {
    wg.go([&] {
      places.acquire();
      thing.use();
      places.release();
    });
  }
  wg.wait();
  return thing.report("semaphore");
}

// Whoever wants in sends, and receives on its way out: the buffer is the number of places.
bool by_channel() {
  expensive thing;
  const auto places = weft::make_chan<void>(kAtOnce);
  weft::wait_group wg;
  for (int i = 0; i < kJobs; ++i) {
    wg.go([&] {
      places.send();
      thing.use();
      places.recv();
    });
  }
  wg.wait();
  return thing.report("buffered channel");
}

// No goroutine is even started before there is a place for it.
bool by_group() {
  expensive thing;
  weft::group g;
  g.limit(kAtOnce);
  for (int i = 0; i < kJobs; ++i) g.go([&] { thing.use(); });
  g.wait();
  return thing.report("group");
}

}  // namespace

int main() {
  return weft::run([] { return by_semaphore() && by_channel() && by_group() ? 0 : 1; });
}
