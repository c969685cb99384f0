// groups.cpp: goroutines that belong together: group, parallel_for, parallel_map, worker_pool, single_flight.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "numbered_error.hpp"
#include "scenario.hpp"

#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::numbered_error;
using weft::seeds::together;

namespace {

// Counts who is at work, until the scope ends.
class at_work {
 public:
  explicit at_work(int& n) noexcept : n_(n) { ++n_; }
  ~at_work() { --n_; }
  at_work(const at_work&) = delete;
  at_work& operator=(const at_work&) = delete;

 private:
  int& n_;
};

// Nobody else runs between the note of who fails first and the throw.
SCENARIO(group_seeds, the_first_failure_counts_and_nobody_outlives_the_group) {
  const bool is_unlimited = t.fault("there is no limit");
  const bool dawdles = t.fault("somebody dawdles between its claim and its throw");
  const bool strays = t.fault("a child belongs to nobody");
  const bool is_deaf = t.fault("a child does not look at the context");
  int nworking = 0;
  std::optional<int> first;
  std::optional<int> caught;
  weft::wait_group strayed;
  {
    weft::group g;
    if (!is_unlimited) g.limit(3);
    const auto began = weft::clock::now();
    for (int i = 0; i < 5; ++i) {
      const auto child = [&, i](const weft::context& ctx) {
        const at_work me(nworking);
        t.must(nworking <= 3 || strays, "no more work at once than the limit says");
        weft::yield();
        if (i == 1 || i == 2) {
          weft::sleep_for(1ms);
          if (!first) first = i;
          if (dawdles) weft::yield();
          throw numbered_error(i);
        }
        if (is_deaf) {
          weft::sleep_for(1h);
        } else {
          static_cast<void>(ctx.done().recv_for(1h));
        }
        if (strays) weft::sleep_for(1ms);
      };
      if (strays && i == 0) {
        strayed.go([&, child] {
          child(g.ctx());
          weft::yield();
        });
      } else {
        g.go(child);
      }
    }
    try {
      g.wait();
    } catch (const numbered_error& e) {
      caught = e.id;
    }
    t.must(nworking == 0, "all have ended when wait() returns");
    t.must(caught == first, "wait() throws what the first that failed threw");
    t.must(weft::clock::now() - began < 1h, "a failure ends the others");
    strayed.wait();
  }
}

SCENARIO(group_seeds, parallel_loops_do_each_once_and_keep_the_order_of_results) {
  const bool races = t.fault("they share a counter that nobody guards");
  const bool collects = t.fault("results are collected as they come");
  constexpr int kAll = 12;
  std::vector<int> ndone(kAll, 0);
  int next = 0;
  weft::parallel_for({.workers = 3, .grain = 2}, 0, kAll, [&](int i) {
    const int at = races ? next : i;
    weft::yield();
    next = at + 1;
    ++ndone[at];
  });
  t.must(std::ranges::count(ndone, 1) == kAll, "each is done once");

  std::vector<int> in(kAll);
  std::iota(in.begin(), in.end(), 0);
  std::vector<int> collected;
  std::vector<int> out = weft::parallel_map({.workers = 3, .grain = 1}, in, [&](int v) {
    weft::yield();
    collected.push_back(v);
    return v;
  });
  t.must((collects ? collected : out) == in, "results have the order of what they are made from");
}

SCENARIO(group_seeds, a_parallel_loop_that_fails_has_ended_all_that_it_began) {
  const bool strays = t.fault("a step goes on in a goroutine of its own");
  const bool dawdles = t.fault("somebody dawdles between its claim and its throw");
  int nworking = 0;
  std::optional<int> first;
  std::optional<int> caught;
  weft::wait_group strayed;
  try {
    weft::parallel_for({.workers = 3, .grain = 1}, 0, 8, [&](int i) {
      const at_work me(nworking);
      weft::yield();
      if (strays) {
        strayed.go([&] {
          const at_work another(nworking);
          weft::sleep_for(1ms);
        });
        return;
      }
      if (i < 4) return;
      if (!first) first = i;
      if (dawdles) weft::yield();
      throw numbered_error(i);
    });
  } catch (const numbered_error& e) {
    caught = e.id;
  }
  t.must(nworking == 0, "what was begun has ended");
  t.must(caught == first, "what was thrown first is thrown");
  strayed.wait();
}

SCENARIO(group_seeds, a_pool_does_all_that_it_was_given_with_so_many_at_once) {
  const bool bypasses = t.fault("some work goes past the pool");
  const bool hastes = t.fault("nobody waits for the pool");
  const std::size_t nworkers = 2;
  int nworking = 0;
  int ndone = 0;
  int nresults = 0;
  weft::wait_group beside;
  {
    weft::worker_pool pool(nworkers, 1);
    const auto work = [&](bool exits) {
      const at_work me(nworking);
      t.must(nworking <= 2, "no more are at work than the pool has");
      weft::yield();
      ++ndone;
      if (exits) weft::exit_goroutine();
      return 7;
    };
    together(2, [&](int i) {
      for (int k = 0; k < 2; ++k) {
        const bool exits = i == 1 && k == 0;
        if (bypasses) {
          beside.go([&] { static_cast<void>(work(false)); });
        } else {
          pool.post([&, exits] { static_cast<void>(work(exits)); });
        }
        if (pool.submit(work, false).join() == 7) ++nresults;
      }
    });
    if (!hastes) pool.wait();
    t.must(ndone == 8, "all is done when wait() returns");
    beside.wait();
    pool.close();
    try {
      pool.post([] {});
      ++nresults;
    } catch (const weft::closed_channel&) {
    }
  }
  if (t.fault("a result is looked at twice")) ++nresults;
  t.must(nresults == 4, "each result is had once, and nothing is taken after close()");
}

// One worker: then what is begun can be seen.
SCENARIO(group_seeds, a_pool_begins_work_in_the_order_in_which_it_came) {
  const std::size_t nworkers = t.fault("two workers begin side by side") ? 2 : 1;
  std::vector<int> begun[2];
  {
    weft::worker_pool pool(nworkers, 2);
    together(2, [&](int i) {
      for (int k = 0; k < 4; ++k) {
        pool.post([&, i, k] {
          begun[i].push_back(k);
          weft::yield();
        });
      }
    });
  }
  for (const auto& each : begun)
    t.must(std::ranges::is_sorted(each), "what one gave is begun in its order");
}

SCENARIO(group_seeds, one_flight_at_a_time_serves_all_who_ask_meanwhile) {
  const bool confuses = t.fault("they ask for the same by different names");
  const bool remembers = t.fault("somebody answers from memory");
  weft::single_flight<std::string, int> flights;
  int nflying = 0;
  int nbegun = 0;
  int last_answer = 0;
  together(4, [&](int i) {
    int remembered = 0;
    for (int k = 0; k < 3; ++k) {
      const int answered_before = last_answer;
      const std::string key = confuses ? std::to_string(i) : "the same";
      int answer = flights.call(key, [&] {
        const at_work me(nflying);
        t.must(nflying == 1, "one flies at a time");
        const int mine = ++nbegun;
        weft::sleep_for(1ms);
        return mine;
      });
      if (remembers && remembered != 0) answer = remembered;
      remembered = answer;
      last_answer = std::max(last_answer, answer);
      t.must(answer > answered_before,
             "nobody gets an answer that another had before the question");
      weft::sleep_for(i * 1ms);
    }
  });
}

}  // namespace
