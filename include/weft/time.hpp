// time.hpp: the clock, sleeping, timers and tickers: <weft/clock.hpp> and <weft/timer.hpp>.
//
// Two files, since channels need the clock, and timers need channels: nothing below may include this one.
#pragma once

#include <weft/clock.hpp>
#include <weft/timer.hpp>
