// locked_thread.cpp: a library that must always be called from one thread, owned by one goroutine.
//
// Graphics and database libraries keep their state in thread-local variables. lock_os_thread() ties a goroutine to its
// thread, so it can own such a library while all others move about.
#include <iostream>

#include <weft/weft.hpp>

namespace {

namespace fussy {  // the library: counts per thread, as an OpenGL context would
thread_local int ncalls = 0;
[[gnu::noinline]] int draw() { return ++ncalls; }
}  // namespace fussy

}  // namespace

int main() {
  return weft::run([] {
    auto painter = weft::spawn({.name = "painter"}, [] {
      weft::lock_os_thread();
      int last = 0;
      for (int i = 0; i < 100; ++i) {
        last = fussy::draw();
        weft::yield();  // others run, on this processor too, but not on this thread
      }
      weft::unlock_os_thread();
      return last;
    });
    for (int i = 0; i < 100; ++i) weft::spawn([] { weft::yield(); }).join();
    const int ncalls = painter.join();
    std::cout << "the library saw " << ncalls << " calls on one thread\n";
    return ncalls == 100 ? 0 : 1;
  });
}
