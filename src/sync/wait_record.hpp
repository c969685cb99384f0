// wait_record.hpp: one who waits in a list that only grows until somebody takes all of it: an event's, a once's, a wait group's.
//
// Whoever has taken the list wakes those in it, and reads nothing of a record once its owner is woken: a record in the owner's frame may be
// gone, and a goroutine's own link is in use again.
#pragma once

namespace weft::sync {

// A record in the frame of the one who waits.
template <class Waiter>
struct wait_record {
  Waiter* who;
  wait_record* next;  // who came before
};

// What the list is made of. Specialised for who can be in such a list himself (waiting.hpp).
template <class Waiter>
struct wait_links {
  using record = wait_record<Waiter>;
  static record*& next(record* r) noexcept { return r->next; }
  static Waiter* owner(const record* r) noexcept { return r->who; }
};

// Those who waited, first come first, of a list that has the newest first.
template <class Waiter, class Wake>
void wake_in_order(typename wait_links<Waiter>::record* newest, Wake&& wake) noexcept {
  using links = wait_links<Waiter>;
  if constexpr (requires { wake.take_all(newest); }) {
    if (wake.take_all(newest)) return;
  }
  typename links::record* in_order = nullptr;
  while (newest != nullptr) {
    auto* const older = links::next(newest);
    links::next(newest) = in_order;
    in_order = newest;
    newest = older;
  }
  while (in_order != nullptr) {
    auto* const r = in_order;
    in_order = links::next(r);        // before the owner of *r runs on
    __builtin_prefetch(in_order, 0);  // it has been left alone for long
    wake(links::owner(r));
  }
}

}  // namespace weft::sync
