// testing.hpp: tests of concurrent programs. Not part of <weft/weft.hpp>; <weft/testing/gtest.hpp> is for GoogleTest.
//
//   bubble(f)            goroutines with a clock of their own, which jumps instead of making them wait
//   explore(options, f)  the same function under many schedules; one that fails can be had again
//   pipe()               two ends of a connection, in memory
//   leak_check guard;    goroutines that somebody forgot
#pragma once

#include <weft/testing/bubble.hpp>
#include <weft/testing/explore.hpp>
#include <weft/testing/goroutines.hpp>
#include <weft/testing/leak_check.hpp>
#include <weft/testing/pipe.hpp>
