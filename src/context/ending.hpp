// ending.hpp: a context that can end by itself: what is below it in the tree, and how an end goes down.
//
// A child holds its parent; a parent only knows its children, so one that nobody can see any more takes itself out of the list and is gone.
// Whoever has the done channel can see it: while that has handles they hold one share together (the first of them takes it, the last gives
// it back), so the ending outlives its channel's last handle, and owns the channel.
//
// Locks are taken downwards, the parent's before the child's, and an end holds the locks of all it is inside of. So when any cancel() of
// an ending returns, everything below it has ended, whoever did it. No code of the user's runs under a lock: those who are told are
// collected, and called when all locks are free (finish).
//
//    an end comes from above                       the last share of a child goes
//    lock parent                                   nusers 1 -> 0
//    take child out of the list                    retire():
//    lock child                                      lock parent         waits: so the memory is there as long as the parent looks
//    try_retain() finds 0: leave it alone
//    unlock child, unlock parent                     not in the list any more
//                                                    unlock parent
//                                                  free
//
// Edges
//   [context.end]   end: error_, cause_, then is_closed_ of the channel release  ->  has_ended: is_closed acquire, then error_, cause_
//   [context.free]  release: nusers acq_rel  ->  the last release: nusers acq_rel
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>

#include "chan/impl.hpp"

#include <weft/context.hpp>
#include <weft/detail/timed_call.hpp>
#include <weft/mutex.hpp>

namespace weft::contexts {

using detail::context_node;
using detail::context_observer;

// Those who were told of an end, until they are called.
class held_list {
 public:
  void push(context_observer* o) noexcept {
    o->next = nullptr;
    *end_ = o;
    end_ = &o->next;
  }
  void finish_all() noexcept;

 private:
  context_observer* first_ = nullptr;
  context_observer** end_ = &first_;
};

class ending : public context_node, public context_observer {
 public:
  // The channel's only handle, which it gives up. Not yet a child of its parent: see join_parent().
  ending(context_node* parent, detail::chan_handle done) noexcept;
  static detail::chan_handle make_done();  // throws std::bad_alloc

  // From now on it ends with its parent; it has if that has. Its maker, once, when it is complete.
  void join_parent() noexcept;
  // Ends it then, unless it ends before. Throws std::bad_alloc, not_running.
  void set_deadline(std::int64_t when_ns, std::exception_ptr cause);

  void end(std::error_code why, std::exception_ptr cause) noexcept;

  bool has_ended() const noexcept { return done_->c.is_closed(); }  // [context.end]
  // When it has ended.
  std::error_code error() const noexcept { return error_; }
  const std::exception_ptr& cause() const noexcept { return cause_; }

  std::optional<std::int64_t> deadline_ns() const noexcept { return deadline_ns_; }
  detail::channel* share_done() noexcept;
  std::stop_token stop_token();

  // False: it has ended, and nobody was entered.
  bool enter(context_observer* o) noexcept;
  // When it returns, o is in no list, and hold() is not running.
  void leave(context_observer* o) noexcept;

  context_node* child() noexcept override { return this; }
  // When all locks are free: what the user is told by, and gives back what begin_end() took.
  void finish() noexcept override;

 protected:
  ~ending() override;
  void retire() noexcept override;

 private:
  // The one that it ends with; null: none.
  ending* above() const noexcept;
  // By its ancestor's end, which holds the lock above. True: it ends with it; it is locked, and there is a share more.
  bool begin_end(std::error_code why, const std::exception_ptr& cause) noexcept;
  void close_locked(std::error_code why, const std::exception_ptr& cause) noexcept;
  context_observer* take_observer_locked() noexcept;
  void announce() noexcept;

  mutex lock_;
  context_observer* first_ = nullptr;  // under the lock
  std::error_code error_;              // written under the lock, before the channel is closed
  std::exception_ptr cause_;
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
