// part.cpp: one of two shared objects of a program that each use weft for themselves. PART is its one function.
#include <weft/weft.hpp>

// Runs on the runtime that is there, or on one of its own, and then adds 100.
extern "C" [[gnu::visibility("default")]] int PART(int n, int (*then)(int)) {
  const auto work = [n, then] {
    auto h = weft::spawn([n, then] {
      weft::yield();
      return then != nullptr ? then(n + 1) : n + 1;
    });
    return h.join();
  };
  if (weft::max_procs() != 0) return work();
  return 100 + weft::run({.max_procs = 2}, work);
}
