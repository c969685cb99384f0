// two_parts.cpp: part one starts a runtime, and calls part two in one of its goroutines, which must find the same runtime.
#include <cstdio>

extern "C" int part_one(int n, int (*then)(int));
extern "C" int part_two(int n, int (*then)(int));

int main() {
  const int nested = part_one(1, [](int n) { return part_two(n, nullptr); });
  const int after = part_two(10, nullptr);
  std::printf("%d %d\n", nested, after);
  return nested == 103 && after == 111 ? 0 : 1;
}
