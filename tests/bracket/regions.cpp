// regions.cpp: marks the two stretches of runtime code that run without an M, and stands in the signal handler
// where it stops a goroutine.
//
// The linker is told to send calls of these functions here (--wrap, see CMakeLists.txt). The names are the mangled ones; if a
// function is renamed the wrapping silently ends, which is why the program checks that each region was entered.
#include <cstdlib>

#include "bracket/watch.hpp"
#include "rt/m.hpp"
#include "sched/current.hpp"

namespace weft::test::bracket {

void real_sysmon_main(void*) asm("__real__ZN4weft5sched11sysmon_mainEPv");
unsigned real_resize(unsigned, bool) asm("__real__ZN4weft5sched6resizeEjb");
void real_stop_here(rt::M*) asm("__real__ZN4weft5sched9stop_hereEPNS_2rt1ME");

void wrapped_sysmon_main(void* arg) asm("__wrap__ZN4weft5sched11sysmon_mainEPv");
void wrapped_sysmon_main(void* arg) {
  nsysmon_regions.fetch_add(1);
  region all{"on the sysmon thread"};
  real_sysmon_main(arg);
}

unsigned wrapped_resize(unsigned n, bool is_explicit) asm("__wrap__ZN4weft5sched6resizeEjb");
unsigned wrapped_resize(unsigned n, bool is_explicit) {
  if (sched::current_m() != nullptr)
    return real_resize(n, is_explicit);  // a goroutine is watched through its M
  nresize_regions.fetch_add(1);
  region all{"while the world is stopped"};
  return real_resize(n, is_explicit);
}

void wrapped_stop_here(rt::M* mp) asm("__wrap__ZN4weft5sched9stop_hereEPNS_2rt1ME");
void wrapped_stop_here(rt::M* mp) {
  const sin what = sin_in_handler.load();
  if (what == sin::inside) mp->detach.enter(true);
  if (what != sin::none) {
    void* volatile kept = std::malloc(10);  // volatile: or the compiler leaves it out
    std::free(kept);
  }
  nhandler_stops.fetch_add(1);
  real_stop_here(mp);
}

}  // namespace weft::test::bracket
