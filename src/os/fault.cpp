// fault.cpp: the table of armed faults. All of it seq_cst: nobody comes here outside of tests, but for the one flag in system_call.hpp.
#include "os/fault.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>

#include "os/clock.hpp"
#include "os/signal.hpp"
#include "os/system_call.hpp"
#include "os/text.hpp"

namespace weft::os {

namespace {

struct row {
  std::atomic<bool> is_armed{false};
  std::atomic<int> error{0};
  std::atomic<std::size_t> most{SIZE_MAX};
  std::atomic<std::int64_t> delay_ns{0};
  std::atomic<std::uint32_t> after{0};
  std::atomic<std::uint32_t> times{0};
  std::atomic<std::uint32_t> ncalls{0};
  std::atomic<std::uint32_t> nhits{0};
};
constinit row rows[kSites];

row& row_of(site at) noexcept { return rows[static_cast<std::size_t>(at)]; }

struct names {
  std::string_view site;
  std::string_view function;
};
constexpr names kNames[] = {
#define WEFT_SITE(name, function) {#name, #function},
    WEFT_CALL_SITES(WEFT_SITE)
#undef WEFT_SITE
};

// Not nap(): that one may be what is delayed.
void delay(std::int64_t ns) noexcept {
  const int saved = errno;
  timespec left{static_cast<std::time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  while (::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) != 0 && errno == EINTR) {
  }
  errno = saved;
}

}  // namespace

verdict judge_call(site at) noexcept {
  row& r = row_of(at);
  if (!r.is_armed) return {};
  const std::uint32_t nth = r.ncalls.fetch_add(1);
  if (nth < r.after || nth - r.after >= r.times) return {};
  ++r.nhits;
  if (const std::int64_t ns = r.delay_ns; ns != 0) delay(ns);
  return {r.error, r.most};
}

void arm_fault(site at, const fault& what) noexcept {
  row& r = row_of(at);
  r.is_armed = false;
  r.error = what.error;
  r.most = what.most;
  r.delay_ns = what.delay_ns;
  r.after = what.after;
  r.times = what.times;
  r.ncalls = 0;
  r.nhits = 0;
  r.is_armed = true;  // last: whoever sees it sees the rest
  is_any_fault_armed = true;
}

void disarm_faults() noexcept {
  is_any_fault_armed = false;
  for (row& r : rows) r.is_armed = false;
}

std::uint32_t fault_hits(site at) noexcept { return row_of(at).nhits; }
std::uint32_t fault_calls(site at) noexcept { return row_of(at).ncalls; }

std::string_view name_of(site at) noexcept { return kNames[static_cast<std::size_t>(at)].site; }

std::string_view function_of(site at) noexcept {
  return kNames[static_cast<std::size_t>(at)].function;
}

std::optional<site> find_site(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kSites; ++i)
    if (kNames[i].site == name) return static_cast<site>(i);
  return std::nullopt;
}

void die_of_call(site at, int error, const char* next_step) noexcept {
  text t;
  t << "weft: " << function_of(at) << " failed (errno=" << error << "); " << next_step;
  if (const call_failure_handler handler = on_call_failure)
    handler(t.view().data(), t.view().size());
  t << '\n';
  write_all(kStderr, "fatal error: ");
  write_all(kStderr, t.view());
  exit_process(2);
}

}  // namespace weft::os
