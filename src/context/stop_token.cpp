// stop_token.cpp: a context that ends when a std::stop_token says so.
#include "context/ending.hpp"
#include "sched/current.hpp"

#include <weft/go.hpp>

namespace weft::contexts {

namespace {

// A callback that destroys itself is known to the standard library by its thread, but a goroutine may go on on another one while it ends
// the context. So there the share is given back by somebody else, who may wait for the callback to return.
void release_later(ending* e) noexcept {
  if (sched::current_m() == nullptr) return context_node::release(e);
  try {
    weft::go([e] { context_node::release(e); });
  } catch (...) {
    // The runtime ends, or no memory is left: it stays.
  }
}

class stoppable final : public ending {
 public:
  stoppable(context_node* parent, detail::chan_handle done, std::stop_token token)
      : ending(parent, std::move(done)), callback_(std::move(token), on_stop{this}) {}

 private:
  struct on_stop {
    stoppable* whose;
    void operator()() const noexcept {
      if (!whose->try_retain()) return;  // its destructor waits for us
      whose->end({context_errc::canceled, nullptr});
      release_later(whose);
    }
  };

  std::stop_callback<on_stop> callback_;  // the last to be made, the first to go
};

}  // namespace

}  // namespace weft::contexts

namespace weft::inline v1::detail {

context_node* make_stoppable(context_node* parent, std::stop_token token) {
  auto* const n = new contexts::stoppable(contexts::require_parent(parent),
                                          contexts::ending::make_done(), std::move(token));
  n->join();
  return n;
}

std::stop_token stop_token_of(context_node* n) {
  contexts::ending* const e = contexts::ending_of(n);
  return e != nullptr ? e->stop_token() : std::stop_token();
}

}  // namespace weft::inline v1::detail
