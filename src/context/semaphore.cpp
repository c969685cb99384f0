// semaphore.cpp: acquire() that ends with a context.
#include "context/ending.hpp"
#include "sched/park_until.hpp"

#include <weft/semaphore.hpp>

namespace weft::contexts {

namespace {

// In the frame of one who waits: told under the ending's lock, so nobody is in it when leave() has returned.
class ends_wait final : public sched::revoker, public context_observer {
 public:
  explicit ends_wait(ending& by) noexcept : by_(by) {}

  bool begin(sched::limited_wait* w) noexcept override {
    wait_ = w;
    return by_.enter(this);
  }
  void end() noexcept override { by_.leave(this); }

  bool hold() noexcept override {
    sched::revoke(wait_);
    return false;
  }

 private:
  ending& by_;
  sched::limited_wait* wait_ = nullptr;
};

}  // namespace

}  // namespace weft::contexts

namespace weft::inline v1 {

bool semaphore::acquire(std::int64_t n, const context& ctx) {
  check(n);
  contexts::ending* const by = contexts::ending_of(ctx.raw());
  if (by == nullptr) {
    acquire(n);
    return true;
  }
  if (by->has_ended()) return false;
  if (take(n)) return true;
  contexts::ends_wait revoker(*by);
  return acquire_revocably(n, static_cast<sched::revoker*>(&revoker));
}

}  // namespace weft::inline v1
