// errand.cpp: who goes, and how many may be under way.
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "net/errand.hpp"
#include "os/thread.hpp"
#include "rt/g.hpp"
#include "sched/current.hpp"

#include <weft/go.hpp>
#include <weft/semaphore.hpp>

namespace weft::networks {

namespace {

// The C library's resolver and the modules it loads need some tens of kilobytes.
constexpr std::size_t kStackSize = 256 << 10;

// The places of one runtime, or of the plain threads. Errands under way share it, so it goes with the last of them.
using places = std::shared_ptr<semaphore>;

// A std::mutex and not ours: a goroutine whose runtime ends while it holds one of ours never unlocks it. Nobody waits inside.
struct registry {
  std::mutex lock;
  std::uint32_t epoch = 0;
  places of_runtime;
  places of_threads;
};

registry& the_registry() noexcept {
  alignas(registry) static std::byte
      memory[sizeof(registry)];  // never destroyed: threads go on at exit
  static registry* const only = ::new (memory) registry;
  return *only;
}

places places_of_threads() {
  registry& all = the_registry();
  const std::lock_guard hold(all.lock);
  if (all.of_threads == nullptr) all.of_threads = std::make_shared<semaphore>(kMaxErrands);
  return all.of_threads;
}

places places_of_runtime(std::uint32_t epoch) {
  registry& all = the_registry();
  const std::lock_guard hold(all.lock);
  if (all.of_runtime == nullptr || all.epoch != epoch) {
    all.of_runtime = std::make_shared<semaphore>(kMaxErrands);
    all.epoch = epoch;
  }
  return all.of_runtime;
}

// One place, from when it was got until it is given back.
class place {
 public:
  place() = default;
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() { give_back(); }

  // False: the context has ended.
  WEFT_MAY_SWITCH bool get(places of, const context& ctx) {
    if (!of->acquire(ctx)) return false;
    of_ = std::move(of);
    return true;
  }
  WEFT_MAY_SWITCH void give_back() noexcept {
    if (of_ == nullptr) return;
    of_->release();  // may never return, if the runtime ends: so we keep our share here, where the leak checker sees it
    of_.reset();
  }

 private:
  places of_;
};

// One who goes, and whoever waits for him.
struct trip {
  explicit trip(std::shared_ptr<errand> to_do) : what(std::move(to_do)) {}

  std::shared_ptr<errand> what;
  chan<void> ended =
      make_chan<void>(1);  // room for the news, so that nobody need be there to hear it
  place mine;
};

void end(trip& t) {
  t.mine.give_back();
  t.ended.send();
}

void go_by_goroutine(const std::shared_ptr<trip>& t) {
  weft::go({.name = "name lookup", .stack_size = kStackSize}, [t] {
    weft::blocking([&] { t->what->run(); });
    end(*t);
  });
}

// What the thread is told; it frees it.
struct marching_orders {
  std::shared_ptr<trip> t;
  os::signal_mask mask;
};

void march(void* arg) {
  const std::unique_ptr<marching_orders> orders(static_cast<marching_orders*>(arg));
  os::set_signal_mask(orders->mask);
  orders->t->what->run();
  end(*orders->t);
}

// Not a std::thread, whose constructor throws when the system has none to give: that is an answer here.
std::error_code go_by_thread(const std::shared_ptr<trip>& t) {
  auto orders = std::make_unique<marching_orders>(t, os::current_signal_mask());
  os::thread_result made =
      os::start_thread<march>("weft-lookup", orders.get(), os::site::lookup_thread);
  if (made.error != 0) return {made.error, std::system_category()};
  orders.release();  // the thread's
  os::detach_thread(made.made);
  return {};
}

}  // namespace

std::error_code send_on(const context& ctx, std::shared_ptr<errand> what) {
  const bool is_goroutine = sched::current_m() != nullptr;
  const bool may_end = ctx.done() != recv_chan<void>();
  if (!is_goroutine && !may_end) {
    what->run();
    return {};
  }
  const auto t = std::make_shared<trip>(std::move(what));
  places all =
      is_goroutine ? places_of_runtime(sched::current_m()->curg()->epoch) : places_of_threads();
  if (!t->mine.get(std::move(all), ctx)) return ctx.err();  // also one that had ended before
  if (is_goroutine) {
    go_by_goroutine(t);
  } else if (const std::error_code none = go_by_thread(t)) {
    return none;
  }
  return t->ended.recv(ctx) ? std::error_code{} : ctx.err();
}

}  // namespace weft::networks
