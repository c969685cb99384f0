// goroutines.hpp: what a report of weft::testing says about a goroutine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/detail/config.hpp>

namespace weft::inline v1::testing {

struct goroutine_info {
  std::uint64_t id = 0;
  std::string name;   // the first 63 characters; of a goroutine that waits
  std::string state;  // what it waits for ("chan receive"), or "running", "runnable", "syscall"
  std::string
      origin;  // "made at server+0x1a2b by goroutine 1"; addr2line -Cfe server 0x1a2b says the line
  const void* waits_on = nullptr;  // the object that it waits at, if it is one
  bool is_abandoned = false;       // its runtime has ended
};

// One line: goroutine 7 "reader" [chan receive]: made at server+0x1a2b by goroutine 1, waits on 0x5581...
WEFT_API std::string to_string(const goroutine_info& g);
// A line for each, all indented, each with its newline.
WEFT_API std::string to_string(const std::vector<goroutine_info>& all);

}  // namespace weft::inline v1::testing
