// main_loop.cpp: a program with a main loop of its own: weft::runtime keeps the scheduler alive beside it.
//
// The main thread is no goroutine. It may call go(), spawn(), wait() and join() all the same; there they block the thread.
#include <atomic>
#include <iostream>

#include <weft/weft.hpp>

int main() {
  weft::runtime scheduler;  // its destructor ends it; goroutines still alive then are abandoned
  std::atomic<int> nframes{0};
  int nresults = 0;
  for (int frame = 0; frame < 10; ++frame) {  // stands for the loop of a toolkit or a game
    weft::go([&] { ++nframes; });             // work that nobody waits for
    auto answer = weft::spawn([frame] { return frame * frame; });
    if (answer.join() == frame * frame) ++nresults;
  }
  weft::event last;
  weft::go([&] {
    while (nframes < 10) weft::yield();
    last.set();
  });
  last.wait();
  std::cout << nresults << " answers, " << nframes << " frames\n";
  return nresults == 10 && nframes == 10 ? 0 : 1;
}
