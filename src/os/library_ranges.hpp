// library_ranges.hpp: is this address inside the C or C++ library?
//
// A goroutine that is stopped inside malloc, printf, the unwinder or the dynamic linker keeps that library's lock until it
// runs again. Nothing breaks, but others wait. So the signal handler asks where it has interrupted, and
// comes back a little later if it was in there.
//
// The table is filled once, by find_system_libraries(), before there are goroutines: the dynamic linker is asked, and takes its
// lock for that. Afterwards it never changes, and is_in_system_library() is a few comparisons, good in any signal
// handler. Libraries that come later by dlopen are not in it; the ones in question come with the program. A static
// program has none, and the table is empty: then the handler stops wherever it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::os {

// Whether a library by this path is one that most of the process runs on: the C and C++ libraries and their parts, the
// dynamic linker, allocators that replace malloc, sanitizers. Judged by the file's name.
bool is_system_library(std::string_view path) noexcept;

// Fills the table; later calls do nothing. Not inside the runtime's bracket, not in a signal handler.
void find_system_libraries() noexcept;

// False for everything before find_system_libraries().
bool is_in_system_library(const void* pc) noexcept;

std::size_t nsystem_ranges() noexcept;

}  // namespace weft::os
