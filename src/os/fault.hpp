// fault.hpp: letting system calls fail, for tests. Not for users: nothing in include/ leads here.
//
//   os::arm_fault(os::site::file_open, {.error = EMFILE, .times = 1});
//   ... the next open() of weft's fails ...
//   EXPECT_EQ(os::fault_hits(os::site::file_open), 1u);
//   os::disarm_faults();
//
// A site has one fault at a time. It is armed while nobody is about to make that call; calls may come from any number of threads then. The first
// `after` of them pass, the next `times` are struck, the rest pass. Counted by one atomic each, so exactly that many are struck
// whoever comes at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "os/call_sites.hpp"

namespace weft::os {

struct fault {
  static constexpr std::uint32_t kForEver = UINT32_MAX;

  int error = 0;                // errno; 0: the call is made
  std::size_t most = SIZE_MAX;  // and moves no more than so many bytes (or pieces)
  std::int64_t delay_ns = 0;    // so much later
  std::uint32_t after = 0;      // calls that pass before the first that is struck
  std::uint32_t times = kForEver;
};

void arm_fault(site at, const fault& what) noexcept;
void disarm_faults() noexcept;

// Calls that were struck since the site was armed, and all that came.
std::uint32_t fault_hits(site at) noexcept;
std::uint32_t fault_calls(site at) noexcept;

std::string_view name_of(site at) noexcept;      // "file_open"
std::string_view function_of(site at) noexcept;  // "open"
std::optional<site> find_site(std::string_view name) noexcept;

}  // namespace weft::os
