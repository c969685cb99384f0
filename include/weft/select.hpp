// select.hpp: waiting for whichever of several things comes first.
//
//   std::size_t which = weft::select(
//       weft::on_recv(in, [&](std::optional<msg> m) { ... }),    // nullopt: closed and empty
//       weft::on_send(out, value, [&] { ... }),
//       weft::on_timeout(5s, [&] { ... }));                       // at most one
//
// Runs the handler of the case that was chosen and returns its index. Of several that are ready each is chosen with the same probability. With
// `otherwise` it never waits. A case on a nil channel is never ready; with no case that can ever fire it waits for ever. A send on a closed
// channel is ready, and throws closed_channel. A handler may throw, park, select or spawn; it may be left out.
//
// What is sent is moved or copied only if that case is chosen. A case refers to its channel and, if it is a T, to its value: use it in the
// expression that makes it. For cases that are made at run time there is select_list, which keeps the channel, and the value if it was an rvalue.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/chan.hpp>
#include <weft/clock.hpp>
#include <weft/detail/select_slot.hpp>

namespace weft::inline v1 {

namespace detail {

struct nothing_to_do {
  void operator()() const noexcept {}
};

enum class case_kind : std::uint8_t { channel, timeout, otherwise };

// What the cases at a channel share: which one it is.
class channel_case {
 public:
  static constexpr case_kind kind = case_kind::channel;
  const chan_handle& handle_of() const noexcept { return *handle_; }
  // A select_list has a handle of its own.
  void keep(const chan_handle& kept) noexcept { handle_ = &kept; }

 protected:
  explicit channel_case(const chan_handle& c) noexcept : handle_(&c) {}
  channel* raw() const noexcept { return handle_->raw(); }

 private:
  const chan_handle* handle_;
};

template <class T, class Handler>
class recv_case : public channel_case {
 public:
  recv_case(const chan_handle& from, Handler h) : channel_case(from), handler_(std::move(h)) {}

  void prepare(select_slot& s) noexcept {
    s.chan = raw();
    s.elem = element_.room();
    s.is_send = false;
  }
  // False: what was received is void, and the select goes on.
  WEFT_MAY_SWITCH bool run(passed how) {
    if (how == passed::done && !element_.is_there()) return false;
    const auto value = [&] {
      return how == passed::done ? element_.take(raw()) : std::optional<T>();
    };
    if constexpr (std::is_invocable_v<Handler&, std::optional<T>>) {
      handler_(value());  // made in its place
    } else {
      static_assert(std::is_invocable_v<Handler&>,
                    "on_recv: the handler takes std::optional<T>, or nothing");
      value();
      handler_();
    }
    return true;
  }

 private:
  received<T> element_;
  Handler handler_;
};

template <class Handler>
class recv_case<void, Handler> : public channel_case {
 public:
  recv_case(const chan_handle& from, Handler h) : channel_case(from), handler_(std::move(h)) {}

  void prepare(select_slot& s) noexcept {
    s.chan = raw();
    s.is_send = false;
  }
  WEFT_MAY_SWITCH bool run(passed how) {
    if constexpr (std::is_invocable_v<Handler&, bool>) {
      handler_(how == passed::done);
    } else {
      static_assert(std::is_invocable_v<Handler&>,
                    "on_recv of chan<void>: the handler takes bool, or nothing");
      handler_();
    }
    return true;
  }

 private:
  Handler handler_;
};

// What on_send() was given: the caller's own T, to be copied or moved from; or a T made from something else.
template <class T>
struct borrowed_lvalue {
  const T* value;
  const T& get() noexcept { return *value; }
};
// Of a const T too: that is copied, but after the expression it may be gone as any rvalue.
template <class T>
struct borrowed_rvalue {
  T* value;
  T&& get() noexcept { return std::move(*value); }
};
template <class T>
struct owned_value {
  T value;
  T&& get() noexcept { return std::move(value); }
};

template <class T, class Value, class Handler>
class send_case : public channel_case {
  static constexpr bool kIsOwned = std::is_same_v<Value, owned_value<T>>;
  static constexpr bool kIsRvalue = !std::is_same_v<Value, borrowed_lvalue<T>>;

 public:
  send_case(const chan_handle& to, Value v, Handler h)
      : channel_case(to), value_(std::move(v)), handler_(std::move(h)) {}

  // A select_list outlives the expression: it owns the rvalues that are sent. Leaves nothing here.
  auto owning()
    requires kIsRvalue
  {
    if constexpr (kIsOwned) {
      return std::move(*this);
    } else {
      return send_case<T, owned_value<T>, Handler>(handle_of(), owned_value<T>{T(value_.get())},
                                                   std::move(handler_));
    }
  }
  void prepare(select_slot& s) {
    s.chan = raw();
    s.is_send = true;
    if constexpr (travels_as_bytes<T>) {
      s.elem = const_cast<void*>(static_cast<const void*>(std::addressof(value())));
    } else {
      if (!cell_) cell_ = std::make_unique<cell<T>>(late_t{});
      cell_
          ->offer();  // each time: a select_list may be waited for in another goroutine than the last time
      element_ = cell_.get();
      s.elem = &element_;
    }
  }
  WEFT_MAY_SWITCH bool run(passed how) {
    deliver(how);
    handle();
    return true;
  }
  // The two halves of run(). When the first has returned the value is gone; if it throws, nothing was sent.
  WEFT_MAY_SWITCH void deliver(passed how) {
    sent_or_throw(how);
    if constexpr (!travels_as_bytes<T>) {
      cell_.release();  // the receiver's
      element_->fill(value_.get(), raw());
    }
  }
  WEFT_MAY_SWITCH void handle() { handler_(); }
  // What was not sent.
  T* unsent() noexcept
    requires kIsOwned
  {
    return std::addressof(value_.value);
  }

 private:
  decltype(auto) value() noexcept {
    if constexpr (kIsOwned) {
      return (value_.value);
    } else {
      return (*value_.value);
    }
  }

  struct no_cell {};
  Value value_;
  [[no_unique_address]] std::conditional_t<travels_as_bytes<T>, no_cell, std::unique_ptr<cell<T>>>
      cell_;
  cell<T>* element_ = nullptr;
  Handler handler_;
};

template <class Handler>
class signal_case : public channel_case {
 public:
  signal_case(const chan_handle& to, Handler h) : channel_case(to), handler_(std::move(h)) {}

  void prepare(select_slot& s) noexcept {
    s.chan = raw();
    s.is_send = true;
  }
  WEFT_MAY_SWITCH bool run(passed how) {
    sent_or_throw(how);
    handler_();
    return true;
  }

 private:
  Handler handler_;
};

template <class Handler>
class timeout_case {
 public:
  static constexpr case_kind kind = case_kind::timeout;
  timeout_case(std::int64_t ns, Handler h) : ns_(ns), handler_(std::move(h)) {}
  // Of a wait that begins now.
  std::int64_t deadline_ns() const noexcept { return deadline_in(ns_); }
  WEFT_MAY_SWITCH bool run(passed) {
    handler_();
    return true;
  }

 private:
  std::int64_t ns_;
  Handler handler_;
};

template <class Handler>
class otherwise_case {
 public:
  static constexpr case_kind kind = case_kind::otherwise;
  explicit otherwise_case(Handler h) : handler_(std::move(h)) {}
  WEFT_MAY_SWITCH bool run(passed) {
    handler_();
    return true;
  }

 private:
  Handler handler_;
};

template <class C>
concept select_case = requires(C c) {
  { C::kind } -> std::convertible_to<case_kind>;
};

template <class T, class V, class Handler>
auto make_send_case(const chan_handle& to, V&& v, Handler&& h) {
  using handler = std::decay_t<Handler>;
  if constexpr (!std::is_same_v<std::remove_cvref_t<V>, T>) {
    return send_case<T, owned_value<T>, handler>(to, {T(std::forward<V>(v))},
                                                 std::forward<Handler>(h));
  } else if constexpr (std::is_lvalue_reference_v<V>) {
    return send_case<T, borrowed_lvalue<T>, handler>(to, {std::addressof(v)},
                                                     std::forward<Handler>(h));
  } else {
    using given = std::remove_reference_t<V>;  // const, perhaps
    return send_case<T, borrowed_rvalue<given>, handler>(to, {std::addressof(v)},
                                                         std::forward<Handler>(h));
  }
}

template <case_kind Kind, select_case... Cases>
inline constexpr std::size_t count_of = (std::size_t{0} + ... + (Cases::kind == Kind ? 1 : 0));

template <case_kind Kind, select_case... Cases>
constexpr std::size_t index_of() noexcept {
  std::size_t i = 0;
  std::size_t found = kNone;
  ((found = Cases::kind == Kind && found == kNone ? i : found, ++i), ...);
  return found;
}

}  // namespace detail

template <class T, class Handler = detail::nothing_to_do>
[[nodiscard]] auto on_recv(const chan<T>& from, Handler&& h = {}) {
  return detail::recv_case<T, std::decay_t<Handler>>(from, std::forward<Handler>(h));
}
template <class T, class Handler = detail::nothing_to_do>
[[nodiscard]] auto on_recv(const recv_chan<T>& from, Handler&& h = {}) {
  return detail::recv_case<T, std::decay_t<Handler>>(from, std::forward<Handler>(h));
}

// An lvalue is copied, an rvalue moved, only if this case is chosen.
template <class T, class V, class Handler = detail::nothing_to_do>
  requires std::is_convertible_v<V, T>
[[nodiscard]] auto on_send(const chan<T>& to, V&& v, Handler&& h = {}) {
  return detail::make_send_case<T>(to, std::forward<V>(v), std::forward<Handler>(h));
}
template <class T, class V, class Handler = detail::nothing_to_do>
  requires std::is_convertible_v<V, T>
[[nodiscard]] auto on_send(const send_chan<T>& to, V&& v, Handler&& h = {}) {
  return detail::make_send_case<T>(to, std::forward<V>(v), std::forward<Handler>(h));
}
template <class Handler = detail::nothing_to_do>
[[nodiscard]] auto on_send(const chan<void>& to, Handler&& h = {}) {
  return detail::signal_case<std::decay_t<Handler>>(to, std::forward<Handler>(h));
}
template <class Handler = detail::nothing_to_do>
[[nodiscard]] auto on_send(const send_chan<void>& to, Handler&& h = {}) {
  return detail::signal_case<std::decay_t<Handler>>(to, std::forward<Handler>(h));
}

// None of the others was ready within d, from when the waiting begins: anew each time a select_list is waited on. At most one of these.
template <class Rep, class Period, class Handler = detail::nothing_to_do>
[[nodiscard]] auto on_timeout(const std::chrono::duration<Rep, Period>& d, Handler&& h = {}) {
  return detail::timeout_case<std::decay_t<Handler>>(detail::to_ns(d), std::forward<Handler>(h));
}

// None of the others is ready now: Go's default. At most one of these.
template <class Handler = detail::nothing_to_do>
[[nodiscard]] auto otherwise(Handler&& h = {}) {
  return detail::otherwise_case<std::decay_t<Handler>>(std::forward<Handler>(h));
}

// Blocks: this goroutine only (from a plain thread: that thread).
template <detail::select_case... Cases>
WEFT_MAY_SWITCH std::size_t select(Cases&&... cases) {
  using detail::case_kind;
  static_assert(detail::count_of<case_kind::timeout, std::remove_cvref_t<Cases>...> <= 1,
                "select: at most one on_timeout");
  static_assert(detail::count_of<case_kind::otherwise, std::remove_cvref_t<Cases>...> <= 1,
                "select: at most one otherwise");
  constexpr std::size_t kTimeout =
      detail::index_of<case_kind::timeout, std::remove_cvref_t<Cases>...>();
  constexpr std::size_t kOtherwise =
      detail::index_of<case_kind::otherwise, std::remove_cvref_t<Cases>...>();

  constexpr std::size_t n = sizeof...(Cases);
  detail::select_slot slots[n == 0 ? 1 : n];
  std::int64_t deadline_ns = detail::kLastNs;
  [[maybe_unused]] const auto limit = [&](const auto& c) {
    if constexpr (std::remove_cvref_t<decltype(c)>::kind == case_kind::timeout)
      deadline_ns = c.deadline_ns();
  };
  (limit(cases), ...);
  for (;;) {
    std::size_t i = 0;
    [[maybe_unused]] const auto prepare = [&](auto& c) {
      if constexpr (std::remove_cvref_t<decltype(c)>::kind == case_kind::channel)
        c.prepare(slots[i]);
      ++i;
    };
    (prepare(cases), ...);

    detail::selected chosen = kOtherwise != detail::kNone
                                  ? detail::try_select(slots, n)
                                  : detail::select_until(slots, n, deadline_ns);
    if (chosen.index == detail::kNone)
      chosen.index = kOtherwise != detail::kNone ? kOtherwise : kTimeout;

    i = 0;
    bool is_done = false;
    [[maybe_unused]] const auto run = [&](auto& c) {
      if (i++ == chosen.index) is_done = c.run(chosen.how);
    };
    (run(cases), ...);
    if (is_done) return chosen.index;
  }
}

}  // namespace weft::inline v1

// on_done, and the list of cases: they are made of what stands above.
#include <weft/context.hpp>
#include <weft/select_list.hpp>
