// environment.cpp: see environment.hpp.
#include "os/environment.hpp"

#include <cstdlib>
#include <optional>

#include <sys/auxv.h>

#include "os/parse.hpp"
#include "os/signal_name.hpp"
#include "os/text.hpp"

namespace weft::os {
namespace {

constexpr std::size_t kMinStackSize = std::size_t{4} << 10;
constexpr std::size_t kMaxStackSize = std::size_t{1} << 30;
constexpr unsigned kMaxThreads = 1U << 22;  // the kernel counts no further

// "12345", "256K", "1M", "2G".
std::optional<std::uint64_t> parse_size(std::string_view value) noexcept {
  unsigned shift = 0;
  if (!value.empty()) {
    switch (value.back()) {
      case 'K':
      case 'k':
        shift = 10;
        break;
      case 'M':
      case 'm':
        shift = 20;
        break;
      case 'G':
      case 'g':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift != 0) value.remove_suffix(1);
  const auto count = parse_number<std::uint64_t>(value);
  if (!count || *count > (UINT64_MAX >> shift)) return std::nullopt;
  return *count << shift;
}

// Setters: each puts the value into one member, or returns what would have been accepted.
constexpr const char* kAccepted = nullptr;
using setter = const char* (*)(std::string_view value, debug_settings& settings) noexcept;

template <auto Member>
const char* set_switch(std::string_view value, debug_settings& settings) noexcept {
  if (value != "0" && value != "1") return "0 or 1";
  settings.*Member = value == "1";
  return kAccepted;
}

const char* set_guard(std::string_view value, debug_settings& settings) noexcept {
  if (value == "auto")
    settings.guard = guard_choice::automatic;
  else if (value == "madvise")
    settings.guard = guard_choice::madvise;
  else if (value == "mprotect")
    settings.guard = guard_choice::mprotect;
  else
    return "auto, madvise or mprotect";
  return kAccepted;
}

const char* set_poller(std::string_view value, debug_settings& settings) noexcept {
  if (value == "auto")
    settings.poller = poller_choice::automatic;
  else if (value == "epoll")
    settings.poller = poller_choice::epoll;
  else if (value == "uring")
    settings.poller = poller_choice::uring;
  else
    return "auto, epoll or uring";
  return kAccepted;
}

const char* set_stack_size(std::string_view value, debug_settings& settings) noexcept {
  const auto size = parse_size(value);
  if (!size) return "a size (e.g. 256K)";
  if (*size < kMinStackSize || *size > kMaxStackSize) return "a size from 4K to 1G";
  settings.stack_size = static_cast<std::size_t>(*size);
  return kAccepted;
}

const char* set_max_threads(std::string_view value, debug_settings& settings) noexcept {
  const auto count = parse_number<unsigned>(value);
  if (!count || *count == 0 || *count > kMaxThreads) return "a number from 1 to 4194304";
  settings.max_threads = *count;
  return kAccepted;
}

const char* set_seed(std::string_view value, debug_settings& settings) noexcept {
  const auto seed = parse_number<std::uint64_t>(value);
  if (!seed) return "a number from 0 to 2^64 - 1";
  settings.seed = *seed;
  return kAccepted;
}

// Whether that signal can be used is found out, and said, when it is installed.
const char* set_preempt_signal(std::string_view value, debug_settings& settings) noexcept {
  const int number = signal_number(value);
  if (number == 0) return "a signal (e.g. URG, SIGUSR2 or 23)";
  settings.preempt_signal = number;
  return kAccepted;
}

// One or more of its words, with + between them. Migration has a switch of its own, and is not switched off here.
const char* set_chaos(std::string_view value, debug_settings& settings) noexcept {
  constexpr struct {
    std::string_view name;
    std::uint32_t bits;
    bool migrates;
  } kWords[] = {
      {"0", 0, false},
      {"yield", kChaosYields, false},
      {"order", kChaosOrder, false},
      {"delay", kChaosDelays, false},
      {"migrate", 0, true},
      {"all", kChaosYields | kChaosOrder | kChaosDelays, true},
  };
  std::uint32_t bits = 0;
  bool migrates = settings.migrate;
  do {
    const std::string_view word = take_field(value, '+');
    bool is_known = false;
    for (const auto& each : kWords) {
      if (each.name != word) continue;
      is_known = true;
      bits |= each.bits;
      migrates |= each.migrates;
    }
    if (!is_known) return "0, all, or some of yield, order, delay and migrate with + between them";
  } while (value.data() != nullptr);
  settings.chaos = bits;
  settings.migrate = migrates;
  return kAccepted;
}

struct debug_key {
  std::string_view name;
  std::string_view values;
  std::string_view help;
  setter set;
};

constexpr debug_key kKeys[] = {
    {"asyncpreemptoff", "0|1", "stop no goroutine by a signal (0)",
     set_switch<&debug_settings::async_preempt_off>},
    {"chaos", "WORD+WORD", "be unkind: yield, order, delay, migrate, or all (0)", set_chaos},
    {"conserve", "0|1", "report and exit when a processor rests beside queued work (0)",
     set_switch<&debug_settings::conserve>},
    {"cputime", "0|1", "count each goroutine's processor time (0)",
     set_switch<&debug_settings::cpu_time>},
    {"deadlock", "0|1", "report and exit when all goroutines are asleep (1)",
     set_switch<&debug_settings::deadlock>},
    {"guard", "auto|madvise|mprotect", "how stack guards are made (auto)", set_guard},
    {"maxthreads", "N", "most threads the runtime may have (what the program says)",
     set_max_threads},
    {"membarrier", "0|1", "use membarrier(2) where the kernel has it (1)",
     set_switch<&debug_settings::membarrier>},
    {"migrate", "0|1", "resume every goroutine on another thread (0)",
     set_switch<&debug_settings::migrate>},
    {"poller", "auto|epoll|uring",
     "how descriptors are waited for (what the program says, or epoll)", set_poller},
    {"preemptsignal", "NAME|N", "the signal that stops goroutines (SIGURG)", set_preempt_signal},
    {"scavenge", "0|1", "give unused stacks back to the system (1)",
     set_switch<&debug_settings::scavenge>},
    {"seed", "N", "seed of the scheduler's random choices (0: a new one each time)", set_seed},
    {"stacksize", "BYTES", "stack of a goroutine, e.g. 256K (what the program says)",
     set_stack_size},
    {"updatemaxprocs", "0|1", "follow the CPU limit while running (1)",
     set_switch<&debug_settings::update_max_procs>},
};

// Foreign text, cut and made harmless.
void append_printable(text& line, std::string_view foreign) noexcept {
  constexpr std::size_t kMost = 60;
  for (const char c : foreign.substr(0, kMost)) line << (c >= ' ' && c <= '~' ? c : '?');
  if (foreign.size() > kMost) line << "...";
}

void say_help(say_fn say) noexcept {
  say("weft: WEFT_DEBUG=key=value,key=value takes these keys (in brackets what holds without "
      "them):\n");
  say("weft:   help                         print this list\n");
  for (const debug_key& key : kKeys) {
    constexpr std::size_t kColumn =
        std::string_view("weft:   guard=auto|madvise|mprotect  ").size();
    text line;
    line << "weft:   " << key.name << '=' << key.values;
    while (line.view().size() < kColumn) line << ' ';
    line << key.help << '\n';
    say(line.view());
  }
}

void parse_item(std::string_view item, debug_settings& settings, say_fn say) noexcept {
  if (item.empty()) return;
  if (item == "help") return say_help(say);
  std::string_view value = item;
  const std::string_view name = take_field(value, '=');

  text line;
  line << "weft: WEFT_DEBUG: ";
  append_printable(line, item);
  for (const debug_key& key : kKeys) {
    if (key.name != name) continue;
    const char* const accepted = key.set(value, settings);
    if (accepted == kAccepted) return;
    line << " is not " << accepted << "; ignored\n";
    return say(line.view());
  }
  line << ": no such key (WEFT_DEBUG=help lists them); ignored\n";
  say(line.view());
}

}  // namespace

void say_on_stderr(std::string_view line) noexcept { write_all(kStderr, line); }

void parse_debug(std::string_view value, debug_settings& settings, say_fn say) noexcept {
  while (value.data() != nullptr) parse_item(take_field(value, ','), settings, say);
}

unsigned parse_max_procs(std::string_view value, unsigned limit, say_fn say) noexcept {
  const auto count = parse_number<unsigned>(value);
  if (count && *count >= 1 && *count <= limit) return *count;
  text line;
  line << "weft: WEFT_MAXPROCS=";
  append_printable(line, value);
  line << " is not a number from 1 to " << limit << "; ignored\n";
  say(line.view());
  return 0;
}

environment read_environment(unsigned max_procs_limit, say_fn say) noexcept {
  environment found;
  if (::getauxval(AT_SECURE) != 0) return found;
  const auto is_set = [](const char* value) {
    return value != nullptr && *value != '\0';
  };  // as shells unset
  if (const char* value = std::getenv("WEFT_MAXPROCS"); is_set(value)) {
    found.max_procs = parse_max_procs(value, max_procs_limit, say);
  }
  if (const char* value = std::getenv("WEFT_DEBUG"); is_set(value))
    parse_debug(value, found.debug, say);
  return found;
}

}  // namespace weft::os
