// alarm.hpp: a channel to which the time is sent. Not for users.
#pragma once

#include <cstdint>

#include <weft/detail/channel.hpp>
#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

// A channel of time_points, and what sends to it at that time and, if the period is not 0, again and again. It lives as long as the channel.
// Throws std::bad_alloc.
WEFT_API channel* make_alarm(std::int64_t when_ns, std::int64_t period_ns);

// Nothing that was due before is received any more. True: that kept something from being received.
WEFT_API WEFT_MAY_SWITCH bool stop_alarm(channel* c) noexcept;
WEFT_API WEFT_MAY_SWITCH bool reset_alarm(channel* c, std::int64_t when_ns,
                                          std::int64_t period_ns) noexcept;

}  // namespace weft::inline v1::detail
