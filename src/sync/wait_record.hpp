// wait_record.hpp: one who waits in a list that only grows until somebody takes all of it: an event's, a once's, a wait group's.
//
// The record lies in the frame of the one who waits. Whoever has taken the list wakes its owners, and does not touch a record once its owner
// is woken: the frame may be gone.
#pragma once

namespace weft::sync {

template <class Waiter>
struct wait_record {
  Waiter* who;
  wait_record* next;  // who came before
};

// Those who waited, first come first, of a list that has the newest first.
template <class Waiter, class Wake>
void wake_in_order(wait_record<Waiter>* newest, Wake&& wake) noexcept {
  if constexpr (requires { wake.take_all(newest); }) {
    if (wake.take_all(newest)) return;
  }
  wait_record<Waiter>* in_order = nullptr;
  while (newest != nullptr) {
    wait_record<Waiter>* const older = newest->next;
    newest->next = in_order;
    in_order = newest;
    newest = older;
  }
  while (in_order != nullptr) {
    wait_record<Waiter>* const r = in_order;
    in_order = r->next;               // before the owner of *r runs on
    __builtin_prefetch(in_order, 0);  // it lies in a stack that has been left alone for long
    wake(r->who);
  }
}

}  // namespace weft::sync
