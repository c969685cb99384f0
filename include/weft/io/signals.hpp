// signals.hpp: signals of the system, as values in a channel.
//
//   auto stop = weft::io::signals(SIGINT, SIGTERM);
//   weft::go([stop, cancel] {
//     if (auto number = stop.recv()) cancel();
//   });
//
// While somebody has such a channel its signals do not do what they do by default; when the last handle is gone (or after stop_signals) all is
// as it was before. Several channels may want the same signal, and each gets it. A program's own handler, if there was one, is still called.
//
// Nobody waits for whoever should receive: the channel has room for 16, and what finds it full is dropped. Of several that come at almost
// the same moment with the same number one may be all that is seen, as always with signals.
//
// A channel belongs to the runtime in which it was made. After its end nothing comes any more, and the next such signal does what it would
// have done before. While there is a channel nobody is told of a deadlock: a signal may come.
#pragma once

#include <concepts>
#include <initializer_list>

#include <weft/chan.hpp>
#include <weft/detail/config.hpp>

namespace weft::inline v1::io {

// Throws std::invalid_argument for what no program can have (SIGKILL, SIGSTOP), what tells of the program's own faults (SIGSEGV, SIGBUS,
// SIGFPE, SIGILL, SIGTRAP, SIGSYS), and the signal that weft itself uses (SIGURG, unless options say another); not_running without a runtime.
[[nodiscard]] WEFT_API recv_chan<int> signal_chan(std::initializer_list<int> numbers);
template <std::same_as<int>... Numbers>
[[nodiscard]] recv_chan<int> signal_chan(int first, Numbers... others) {
  return signal_chan({first, others...});
}

#ifndef signals  // Qt has a macro of that name: there it is signal_chan
template <std::same_as<int>... Numbers>
[[nodiscard]] recv_chan<int> signals(int first, Numbers... others) {
  return signal_chan({first, others...});
}
[[nodiscard]] inline recv_chan<int> signals(std::initializer_list<int> numbers) {
  return signal_chan(numbers);
}
#endif

// No more signals for this channel: what came before can still be received, then it is closed. Any other channel is left alone.
WEFT_API void stop_signals(const recv_chan<int>& from);

}  // namespace weft::inline v1::io
