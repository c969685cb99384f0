// watch.cpp: see watch.hpp. saw() never switches, so its thread-local addresses stay good while it runs.
#include "bracket/watch.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/clock.hpp"
#include "os/text.hpp"
#include "os/thread.hpp"
#include "sched/current.hpp"
#include "sched/state.hpp"

extern "C" const char __executable_start;  // the linker's: where this program begins in memory
extern "C" const char etext;
extern "C" char** environ;

namespace weft::test::bracket {

std::atomic<std::uint32_t> nsysmon_regions{0};
std::atomic<std::uint32_t> nresize_regions{0};
std::atomic<std::uint32_t> nhandler_stops{0};
std::atomic<sin> sin_in_handler{sin::none};
std::atomic<bool> keep_going{false};
std::atomic<std::uint32_t> nviolations{0};
std::atomic<bool> watch_signal_handler{false};

namespace {

constinit std::atomic<call*> all_calls{nullptr};
constinit thread_local const char* region_name = nullptr;
constinit thread_local bool is_reporting = false;

void list(call& which) noexcept {
  if (which.is_listed.exchange(true)) return;
  call* first = all_calls.load();
  do {
    which.next = first;
  } while (!all_calls.compare_exchange_weak(first, &which));
}

// L has no owner's name, but whoever holds it himself never sees it free. The time alone does not tell: a goroutine may be stopped in here
// for long.
bool holds_scheduler_lock() noexcept {
  if (!sched::sched.lock.is_held()) return false;
  const std::int64_t limit_ns = os::now_ns() + 5 * os::kSecond;
  for (int nlooks = 0; nlooks < 1000 || os::now_ns() < limit_ns; ++nlooks) {
    if (!sched::sched.lock.is_held()) return false;
    os::yield_cpu();
  }
  return true;
}

bool is_in_signal_handler() noexcept {
  stack_t now{};
  return watch_signal_handler.load(std::memory_order_relaxed) && sigaltstack(nullptr, &now) == 0 &&
         (now.ss_flags & SS_ONSTACK) != 0;
}

const char* where() noexcept {
  if (region_name != nullptr) return region_name;
  const rt::M* const mp = sched::current_m();
  if (mp != nullptr && mp->detach.is_inside()) {
    return mp->curg() != nullptr ? "inside the runtime" : "inside the runtime, on g0";
  }
  if (is_in_signal_handler()) return "in a signal handler";
  if (holds_scheduler_lock()) return "while it holds the scheduler's lock";
  return nullptr;
}

// --- the report: no malloc, no stdio; addr2line, if there is one, turns it into lines of source ---

struct frames {
  static constexpr int kMost = 40;
  std::uintptr_t at[kMost];
  int count = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* arg) {
  auto* const f = static_cast<frames*>(arg);
  const std::uintptr_t pc = _Unwind_GetIP(context);
  if (pc == 0 || f->count == frames::kMost) return _URC_END_OF_STACK;
  f->at[f->count++] = pc - 1;
  return _URC_NO_REASON;
}

void name_frames(const frames& f) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(&__executable_start);
  const auto end = reinterpret_cast<std::uintptr_t>(&etext);
  static char words[frames::kMost][24];  // only one thread reports
  static const char* arguments[frames::kMost + 8];
  int n = 0;
  for (const char* word : {"addr2line", "-Cfpie"}) arguments[n++] = word;
  static char self[4096];
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return;
  arguments[n++] = self;
  for (int i = 0; i < f.count; ++i) {
    if (f.at[i] < begin || f.at[i] >= end) continue;
    os::text t;
    t << os::hex{f.at[i] - begin};
    std::memcpy(words[i], t.view().data(), t.view().size());
    arguments[n++] = words[i];
  }
  arguments[n] = nullptr;
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, const_cast<char* const*>(arguments),
                   environ) == 0) {
    int status = 0;
    waitpid(child, &status, 0);
  }
}

void report(const char* function, const char* place) noexcept {
  static constinit std::atomic<bool> is_taken{false};
  while (is_taken.exchange(true)) os::yield_cpu();
  is_reporting = true;
  nviolations.fetch_add(1);
  os::text t;
  t << "bracket: " << function << "() was called " << place << '\n';
  os::write_all(os::kStderr, t.view());
  frames f;
  _Unwind_Backtrace(&add_frame, &f);
  dup2(2, 1);  // addr2line writes there
  name_frames(f);
  if (!keep_going.load()) std::abort();
  is_reporting = false;
  is_taken.store(false);
}

}  // namespace

void saw(call& which) noexcept {
  if (is_reporting) return;
  which.ncalls.fetch_add(1, std::memory_order_relaxed);  // only counted
  list(which);
  if (const char* const place = where()) report(which.name, place);
}

std::uint64_t count_of(const char* name) noexcept {
  for (const call* c = all_calls.load(); c != nullptr; c = c->next) {
    if (std::string_view(c->name) == name) return c->ncalls.load();
  }
  return 0;
}

region::region(const char* name) noexcept : before_(region_name) { region_name = name; }
region::~region() { region_name = before_; }

}  // namespace weft::test::bracket
