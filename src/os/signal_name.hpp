// signal_name.hpp: signals by the names people know them by, for messages and for WEFT_DEBUG.
//
// Why not strsignal() or sigabbrev_np(): the first may allocate and translate, the second is not in every C library.
#pragma once

#include <string_view>

#include "os/text.hpp"

namespace weft::os {

// 1 to 64 on Linux. Not SIGRTMAX, which is a call and says what the C library has left over.
inline constexpr int kHighestSignal = 64;

// "URG", "SIGURG" and "23" are all 23; 0 for what is neither a name nor a number from 1 to 64. Capital letters only, as
// kill(1) lists them. Whether the signal is of any use is not asked here.
int signal_number(std::string_view name) noexcept;

// Appends "SIGURG", or "signal 40" for one without a name.
void append_signal_name(text& out, int number) noexcept;

}  // namespace weft::os
