// without_preemption.cpp: fails to compile unless preemption really is compiled out of a weft that is to show what it costs.
#include "rt/detach_word.hpp"

static_assert(!weft::rt::kPreempts, "to be built with WEFT_WITHOUT_PREEMPTION");
static_assert(WEFT_WITHOUT_PREEMPTION < 2 || !weft::rt::kCanLoseP);
