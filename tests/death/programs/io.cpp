// io.cpp: signals that must have their usual effect, although weft has had them in between.
#include <weft/io.hpp>

#include "scenario.hpp"

using namespace scenario;

namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TEST_TSAN
#endif
#endif
#if defined(WEFT_TEST_TSAN) || defined(__SANITIZE_THREAD__)
constexpr bool kIsTsan = true;
#else
constexpr bool kIsTsan = false;
#endif

// ThreadSanitizer puts a signal off until the thread that got it makes a call it knows, which one that sleeps never does: there the sender
// gets it itself.
void send(int number) { REQUIRE((kIsTsan ? ::raise(number) : ::kill(::getpid(), number)) == 0); }

void listen_once(int number) {
  const auto c = weft::io::signals(number);
  send(number);
  REQUIRE(c.recv() == number);
}

}  // namespace

SCENARIO(signal_after_the_last_channel_is_gone) {
  weft::run([] {
    listen_once(SIGTERM);
    send(SIGTERM);
    weft::sleep_for(5s);
  });
}

SCENARIO(signal_after_stop) {
  weft::run([] {
    const auto c = weft::io::signals(SIGTERM);
    weft::io::stop_signals(c);
    send(SIGTERM);
    weft::sleep_for(5s);
  });
}

// Go's TestAtomicStop: one that comes while its channel is stopped is in the channel, or has its usual effect. None is lost.
SCENARIO(signal_beside_the_stop) {
  weft::run([] {
    for (int round = 0; round < 1000; ++round) {
      const auto c = weft::io::signals(SIGTERM);
      std::atomic<bool> may_send{false};
      std::thread sender([&] {
        while (!may_send) {
        }
        REQUIRE(::raise(SIGTERM) == 0);
      });
      may_send = true;
      for (int spin = 0; spin < round % 100 * 20; ++spin) asm volatile("");
      weft::io::stop_signals(c);
      sender.join();
      REQUIRE(c.recv() == SIGTERM);  // since we live
    }
    send(SIGTERM);
    weft::sleep_for(5s);
  });
}

SCENARIO(signal_after_the_run) {
  weft::recv_chan<int> kept;
  weft::run([&] { kept = weft::io::signals(SIGTERM); });
  send(SIGTERM);
  ::sleep(5);
}

// In the next runtime, which has not asked for it.
SCENARIO(signal_of_a_former_run) {
  weft::recv_chan<int> kept;
  weft::run([&] { kept = weft::io::signals(SIGTERM); });
  weft::run([] {
    send(SIGTERM);
    weft::sleep_for(5s);
  });
}

SCENARIO(deadlock_after_signals) {
  weft::run([] {
    listen_once(SIGUSR1);
    wait_for_ever();
  });
}

// Every goroutine waits and every thread sleeps; but the kernel has been asked for a signal.
SCENARIO(no_deadlock_while_somebody_listens) {
  weft::run([] {
    const auto c = weft::io::signals(SIGALRM);
    if (kIsTsan) {
      weft::sleep_for(300ms);
      send(SIGALRM);
    } else {
      ::ualarm(300'000, 0);
    }
    REQUIRE(c.recv() == SIGALRM);
  });
}
