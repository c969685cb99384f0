// stack.cpp: goes as deep as a goroutine's stack is, so that weft says how large it was. With an argument: in a runtime that names that size.
#include <cstdlib>

#include <weft/weft.hpp>

namespace {

__attribute__((noinline)) int fall(volatile char* above, int nmore) {
  volatile char here[256];
  here[0] = above[0];
  return nmore == 0 ? 0 : fall(here, nmore - 1) + here[0];
}

}  // namespace

int main(int argc, char** argv) {
  const weft::options named{.stack_size =
                                argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 0};
  return weft::run(named, [] {
    weft::spawn([] {
      volatile char first = 1;
      return fall(&first, 1 << 30);
    }).join();
  });
}
