// stack_beside.cpp: a part of the same program that has little to do with weft, and is compiled with other flags.
#include <weft/error.hpp>

int nothing_but_a_name() { return 0; }
