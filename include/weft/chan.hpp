// chan.hpp: channels, as Go's: goroutines pass values to one another and wait for one another by it.
//
//   auto c = weft::make_chan<std::string>(8);      // room for 8; make_chan<T>() has none: sender and receiver meet
//   weft::go([c] {
//     for (auto& line : lines()) c.send(line);
//     c.close();                                   // no more will come
//   });
//   for (std::string& line : c) print(line);       // until it is closed and empty
//
// A chan is a handle: copies share one channel, and it dies with its last handle. A chan that was not made (`weft::chan<T> c;`) is nil: whoever
// sends to it or receives from it waits for ever, and select() never chooses it.
//
// Everything works from any thread: a goroutine parks, a plain thread sleeps. First come, first served, among senders and among receivers.
// Memory ordering: what was done before a send is visible after the receive of that value; what was done before a receive is visible after the
// send that uses the room it made; what was done before close() is visible after a receive that found the channel closed.
//
// Values: any type that can be moved. One that is trivially copyable travels as bytes; any other in a cell of its own on the heap, made by its
// sender. Nothing is lost or doubled when a constructor throws: if the sender's does, nothing was sent; if the receiver's does, the value is in
// the channel again, in front of all others.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/clock.hpp>
#include <weft/detail/channel.hpp>
#include <weft/detail/config.hpp>
#include <weft/detail/element.hpp>
#include <weft/error.hpp>

namespace weft::inline v1 {

class context;

namespace detail {

// Shares a channel, or is nil.
class chan_handle {
 public:
  chan_handle() noexcept = default;
  explicit chan_handle(channel* made) noexcept : channel_(made) {}
  chan_handle(const chan_handle& other) noexcept : channel_(other.channel_) {
    if (channel_ != nullptr) channel_->retain();
  }
  chan_handle(chan_handle&& other) noexcept : channel_(std::exchange(other.channel_, nullptr)) {}
  chan_handle& operator=(chan_handle other) noexcept {
    std::swap(channel_, other.channel_);
    return *this;
  }
  ~chan_handle() {
    if (channel_ != nullptr) channel_->release();
  }

  // How many values are in it now, and how many fit in. 0 for nil.
  std::size_t len() const noexcept { return channel_ != nullptr ? length(channel_) : 0; }
  std::size_t cap() const noexcept { return channel_ != nullptr ? capacity(channel_) : 0; }
  bool closed() const noexcept { return channel_ != nullptr && is_closed(channel_); }

  // False: nil.
  explicit operator bool() const noexcept { return channel_ != nullptr; }
  // The same channel?
  friend bool operator==(const chan_handle& a, const chan_handle& b) noexcept {
    return a.channel_ == b.channel_;
  }

  channel* raw() const noexcept { return channel_; }

 private:
  channel* channel_ = nullptr;
};

// What can be done with an end to send to. Self has raw().
template <class T, class Self>
class sending_end {
 public:
  // Sends v, waiting until a receiver takes it or the buffer has room.
  // Throws closed_channel if the channel is closed, before or while it waits; v is then untouched, as it is if a constructor throws.
  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void send(const T& v) const { send_patiently(v); }
  WEFT_MAY_SWITCH void send(T&& v) const { send_patiently(std::move(v)); }

  // Sends v if that needs no waiting. False: it would have; v is untouched. Throws closed_channel.
  WEFT_MAY_SWITCH bool try_send(const T& v) const { return send_at_once(v); }
  WEFT_MAY_SWITCH bool try_send(T&& v) const { return send_at_once(std::move(v)); }

  // Waits no longer than that. False: nobody took it by then; v is untouched. Throws closed_channel.
  template <class Rep, class Period>
  WEFT_MAY_SWITCH bool send_for(const T& v, const std::chrono::duration<Rep, Period>& d) const {
    return send_before(v, deadline_in(to_ns(d)));
  }
  template <class Rep, class Period>
  WEFT_MAY_SWITCH bool send_for(T&& v, const std::chrono::duration<Rep, Period>& d) const {
    return send_before(std::move(v), deadline_in(to_ns(d)));
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH bool send_until(const T& v,
                                  const std::chrono::time_point<Clock, Duration>& when) const {
    return wait_until_on(when, [&](std::int64_t deadline) { return send_before(v, deadline); });
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH bool send_until(T&& v,
                                  const std::chrono::time_point<Clock, Duration>& when) const {
    return wait_until_on(
        when, [&](std::int64_t deadline) { return send_before(std::move(v), deadline); });
  }

  // Waits no longer than the context lasts (<weft/context.hpp>). False: it has ended; v is untouched. Throws closed_channel.
  WEFT_MAY_SWITCH bool send(const T& v, const context& ctx) const;
  WEFT_MAY_SWITCH bool send(T&& v, const context& ctx) const;

  // c << v is c.send(v).
  WEFT_MAY_SWITCH const Self& operator<<(const T& v) const {
    send(v);
    return self();
  }
  WEFT_MAY_SWITCH const Self& operator<<(T&& v) const {
    send(std::move(v));
    return self();
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
  channel* mine() const noexcept { return self().raw(); }

  template <class V>
  WEFT_MAY_SWITCH void send_patiently(V&& v) const {
    channel* const c = mine();
    if constexpr (!travels_as_bytes<T>) {  // before anything is moved
      if (c != nullptr && is_closed(c)) throw closed_channel("send on closed channel");
    }
    transmit<T>(c, std::forward<V>(v), true, [c](const void* e) { return detail::send(c, e); });
  }
  template <class V>
  WEFT_MAY_SWITCH bool send_at_once(V&& v) const {
    channel* const c = mine();
    return transmit<T>(c, std::forward<V>(v), false,
                       [c](const void* e) { return detail::try_send(c, e); });
  }
  template <class V>
  WEFT_MAY_SWITCH bool send_before(V&& v, std::int64_t deadline_ns) const {
    channel* const c = mine();
    return transmit<T>(c, std::forward<V>(v), false, [c, deadline_ns](const void* e) {
      return detail::send_until(c, e, deadline_ns);
    });
  }
};

template <class Self>
class sending_end<void, Self> {
 public:
  WEFT_MAY_SWITCH void send() const { sent_or_throw(detail::send(mine(), nullptr)); }
  WEFT_MAY_SWITCH bool try_send() const { return sent_or_throw(detail::try_send(mine(), nullptr)); }
  template <class Rep, class Period>
  WEFT_MAY_SWITCH bool send_for(const std::chrono::duration<Rep, Period>& d) const {
    return send_before(deadline_in(to_ns(d)));
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH bool send_until(const std::chrono::time_point<Clock, Duration>& when) const {
    return wait_until_on(when, [&](std::int64_t deadline) { return send_before(deadline); });
  }
  WEFT_MAY_SWITCH bool send(const context& ctx) const;

 private:
  channel* mine() const noexcept { return static_cast<const Self&>(*this).raw(); }
  WEFT_MAY_SWITCH bool send_before(std::int64_t deadline_ns) const {
    return sent_or_throw(detail::send_until(mine(), nullptr, deadline_ns));
  }
};

// What range-for goes through: each value as it is received, until the channel is closed and empty.
template <class T, class Self>
class chan_iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  explicit chan_iterator(const Self& from) : from_(from), next_(from_.recv()) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): T's may throw
  chan_iterator(chan_iterator&& other) : from_(other.from_), next_(std::move(other.next_)) {}
  chan_iterator& operator=(chan_iterator&&) = delete;
  ~chan_iterator() { next_.~optional(); }

  T& operator*() const noexcept { return *next_; }
  T* operator->() const noexcept { return std::addressof(*next_); }
  // Made in its place: a move more might throw, and then it would be lost.
  WEFT_MAY_SWITCH chan_iterator& operator++() {
    next_.reset();
    next_.~optional();
    struct something {  // if recv() throws
      std::optional<T>* where;
      ~something() {
        if (where != nullptr) ::new (static_cast<void*>(where)) std::optional<T>;
      }
    } in_any_case{&next_};
    ::new (static_cast<void*>(&next_)) std::optional<T>(from_.recv());
    in_any_case.where = nullptr;
    return *this;
  }
  WEFT_MAY_SWITCH void operator++(int) { ++*this; }
  friend bool operator==(const chan_iterator& i, std::default_sentinel_t) noexcept {
    return !i.next_.has_value();
  }

 private:
  Self from_;
  union {
    mutable std::optional<T> next_;
  };
};

// What can be done with an end to receive from.
template <class T, class Self>
class receiving_end {
 public:
  // The next value; waits until there is one. nullopt: the channel is closed and empty.
  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH std::optional<T> recv() const {
    channel* const c = mine();
    return receive<T>(c, [c](void* room) { return detail::recv(c, room); });
  }

  // The next value if there is one now. nullopt: there is none; or the channel is closed and empty, which closed() tells.
  WEFT_MAY_SWITCH std::optional<T> try_recv() const {
    channel* const c = mine();
    return receive<T>(c, [c](void* room) { return detail::try_recv(c, room); });
  }

  // Waits no longer than that. nullopt: none came by then; or the channel is closed and empty.
  template <class Rep, class Period>
  WEFT_MAY_SWITCH std::optional<T> recv_for(const std::chrono::duration<Rep, Period>& d) const {
    return recv_before(deadline_in(to_ns(d)));
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH std::optional<T> recv_until(
      const std::chrono::time_point<Clock, Duration>& when) const {
    for (;;) {  // not our clock, perhaps: it may be set meanwhile
      const std::int64_t deadline = deadline_on(when);
      channel* const c = mine();
      received<T> element;
      for (;;) {
        const passed p = detail::recv_until(c, element.room(), deadline);
        if (p == passed::done && element.is_there()) return element.take(c);
        if (p == passed::closed) return std::nullopt;
        if (p == passed::not_yet) break;
      }
      if (std::is_same_v<Clock, clock> || deadline == kFirstNs) return std::nullopt;
    }
  }

  // Waits no longer than the context lasts (<weft/context.hpp>). nullopt: it has ended; or the channel is closed and empty.
  WEFT_MAY_SWITCH std::optional<T> recv(const context& ctx) const;

  // The next value into v. False: the channel is closed and empty, and v is as before.
  WEFT_MAY_SWITCH bool operator>>(T& v) const {
    std::optional<T> next = recv();
    if (next) v = std::move(*next);
    return next.has_value();
  }

  [[nodiscard]] WEFT_MAY_SWITCH chan_iterator<T, Self> begin() const {
    return chan_iterator<T, Self>(static_cast<const Self&>(*this));
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  channel* mine() const noexcept { return static_cast<const Self&>(*this).raw(); }
  WEFT_MAY_SWITCH std::optional<T> recv_before(std::int64_t deadline_ns) const {
    channel* const c = mine();
    return receive<T>(
        c, [c, deadline_ns](void* room) { return detail::recv_until(c, room, deadline_ns); });
  }
};

// A signal's: true, or false if the channel is closed and empty. Its range-for yields nothing of interest.
template <class Self>
class receiving_end<void, Self> {
 public:
  WEFT_MAY_SWITCH bool recv() const { return detail::recv(mine(), nullptr) == passed::done; }
  WEFT_MAY_SWITCH bool try_recv() const {
    return detail::try_recv(mine(), nullptr) == passed::done;
  }
  template <class Rep, class Period>
  WEFT_MAY_SWITCH bool recv_for(const std::chrono::duration<Rep, Period>& d) const {
    return detail::recv_until(mine(), nullptr, deadline_in(to_ns(d))) == passed::done;
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH bool recv_until(const std::chrono::time_point<Clock, Duration>& when) const {
    passed p = passed::not_yet;
    wait_until_on(when, [&](std::int64_t deadline) {
      p = detail::recv_until(mine(), nullptr, deadline);
      return p != passed::not_yet;
    });
    return p == passed::done;
  }
  WEFT_MAY_SWITCH bool recv(const context& ctx) const;

  class iterator {
   public:
    using value_type = std::monostate;
    using difference_type = std::ptrdiff_t;
    iterator() noexcept = default;
    explicit iterator(const Self& from) : from_(from) { ++*this; }
    std::monostate operator*() const noexcept { return {}; }
    WEFT_MAY_SWITCH iterator& operator++() {
      has_one_ = from_.recv();
      return *this;
    }
    WEFT_MAY_SWITCH void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept {
      return !i.has_one_;
    }

   private:
    Self from_;
    bool has_one_ = false;
  };
  [[nodiscard]] WEFT_MAY_SWITCH iterator begin() const {
    return iterator(static_cast<const Self&>(*this));
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  channel* mine() const noexcept { return static_cast<const Self&>(*this).raw(); }
};

// Throws closed_channel if it was closed before, nil_channel on nil.
WEFT_API WEFT_MAY_SWITCH void close_or_throw(channel* c);

}  // namespace detail

// Both ends: Go's chan T. T may be incomplete until something is done with one: struct node { weft::chan<node> next; };
template <class T>
class chan : public detail::chan_handle,
             public detail::sending_end<T, chan<T>>,
             public detail::receiving_end<T, chan<T>> {
 public:
  chan() noexcept = default;
  explicit chan(detail::channel* made) noexcept : chan_handle(made) {}

  // No more values will be sent. Whoever waits to receive gets what is left, then nullopt; whoever waits to send gets closed_channel.
  // Throws closed_channel if it was closed before, nil_channel on nil.
  WEFT_MAY_SWITCH void close() const { detail::close_or_throw(raw()); }
};

// The end to send to: Go's chan<- T.
template <class T>
class send_chan : public detail::chan_handle, public detail::sending_end<T, send_chan<T>> {
 public:
  send_chan() noexcept = default;
  send_chan(const chan<T>& c) noexcept : chan_handle(c) {}
  send_chan(chan<T>&& c) noexcept : chan_handle(std::move(c)) {}

  WEFT_MAY_SWITCH void close() const { detail::close_or_throw(raw()); }
};

// The end to receive from: Go's <-chan T.
template <class T>
class recv_chan : public detail::chan_handle, public detail::receiving_end<T, recv_chan<T>> {
 public:
  recv_chan() noexcept = default;
  recv_chan(const chan<T>& c) noexcept : chan_handle(c) {}
  recv_chan(chan<T>&& c) noexcept : chan_handle(std::move(c)) {}
};

// A channel with room for so many values; 0: sender and receiver meet.
// Throws std::length_error if no memory can hold so many, std::bad_alloc.
template <class T>
[[nodiscard]] chan<T> make_chan(std::size_t capacity = 0) {
  return chan<T>(detail::make_channel_of<T>(capacity));
}

}  // namespace weft::inline v1

// By identity, as ==.
template <class T>
struct std::hash<weft::chan<T>> {
  std::size_t operator()(const weft::chan<T>& c) const noexcept {
    return std::hash<const void*>()(c.raw());
  }
};
template <class T>
struct std::hash<weft::send_chan<T>> {
  std::size_t operator()(const weft::send_chan<T>& c) const noexcept {
    return std::hash<const void*>()(c.raw());
  }
};
template <class T>
struct std::hash<weft::recv_chan<T>> {
  std::size_t operator()(const weft::recv_chan<T>& c) const noexcept {
    return std::hash<const void*>()(c.raw());
  }
};
