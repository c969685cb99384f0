// main.cpp: the smallest program that needs the whole of weft: it starts the runtime, a goroutine, and waits for it.
#include <iostream>
#include <weft/weft.hpp>

int main() {
  return weft::run([] {
    auto answer = weft::spawn([](int half) { return 2 * half; }, 21);
    std::cout << "weft works: " << answer.join() << '\n';
  });
}
