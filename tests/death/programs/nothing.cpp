// nothing.cpp: waits that can only be for ever: at a channel that is none, and with no choice. On as many Ps as the environment says.
#include <string>

#include "scenario.hpp"

using namespace scenario;

namespace {

// Who returns from that says so, and nobody reports a deadlock.
template <class F>
void alone_with(F wait) {
  weft::run([wait] {
    wait();
    say("it returned");
  });
}

}  // namespace

SCENARIO(nothing_to_receive_from) {
  alone_with([] { weft::chan<std::string>().recv(); });
}
SCENARIO(nothing_to_send_to) {
  alone_with([] { weft::chan<std::string>().send("x"); });
}
SCENARIO(nothing_to_choose_from) {
  alone_with([] { weft::select(); });
}
SCENARIO(nothing_but_nil_to_choose_from) {
  alone_with([] {
    weft::select(weft::on_recv(weft::chan<int>()), weft::on_send(weft::chan<std::string>(), "x"));
  });
}
// Others come and go beside them.
SCENARIO(nothing_for_many) {
  weft::run([] {
    for (int i = 0; i < 10; ++i) {
      weft::go([] {
        weft::chan<int>().recv();
        say("it returned");
      });
      weft::go([] {
        weft::chan<int>().send(1);
        say("it returned");
      });
      weft::go([] {
        weft::select();
        say("it returned");
      });
      weft::go([] {
        weft::select(weft::on_recv(weft::chan<int>()), weft::on_recv(weft::chan<int>()));
        say("it returned");
      });
    }
    for (int i = 0; i < 100; ++i) weft::spawn([] { weft::yield(); }).join();
    say("others ran");
    weft::chan<int>().recv();
  });
}
