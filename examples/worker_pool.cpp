// worker_pool.cpp: a few goroutines take jobs from one channel and put results into another.
//
// Whoever is free takes the next job; closing the channel of jobs sends everybody home, and the last to leave closes the results.
#include <cstdio>

#include <weft/weft.hpp>

namespace {

struct job {
  int id;
};
struct result {
  int id;
  long steps;
};

// How many steps a number takes to 1: halve it, or triple it and add one.
long steps_of(long n) {
  long steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

}  // namespace

int main() {
  return weft::run([] {
    constexpr int kJobs = 1000;
    const auto jobs = weft::make_chan<job>(16);
    const auto results = weft::make_chan<result>(16);

    weft::wait_group workers;
    for (int i = 0; i < 4; ++i)
      workers.go([=] {
        for (const job& j : jobs) results.send({j.id, steps_of(j.id)});
      });
    weft::go([&workers, results] {
      workers.wait();
      results.close();
    });
    weft::go([jobs] {
      for (int id = 1; id <= kJobs; ++id) jobs.send({id});
      jobs.close();
    });

    result longest{0, -1};
    int n = 0;
    for (const result& r : results) {
      if (r.steps > longest.steps) longest = r;
      ++n;
    }
    std::printf("%d jobs done; the longest way is that of %d: %ld steps\n", n, longest.id,
                longest.steps);
    return n == kJobs && longest.id == 871 ? 0 : 1;
  });
}
