// main.cpp: finds the scenario, arms the fault when told, and tells what came of it.
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

#include "os/fault.hpp"
#include "scenario.hpp"
#include "support/sockets.hpp"

namespace faults {

namespace {

constinit entry* first = nullptr;
weft::os::site where;
weft::os::fault what;
bool is_end_expected = false;

std::string hits() {
  return "hits=" + std::to_string(weft::os::fault_hits(where)) +
         " calls=" + std::to_string(weft::os::fault_calls(where));
}

// No malloc: the program is dying.
void tell_hits_at_the_end(std::string_view) {
  char line[64];
  const int n = std::snprintf(line, sizeof line, "hits=%u calls=%u\n", weft::os::fault_hits(where),
                              weft::os::fault_calls(where));
  if (::write(1, line, static_cast<std::size_t>(n)) < 0) ::_exit(kNotMet);
}

// Not every run of the same program makes the same calls: which thread is woken, who is asleep when.
void run_until_met(const std::function<void()>& f) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do f();
  while (weft::os::fault_hits(where) == 0 && std::chrono::steady_clock::now() < limit);
}

std::string outcome_of(const std::function<void()>& f) {
  try {
    run_until_met(f);
    return "done";
  } catch (const std::system_error& e) {
    return std::string("system_error ") + std::to_string(e.code().value()) + " " +
           e.code().category().name() + " " + e.what();
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  } catch (const std::invalid_argument& e) {
    return std::string("invalid_argument ") + e.what();
  } catch (const std::runtime_error& e) {
    return std::string("runtime_error ") + e.what();
  } catch (const std::exception& e) {
    return std::string("exception ") + e.what();
  }
}

// Whoever leaves a descriptor last closes it, so it may take a moment.
bool are_fds_back(std::size_t before) {
  for (int i = 0; i < 2000; ++i) {
    if (weft::test::count_fds() <= before) return true;
    ::usleep(5000);
  }
  for (const std::string& each : weft::test::list_fds())
    std::fprintf(stderr, "open: %s\n", each.c_str());
  return false;
}

}  // namespace

entry::entry(std::string_view n, void (*f)()) noexcept : name(n), run(f), next(first) {
  first = this;
}

void say(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(1, whole.data(), whole.size()) < 0) ::_exit(kNotMet);
}

void not_met(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "not met: %s at %s:%d\n", condition, file, line);
  ::_exit(kNotMet);
}

void strike() { weft::os::arm_fault(where, what); }

void attempt_anyhow(const std::function<void()>& f) {
  strike();
  const std::string outcome = outcome_of(f);
  // Another thread may have met it, and is about to say its last words.
  for (int i = 0; is_end_expected && i < 1000; ++i) ::usleep(10'000);
  const std::string counts = hits();
  weft::os::disarm_faults();
  say("outcome: " + outcome);
  say(counts);
}

void attempt(const std::function<void()>& f) {
  const std::size_t before = weft::test::count_fds();
  attempt_anyhow(f);
  REQUIRE(are_fds_back(before));
}

std::string temporary_file() {
  static std::string name = [] {
    char path[] = "/tmp/weft-fault-XXXXXX";
    const int fd = ::mkstemp(path);
    REQUIRE(fd != -1);
    ::close(fd);
    std::atexit([] { ::unlink(name.c_str()); });
    return std::string(path);
  }();
  return name;
}

std::string pattern(std::size_t n) {
  const std::vector<char> bytes = weft::test::bytes_of(7, n);
  return {bytes.begin(), bytes.end()};
}

}  // namespace faults

int main(int argc, char** argv) {
  using namespace faults;
  const auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  for (const entry* e = first; argc == 9 && e != nullptr; e = e->next) {
    if (e->name != argv[1]) continue;
    const auto found = weft::os::find_site(argv[2]);
    if (!found) break;
    where = *found;
    what.error = static_cast<int>(number(3));
    if (number(4) >= 0) what.times = static_cast<std::uint32_t>(number(4));
    what.after = static_cast<std::uint32_t>(number(5));
    if (number(6) >= 0) what.most = static_cast<std::size_t>(number(6));
    what.delay_ns = number(7);
    is_end_expected = number(8) != 0;
    weft::on_fatal(&tell_hits_at_the_end);
    e->run();
    return 0;
  }
  std::fprintf(stderr,
               "usage: weft_fault_program <scenario> <site> <errno> <times> <after> <most> <delay> "
               "<dies>\n");
  return 64;
}
