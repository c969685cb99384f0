// check.hpp: assertions about weft itself.
//
// WEFT_CHECK holds in debug builds (WEFT_DEBUG_CHECKS) and costs nothing in others; what a user can cause is never
// guarded by it. The failure goes to a handler, since this layer knows no system calls; sched/crash.cpp installs it.
#pragma once

namespace weft::base {

using check_handler = void (*)(const char* condition, const char* why, const char* file, int line);
inline check_handler on_failed_check = nullptr;

[[noreturn, gnu::cold, gnu::noinline]] inline void check_failed(const char* condition,
                                                                const char* why, const char* file,
                                                                int line) {
  if (on_failed_check) on_failed_check(condition, why, file, line);
  __builtin_trap();
}

}  // namespace weft::base

#if defined(WEFT_DEBUG_CHECKS) && WEFT_DEBUG_CHECKS
#define WEFT_CHECK(condition, why) \
  ((condition) ? void(0) : ::weft::base::check_failed(#condition, why, __FILE__, __LINE__))
inline constexpr bool kWeftDebugChecks = true;
#else
#define WEFT_CHECK(condition, why) void(0)
inline constexpr bool kWeftDebugChecks = false;
#endif
