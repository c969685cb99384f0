// fixed_address.cpp: a program that is linked to run at a fixed address (-no-pie): its offsets in reports must be good for addr2line
// like those of any other. It ends in a deadlock.
#include <cstdio>

#include <weft/weft.hpp>

int main() {
  weft::run([] {
    std::printf("line=%d\n", __LINE__ + 2);
    std::fflush(stdout);
    weft::go({.name = "made here"}, [] { weft::event().wait(); });
    weft::event().wait();
  });
}
