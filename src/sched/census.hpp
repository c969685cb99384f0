// census.hpp: who is there: a list of goroutines, made while they run.
//
// Each entry is true of one moment, the list as a whole of none. Of a goroutine that waits everything is told: it is held for that long
// (hold.hpp). Of one that runs, or could, only what may be looked at from outside.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/state.hpp"

namespace weft::sched {

struct goroutine_entry {
  static constexpr std::size_t kLongestName = 63;

  std::uint64_t goid = 0;
  std::uint32_t epoch = 0;  // another than the runtime's: it was abandoned
  std::uint8_t bubble = 0;
  g_status status = g_status::dead;
  wait_reason why = wait_reason::none;
  const void* waits_on = nullptr;
  const void* made_at = nullptr;
  std::uint64_t made_by = 0;
  char name[kLongestName + 1] = {};  // cut if it is longer; only of one that waits
};

// Every goroutine that was started and has not ended, of this runtime and of those before, but for plain threads. Says how many there
// are; the first `room` of them are in `out`. From user context, any thread.
std::size_t list_goroutines(goroutine_entry* out, std::size_t room) noexcept;

}  // namespace weft::sched
