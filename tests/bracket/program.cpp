// program.cpp: the program that dies when weft calls something forbidden inside its bracket.
//
//   bracket_program run <scenario> <procs>    0: fine; 3: the scenario did not reach what it is for; SIGABRT: the bracket is broken
//   bracket_program violate <how>             breaks the bracket on purpose: must end by SIGABRT (the negative control)
//   bracket_program sin before|inside         the handler that stops a goroutine allocates: must end by SIGABRT as well
//   bracket_program overflow                  overflows a goroutine's stack: the handler must die its own death, not ours
//   BRACKET_KEEP_GOING=1                      reports every violation and goes on; for finding all of them at once
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>

#include <weft/weft.hpp>
#include "bracket/watch.hpp"
#include "bracket/workload.hpp"
#include "sched/entry.hpp"

namespace b = weft::test::bracket;

namespace {

int complain(std::string_view what) {
  std::fprintf(stderr, "bracket_program: %.*s\n", static_cast<int>(what.size()), what.data());
  return 3;
}

int run_scenario(std::string_view name, unsigned nprocs) {
  for (const b::scenario& s : b::scenarios()) {
    if (s.name != name) continue;
    const std::string missed = s.run(nprocs);
    if (!missed.empty()) return complain(missed);
    if (b::nsysmon_regions == 0)
      return complain("sysmon was not watched: was sysmon_main() renamed?");
    for (const char* call :
         {"malloc", "free", "pthread_mutex_lock", "pthread_create", "vfprintf"}) {
      if (b::count_of(call) == 0)
        return complain(std::string(call) + " was never called: is it interposed at all?");
    }
    if (b::nviolations != 0) return complain("the bracket is broken; see above");
    std::printf("%llu calls of malloc, none inside\n",
                static_cast<unsigned long long>(b::count_of("malloc")));
    return 0;
  }
  return complain("no such scenario");
}

// --- the negative controls ---

void* volatile kept;
std::mutex some_mutex;
void* do_nothing(void*) { return nullptr; }

void violate(std::string_view how) {
  if (how == "malloc") kept = std::malloc(10);
  if (how == "free") std::free(kept);
  if (how == "calloc") kept = std::calloc(1, 10);
  if (how == "realloc") kept = std::realloc(kept, 20);
  if (how == "new") kept = ::operator new(10);
  if (how == "delete") ::operator delete(kept);
  if (how == "aligned_new") kept = ::operator new(64, std::align_val_t{64});
  if (how == "mutex") std::lock_guard<std::mutex> hold(some_mutex);
  if (how == "throw") throw 1;
  if (how == "printf") std::printf("%d\n", 1);
  if (how == "fwrite") std::fwrite("x", 1, 1, stderr);
  if (how == "fputs") std::fputs("x", stderr);
  if (how == "dlopen") kept = ::dlopen(nullptr, RTLD_NOW);
  if (how == "dl_iterate_phdr")
    ::dl_iterate_phdr([](dl_phdr_info*, std::size_t, void*) { return 1; }, nullptr);
  if (how == "local_static")
    static const std::string s(static_cast<std::size_t>(::getpid()) % 7 + 3, 'x');
  if (how == "pthread_create") {
    pthread_t t;
    ::pthread_create(&t, nullptr, &do_nothing, nullptr);
  }
  if (how == "pthread_getattr_np") {
    pthread_attr_t a;
    ::pthread_getattr_np(::pthread_self(), &a);
  }
}

// `how` is "<function>", or "<function>_in_region", "<function>_under_lock" for the other places.
int run_control(std::string_view how) {
  const auto cut = [&](std::string_view tail) {
    if (!how.ends_with(tail)) return false;
    how.remove_suffix(tail.size());
    return true;
  };
  if (cut("_in_region")) {
    const b::region here("in a region");
    violate(how);
  } else if (cut("_under_lock")) {
    const weft::sched::locked here;
    violate(how);
  } else if (cut("_on_plain_thread")) {  // no violation at all
    violate(how);
    return 0;
  } else if (cut("_in_goroutine")) {  // nor this
    return weft::run([&] { violate(how); });
  } else {
    weft::run([&] {
      const weft::sched::bracket inside;
      violate(how);
    });
  }
  return complain("nobody noticed");
}

// Where the signal handler stops a goroutine, it does what it must not.
int run_sinner(std::string_view where) {
  b::sin_in_handler = where == "inside" ? b::sin::inside : b::sin::before;
  for (const b::scenario& s : b::scenarios()) {
    if (s.name == "stopped_by_signal") s.run(1);
  }
  return complain("nobody noticed");
}

[[gnu::noinline]] int overflow(int n) {
  volatile char room[1024];
  room[0] = static_cast<char>(n);
  return n < 0 ? 0 : overflow(n + 1) + room[0];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  b::keep_going = std::getenv("BRACKET_KEEP_GOING") != nullptr;
  kept = std::malloc(10);
  if (what == "run" && argc == 4)
    return run_scenario(argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  if (what == "violate" && argc == 3) return run_control(argv[2]);
  if (what == "sin" && argc == 3) return run_sinner(argv[2]);
  if (what == "overflow") {
    b::watch_signal_handler = true;
    return weft::run({.max_procs = 1}, [] { weft::spawn([] { return overflow(0); }).join(); });
  }
  return complain("see the top of program.cpp");
}
