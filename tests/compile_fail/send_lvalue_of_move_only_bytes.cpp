// Trivially copyable, so it goes as bytes, and still it says that it must not be doubled: an lvalue is refused.
// expect: sent as an rvalue
#include <utility>

#include <weft/chan.hpp>

struct ticket {
  explicit ticket(int n) : number(n) {}
  ticket(const ticket&) = delete;
  ticket(ticket&&) = default;
  int number;
};
static_assert(std::is_trivially_copyable_v<ticket>);

void f(const weft::chan<ticket>& c, ticket t) {
#if defined(WEFT_MUST_FAIL)
  c.send(t);
#else
  c.send(std::move(t));
#endif
}
