// element.hpp: how a T gets into a channel and out of it. Not for users.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/detail/cell.hpp>
#include <weft/detail/channel.hpp>
#include <weft/error.hpp>

namespace weft::inline v1::detail {

template <class T>
concept travels_as_bytes = std::is_trivially_copyable_v<T>;

// Asked where something is done with a T, or a channel made, and not by the handle's class: a T may have a handle of its own kind in it.
template <class T>
concept chan_value = std::is_void_v<T> || (std::is_object_v<T> && !std::is_array_v<T> &&
                                           !std::is_const_v<T> && std::is_move_constructible_v<T>);

template <class T>
constexpr void assert_value() noexcept {
  static_assert(chan_value<T>, "a channel carries objects that can be moved, or void");
}

// Also where T goes as bytes: they could be had from an lvalue though it says that it is not to be doubled.
template <class T, class V>
constexpr void assert_sendable() noexcept {
  assert_value<T>();
  constexpr bool kStays = std::is_lvalue_reference_v<V> || std::is_const_v<V>;
  static_assert(!kStays || std::is_copy_constructible_v<T>,
                "what cannot be copied is sent as an rvalue: send(std::move(v))");
}

// Never returns `closed`.
inline bool sent_or_throw(passed p) {
  if (p == passed::closed) throw closed_channel("send on closed channel");
  return p == passed::done;
}

// Room for an element that is received, and how a T comes out of it: once, if is_there(). It is made in its place, since a move more might
// throw, and then it would be lost.
template <class T>
class received {
 public:
  void* room() noexcept { return &cell_; }

  // False: it was void, and the next one has to be received.
  WEFT_MAY_SWITCH bool is_there() noexcept { return cell<T>::wait_full(cell_); }

  // Throws what T's constructor throws; then it is in the channel again.
  std::optional<T> take(channel* c) {
    struct afterwards {
      channel* from;
      cell<T>* what;
      int nthrown = std::uncaught_exceptions();
      ~afterwards() {
        if (std::uncaught_exceptions() > nthrown) {
          give_back(from, what);
        } else {
          cell<T>::drop(what);
        }
      }
    } finish{c, cell_};
    return std::optional<T>(std::in_place, std::move(cell_->value));
  }

 private:
  cell<T>* cell_ = nullptr;
};

template <travels_as_bytes T>
class received<T> {
 public:
  received() noexcept {}
  void* room() noexcept { return bytes_; }
  bool is_there() const noexcept { return true; }

  std::optional<T> take(channel*) noexcept {
    return std::optional<T>(std::in_place, std::move(*std::launder(reinterpret_cast<T*>(bytes_))));
  }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

// Waits with wait(void* room) -> passed until there is a value. Nothing: closed, or not yet.
template <class T, class Wait>
WEFT_MAY_SWITCH std::optional<T> receive(channel* c, Wait&& wait) {
  assert_value<T>();
  received<T> element;
  while (wait(element.room()) == passed::done) {
    if (element.is_there()) return element.take(c);
  }
  return std::nullopt;
}

// Sends v to c with pass(const void* element) -> passed. False: not yet. If it is not sent, by an exception or otherwise, v is as before.
template <class T, class V, class Pass>
WEFT_MAY_SWITCH bool send_late(channel* c, V&& v, Pass&& pass) {
  auto mine = std::make_unique<cell<T>>(late_t{});
  cell<T>* const element = mine.get();
  element->offer();
  if (!sent_or_throw(pass(&element))) return false;
  mine.release();  // the receiver's
  element->fill(std::forward<V>(v), c);
  return true;
}

template <class T, class V, class Pass>
WEFT_MAY_SWITCH bool send_full(V&& v, Pass&& pass) {
  struct owner {
    cell<T>* c;
    ~owner() {
      if (c != nullptr) cell<T>::drop(c);
    }
  } mine{new cell<T>(std::in_place, std::forward<V>(v))};
  const passed p = pass(&mine.c);
  if (p == passed::done) {
    mine.c = nullptr;  // the receiver's
    return true;
  }
  if constexpr (std::is_rvalue_reference_v<V&&>) {
    if constexpr (std::is_nothrow_move_assignable_v<T>) {
      v = std::move(mine.c->value);
    } else {
      std::destroy_at(std::addressof(v));
      std::construct_at(std::addressof(v), std::move(mine.c->value));
    }
  }
  return sent_or_throw(p);
}

// is_patient: it may wait, and the receiver should not have to wait for us in turn.
template <class T, class V, class Pass>
WEFT_MAY_SWITCH bool transmit(channel* c, V&& v, bool is_patient, Pass&& pass) {
  assert_sendable<T, V>();
  if constexpr (travels_as_bytes<T>) {
    return sent_or_throw(pass(std::addressof(v)));
  } else if constexpr (std::is_lvalue_reference_v<V&&> || std::is_nothrow_move_constructible_v<T>) {
    return is_patient ? send_full<T>(std::forward<V>(v), pass)
                      : send_late<T>(c, std::forward<V>(v), pass);
  } else {
    return send_late<T>(c, std::forward<V>(v), pass);
  }
}

template <class T>
channel* make_channel_of(std::size_t capacity) {
  assert_value<T>();
  if constexpr (std::is_void_v<T>) {
    return make_channel(0, 1, capacity, nullptr);
  } else if constexpr (travels_as_bytes<T>) {
    return make_channel(sizeof(T), alignof(T), capacity, nullptr);
  } else {
    return make_channel(sizeof(void*), alignof(void*), capacity, [](void* element) noexcept {
      cell<T>::drop(*static_cast<cell<T>**>(element));
    });
  }
}

}  // namespace weft::inline v1::detail
