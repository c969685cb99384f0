// ending.hpp: a context that can end by itself: what is below it in the tree, and how an end goes down.
//
// A child holds its parent; a parent only knows its children, so one that nobody can see any more takes itself out of the list and is gone.
// Whoever has the done channel can see it: while that has handles they hold one share together (the first of them takes it, the last gives
// it back), so the ending outlives its channel's last handle, and owns the channel.
//
// How an end goes down, who may come and go meanwhile, and the locks, is ending_core.hpp's. No code of the user's runs under a lock: those who are
// told are collected, and called when all locks are free (finish).
//
// Edges
//   [context.end]   end: the reason, then is_closed_ of the channel release  ->  has_ended: is_closed acquire, then the reason
//   [context.free]  release: shares.hpp
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>

#include "chan/impl.hpp"
#include "context/ending_core.hpp"

#include <weft/context.hpp>
#include <weft/detail/timed_call.hpp>
#include <weft/mutex.hpp>

namespace weft::contexts {

using detail::context_node;
using detail::context_observer;

// Why: written before the end can be seen.
struct reason {
  std::error_code error;
  std::exception_ptr cause;  // null: none but the error
};

class ending : public context_node,
               public context_observer,
               public ending_core<ending, context_observer, mutex, reason> {
 public:
  // The channel's only handle, which it gives up. Not yet a child of its parent: see join().
  ending(context_node* parent, detail::chan_handle done) noexcept;
  static detail::chan_handle make_done();  // throws std::bad_alloc

  // Ends it then, unless it ends before. Throws std::bad_alloc, not_running.
  void set_deadline(std::int64_t when_ns, std::exception_ptr cause);

  bool has_ended() const noexcept { return done_->c.is_closed(); }  // [context.end]
  // When it has ended.
  std::error_code error() const noexcept { return why().error; }
  const std::exception_ptr& cause() const noexcept { return why().cause; }

  std::optional<std::int64_t> deadline_ns() const noexcept { return deadline_ns_; }
  detail::channel* share_done() noexcept;
  std::stop_token stop_token();

  context_node* child() noexcept override { return this; }
  // When all locks are free: what the user is told by, and gives back what begin_end() took.
  void finish() noexcept override;

 protected:
  ~ending() override;
  void retire() noexcept override;

 private:
  friend ending_core;
  // The one that it ends with; null: none.
  ending* above() const noexcept;
  static ending* below(context_observer* o) noexcept { return static_cast<ending*>(o->child()); }
  void close() noexcept;
  void announce() noexcept;

  channels::impl* const done_;
  std::optional<std::int64_t> deadline_ns_;  // written before anybody else knows it
  detail::timed_call* timer_ = nullptr;      // under the lock; armed: it holds a share of us
  std::stop_source stop_{
      std::nostopstate};  // under the lock; once made it holds a share of us, until the end
};

// Those of another kind have none: null for null.
inline ending* ending_of(const context_node* n) noexcept {
  return n != nullptr ? static_cast<ending*>(n->ender()) : nullptr;
}

// Of a parent that may be null. Throws std::invalid_argument.
context_node* require_parent(context_node* parent);

}  // namespace weft::contexts
