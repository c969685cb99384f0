// context.hpp: when to stop: a context ends by itself, or with its parent, and everyone who works for it can know.
//
//   auto [ctx, cancel] = weft::with_timeout(weft::background(), 5s);
//   weft::go([ctx] {
//     while (auto job = jobs.recv(ctx)) work(*job);            // until the context ends, or the channel is closed
//   });
//   weft::select(weft::on_recv(replies, use), weft::on_done(ctx, [&] { log(ctx.err().message()); }));
//   cancel();                                                  // may be called any number of times, by anybody
//
// A context is a handle, like a channel: copies are the same context. It ends once: by cancel(), at its deadline, or when an ancestor ends.
// Then done() is closed and err() says why. Nothing has to be given up by hand: one that nobody can see any more is gone, cancelled or not;
// with a deadline, at the deadline.
//
// Everything works from any thread. Memory ordering: what was done before cancel() is visible to whoever has seen the end.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weft/chan.hpp>
#include <weft/clock.hpp>
#include <weft/detail/context_node.hpp>
#include <weft/detail/launch.hpp>
#include <weft/select.hpp>

namespace weft::inline v1 {

// Why a context has ended. They compare equal to std::errc::operation_canceled and std::errc::timed_out.
enum class context_errc : std::uint8_t { canceled = 1, deadline_exceeded = 2 };
WEFT_API const std::error_category& context_category() noexcept;
WEFT_API std::error_code make_error_code(context_errc e) noexcept;

// The cause of an end for which nobody gave another.
class WEFT_API context_error : public std::system_error {
 public:
  explicit context_error(std::error_code why);
};

namespace detail {

// How a key is kept and asked for. Text is compared by what it says, everything else by ==.
template <class Key>
inline constexpr bool is_text = std::is_convertible_v<const Key&, std::string_view>;
template <class Key>
concept plain_key = std::equality_comparable<std::decay_t<const Key&>> &&
                    std::constructible_from<std::decay_t<const Key&>, const Key&>;
template <class Key>
using kept_key = std::conditional_t<is_text<Key>, std::string, std::decay_t<const Key&>>;
template <class Key>
using asked_key = std::conditional_t<is_text<Key>, std::string_view, std::decay_t<const Key&>>;

template <class Key, class T>
class context_value final : public context_entry {
 public:
  template <class K2, class V>
  context_value(K2&& key, V&& v) : key_(std::forward<K2>(key)), value_(std::forward<V>(v)) {}

  bool has_key(const char* tag, const void* key) const override {
    using asked = asked_key<Key>;
    return tag == &type_tag<asked>::id && *static_cast<const asked*>(key) == key_;
  }
  const void* value(const char* tag) const noexcept override {
    return tag == &type_tag<T>::id ? std::addressof(value_) : nullptr;
  }

 private:
  kept_key<Key> key_;
  T value_;
};

}  // namespace detail

// A key that is only equal to itself, and knows the type of its value:
//   inline const weft::context_key<user> kUser;
//   ctx = weft::with_value(ctx, kUser, u);      if (const user* u = ctx.value(kUser)) ...
template <class T>
class context_key {
 public:
  context_key() noexcept = default;
  context_key(const context_key&) = delete;
  context_key& operator=(const context_key&) = delete;
};

class context {
 public:
  // Null: to be assigned to. It never ends and has no values, and nothing can be derived from it.
  context() noexcept = default;
  // Takes over a share. Not for users.
  explicit context(detail::context_node* made) noexcept : node_(made) {}
  context(const context& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) node_->retain();
  }
  context(context&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  context& operator=(context other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~context() {
    if (node_ != nullptr) detail::context_node::release(node_);
  }

  // Closed when the context ends. Nil if it never does.
  [[nodiscard]] recv_chan<void> done() const noexcept {
    return weft::chan<void>(detail::done_of(node_));
  }
  // Why it has ended; no error: it has not. Costs a load.
  [[nodiscard]] std::error_code err() const noexcept { return detail::error_of(node_); }
  // What its end was given as a cause, there or at the ancestor that ended first; else a context_error. Null: it has not ended.
  [[nodiscard]] std::exception_ptr cause() const { return detail::cause_of(node_); }
  // When it ends at the latest.
  [[nodiscard]] std::optional<time_point> deadline() const noexcept {
    const std::optional<std::int64_t> ns = detail::deadline_of(node_);
    return ns ? std::optional(time_point(clock::duration(*ns))) : std::nullopt;
  }

  // The nearest value under that key, here or above. Null: there is none, or it is not a T.
  template <class T, detail::plain_key Key>
  [[nodiscard]] const T* value(const Key& key) const {
    const detail::asked_key<Key> asked(key);
    return static_cast<const T*>(detail::find_value(
        node_, &detail::type_tag<detail::asked_key<Key>>::id, &asked, &detail::type_tag<T>::id));
  }
  template <class T>
  [[nodiscard]] const T* value(const context_key<T>& key) const {
    return value<T>(static_cast<const void*>(&key));
  }

  // A token that is asked to stop when the context ends, by whoever ends it; stop callbacks run there. Nobody can tell when a token is
  // dropped, so a context that was asked for one lives until it ends.
  [[nodiscard]] std::stop_token stop_token() const { return detail::stop_token_of(node_); }

  explicit operator bool() const noexcept { return node_ != nullptr; }
  // The same context?
  friend bool operator==(const context& a, const context& b) noexcept { return a.node_ == b.node_; }

  detail::context_node* raw() const noexcept { return node_; }

 private:
  detail::context_node* node_ = nullptr;
};

// Ends its context and all derived from it. They have ended when it returns. Any number of times, also from several threads at once.
class cancel_func {
 public:
  explicit cancel_func(context of) noexcept : of_(std::move(of)) {}
  WEFT_MAY_SWITCH void operator()() const noexcept { detail::cancel(of_.raw(), nullptr); }

 private:
  context of_;
};

// The same, with a reason: what context::cause() says. The first one counts.
class cancel_cause_func {
 public:
  explicit cancel_cause_func(context of) noexcept : of_(std::move(of)) {}
  WEFT_MAY_SWITCH void operator()(std::exception_ptr cause = nullptr) const noexcept {
    detail::cancel(of_.raw(), std::move(cause));
  }
  template <class E>
    requires std::derived_from<std::remove_cvref_t<E>, std::exception>
  WEFT_MAY_SWITCH void operator()(E&& cause) const {
    detail::cancel(of_.raw(), std::make_exception_ptr(std::forward<E>(cause)));
  }

 private:
  context of_;
};

// auto [ctx, cancel] = ...
template <class Cancel>
struct cancellable_context {
  context ctx;
  Cancel cancel;
};

namespace detail {
template <class Cancel>
cancellable_context<Cancel> with_handle(context_node* made) noexcept {
  context ctx(made);
  return {ctx, Cancel(ctx)};
}
}  // namespace detail

// Never ends, has no deadline and no values: where all others begin.
[[nodiscard]] inline context background() noexcept { return context(detail::root_context()); }

// All that take a parent throw std::invalid_argument if it is null. A child of a context that has ended has ended.
[[nodiscard]] inline cancellable_context<cancel_func> with_cancel(const context& parent) {
  return detail::with_handle<cancel_func>(detail::make_cancellable(parent.raw()));
}
[[nodiscard]] inline cancellable_context<cancel_cause_func> with_cause(const context& parent) {
  return detail::with_handle<cancel_cause_func>(detail::make_cancellable(parent.raw()));
}

// Ends when that time has come, or when its parent does if that is earlier. `cause`: what cause() says if it was the time.
// Throws not_running without a runtime, since nobody else looks at the clock; and when that runtime ends the deadline goes with it.
template <class Clock, class Duration>
[[nodiscard]] cancellable_context<cancel_func> with_deadline(
    const context& parent, const std::chrono::time_point<Clock, Duration>& when,
    std::exception_ptr cause = nullptr) {
  return detail::with_handle<cancel_func>(
      detail::make_limited(parent.raw(), detail::deadline_on(when), std::move(cause)));
}
template <class Rep, class Period>
[[nodiscard]] cancellable_context<cancel_func> with_timeout(
    const context& parent, const std::chrono::duration<Rep, Period>& d,
    std::exception_ptr cause = nullptr) {
  return detail::with_handle<cancel_func>(
      detail::make_limited(parent.raw(), detail::deadline_in(detail::to_ns(d)), std::move(cause)));
}

// Ends when the token is asked to stop, or when its parent does.
[[nodiscard]] inline context with_stop_token(const context& parent, std::stop_token token) {
  return context(detail::make_stoppable(parent.raw(), std::move(token)));
}

// What the parent says, and this value under that key. Text as a key is kept as std::string and compared by what it says; a pointer to
// anything else is compared as a pointer.
template <detail::plain_key Key, class V>
[[nodiscard]] context with_value(const context& parent, const Key& key, V&& v) {
  using entry = detail::context_value<Key, std::decay_t<V>>;
  return context(
      detail::make_valued(parent.raw(), std::make_unique<const entry>(key, std::forward<V>(v))));
}
template <class T>
[[nodiscard]] context with_value(const context& parent, const context_key<T>& key,
                                 std::type_identity_t<T> v) {
  using entry = detail::context_value<const void*, T>;
  return context(detail::make_valued(
      parent.raw(), std::make_unique<const entry>(static_cast<const void*>(&key), std::move(v))));
}

// The parent's values, but not its end: for what must go on after a request is over.
[[nodiscard]] inline context without_cancel(const context& parent) {
  return context(detail::make_unending(parent.raw()));
}

// What after_func(ctx, f) gives: prevents the call.
class context_stop {
 public:
  explicit context_stop(detail::context_call* made) noexcept : call_(made) {}
  context_stop(const context_stop& other) noexcept : call_(other.call_) {
    if (call_ != nullptr) call_->retain();
  }
  context_stop(context_stop&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  context_stop& operator=(context_stop other) noexcept {
    std::swap(call_, other.call_);
    return *this;
  }
  ~context_stop() {
    if (call_ != nullptr) call_->release();
  }

  // True: f will not be called. False: it has been started, or stopped before; it does not wait for one that runs.
  WEFT_MAY_SWITCH bool stop() const noexcept { return call_ != nullptr && call_->stop(); }
  WEFT_MAY_SWITCH bool operator()() const noexcept { return stop(); }

 private:
  detail::context_call* call_;
};

// Calls f when the context has ended, in a goroutine of its own; at once if it has. Only stop() prevents it, or that no runtime is there
// when the context ends; until then f and the context live on. An exception that leaves f is one that leaves a goroutine.
template <class F>
context_stop after_func(const context& ctx, F&& f) {
  static_assert(std::is_invocable_v<std::decay_t<F>&>, "after_func: f is called without arguments");
  detail::reject_empty(f);
  auto* const call =
      new detail::context_call_of<std::decay_t<F>>(std::in_place, std::forward<F>(f));
  context_stop handle(call);
  call->enter(ctx.raw());
  return handle;
}

namespace detail {

// A case that holds the channel itself: nobody else need.
template <class Handler>
class done_case {
 public:
  static constexpr case_kind kind = case_kind::channel;
  done_case(recv_chan<void> done, Handler h) : done_(std::move(done)), handler_(std::move(h)) {}

  const chan_handle& handle_of() const noexcept { return done_; }
  void keep(const chan_handle&) noexcept {}
  void prepare(select_slot& s) noexcept {
    s.chan = done_.raw();
    s.is_send = false;
  }
  WEFT_MAY_SWITCH bool run(passed) {
    handler_();
    return true;
  }

 private:
  recv_chan<void> done_;
  Handler handler_;
};

}  // namespace detail

// A case of select(): the context has ended.
template <class Handler = detail::nothing_to_do>
[[nodiscard]] auto on_done(const context& ctx, Handler&& h = {}) {
  static_assert(std::is_invocable_v<std::decay_t<Handler>&>,
                "on_done: the handler is called without arguments");
  return detail::done_case<std::decay_t<Handler>>(ctx.done(), std::forward<Handler>(h));
}

// The forms of chan.hpp and semaphore.hpp that take a context. It is asked first, so that whoever is never without work sees its end too.

template <class T, class Self>
bool detail::sending_end<T, Self>::send(const T& v, const context& ctx) const {
  return !has_ended(ctx.raw()) && weft::select(on_send(self(), v), on_done(ctx)) == 0;
}
template <class T, class Self>
bool detail::sending_end<T, Self>::send(T&& v, const context& ctx) const {
  return !has_ended(ctx.raw()) && weft::select(on_send(self(), std::move(v)), on_done(ctx)) == 0;
}
template <class Self>
bool detail::sending_end<void, Self>::send(const context& ctx) const {
  return !has_ended(ctx.raw()) &&
         weft::select(on_send(static_cast<const Self&>(*this)), on_done(ctx)) == 0;
}
template <class T, class Self>
std::optional<T> detail::receiving_end<T, Self>::recv(const context& ctx) const {
  // Made in its place: a move more might throw, and then it would be lost.
  recv_chan<void> done = ctx.done();
  received<T> element;
  channel* const c = mine();
  for (;;) {
    if (has_ended(ctx.raw())) return std::nullopt;
    select_slot slots[2];
    slots[0].chan = c;
    slots[0].elem = element.room();
    slots[1].chan = done.raw();
    const selected chosen = select_until(slots, 2, kLastNs);
    if (chosen.index != 0 || chosen.how == passed::closed) return std::nullopt;
    if (element.is_there()) return element.take(c);
  }
}
template <class Self>
bool detail::receiving_end<void, Self>::recv(const context& ctx) const {
  bool is_there = false;
  if (!has_ended(ctx.raw()))
    weft::select(on_recv(static_cast<const Self&>(*this), [&](bool ok) { is_there = ok; }),
                 on_done(ctx));
  return is_there;
}

}  // namespace weft::inline v1

template <>
struct std::is_error_code_enum<weft::context_errc> : std::true_type {};
