// regions.cpp: marks the two stretches of runtime code that run without an M.
//
// The linker is told to send calls of these functions here (--wrap, see CMakeLists.txt). The names are the mangled ones; if a
// function is renamed the wrapping silently ends, which is why the program checks that each region was entered.
#include "bracket/watch.hpp"
#include "sched/current.hpp"

namespace weft::test::bracket {

void real_sysmon_main(void*) asm("__real__ZN4weft5sched11sysmon_mainEPv");
unsigned real_resize(unsigned, bool) asm("__real__ZN4weft5sched6resizeEjb");

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

}  // namespace weft::test::bracket
