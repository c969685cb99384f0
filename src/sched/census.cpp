// census.cpp: see census.hpp.
#include "sched/census.hpp"

#include <algorithm>

#include "rt/g_slab.hpp"
#include "sched/entry.hpp"
#include "sched/extras.hpp"
#include "sched/hold.hpp"

namespace weft::sched {

namespace {

struct listing {
  goroutine_entry* out;
  std::size_t room;
  std::size_t n = 0;
};

void add_name(goroutine_entry& e, const G* gp) noexcept {
  if (gp->extras == nullptr) return;
  const std::size_t n = gp->extras->name.copy(e.name, goroutine_entry::kLongestName);
  e.name[n] = '\0';
}

// Of one that is held.
void add_wait(goroutine_entry& e, const G* gp) noexcept {
  e.status = g_status::waiting;
  e.why = gp->why;
  e.waits_on = gp->cold().waits_on;
  add_name(e, gp);
}

bool is_started(g_status s) noexcept {
  return s != g_status::idle && s != g_status::dead && s != g_status::asleep;
}

void add_one(G* gp, void* arg) {
  auto* const all = static_cast<listing*>(arg);
  goroutine_entry e;
  e.goid = gp->goid.load(std::memory_order_relaxed);  // asked again below
  if (e.goid == 0 || gp->is_proxy()) return;
  const bool is_held = hold_waiting(gp);
  if (is_held) {
    add_wait(e, gp);
  } else {
    e.status = gp->status();
  }
  e.epoch = gp->epoch;
  e.bubble = gp->bubble();
  e.made_at = gp->made_at;
  e.made_by = gp->made_by;
  // relaxed: if it has ended meanwhile, and another has its place, that is not what we have read
  const bool is_same = gp->goid.load(std::memory_order_relaxed) == e.goid;
  if (is_held) let_go_waiting(gp);
  if (!is_same || !is_started(e.status)) return;
  if (all->n < all->room) all->out[all->n] = e;
  ++all->n;
}

}  // namespace

std::size_t list_goroutines(goroutine_entry* out, std::size_t room) noexcept {
  listing all{out, room};
  const bracket inside;
  rt::for_each_g(&add_one, &all);
  return all.n;
}

}  // namespace weft::sched
