// locals.cpp: see locals.hpp; the library half of <weft/goroutine_local.hpp>.
//
// A goroutine has few locals, so they are a list that is searched from the front, and what is found moves there.
#include "sched/locals.hpp"

#include <atomic>
#include <utility>

#include <weft/goroutine_local.hpp>
#include <weft/join_handle.hpp>
#include "sched/extras.hpp"
#include "sched/park.hpp"

namespace weft::rt {

struct g_locals {
  weft::detail::local_key key;
  void* value;
  void (*destroy)(void*);
  g_locals* next;
};

}  // namespace weft::rt

namespace weft::sched {

void destroy_locals(rt::G* gp) noexcept {
  // A destructor may make a new local: go on until there are none.
  while (rt::g_locals* const first = gp->locals) {
    gp->locals = first->next;
    first->destroy(first->value);
    delete first;
  }
}

void destroy_extras(rt::G* gp) noexcept { delete std::exchange(gp->extras, nullptr); }

}  // namespace weft::sched

namespace weft::inline v1::detail {

void* find_local(local_key key) noexcept {
  rt::G* const gp = sched::current_g();
  for (rt::g_locals** at = &gp->locals; *at != nullptr; at = &(*at)->next) {
    rt::g_locals* const found = *at;
    if (found->key.id != key.id || found->key.type != key.type) continue;
    *at = found->next;
    found->next = gp->locals;
    gp->locals = found;
    return found->value;
  }
  return nullptr;
}

void insert_local(local_key key, void* value, void (*destroy)(void*)) {
  rt::G* const gp = sched::current_g();
  gp->locals = new rt::g_locals{key, value, destroy, gp->locals};
}

std::uintptr_t new_local_id() noexcept {
  static constinit std::atomic<std::uintptr_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // only unique
}

void end_goroutine_locals() noexcept { sched::end_locals(sched::current_g()); }

}  // namespace weft::inline v1::detail
