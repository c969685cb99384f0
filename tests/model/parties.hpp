// parties.hpp: who waits in a scenario, in place of goroutines: parking is a sleep on a futex word, and readying a wake-up.
#pragma once

#include <cstdint>

#include "explorer/explore.hpp"
#include "rt/timed_wait_word.hpp"

namespace weft::model {

class party;

// What stands in a record after its owner has gone on: whoever still follows it comes here.
party* forbidden() noexcept;

// Outlives every wait, as a G does.
class party {
 public:
  // Until it was woken, once.
  void sleep() noexcept {
    while (word_.exchange(0, std::memory_order_acquire) == 0) model_atomics::wait(word_, 0);
  }
  void wake() noexcept {
    MODEL_CHECK(this != forbidden(), "the record of one that has gone on is used");
    const std::uint32_t before = word_.exchange(1, std::memory_order_release);
    MODEL_CHECK(before == 0, "somebody is woken twice");
    ++nwoken;
    model_atomics::wake(word_, 1);
  }
  // Nobody has woken it in vain.
  bool is_quiet() const noexcept { return word_.load(std::memory_order_relaxed) == 0; }

  int nwoken = 0;

 private:
  model_atomics::atomic<std::uint32_t> word_{0};
};

inline party* forbidden() noexcept {
  alignas(party) static std::byte nobody[sizeof(party)];  // never made: only its address counts
  return reinterpret_cast<party*>(nobody);
}

inline const auto wake = [](party* p) { p->wake(); };

struct parties {
  static bool is_gone(const party*) noexcept { return false; }
  static std::uint32_t epoch() noexcept { return 1; }
};

// sched::waiter, sched::limited_wait and park_until(), with a timer that a thread of the scenario is.
struct timed_waiter {
  party* who = nullptr;
  rt::basic_timed_wait_word<model_atomics>* timed = nullptr;
};

inline const auto end_wait = [](timed_waiter* w) {
  party* const p = w->who;  // before the mark
  if (w->timed == nullptr || w->timed->end(rt::wait_mark::woken)) p->wake();
};

struct timed_waiters {
  static bool is_gone(const timed_waiter*) noexcept { return false; }
  static std::uint32_t epoch() noexcept { return 1; }
};

class timer {
 public:
  struct appointment {
    party* who;
    rt::basic_timed_wait_word<model_atomics> word;
  };

  void arm(appointment* a) noexcept { armed_.store(a, std::memory_order_release); }
  // False: it has fired, or is about to.
  bool cancel(appointment* a) noexcept {
    return armed_.compare_exchange_strong(a, nullptr, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  // A thread: the time is over as soon as somebody waits.
  void fire_when_armed() noexcept {
    while (armed_.load(std::memory_order_relaxed) == nullptr) model_atomics::pause();
    fire();
  }
  // A thread: the time is over, now.
  void fire() noexcept {
    appointment* const a = armed_.exchange(nullptr, std::memory_order_acq_rel);
    if (a == nullptr) return;
    party* const p = a->who;
    if (a->word.end(rt::wait_mark::timed_out)) p->wake();
  }

 private:
  model_atomics::atomic<appointment*> armed_{nullptr};
};

inline void await_mark(const rt::basic_timed_wait_word<model_atomics>& word,
                       rt::wait_mark m) noexcept {
  while (!word.has(m)) model_atomics::pause();
}

// As sched::park_until(): enter(timed_waiter*) and withdraw(timed_waiter*) are its list. False: the time was over first.
template <class Enter, class Withdraw>
bool park_until(party& me, timer& t, Enter&& enter, Withdraw&& withdraw) noexcept {
  timer::appointment a{&me, {}};
  timed_waiter mine{&me, &a.word};
  t.arm(&a);
  const bool is_entered = enter(&mine);
  if (is_entered && a.word.park()) me.sleep();
  if (!a.word.has(rt::wait_mark::timed_out) && !t.cancel(&a))
    await_mark(a.word, rt::wait_mark::timed_out);
  bool has_come = true;
  if (is_entered && !a.word.has(rt::wait_mark::woken)) {
    has_come = !withdraw(&mine);
    if (has_come) await_mark(a.word, rt::wait_mark::woken);
  }
  mine = {forbidden(), nullptr};
  return has_come;
}

// Without a limit.
template <class Enter>
void park(party& me, Enter&& enter) noexcept {
  timed_waiter mine{&me, nullptr};
  if (enter(&mine)) me.sleep();
  mine = {forbidden(), nullptr};
}

// A world's object that can be destroyed in the middle of an execution: whoever touches its atomics afterwards fails.
template <class T>
class mortal {
 public:
  mortal() { ::new (storage_) T(); }
  ~mortal() {
    if (!is_gone_) get().~T();
  }
  mortal(const mortal&) = delete;
  mortal& operator=(const mortal&) = delete;

  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
  T* operator->() noexcept { return &get(); }
  void destroy() noexcept {
    is_gone_ = true;
    get().~T();
  }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
  bool is_gone_ = false;
};

}  // namespace weft::model
