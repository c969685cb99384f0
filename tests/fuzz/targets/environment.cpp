// environment.cpp: WEFT_DEBUG with anything in it. Rubbish costs a line and changes nothing; limits hold; what was taken can be written down
// and is taken again.
#include "os/environment.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "os/parse.hpp"
#include "os/signal_name.hpp"

namespace weft {
namespace {

using fuzz::promise;

std::vector<std::string> said;
void hear(std::string_view line) { said.emplace_back(line); }

constexpr std::string_view kGuards[] = {"auto", "madvise", "mprotect"};
constexpr std::string_view kPollers[] = {"auto", "epoll", "uring"};

std::string chaos_words(std::uint32_t bits) {
  std::string all = "0";
  if ((bits & os::kChaosYields) != 0) all += "+yield";
  if ((bits & os::kChaosOrder) != 0) all += "+order";
  if ((bits & os::kChaosDelays) != 0) all += "+delay";
  return all;
}

// As a user would write them. A key that is added gets its line here.
std::string print(const os::debug_settings& s) {
  std::string all;
  const auto item = [&all](std::string_view key, std::string_view value) {
    if (!all.empty()) all += ',';
    all.append(key).append("=").append(value);
  };
  const auto flag = [&item](std::string_view key, bool on) { item(key, on ? "1" : "0"); };
  flag("asyncpreemptoff", s.async_preempt_off);
  flag("conserve", s.conserve);
  flag("cputime", s.cpu_time);
  flag("deadlock", s.deadlock);
  flag("membarrier", s.membarrier);
  flag("migrate", s.migrate);
  flag("scavenge", s.scavenge);
  flag("updatemaxprocs", s.update_max_procs);
  item("chaos", chaos_words(s.chaos));
  item("guard", kGuards[static_cast<std::size_t>(s.guard)]);
  item("poller", kPollers[static_cast<std::size_t>(s.poller)]);
  item("seed", std::to_string(s.seed));
  if (s.stack_size != 0) item("stacksize", std::to_string(s.stack_size));
  if (s.max_threads != 0) item("maxthreads", std::to_string(s.max_threads));
  if (s.preempt_signal != 0) {
    os::text name;
    os::append_signal_name(name, s.preempt_signal);
    const bool has_name = name.view().starts_with("SIG");
    item("preemptsignal",
         has_name ? name.view() : name.view().substr(std::string_view("signal ").size()));
  }
  return all;
}

void expect_limits(const os::debug_settings& s) {
  promise(s.stack_size == 0 || (s.stack_size >= 4U << 10 && s.stack_size <= 1U << 30),
          "a stack has 4K to 1G");
  promise(s.max_threads <= 4194304, "no more threads than the kernel counts");
  promise(s.preempt_signal >= 0 && s.preempt_signal <= os::kHighestSignal, "a signal's number");
}

void expect_messages(std::string_view value) {
  said.clear();
  os::debug_settings ignored;
  os::parse_debug("help", ignored, hear);
  const std::size_t nhelp = said.size();

  said.clear();
  os::debug_settings settings;
  os::parse_debug(value, settings, hear);
  std::size_t most = 0;
  for (std::string_view rest = value; rest.data() != nullptr;) {
    const std::string_view item = os::take_field(rest, ',');
    most += item == "help" ? nhelp : 1;
  }
  promise(said.size() <= most, "an item costs one line at most");
  for (const std::string& line : said) {
    promise(line.starts_with("weft: "), "a message says whose it is");
    promise(line.size() < 400, "a message is short");
    promise(fuzz::is_one_printable_line(line), "a message is one printable line");
  }
}

}  // namespace

FUZZ_TARGET(environment) {
  const fuzz::exact value(input);
  expect_messages(value);
  os::debug_settings settings;
  said.clear();
  os::parse_debug(value, settings, hear);
  const std::vector<std::string> said_at_once = said;
  expect_limits(settings);

  // One after the other is the same as all at once.
  os::debug_settings stepwise;
  said.clear();
  std::string_view rest = value;
  const fuzz::exact first(os::take_field(rest, ','));
  os::parse_debug(first, stepwise, hear);
  if (rest.data() != nullptr) os::parse_debug(fuzz::exact(rest), stepwise, hear);
  promise(print(stepwise) == print(settings), "items are taken one after the other");
  promise(said == said_at_once, "messages come one after the other");

  // What is complained about changes nothing.
  if (rest.data() == nullptr && !said.empty())
    promise(print(settings) == print(os::debug_settings{}), "what is ignored changes nothing");

  os::debug_settings again;
  said.clear();
  os::parse_debug(fuzz::exact(print(settings)), again, hear);
  promise(said.empty(), "what was taken can be written down");
  promise(print(again) == print(settings), "what is written down is taken again");
}

}  // namespace weft
