// context_node.hpp: what contexts share: a tree in which children hold their parents. Not for users.
//
// Most nodes only pass on what their ancestors say. Those that can end by themselves are `ending`s (src/context/ending.hpp), and each node
// knows the nearest above it, or itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weft/detail/channel.hpp>
#include <weft/detail/config.hpp>
#include <weft/detail/shares.hpp>
#include <weft/detail/type_tag.hpp>

namespace weft::inline v1::detail {

// A key and its value. The tags say of which types they are.
class WEFT_API context_entry {
 public:
  context_entry() noexcept = default;
  context_entry(const context_entry&) = delete;
  context_entry& operator=(const context_entry&) = delete;
  virtual ~context_entry();
  virtual bool has_key(const char* tag, const void* key) const = 0;
  // Null if it is of another type.
  virtual const void* value(const char* tag) const noexcept = 0;
};

class WEFT_API context_node {
 public:
  context_node(const context_node&) = delete;
  context_node& operator=(const context_node&) = delete;

  void retain() noexcept { shares_.take(); }
  // Frees it if that was the last share, and its ancestors as far as that is true of them.
  static void release(context_node* n) noexcept;

  context_node* parent() const noexcept { return parent_; }
  // That which ends when this node does; null: never. An ending gives itself.
  context_node* ender() const noexcept { return ender_; }

 protected:
  // Takes a share of the parent. Null only for the root.
  explicit context_node(context_node* parent, context_node* ender,
                        std::unique_ptr<const context_entry> entry) noexcept;
  virtual ~context_node();
  // The last share is gone, and nothing is destroyed yet.
  virtual void retire() noexcept {}
  // For one who does not own a share, but knows that the memory is there. False: it is about to be freed.
  bool try_retain() noexcept { return shares_.try_take(); }

 private:
  friend const void* find_value(const context_node* from, const char* key_tag, const void* key,
                                const char* value_tag);
  share_count shares_;
  context_node* const parent_;
  context_node* const ender_;
  const std::unique_ptr<const context_entry> entry_;
};

// They give a new share, and throw std::invalid_argument if there is no parent, std::bad_alloc, and not_running if a clock is needed.
WEFT_API context_node* root_context() noexcept;
WEFT_API context_node* make_cancellable(context_node* parent);
WEFT_API context_node* make_limited(context_node* parent, std::int64_t deadline_ns,
                                    std::exception_ptr cause);
WEFT_API context_node* make_stoppable(context_node* parent, std::stop_token token);
WEFT_API context_node* make_valued(context_node* parent,
                                   std::unique_ptr<const context_entry> entry);
WEFT_API context_node* make_unending(context_node* parent);

// Of a node, or of null.
WEFT_API channel* done_of(context_node* n) noexcept;  // a new handle; null: never
WEFT_API bool has_ended(const context_node* n) noexcept;
WEFT_API std::error_code error_of(const context_node* n) noexcept;
WEFT_API std::exception_ptr cause_of(const context_node* n);
WEFT_API std::optional<std::int64_t> deadline_of(const context_node* n) noexcept;
WEFT_API std::stop_token stop_token_of(context_node* n);
WEFT_API const void* find_value(const context_node* from, const char* key_tag, const void* key,
                                const char* value_tag);

// Ends an ending and all below it, unless it has ended. All have when it returns, whoever did it.
WEFT_API WEFT_MAY_SWITCH void cancel(context_node* n, std::exception_ptr cause) noexcept;

// Somebody who is told that a context ends. It stands in the list of one ending at most, under that one's lock.
class WEFT_API context_observer {
 public:
  context_observer() noexcept = default;
  context_observer(const context_observer&) = delete;
  context_observer& operator=(const context_observer&) = delete;

  // A context below, which ends too. Else:
  virtual context_node* child() noexcept { return nullptr; }
  // Under the lock, just taken out of the list. True: it lives until finish() is called, when all locks are free.
  virtual bool hold() noexcept { return false; }
  virtual void finish() noexcept {}

  context_observer** link = nullptr;  // what points to it in the list; null: it is in none
  context_observer* next = nullptr;   // in that list, then in that of those who are held

 protected:
  virtual ~context_observer();
};

// A function that is called when a context has ended.
class WEFT_API context_call : public context_observer {
 public:
  virtual void run() = 0;

  void retain() noexcept { shares_.take(); }
  void release() noexcept {
    if (shares_.give_back()) delete this;
  }

  // Takes a share, until one of the two is over. An end when no runtime is there calls nothing.
  WEFT_MAY_SWITCH void enter(context_node* n);
  // True: it will not be called.
  WEFT_MAY_SWITCH bool stop() noexcept;

  bool hold() noexcept override;
  void finish() noexcept override;

 protected:
  ~context_call() override;

 private:
  share_count shares_;
  decision
      fate_;  // by whoever wants to run it or to prevent that: what they share has locks or a launch
  context_node* at_ = nullptr;  // a share: the ending that it stands at, or stood
};

template <class F>
class context_call_of final : public context_call {
 public:
  template <class F2>
  context_call_of(std::in_place_t, F2&& f) : function_(std::forward<F2>(f)) {}
  void run() override { std::invoke(function_); }

 private:
  F function_;
};

}  // namespace weft::inline v1::detail
