// hello.cpp: a main goroutine, another one, and a wait for it.
#include <iostream>

#include <weft/weft.hpp>

int main() {
  return weft::run([] {
    weft::event said;
    weft::go([&] {
      std::cout << "hello from goroutine " << weft::this_goroutine::id() << '\n';
      said.set();
    });
    said.wait();  // when the main goroutine returns, the program does not wait for others
  });
}
