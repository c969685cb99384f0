// "## Structure and cancellation (<weft/context.hpp>, <weft/group.hpp>)": the first.
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <system_error>

#include <weft/context.hpp>

using namespace std::chrono_literals;

bool cancellation() {
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  auto [limited, cancel_limited] = weft::with_timeout(ctx, 1s);
  auto [dated, cancel_dated] = weft::with_deadline(limited, weft::clock::now() + 1s);
  auto [caused, cancel_caused] = weft::with_cause(dated);
  const weft::context valued = weft::with_value(caused, "key", 3);
  const weft::context free = weft::without_cancel(valued);
  const weft::context stopped = weft::with_stop_token(free, std::stop_source().get_token());
  weft::after_func(valued, [] {}).stop();
  cancel();
  cancel();
  cancel_limited();
  cancel_dated();
  cancel_caused(std::runtime_error("enough"));
  const weft::recv_chan<void> done = valued.done();
  const std::error_code err = valued.err();
  const std::exception_ptr cause = valued.cause();
  const std::optional<weft::time_point> deadline = valued.deadline();
  const int* value = valued.value<int>("key");
  weft::select(weft::on_done(ctx));
  return !done.recv() && err && cause && deadline && value != nullptr &&
         stopped.stop_token().stop_possible();
}
