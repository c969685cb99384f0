// "## Channels (<weft/chan.hpp>)"
#include <optional>

#include <weft/chan.hpp>

int channels() {
  auto c = weft::make_chan<int>();
  auto b = weft::make_chan<int>(128);
  const weft::chan<int> nil;
  const weft::chan<void> signal = weft::make_chan<void>();
  int v = 1;
  try {
    c.send(v);
    signal.send();
  } catch (const weft::closed_channel&) {
  }
  std::optional<int> x = c.recv();
  bool ok = c.try_send(v) && signal.recv();
  std::optional<int> y = c.try_recv();
  try {
    c.close();
  } catch (const weft::nil_channel&) {
  }
  for (int& each : c) v += each;
  const weft::send_chan<int> s = c;
  const weft::recv_chan<int> r = c;
  s << v;
  ok = ok && r >> v && c == b && c != nil;
  c << v;
  c >> v;
  return *x + *y + static_cast<int>(c.len() + c.cap()) + (c.closed() && ok);
}
