// main.cpp: finds the scenario by its name and runs it.
#include <cstdarg>

#include "scenario.hpp"
#include "support/platform.hpp"

namespace scenario {

namespace {
constinit entry* first = nullptr;
}

entry::entry(std::string_view n, function f) noexcept : name(n), run(f), next(first) {
  first = this;
}

void say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int n = std::vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  line[n] = '\n';
  if (::write(1, line, static_cast<std::size_t>(n) + 1) < 0) ::_exit(kNotMet);
}

void not_met(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "not met: %s at %s:%d\n", condition, file, line);
  ::_exit(kNotMet);
}

void wait_for_ever() {
  weft::event never;
  never.wait();
  asm volatile("");  // no tail call: this frame shall be seen
}

// Present when ThreadSanitizer is linked in; it has a thread of its own from the first that the program starts.
extern "C" [[gnu::weak]] void __tsan_init();

int count_threads() {
  const int count = weft::test::count_tasks() - weft::test::nplatform_threads;
  return __tsan_init != nullptr && count > 1 ? count - 1 : count;
}

}  // namespace scenario

int main(int argc, char** argv) {
  for (const scenario::entry* e = scenario::first; argc == 2 && e != nullptr; e = e->next) {
    if (e->name != argv[1]) continue;
    e->run();
    return 0;
  }
  std::fprintf(stderr, "usage: death_scenarios <scenario>\n");
  return 64;
}
