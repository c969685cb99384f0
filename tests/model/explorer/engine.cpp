// engine.cpp: see engine.hpp. Threads, sleeping and failing.
#include "explorer/engine.hpp"

#include <bit>
#include <utility>

#include "base/check.hpp"

namespace weft::model {

engine the_engine;

const char* name_of(memory m) noexcept {
  switch (m) {
    case memory::sc:
      return "sc";
    case memory::store_buffer:
      return "store_buffer";
    case memory::stale_read:
      return "stale_read";
  }
  return "?";
}

engine::engine() : histories_(kMaxLocations) {
  base::on_failed_check = [](const char* condition, const char* why, const char*, int) {
    the_engine.fail(std::string("a check of the protocol's own: ") + why + " (" + condition + ")");
  };
}

// --- one execution ---

run_result engine::run(const program& p, strategy& how, const settings& set) {
  set_ = set;
  program_ = p;
  how_ = &how;
  result_ = {};
  recorded.clear();
  trace.clear();
  labels_.clear();
  is_fresh_ = false;
  nsteps_ = npicks_ = nstores_ = nspurious_ = nrestarts_ = nlocations_ = 0;
  timed_ = paused_ = behind_ = 0;
  ready_ = bit(p.nthreads) - 1;
  nalive_ = p.nthreads;
  for (unsigned i = 0; i < p.nthreads; ++i) {
    thread& t = threads_[i];
    t.stack.prepare(&thread_main, this);
    t.nforeign_seen = t.nown_stores = 0;
    t.has_looked = false;
    t.has_read_old = t.reads_newest = false;
    t.sees = {};
    t.sees.of_thread(i) = 1;
    t.buffer.clear();
  }
  p.make(p.world);
  current_ = kMaxThreads;  // nobody
  current_ = pick(ready_, true);
  is_running_ = true;
  arch::switch_context(&main_, &threads_[current_].stack.context);
  is_running_ = false;
  if (!result_.has_failed && p.at_end != nullptr) {
    end_.prepare(&end_main, this);
    arch::switch_context(&main_, &end_.context);
  }
  // Of one that failed, threads are left in the middle: what they hold is left as well.
  if (!result_.has_failed) p.destroy(p.world);
  result_.npoints = npicks_;
  return std::move(result_);
}

void engine::thread_main(void* self) {
  auto* const e = static_cast<engine*>(self);
  e->is_fresh_ = true;
  e->program_.thread(e->program_.world, e->current_);
  e->end_thread();
}

void engine::end_main(void* self) {
  auto* const e = static_cast<engine*>(self);
  e->program_.at_end(e->program_.world);
  e->back_to_main();
}

void engine::back_to_main() {
  arch::context gone;
  arch::switch_context(&gone, &main_);
  __builtin_unreachable();
}

void engine::fail(std::string why) {
  result_.has_failed = true;
  result_.why = std::move(why);
  if (is_tracing) say("FAILS: " + result_.why);
  is_running_ = false;
  back_to_main();
}

void engine::fail_dead(const cell& c) { fail("an object that is gone is used: " + name_of(c)); }

// --- who goes on ---

[[gnu::noinline]] void engine::go_to(unsigned next) {
  thread& from = threads_[current_];
  current_ = next;
  if ((timed_ & bit(next)) != 0) {  // its deadline has passed
    timed_ &= ~bit(next);
    ready_ |= bit(next);
  }
  arch::switch_context(&from.stack.context, &threads_[next].stack.context);
}

// The current thread cannot go on for now.
void engine::leave_cpu() {
  is_fresh_ = false;
  while ((ready_ | timed_) == 0) {
    if (force_progress()) continue;
    if (set_.may_end_asleep && paused_ == 0) back_to_main();
    fail(paused_ != 0 ? "nobody can go on: some spin for what nobody will do"
                      : "nobody can go on, and some are asleep");
  }
  const unsigned next = pick(ready_ | timed_, true);
  if (next != current_) {
    go_to(next);
  } else if ((timed_ & bit(next)) != 0) {
    timed_ &= ~bit(next);
    ready_ |= bit(next);
  }
}

void engine::end_thread() {
  ready_ &= ~bit(current_);
  if (is_tracing) say("ends");
  if (--nalive_ != 0) {
    leave_cpu();
    __builtin_unreachable();  // nobody switches back
  }
  if (set_.mem == memory::store_buffer) flush_everything();
  back_to_main();
}

// Nobody can go on by itself. What is stored is seen in the end, also by those who looked at old messages, or before it had left its queue.
bool engine::force_progress() {
  if (set_.mem == memory::sc) return false;
  unsigned late = 0;
  if (set_.mem == memory::store_buffer) {
    flush_everything();
    late = paused_ & behind_;
    behind_ &= ~late;
    paused_ &= ~late;
    ready_ |= late;
    return late != 0;
  }
  for (unsigned set = paused_; set != 0; set &= set - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(set));
    if (!threads_[i].has_read_old) continue;
    threads_[i].has_read_old = false;
    threads_[i].reads_newest = true;
    late |= bit(i);
  }
  paused_ &= ~late;
  ready_ |= late;
  return late != 0;
}

unsigned engine::choose(unsigned n, bool is_weak) {
  if (n == 1) return 0;
  const unsigned chosen = is_weak ? how_->choose_weak(n) : how_->choose(n);
  if (is_recording) recorded.push_back(static_cast<std::uint8_t>(kValue | chosen));
  return chosen;
}

// --- the policy ---

void engine::pause() {
  if (!is_running_) return;
  thread& t = threads_[current_];
  if (!std::exchange(t.has_looked, false)) return;  // one of several pauses
  if (nforeign(t) != t.nforeign_seen) return;       // worth another look
  ready_ &= ~bit(current_);
  paused_ |= bit(current_);
  if (is_tracing) say("pauses");
  leave_cpu();
  is_fresh_ = true;
}

bool engine::wait(const cell& word, std::uint64_t expected, bool has_deadline) {
  arrive(word);
  note_look();
  if (set_.mem == memory::store_buffer) settle(word);
  if (is_tracing)
    tell(has_deadline ? "timed wait" : "wait", word, std::memory_order_relaxed, expected);
  if (word.value != expected) return true;
  if (nspurious_ < set_.spurious_wakes && choose(2, true) == 1) {
    ++nspurious_;
    return true;
  }
  thread& t = threads_[current_];
  t.sleeps_on = &word;
  t.was_woken = false;
  ready_ &= ~bit(current_);
  if (has_deadline) timed_ |= bit(current_);
  leave_cpu();
  t.sleeps_on = nullptr;
  is_fresh_ = t.was_woken;
  if (is_tracing) say(t.was_woken ? "wakes up" : "wakes up: its time is over");
  return t.was_woken;
}

// The word may be gone: the kernel only compares addresses.
void engine::wake(const cell& word, int count) {
  if (!is_running_) return;
  point();
  if (set_.mem == memory::store_buffer) flush_all(current_);
  if (is_tracing) say("futex wake of " + name_of(word));
  for (unsigned i = 0; i < program_.nthreads && count > 0; ++i) {
    thread& t = threads_[i];
    if (t.sleeps_on != &word || t.was_woken || (ready_ & bit(i)) != 0) continue;
    t.was_woken = true;
    timed_ &= ~bit(i);
    ready_ |= bit(i);
    --count;
  }
}

void engine::barrier() {
  if (!is_running_) return;
  point();
  if (is_tracing) say("barrier on all threads");
  if (set_.mem == memory::store_buffer) flush_everything();
  if (set_.mem == memory::stale_read) share_views();
}

void engine::restart_others() {
  barrier();
  ++nrestarts_;
}

bool engine::replace_alone(cell& c, std::uint64_t before, std::uint64_t after) {
  const unsigned nrestarts = nrestarts_;
  if (load(c, std::memory_order_relaxed) != before) return false;
  if (!is_running_) {
    set_quietly(c, after);
    return true;
  }
  point();
  if (nrestarts_ != nrestarts) {
    if (is_tracing) say("is restarted");
    return false;
  }
  if (c.mark != kAlive) [[unlikely]]
    fail_dead(c);
  store_now(c, after, std::memory_order_release);
  return true;
}

bool engine::compare_exchange(cell& c, std::uint64_t& expected, std::uint64_t value,
                              std::memory_order success, std::memory_order failure) {
  if (!is_running_) {
    if (c.value != expected) {
      expected = c.value;
      return false;
    }
    set_quietly(c, value);
    return true;
  }
  arrive(c);
  before_update(c);
  bool has_failed = c.value != expected;
  if (set_.mem == memory::stale_read) {
    has_failed = fails_stale(c, expected, failure);
  } else if (has_failed) {
    expected = c.value;
  }
  if (has_failed) {
    if (is_tracing) tell("cas fails on", c, failure, expected);
    return false;
  }
  if (is_tracing) tell("cas", c, success, expected, value);
  commit_update(c, value, success);
  return true;
}

// --- locations ---

// By nobody: everyone knows of it from the beginning.
void engine::set_quietly(cell& c, std::uint64_t value) {
  c.value = value;
  if (set_.mem == memory::stale_read && c.id < kMaxLocations) histories_[c.id].begin(value);
}

void engine::add(cell& c, std::uint64_t value) {
  c.value = value;
  c.mark = kAlive;
  c.id = nlocations_++;
  if (set_.mem != memory::stale_read) return;
  if (c.id >= kMaxLocations) {
    if (is_running_) fail("more locations than the stale-read memory has room for");
    return;
  }
  histories_[c.id].begin(value);
}

void engine::remove(cell& c) {
  if (is_running_ && set_.mem == memory::store_buffer) {
    for (unsigned i = 0; i < program_.nthreads; ++i) {
      std::erase_if(threads_[i].buffer, [&](const buffered_store& s) {
        if (s.where != &c) return false;
        if (i != current_) fail("a store may yet reach an object that is gone: " + name_of(c));
        return true;
      });
    }
  }
  c.mark = 0xDEADDEAD;
}

}  // namespace weft::model
