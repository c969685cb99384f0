// ending.cpp: see ending.hpp.
#include "context/ending.hpp"

#include <mutex>
#include <utility>

#include "sched/start.hpp"

namespace weft::contexts {

namespace {

// The deadline's goroutine. It has the share that was taken when the timer was armed.
struct expire {
  ending* whose;
  std::exception_ptr cause;
  void operator()() {
    whose->end({context_errc::deadline_exceeded, cause});
    context_node::release(whose);
  }
};

void let_go(void* keeper) noexcept { context_node::release(static_cast<ending*>(keeper)); }

}  // namespace

detail::chan_handle ending::make_done() {
  return detail::chan_handle(detail::make_channel(0, 1, 0, nullptr));
}

ending::ending(context_node* parent, detail::chan_handle done) noexcept
    : context_node(parent, this, nullptr), done_(channels::of(done.raw())) {
  retain();  // for that handle: see share_done()
  done_->keep_by(this, &let_go);
  if (const ending* const up = above()) deadline_ns_ = up->deadline_ns_;
}

ending::~ending() {
  if (timer_ != nullptr) timer_->release();
  done_->disown();
}

void ending::retire() noexcept {
  if (ending* const up = above()) up->leave(this);
}

ending* ending::above() const noexcept { return ending_of(parent()); }

void ending::set_deadline(std::int64_t when_ns, std::exception_ptr cause) {
  if (deadline_ns_ && *deadline_ns_ <= when_ns) return;  // its ancestor ends first
  deadline_ns_ = when_ns;
  if (when_ns <= detail::now_ns()) return end({context_errc::deadline_exceeded, std::move(cause)});
  sched::require_running("weft::with_deadline");  // nobody else looks at the clock
  const std::lock_guard hold(lock_);
  if (has_ended()) return;
  timer_ = new detail::timed_call_of<expire>(std::in_place, expire{this, std::move(cause)});
  timer_->reset(when_ns);
  retain();  // the timer's, which cannot come before we unlock
}

void ending::close() noexcept {
  detail::close(done_);                                    // [context.end]
  if (timer_ != nullptr && timer_->stop()) release(this);  // not the last: our caller's is there
}

void ending::announce() noexcept {
  if (!stop_.stop_possible()) return;  // it does not change after the end
  stop_.request_stop();
  release(this);
}

void ending::finish() noexcept {
  announce();
  release(this);
}

detail::channel* ending::share_done() noexcept {
  if (done_->retain()) retain();
  return done_;
}

std::stop_token ending::stop_token() {
  const std::lock_guard hold(lock_);
  if (has_ended()) {
    std::stop_source over;
    over.request_stop();  // nobody has a callback there
    return over.get_token();
  }
  if (!stop_.stop_possible()) {
    stop_ = std::stop_source();
    retain();  // a token cannot hold us, and must learn of an end from above
  }
  return stop_.get_token();
}

}  // namespace weft::contexts
