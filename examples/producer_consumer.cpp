// producer_consumer.cpp: several who make, several who use, and a buffer between them that makes the quicker side wait.
//
// The producers are a group; when the last has ended the channel is closed, and the consumers run dry. A context ends both sides early.
#include <atomic>
#include <chrono>
#include <cstdio>

#include <weft/weft.hpp>

namespace {

using namespace std::chrono_literals;

struct outcome {
  int nmade = 0;
  int nused = 0;
};

outcome produce_and_consume(const weft::context& ctx, int items_each) {
  const auto buffer = weft::make_chan<int>(8);
  std::atomic<int> nmade{0};
  std::atomic<int> nused{0};

  weft::group consumers;
  for (int i = 0; i < 2; ++i) {
    consumers.go([&] {
      for ([[maybe_unused]] const int& item : buffer) {
        ++nused;
        weft::sleep_for(50us);
      }
    });
  }

  weft::group producers(ctx);
  for (int i = 0; i < 3; ++i) {
    producers.go([&](const weft::context& until) {
      for (int k = 0; k < items_each && buffer.send(k, until); ++k) ++nmade;
    });
  }
  producers.wait();
  buffer.close();
  consumers.wait();
  return {nmade, nused};
}

}  // namespace

int main() {
  return weft::run([] {
    const outcome whole = produce_and_consume(weft::background(), 50);
    std::printf("made %d, used %d\n", whole.nmade, whole.nused);
    auto [ctx, cancel] = weft::with_timeout(weft::background(), 10ms);
    const outcome part = produce_and_consume(ctx, 1'000'000);
    std::printf("made %d, used %d, then: %s\n", part.nmade, part.nused,
                ctx.err().message().c_str());
    const bool nothing_lost = whole.nused == whole.nmade && part.nused == part.nmade;
    return whole.nmade == 150 && part.nmade < 3'000'000 && nothing_lost ? 0 : 1;
  });
}
