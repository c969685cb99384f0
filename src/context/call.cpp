// call.cpp: after_func(ctx, f): an observer that starts a goroutine.
//
// Whoever decides first, the end or stop(), gives the list's share back; the other one does nothing.
#include "context/ending.hpp"
#include "sched/crash.hpp"

#include <weft/go.hpp>

namespace weft::inline v1::detail {

context_call::~context_call() = default;

void context_call::enter(context_node* n) {
  contexts::ending* const at = contexts::ending_of(n);
  if (at == nullptr) return;  // it never ends
  at->retain();
  retain();
  at_ = at;
  if (!at->enter(this) && hold()) finish();
}

bool context_call::stop() noexcept {
  if (!fate_.take()) return false;
  if (at_ == nullptr) return true;
  static_cast<contexts::ending*>(at_)->leave(this);
  context_node::release(at_);
  release();  // not the last: our caller has one
  return true;
}

bool context_call::hold() noexcept { return fate_.take(); }

void context_call::finish() noexcept {
  context_node* const at = at_;
  const auto run_once = [this] {
    struct share {
      context_call* call;
      ~share() { call->release(); }
    } mine{this};
    run();
  };
  try {
    weft::go(run_once);
  } catch (const not_running&) {
    release();  // the runtime has ended, and with it all that was to come
  } catch (const std::bad_alloc&) {
    sched::fatal("weft: out of memory for the goroutine of after_func");
  }
  context_node::release(at);
}

}  // namespace weft::inline v1::detail
