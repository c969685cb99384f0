// plugin.cpp: a shared object that uses weft for itself and may be unloaded. Built with weft inside it, and beside it.
#include <weft/weft.hpp>

// How many of n goroutines have run. One more is abandoned while it waits.
extern "C" [[gnu::visibility("default")]] int plugin_run(int n) {
  int sum = 0;
  weft::run({.max_procs = 2}, [&] {
    weft::go([] {
      weft::event never;
      never.wait();
    });
    std::vector<weft::join_handle<int>> ended;
    for (int i = 0; i < n; ++i)
      ended.push_back(weft::spawn([] {
        weft::yield();
        return 1;
      }));
    for (auto& one : ended) sum += one.join();
  });
  return sum;
}
