// stale_read.cpp: the memory of the C++ standard, as far as an explorer that runs programs in order can be it. See engine.hpp.
//
// Each location keeps every message; each thread has a view. A load reads any message that is not older than the view says (and not older
// than `staleness` messages, to keep the search small). A release store gives the thread's view to the message, and an acquire load takes
// it. A read-modify-write reads the newest and passes on what that carried (release sequences).
//
// seq_cst is an order per location only: a seq_cst load reads nothing older than the last seq_cst store there. It is not a fence: what it
// says about *other* locations, release and acquire say. A compare-and-exchange that fails is a load and may read an old message too.
//
// Races: each thread counts its releases. What is not atomic remembers when it was written and read, and by whom; if that is not in the
// view of the next one who comes, nothing orders the two.
#include "explorer/engine.hpp"

namespace weft::model {

namespace {

bool is_acquire(std::memory_order o) noexcept {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst || o == std::memory_order_consume;
}

bool is_release(std::memory_order o) noexcept {
  return o == std::memory_order_release || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst;
}

}  // namespace

unsigned engine::oldest_readable(const history& h, unsigned id, std::memory_order order) const {
  const thread& t = threads_[current_];
  const unsigned newest = h.newest();
  if (t.reads_newest) return newest;
  unsigned oldest = t.sees.of_location(id);
  if (order == std::memory_order_seq_cst) oldest = std::max(oldest, h.last_seq_cst);
  return newest - std::min(newest - oldest, set_.staleness);
}

std::uint64_t engine::read_message(const cell& c, unsigned at, std::memory_order order) {
  thread& t = threads_[current_];
  const history& h = histories_[c.id];
  if (at != h.newest()) t.has_read_old = true;
  std::uint8_t& seen = t.sees.of_location(c.id);
  if (at > seen) t.reads_newest = false;  // it got on
  seen = static_cast<std::uint8_t>(at);
  if (is_acquire(order)) t.sees.join(h.messages[at].carries);
  return h.messages[at].value;
}

std::uint64_t engine::load_stale(const cell& c, std::memory_order order) {
  const history& h = histories_[c.id];
  const unsigned n = h.newest() - oldest_readable(h, c.id, order) + 1;
  return read_message(c, h.newest() - choose(n, true), order);
}

// Whether a compare-and-exchange fails: on the newest message, or on an old one that is not what is expected.
bool engine::fails_stale(const cell& c, std::uint64_t& expected, std::memory_order failure) {
  const history& h = histories_[c.id];
  const unsigned newest = h.newest();
  unsigned options[kMaxTime] = {newest};
  unsigned n = 1;
  const unsigned oldest = oldest_readable(h, c.id, failure);
  for (unsigned at = newest; at-- > oldest;) {
    if (h.messages[at].value != expected) options[n++] = at;
  }
  const unsigned at = options[choose(n, true)];
  if (at == newest && h.messages[at].value == expected) return false;
  expected = read_message(c, at, failure);
  return true;
}

// What the thread does from now on is not yet released.
void engine::count_release() {
  if (++threads_[current_].sees.of_thread(current_) >= kMaxTime)
    fail("more releases than the stale-read memory has room for");
}

void engine::append(cell& c, std::uint64_t value, std::memory_order order, view carries) {
  thread& t = threads_[current_];
  history& h = histories_[c.id];
  const auto at = static_cast<std::uint8_t>(h.newest() + 1);
  if (at >= kMaxTime) fail("more stores than the stale-read memory has room for");
  t.sees.of_location(c.id) = at;
  carries.of_location(c.id) = at;
  if (is_release(order)) {
    carries.join(t.sees);
    count_release();
  }
  h.messages.push_back({value, carries});
  if (order == std::memory_order_seq_cst) h.last_seq_cst = at;
  c.value = value;
}

void engine::store_stale(cell& c, std::uint64_t value, std::memory_order order) {
  append(c, value, order, {});
}

void engine::update_stale(cell& c, std::uint64_t value, std::memory_order order) {
  const message& before = histories_[c.id].messages.back();
  if (is_acquire(order)) threads_[current_].sees.join(before.carries);
  append(c, value, order, before.carries);
}

void engine::share_views() {
  view all;
  for (unsigned i = 0; i < program_.nthreads; ++i) all.join(threads_[i].sees);
  for (unsigned i = 0; i < program_.nthreads; ++i) {
    threads_[i].sees = all;
    ++threads_[i].sees.of_thread(i);
  }
}

void engine::check_read(plain_state& s, const char* what) {
  const view& mine = threads_[current_].sees;
  if (s.written > mine.of_thread(s.writer))
    fail(std::string("data race: ") + what +
         " is read, and what was written is not known to be over");
  s.read[current_] = mine.of_thread(current_);
}

void engine::check_write(plain_state& s, const char* what) {
  const view& mine = threads_[current_].sees;
  if (s.written > mine.of_thread(s.writer))
    fail(std::string("data race: ") + what + " is written by two");
  for (unsigned i = 0; i < program_.nthreads; ++i) {
    if (i != current_ && s.read[i] > mine.of_thread(i))
      fail(std::string("data race: ") + what + " is written while it may be read");
  }
  s.writer = static_cast<std::uint8_t>(current_);
  s.written = mine.of_thread(current_);
}

}  // namespace weft::model
