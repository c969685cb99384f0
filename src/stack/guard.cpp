// guard.cpp: see guard.hpp.
//
// Measured and left out: installing the guards of 16 slots by one vectored process_madvise costs 1.0 us a guard against 1.3 us
// one by one (the page tables are most of it), beside 2.3 us for the first page of the stack: not worth slots carved in advance.

#include "stack/guard.hpp"

#include <atomic>
#include <cerrno>

#include "os/vm.hpp"

namespace weft::stack {
namespace {

// All relaxed: mode and limit are written by init() under the layer's lock before any stack exists (or by a single-threaded
// test), and the count guards no data.
constinit std::atomic<guard_mode> mode{guard_mode::mprotect};
constinit std::atomic<std::size_t> max_protected{0};
constinit std::atomic<std::size_t> nprotected{0};

// Installs a guard on the lower half of two guards' worth of memory: the lower half must fault, the upper half must not.
bool does_madvise_guard() noexcept {
  const os::mapping trial = os::reserve(2 * kGuardBytes, os::page_size());
  if (trial.base == nullptr) return false;
  const bool works = os::install_guard(trial.base, kGuardBytes) == 0 &&
                     os::probe_readable(trial.base) == os::readable::no &&
                     os::probe_readable(trial.base + kGuardBytes - 1) == os::readable::no &&
                     os::probe_readable(trial.base + kGuardBytes) == os::readable::yes;
  os::unmap(trial.base, 2 * kGuardBytes);
  return works;
}

// Relaxed: as said above.
guard_result install_protected(std::byte* slot) noexcept {
  // Counted first, so that threads that carve at the same time cannot pass the limit together.
  if (nprotected.fetch_add(1, std::memory_order_relaxed) >=
      max_protected.load(std::memory_order_relaxed)) {
    nprotected.fetch_sub(1, std::memory_order_relaxed);  // only counted
    return {ENOMEM, reason::map_count};
  }
  const int error = os::protect_none(slot, kGuardBytes);
  if (error == 0) return {0, reason::none};
  nprotected.fetch_sub(1, std::memory_order_relaxed);  // only counted
  // The rest of the program used more VMAs than we left it: the same limit, met from the other side.
  return {error, reason::map_count};
}

}  // namespace

// Relaxed: as said above.
void choose_guard_mode(os::guard_choice wish) noexcept {
  mode.store(wish != os::guard_choice::mprotect && does_madvise_guard() ? guard_mode::madvise
                                                                        : guard_mode::mprotect,
             std::memory_order_relaxed);
  max_protected.store(guards_within(os::max_map_count()), std::memory_order_relaxed);
}

// Relaxed: as said above.
guard_result install_guard(std::byte* slot) noexcept {
  if (mode.load(std::memory_order_relaxed) == guard_mode::mprotect) return install_protected(slot);
  const int error = os::install_guard(slot, kGuardBytes);
  return {error, error == 0 ? reason::none : reason::no_memory};
}

// Relaxed: as said above.
void set_guard_mode_for_test(guard_mode wanted, std::size_t max_guards) noexcept {
  mode.store(wanted, std::memory_order_relaxed);
  max_protected.store(nprotected.load(std::memory_order_relaxed) + max_guards,
                      std::memory_order_relaxed);
}

// Relaxed: as said above.
guard_mode current_guard_mode() noexcept { return mode.load(std::memory_order_relaxed); }

const char* guard_kind() noexcept {
  return current_guard_mode() == guard_mode::madvise ? "madvise" : "mprotect";
}

}  // namespace weft::stack
