// schedule.hpp: the choices of one execution, and how they are written in a line.
//
//    a5b1a          thread a at five points, b at one, a at one: where only one thread can go on nothing is written
//    a5 /1 b        between, the memory took the second of its possibilities (the first is /0)
//
// Spaces mean nothing. Both kinds are one sequence: which is which, the program says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::model {

using schedule = std::vector<std::uint8_t>;

// As it is recorded: a thread, or kValue and which possibility.
inline constexpr std::uint8_t kValue = 0x80;

std::string write_schedule(const schedule& recorded);
// Without the mark kValue. Nothing: not a schedule.
std::optional<schedule> read_schedule(std::string_view text);

}  // namespace weft::model
