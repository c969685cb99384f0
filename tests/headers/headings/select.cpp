// "## Select (<weft/select.hpp>)"
#include <chrono>
#include <optional>

#include <weft/select.hpp>

using namespace std::chrono_literals;

std::size_t selecting(const weft::chan<int>& in, const weft::chan<int>& out,
                      const weft::context& ctx) {
  const int value = 1;
  std::size_t which =
      weft::select(weft::on_recv(in, [&](std::optional<int>) {}), weft::on_send(out, value, [&] {}),
                   weft::on_done(ctx, [&] {}), weft::on_timeout(5s, [&] {}));
  which += weft::select(weft::on_recv(in), weft::otherwise([&] {}));
  weft::select_list l;
  l.add(weft::on_recv(in));
  l.add(weft::on_done(ctx));
  l.add(weft::on_send(out, 1));
  l.add(weft::on_timeout(5s));
  return which + l.wait() + l.try_now() + l.wait_for(1s) + (l.unsent<int>(2) != nullptr ? 1 : 0);
}
