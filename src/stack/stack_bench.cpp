// stack_bench.cpp: what a stack costs. Prints one line per figure; not a test.
//
// carve is the worst case: a stack never used before (lock, guard, page fault of its top page). recycle is the usual one.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "stack/stack.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

template <class F>
void report(const char* what, std::size_t n, F&& f) {
  const auto start = clock_type::now();
  f();
  const std::chrono::duration<double, std::nano> ns = clock_type::now() - start;
  std::printf("stack %-28s %10zu times %9.1f ns each\n", what, n,
              ns.count() / static_cast<double>(n));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weft;
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
  stack::init(0);
  stack::head* all = nullptr;
  report("carve (guard, first page)", n, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      const stack::result r = stack::allocate(stack::default_bytes());
      if (r.stack == nullptr) {
        std::fprintf(stderr, "stack %zu: %s\n", i, stack::explain(r.why));
        std::exit(1);
      }
      r.stack->next = all;
      all = r.stack;
    }
  });
  report("release to the pool", n, [&] {
    while (all != nullptr) {
      stack::head* const next = all->next;
      stack::release(all);
      all = next;
    }
  });
  report("allocate from the pool", n, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      stack::head* const s = stack::allocate(stack::default_bytes()).stack;
      s->next = all;
      all = s;
    }
  });
  stack::cache mine;
  report("cache: push, spilling", n, [&] {
    while (all != nullptr) {
      stack::head* const next = all->next;
      mine.push(all);
      all = next;
    }
  });
  report("cache: get, refilling", n, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      stack::head* const s = mine.get().stack;
      s->next = all;
      all = s;
    }
  });
  report("cache: recycle one", 10'000'000, [&] {
    stack::head* const rest = all->next;  // push() uses the link
    for (int i = 0; i < 10'000'000; ++i) {
      mine.push(all);
      all = mine.pop();
    }
    all->next = rest;
  });
  report("trim (nothing to give back)", n, [&] {
    for (stack::head* s = all; s != nullptr; s = s->next) stack::trim(s, s->initial_sp());
  });
  while (all != nullptr) {
    stack::head* const next = all->next;
    stack::release(all);
    all = next;
  }
  stack::scavenge(0);
  report("scavenge", n, [&] { stack::scavenge(n); });
  const stack::totals t = stack::stats();
  std::printf("stack guards by %s, %zu carved, %zu warm, %zu cold, %zu segments\n", t.guard_kind,
              t.ncarved, t.nfree_warm, t.nfree_cold, t.nsegments);
  return 0;
}
