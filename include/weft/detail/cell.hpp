// cell.hpp: what a value travels in when it cannot be moved as bytes. The channel carries the cell's address. Not for users.
//
// A channel moves its elements inside the runtime, where no code of the user's may run, and a constructor is such code. So what is not
// trivially copyable is put into a cell by its sender and taken out by its receiver, each in its own goroutine.
//
// A cell is full when it is sent; or it is *late*: sent empty, and filled when it is known that it was accepted. So a value that is moved
// from only if it is sent can be left alone until then. When a constructor throws then, the cell is *void* and taken back; a receiver who
// has it already drops it and goes on to the next. Whoever takes a late cell waits until it is filled, which is what its sender does next. A sender whose runtime
// ends before that never does; then the cell counts as void too, but it is *forsaken*: not freed, since a thread of that runtime may still
// be in T's constructor.
//
// Edges
//   [cell.fill]  filled: set()  ->  is_full.wait()
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <weft/detail/channel.hpp>
#include <weft/detail/late_mark.hpp>

namespace weft::inline v1::detail {

struct cell_base {
  void* link = nullptr;  // the channel's (give_back)
  late_mark is_full;     // only of a late one
  const bool is_late;
  bool is_void = false;

  explicit cell_base(bool late) noexcept : is_late(late) {}
};

struct late_t {};

template <class T>
struct cell : cell_base {
  union {
    T value;
  };

  // offer() follows, each time before it is sent.
  explicit cell(late_t) : cell_base(true) {}
  template <class V>
  cell(std::in_place_t, V&& v) : cell_base(false), value(std::forward<V>(v)) {}
  ~cell() {}  // whoever knows what is in it calls drop()

  // By the sender of a late one.
  void offer() noexcept { is_full.promise(); }

  // By the sender, after that channel has accepted it. Throws what T's constructor throws; then it is not in the channel any more. Only who
  // has received it already, and waits for it, still finds it void.
  template <class V>
  void fill(V&& v, channel* sent_to) {
    struct always {
      cell* c;
      channel* to;
      ~always() {
        if (c->is_void && take_back(to, c)) {
          delete c;
        } else {
          c->is_full.set();  // the receiver may delete it at once
        }
      }
    } then{this, sent_to};
    is_void = true;
    std::construct_at(std::addressof(value), std::forward<V>(v));
    is_void = false;
  }

  // By whoever has it. False: there is nothing in it, and never will be; it is not to be touched again.
  WEFT_MAY_SWITCH static bool wait_full(cell* c) noexcept {
    if (c->is_late && !c->is_full.wait()) return false;  // forsaken
    if (!c->is_void) return true;
    delete c;
    return false;
  }

  static void drop(cell* c) noexcept {
    if (!wait_full(c)) return;
    std::destroy_at(std::addressof(c->value));
    delete c;
  }
};

}  // namespace weft::inline v1::detail
