// user.cpp: a user's program, built in many ways (CMakeLists.txt): goroutines that compute, throw, park inside handlers and move
// between threads while the compiler keeps what it can in registers. Says "ok" and exits 0; 77: this CPU cannot run it.
//
//   <program>          the whole
//   <program> stop     calls stop_here() in a goroutine, for debuggers
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

// A debugger stops here: some frames below a goroutine's entry.
extern "C" [[gnu::noinline, gnu::used]] void stop_here(int depth) {
  asm volatile("" : : "r"(depth) : "memory");
}

namespace {

[[gnu::noinline]] void go_down(int depth) {
  if (depth == 0) {
    stop_here(depth);
  } else {
    go_down(depth - 1);
  }
  asm volatile("" : : : "memory");  // no tail call: every frame counts
}

bool is_cpu_able() {
#if defined(__AVX512F__)
  return __builtin_cpu_supports("avx512f");
#elif defined(__AVX2__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

// Vectors live across yields, in different rounding everywhere if the switch forgot something.
double compute(int seed) {
  std::vector<double> a(64), b(64);
  for (int i = 0; i < 64; ++i) {
    a[static_cast<std::size_t>(i)] = seed + i;
    b[static_cast<std::size_t>(i)] = 1.0 / (1 + i);
  }
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < 64; ++i) a[i] = a[i] * b[i] + 1.5;
    weft::yield();
    for (std::size_t i = 0; i < 64; ++i) sum += a[i];
  }
  return sum;
}

struct failure {
  int code;
};

int throw_through(int depth) {
  if (depth == 0) throw failure{42};
  const std::string held(100, 'h');  // a destructor on the way
  return throw_through(depth - 1) + static_cast<int>(held.size());
}

int catch_and_park() {
  try {
    return throw_through(5);
  } catch (const failure& f) {
    for (int i = 0; i < 10; ++i) weft::yield();
    try {
      throw;  // still the same exception, on whatever thread
    } catch (const failure& again) {
      return &again == &f ? again.code : -1;
    }
  }
}

bool all_is_well() {
  bool is_well = true;
  std::vector<weft::join_handle<double>> sums;
  std::vector<weft::join_handle<int>> caught;
  for (int i = 0; i < 20; ++i) {
    sums.push_back(weft::spawn(compute, 7));
    caught.push_back(weft::spawn(catch_and_park));
  }
  const double wanted = compute(7);
  for (auto& h : sums) is_well &= h.join() == wanted;
  for (auto& h : caught) is_well &= h.join() == 42;
  auto failing = weft::spawn([]() -> int { throw std::runtime_error("on purpose"); });
  try {
    failing.join();
    is_well = false;
  } catch (const std::exception& e) {
    is_well &= std::strcmp(e.what(), "on purpose") == 0;
  }
  weft::wait_group all;
  for (int i = 0; i < 10; ++i) all.go([] { weft::exit_goroutine(); });
  all.wait();
  weft::lock_os_thread();
  weft::blocking([] {});
  weft::unlock_os_thread();
  return is_well && std::isfinite(wanted);
}

}  // namespace

int main(int argc, char** argv) {
  if (!is_cpu_able()) return 77;
  const bool is_stop = argc > 1 && std::strcmp(argv[1], "stop") == 0;
  bool is_well = true;
  for (int round = 0; round < 2; ++round) {
    weft::run({.max_procs = 4}, [&] {
      if (is_stop) {
        weft::spawn(go_down, 3).join();
      } else {
        is_well &= all_is_well();
      }
    });
  }
  std::puts(is_well ? "ok" : "wrong");
  return is_well ? 0 : 1;
}
