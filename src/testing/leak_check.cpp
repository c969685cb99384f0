// leak_check.cpp: goroutines that were not there before, and are there now.
//
// A goroutine is known by its runtime and its number, which no other one of that runtime has. Those of a runtime that has ended stay in
// memory for ever, so they are found even afterwards; nobody waits for them.
#include <algorithm>
#include <cstdlib>

#include "os/text.hpp"
#include "sched/park.hpp"
#include "testing/goroutines.hpp"

#include <weft/clock.hpp>
#include <weft/testing/leak_check.hpp>

namespace weft::inline v1::testing {

namespace {

using entry = weft::sched::goroutine_entry;
using std::chrono::nanoseconds;

constexpr nanoseconds kFirstPause = std::chrono::microseconds(100);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(50);

bool is_over(const entry& e) noexcept {
  return e.epoch !=
         weft::sched::sched.epoch.load(std::memory_order_relaxed);  // changes between runtimes
}

// run() goes on when the function of its main goroutine has returned: that one may be a few steps short of its end, for ever.
bool is_main_that_returned(const entry& e) noexcept { return e.made_at == nullptr && is_over(e); }

[[noreturn]] void say_and_abort(const std::vector<goroutine_info>& leaked) {
  os::write_all(os::kStderr, "weft::testing::leak_check: " + std::to_string(leaked.size()) +
                                 " goroutine(s) leaked:\n" + to_string(leaked));
  std::abort();
}

}  // namespace

leak_check::leak_check(leak_options options) : options_(std::move(options)) {
  for (const entry& e : testing_impl::list_goroutines()) before_.emplace_back(e.epoch, e.goid);
  std::sort(before_.begin(), before_.end());
}

leak_check::~leak_check() {
  if (was_asked_) return;
  const std::vector<goroutine_info> leaked = leaks();
  if (leaked.empty()) return;
  if (!options_.on_leak) say_and_abort(leaked);
  options_.on_leak(leaked);
}

std::vector<goroutine_info> leak_check::leaks() {
  was_asked_ = true;
  const weft::sched::G* const self = weft::sched::current_g();
  const key mine(self->epoch, self->goid.load(std::memory_order_relaxed));  // our own
  const auto may_stay = [&](const entry& e) {
    const key k(e.epoch, e.goid);
    return k == mine || is_main_that_returned(e) ||
           std::binary_search(before_.begin(), before_.end(), k) ||
           std::find(options_.ignore.begin(), options_.ignore.end(), e.name) !=
               options_.ignore.end();
  };
  const time_point limit = clock::now() + options_.grace;
  for (nanoseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    std::vector<entry> left = testing_impl::list_goroutines();
    std::erase_if(left, may_stay);
    if (std::all_of(left.begin(), left.end(), is_over) || clock::now() >= limit) {
      std::vector<goroutine_info> found;
      for (const entry& e : left) found.push_back(testing_impl::info_of(e));
      return found;
    }
    sleep_for(pause);
  }
}

}  // namespace weft::inline v1::testing
