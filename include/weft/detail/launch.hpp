// launch.hpp: how a callable becomes a goroutine: the seam between the templates of go.hpp and the library.
//
// The user's constructors run outside the runtime (they may allocate, throw or block), so a start has two halves:
// begin_launch() hands out a goroutine with room for the closure, commit_launch() queues it. A closure that is
// trivially copyable needs only one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

// Optional facts about a goroutine: weft::go({.name = "reader", .stack_size = 1 << 20}, f).
struct go_options {
  std::string name = {};
  std::size_t stack_size = 0;  // usable bytes, up to 1 GiB; 0: options::stack_size
  std::vector<std::pair<std::string, std::string>> labels = {};
};

namespace detail {

// Runs the closure in `storage` and destroys it. It is the goroutine's first function.
using entry_fn = void (*)(void* storage);

struct launch {
  void* g;        // the goroutine, not yet visible to anyone
  void* storage;  // kInlineClosure bytes, aligned for std::max_align_t
};

inline constexpr std::size_t kInlineClosure = 64;

// `what` names the call for error messages. They throw not_running without a runtime, std::invalid_argument
// for an impossible stack size, std::bad_alloc when no memory is left.
WEFT_API launch begin_launch(const char* what);
WEFT_API launch begin_launch(const char* what, const go_options& opts);
WEFT_API WEFT_MAY_SWITCH void commit_launch(launch l, entry_fn entry) noexcept;
WEFT_API void cancel_launch(launch l) noexcept;
WEFT_API WEFT_MAY_SWITCH void launch_copy(const char* what, entry_fn entry, const void* closure,
                                          std::size_t bytes);

template <class F>
constexpr void reject_empty(const F& f) {
  using D = std::decay_t<F>;
  bool empty = false;
  if constexpr (std::is_function_v<F>) {
    return;  // a function, not a pointer to one: always there
  } else if constexpr (std::is_pointer_v<D> || std::is_member_pointer_v<D>) {
    empty = f == nullptr;
  } else if constexpr (requires { f.operator bool(); }) {
    empty = !f.operator bool();  // std::function and its kin
  }
  if (empty) throw std::invalid_argument("weft: cannot start an empty function as a goroutine");
}

// A callable with its arguments, decay-copied like std::thread's.
template <class F, class... Args>
struct bound_call {
  std::tuple<F, Args...> parts;

  template <class F2, class... A2>
  explicit bound_call(F2&& f, A2&&... args)
      : parts(std::forward<F2>(f), std::forward<A2>(args)...) {}

  decltype(auto) operator()() {
    return std::apply(
        [](auto&&... all) -> decltype(auto) { return std::invoke(std::move(all)...); },
        std::move(parts));
  }
};

template <class F>
struct bound_call<F> {  // without arguments the callable itself: a lambda stays trivially copyable
  F function;

  template <class F2>
    requires(!std::is_same_v<std::remove_cvref_t<F2>, bound_call>)
  explicit bound_call(F2&& f) : function(std::forward<F2>(f)) {}

  decltype(auto) operator()() { return std::invoke(std::move(function)); }
};

template <class Call>
inline constexpr bool kFitsInline =
    sizeof(Call) <= kInlineClosure && alignof(Call) <= alignof(std::max_align_t);

// The entries take the closure out of the goroutine's storage onto its stack, or out of its heap box, so that
// exactly one destructor runs however the goroutine ends.
template <class Call>
void run_inline(void* storage) {
  struct destroyer {
    Call* call;
    ~destroyer() { call->~Call(); }
  } owner{std::launder(reinterpret_cast<Call*>(storage))};
  (*owner.call)();
}

template <class Call>
void run_boxed(void* storage) {
  std::unique_ptr<Call> call(*static_cast<Call**>(storage));
  (*call)();
}

// Starts Call{args...}. Always inlined, so that the return address the library sees lies in the user's function:
// it is where the goroutine was made.
template <class Call, class... Args>
[[gnu::always_inline]] inline void start(const char* what, const go_options* opts, Args&&... args) {
  if constexpr (kFitsInline<Call> && std::is_trivially_copyable_v<Call>) {
    if (!opts) {
      const Call call(std::forward<Args>(args)...);
      launch_copy(what, &run_inline<Call>, &call, sizeof(Call));
      return;
    }
  }
  struct undo {  // the user's constructor threw
    launch at;
    ~undo() {
      if (at.g) cancel_launch(at);
    }
  } guard{opts ? begin_launch(what, *opts) : begin_launch(what)};
  entry_fn entry;
  if constexpr (kFitsInline<Call>) {
    ::new (guard.at.storage) Call(std::forward<Args>(args)...);
    entry = &run_inline<Call>;
  } else {
    *static_cast<Call**>(guard.at.storage) = new Call(std::forward<Args>(args)...);
    entry = &run_boxed<Call>;
  }
  commit_launch(std::exchange(guard.at, launch{nullptr, nullptr}), entry);
}

}  // namespace detail
}  // namespace weft::inline v1
