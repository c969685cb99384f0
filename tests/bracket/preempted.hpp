// preempted.hpp: scenarios in which goroutines lose their P against their will, and those of timers, which take Ps from them.
//
// They have the signal handler watched too: it runs at any instruction of the program, also in the middle of malloc.
#pragma once

#include <string>

namespace weft::test::bracket {

std::string stopped_by_signal(unsigned nprocs);
std::string borrowing(unsigned nprocs);
std::string sleeping_untold(unsigned nprocs);
std::string timers(unsigned nprocs);

}  // namespace weft::test::bracket
