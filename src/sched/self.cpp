// self.cpp: what a goroutine can do with itself: checkpoint, id, name.
#include <weft/go.hpp>
#include "sched/entry.hpp"
#include "sched/extras.hpp"
#include "sched/park.hpp"

namespace weft::inline v1 {

void checkpoint() noexcept {
  rt::M* const mp = sched::current_m();
  if (mp == nullptr || (!mp->detach.wants_attention() && !mp->detach.is_lost())) [[likely]]
    return;
  sched::leave(sched::enter());
}

namespace this_goroutine {

std::uint64_t id() noexcept {
  return sched::current_g()->goid.load(std::memory_order_relaxed);
}  // our own

std::string name() {
  const rt::G* const gp = sched::current_g();
  return gp->extras != nullptr ? gp->extras->name : std::string();
}

void set_name(std::string_view name) {
  rt::G* const gp = sched::current_g();
  if (gp->extras == nullptr) gp->extras = new rt::g_extras;
  gp->extras->name = name;
}

}  // namespace this_goroutine
}  // namespace weft::inline v1
