// node.cpp: contexts as a tree: how they are made, what they say, and when they go.
#include <new>
#include <stdexcept>
#include <utility>

#include "context/ending.hpp"

#include <weft/detail/context_node.hpp>

namespace weft::inline v1::detail {

context_entry::~context_entry() = default;
context_observer::~context_observer() = default;
context_node::~context_node() = default;

context_node::context_node(context_node* parent, context_node* ender,
                           std::unique_ptr<const context_entry> entry) noexcept
    : parent_(parent), ender_(ender), entry_(std::move(entry)) {
  if (parent_ != nullptr) parent_->retain();
}

// A chain of any length, so no recursion.
void context_node::release(context_node* n) noexcept {
  while (n != nullptr && n->shares_.give_back()) {
    context_node* const up = n->parent_;
    n->retire();
    delete n;
    n = up;
  }
}

namespace {

using contexts::ending;
using contexts::ending_of;

// Passes on what its parent says, or a part of it.
class plain_node final : public context_node {
 public:
  plain_node(context_node* parent, context_node* ender,
             std::unique_ptr<const context_entry> entry) noexcept
      : context_node(parent, ender, std::move(entry)) {}
};

// A node that is given out when it is complete.
struct share {
  context_node* node;
  ~share() {
    if (node != nullptr) context_node::release(node);
  }
  context_node* give() noexcept { return std::exchange(node, nullptr); }
};

}  // namespace

context_node* root_context() noexcept {
  alignas(plain_node) static std::byte
      memory[sizeof(plain_node)];  // never destroyed: others may be at exit
  static context_node* const root = ::new (memory) plain_node(nullptr, nullptr, nullptr);
  root->retain();
  return root;
}

context_node* make_cancellable(context_node* parent) {
  auto* const n = new ending(contexts::require_parent(parent), ending::make_done());
  n->join();
  return n;
}

context_node* make_limited(context_node* parent, std::int64_t deadline_ns,
                           std::exception_ptr cause) {
  auto* const n = new ending(contexts::require_parent(parent), ending::make_done());
  share mine{n};
  n->join();
  n->set_deadline(deadline_ns, std::move(cause));
  return mine.give();
}

context_node* make_valued(context_node* parent, std::unique_ptr<const context_entry> entry) {
  contexts::require_parent(parent);
  return new plain_node(parent, parent->ender(), std::move(entry));
}

context_node* make_unending(context_node* parent) {
  return new plain_node(contexts::require_parent(parent), nullptr, nullptr);
}

channel* done_of(context_node* n) noexcept {
  ending* const e = ending_of(n);
  return e != nullptr ? e->share_done() : nullptr;
}

bool has_ended(const context_node* n) noexcept {
  const ending* const e = ending_of(n);
  return e != nullptr && e->has_ended();
}

std::error_code error_of(const context_node* n) noexcept {
  return has_ended(n) ? ending_of(n)->error() : std::error_code();
}

std::exception_ptr cause_of(const context_node* n) {
  if (!has_ended(n)) return nullptr;
  const ending* const e = ending_of(n);
  return e->cause() ? e->cause() : std::make_exception_ptr(context_error(e->error()));
}

std::optional<std::int64_t> deadline_of(const context_node* n) noexcept {
  const ending* const e = ending_of(n);
  return e != nullptr ? e->deadline_ns() : std::nullopt;
}

const void* find_value(const context_node* from, const char* key_tag, const void* key,
                       const char* value_tag) {
  for (const context_node* n = from; n != nullptr; n = n->parent_)
    if (n->entry_ && n->entry_->has_key(key_tag, key)) return n->entry_->value(value_tag);
  return nullptr;
}

void cancel(context_node* n, std::exception_ptr cause) noexcept {
  if (ending* const e = ending_of(n)) e->end({context_errc::canceled, std::move(cause)});
}

}  // namespace weft::inline v1::detail

namespace weft::contexts {

context_node* require_parent(context_node* parent) {
  if (parent == nullptr)
    throw std::invalid_argument("weft: a context cannot be derived from a null context");
  return parent;
}

}  // namespace weft::contexts
