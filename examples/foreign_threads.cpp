// foreign_threads.cpp: threads that weft did not start use it like anyone else.
//
// Where a goroutine would park, a plain thread sleeps; goroutines wait for threads and threads for goroutines.
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

int main() {
  return weft::run([] {
    std::atomic<int> sum{0};
    weft::event start;
    weft::wait_group answered;
    answered.add(4);
    std::vector<std::thread> threads;
    for (int i = 1; i <= 4; ++i) {
      threads.emplace_back([&, i] {
        start.wait();                                               // a goroutine sets it
        sum += weft::spawn([](int n) { return n * n; }, i).join();  // a goroutine answers
        answered.done();
      });
    }
    start.set();
    answered.wait();  // this goroutine waits for threads
    weft::blocking([&] {
      for (auto& t : threads) t.join();  // std::thread::join blocks the thread: say so
    });
    std::cout << "1 + 4 + 9 + 16 = " << sum << '\n';
    return sum == 30 ? 0 : 1;
  });
}
