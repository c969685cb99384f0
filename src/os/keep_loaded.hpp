// keep_loaded.hpp: a program that closes the shared object that weft lies in keeps it all the same.
#pragma once

namespace weft::os {

// From now on dlclose() leaves the object that this code is part of where it is: libweft.so, or whatever the static library was linked
// into. Signal handlers, the fork handler and threads of goroutines that were abandoned point into it for as long as the process lives.
// Nothing is to be done where it is the program itself. Takes the dynamic linker's locks and may allocate: not inside the bracket.
void keep_loaded() noexcept;

}  // namespace weft::os
