// "## Goroutines (<weft/go.hpp>)"
#include <memory>
#include <variant>

#include <weft/go.hpp>

struct move_only {
  std::unique_ptr<int> value;
  void operator()(std::unique_ptr<int>) const {}
};

int goroutines() {
  weft::go([](int) {}, 1);
  weft::go({.name = "reader", .stack_size = 1 << 20}, [] {});
  weft::go(weft::go_options{.labels = {}}, [] {});
  weft::go(move_only{}, std::make_unique<int>(1));
  weft::join_handle<int> h = weft::spawn([](int v) { return v; }, 1);
  weft::spawn(weft::go_options{.name = "writer"}, [] {}).join();
  int r = 0;
  try {
    if (h.joinable()) r = h.join();
  } catch (const weft::goroutine_exited&) {
  }
  weft::yield();
  r += weft::blocking([&] { return r; });
  weft::checkpoint();
  weft::lock_os_thread();
  weft::unlock_os_thread();
  const weft::no_preempt guard;
  weft::this_goroutine::set_name(weft::this_goroutine::name());
  static const weft::goroutine_local<int> key;
  static const int address = 0;
  r += weft::this_goroutine::local<int>(key) + weft::this_goroutine::local<int>(&address);
  r += static_cast<int>(weft::this_goroutine::id());
  auto [a, b] = weft::await_all(weft::spawn([] { return 1; }), weft::spawn([] {}));
  static_assert(std::is_same_v<decltype(b), std::monostate>);
  return r + a;
}

void leave() { weft::exit_goroutine(); }
