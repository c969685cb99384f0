// workload.cpp: see workload.hpp.
//
// User code in them calls what is forbidden inside all the time (use_libraries), so that a bracket that is left too late or
// entered too early shows, and not only a runtime that allocates.
#include "bracket/workload.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include <weft/weft.hpp>
#include "bracket/preempted.hpp"
#include "bracket/user_code.hpp"
#include "bracket/watch.hpp"

namespace weft::test::bracket {

namespace {

void throw_and_catch(int depth) {
  try {
    if (depth == 0) throw std::runtime_error("thrown on purpose");
    throw_and_catch(depth - 1);
  } catch (const std::runtime_error&) {
    weft::yield();  // parked inside the handler
    use_libraries();
  }
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("no copy"); }
  void operator()() const {}
};

std::string spawning(unsigned nprocs) {
  int sum = 0;
  weft::run({.max_procs = nprocs}, [&] {
    for (int round = 0; round < 50; ++round) {
      std::vector<weft::join_handle<int>> handles;
      std::array<int, 100> large{};
      large[99] = round;
      for (int i = 0; i < 20; ++i) {
        handles.push_back(weft::spawn([i] { return i; }));
        handles.push_back(weft::spawn([large] {
          use_libraries();
          return large[99];
        }));
        handles.push_back(
            weft::spawn([](const std::string& s) { return static_cast<int>(s.size()); },
                        std::string(100, 'x')));
        weft::go({.name = "named", .labels = {{"key", "value"}}},
                 [] { weft::this_goroutine::set_name("renamed"); });
      }
      throws_when_copied bad;
      try {
        weft::go(bad);
      } catch (const std::runtime_error&) {
      }
      for (auto& h : handles) sum += h.join();
    }
  });
  return unless(sum == 50 * (190 + 20 * 100) + 20 * (49 * 50 / 2),
                "wrong sum of what the goroutines returned");
}

std::string waiting(unsigned nprocs) {
  std::atomic<int> ndone{0};
  weft::run({.max_procs = nprocs}, [&] {
    for (int round = 0; round < 200; ++round) {
      weft::event start;
      weft::wait_group all;
      for (int i = 0; i < 10; ++i) {
        all.go([&] {
          use_libraries();
          start.wait();
          for (int k = 0; k < 5; ++k) weft::yield();
          weft::checkpoint();
          ndone.fetch_add(1);
        });
      }
      weft::yield();
      start.set();
      all.wait();
    }
  });
  return unless(ndone == 2000, "not every goroutine came to its end");
}

std::string blocking_calls(unsigned nprocs) {
  std::uint64_t nretaken = 0;
  weft::run({.max_procs = nprocs}, [&] {
    const auto one_round = [] {
      weft::wait_group all;
      for (int i = 0; i < 12; ++i) {
        all.go([i] {
          weft::blocking([i] {
            use_libraries();
            sleep_ms(i % 3 == 0 ? 0 : 3);
            weft::blocking([] { use_libraries(); });
          });
          use_libraries();
          weft::yield();
        });
        all.go([] {
          for (int k = 0; k < 50; ++k) {
            use_libraries();
            weft::yield();
          }
        });
      }
      all.wait();
    };
    until(one_round, [&] { return (nretaken = weft::stats().handoffs) >= 20; });
  });
  return unless(nretaken >= 20, "sysmon took no P from a thread in blocking()");
}

std::string locked_threads(unsigned nprocs) {
  std::atomic<int> nwrong{0};
  std::uint64_t ncreated = 0;
  weft::run({.max_procs = nprocs}, [&] {
    for (int round = 0; round < 30; ++round) {
      weft::wait_group all;
      for (int i = 0; i < 6; ++i) {
        all.go([&, i] {
          weft::lock_os_thread();
          weft::lock_os_thread();
          const auto here = std::this_thread::get_id();
          for (int k = 0; k < 5; ++k) {
            weft::yield();
            use_libraries();
            if (std::this_thread::get_id() != here) ++nwrong;
          }
          weft::unlock_os_thread();
          if (i % 2 == 0) weft::unlock_os_thread();  // else it ends locked, and its thread with it
        });
      }
      all.wait();
    }
    ncreated = weft::stats().threads_created;
  });
  if (nwrong != 0) return "a locked goroutine changed its thread";
  return unless(ncreated > 30, "no thread ended with its goroutine");
}

std::string resizing(unsigned nprocs) {
  const auto before = nresize_regions.load();
  std::uint64_t nstops = 0;
  weft::run({.max_procs = nprocs}, [&] {
    std::atomic<bool> is_over{false};
    weft::wait_group busy;
    for (int i = 0; i < 6; ++i) {
      busy.go([&] {
        while (!is_over) {
          use_libraries();
          weft::yield();
        }
      });
    }
    std::thread stranger([] {
      for (unsigned i = 0; i < 30; ++i) {
        weft::max_procs(1 + i % 5);
        use_libraries();
      }
    });
    for (unsigned i = 0; i < 50; ++i) {
      weft::max_procs(1 + i % 6);
      use_libraries();
      weft::yield();
    }
    weft::blocking([&] { stranger.join(); });
    weft::default_max_procs();
    is_over = true;
    busy.wait();
    nstops = weft::stats().world_stops;
  });
  if (nresize_regions.load() == before)
    return "max_procs() on a plain thread was not watched: was resize() renamed?";
  return unless(nstops > 40, "the world was hardly ever stopped");
}

[[gnu::noinline]] std::size_t use_stack(std::size_t bytes) {
  volatile char room[4096];
  room[0] = 1;
  return bytes <= sizeof room ? static_cast<std::size_t>(room[0])
                              : use_stack(bytes - sizeof room) + static_cast<std::size_t>(room[0]);
}

std::string stack_sizes(unsigned nprocs) {
  std::atomic<std::size_t> nframes{0};
  weft::run({.max_procs = nprocs, .stack_size = 64 << 10}, [&] {
    weft::wait_group all;
    for (int round = 0; round < 20; ++round) {
      for (std::size_t size = 16 << 10; size <= (std::size_t{64} << 20); size *= 4) {
        all.add(1);
        weft::go({.stack_size = size}, [&, size] {
          nframes += use_stack(std::min(size, std::size_t{1} << 20) / 4);
          use_libraries();
          weft::yield();
          all.done();
        });
      }
      all.wait();
    }
  });
  return unless(nframes > 1000, "the large stacks were not used");
}

std::string endings(unsigned nprocs) {
  std::atomic<int> ndestroyed{0}, nthrown{0}, nexited{0};
  weft::run({.max_procs = nprocs}, [&] {
    const weft::goroutine_local<std::string> local(std::string(100, 'l'));
    struct counts {
      std::atomic<int>& n;
      ~counts() { ++n; }
    };
    for (int round = 0; round < 50; ++round) {
      weft::wait_group all;
      all.go([&] {
        counts c{ndestroyed};
        local.get() += "more";
        weft::exit_goroutine();
      });
      all.go([&] { throw_and_catch(3); });
      auto throwing = weft::spawn([&] {
        local.get() += 'x';
        throw std::runtime_error(std::string(100, 'e'));
      });
      auto exiting = weft::spawn([] { weft::exit_goroutine(); });
      try {
        throwing.join();
      } catch (const std::runtime_error&) {
        weft::yield();
        ++nthrown;
      }
      try {
        exiting.join();
      } catch (const weft::goroutine_exited&) {
        ++nexited;
      }
      all.wait();
    }
  });
  return unless(ndestroyed == 50 && nthrown == 50 && nexited == 50,
                "not every goroutine ended as it should");
}

std::string foreign_threads(unsigned nprocs) {
  std::atomic<int> ndone{0};
  weft::runtime alive({.max_procs = nprocs});
  std::vector<std::thread> strangers;
  for (int i = 0; i < 4; ++i) {
    strangers.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        weft::event there, back;
        weft::go([&] {
          use_libraries();
          there.set();
          back.wait();
          ++ndone;
        });
        there.wait();
        auto h = weft::spawn([&] {
          use_libraries();
          return 1;
        });
        weft::blocking([] { use_libraries(); });
        weft::yield();
        back.set();
        ndone += h.join();
        weft::this_goroutine::set_name("stranger");
      }
    });
  }
  for (auto& t : strangers) t.join();
  // the goroutine's last line may come after its creator has gone on
  const bool is_all = until([] { sleep_ms(1); }, [&] { return ndone == 400; });
  return unless(is_all, "not every goroutine of a plain thread ran");
}

std::string running_again(unsigned nprocs) {
  int nruns = 0;
  for (int round = 0; round < 20; ++round) {
    static weft::event never;
    weft::run({.max_procs = nprocs, .lock_main = round % 2 == 1}, [&] {
      for (int i = 0; i < 20; ++i)
        weft::go([] {
          use_libraries();
          never.wait();
        });
      weft::go([] { weft::blocking([] { sleep_ms(3); }); });
      for (int i = 0; i < 3; ++i) {
        use_libraries();
        weft::yield();
      }
      ++nruns;
    });
  }
  sleep_ms(20);  // threads that were left in user code end at their next call
  return unless(nruns == 20, "run() did not come back each time");
}

std::string overflowing(unsigned nprocs) {
  std::size_t nglobal = 0;
  std::atomic<int> ndone{0};
  weft::run({.max_procs = nprocs}, [&] {
    weft::wait_group all;
    for (int i = 0; i < 5000; ++i) {
      all.go([&] {
        use_libraries();
        ++ndone;
      });
      nglobal = std::max(nglobal, weft::stats().global_queue);
    }
    all.wait();
  });
  if (ndone != 5000) return "goroutines got lost";
  return unless(nprocs > 1 || nglobal > 0, "the local queue never ran over into the global one");
}

std::string stealing(unsigned nprocs) {
  std::uint64_t nsteals = 0;
  weft::run({.max_procs = nprocs}, [&] {
    const auto one_round = [] {
      weft::wait_group all;
      for (int i = 0; i < 200; ++i) {
        all.go([] {
          for (int k = 0; k < 20; ++k) use_libraries();
        });
      }
      all.wait();
    };
    one_round();
    until(one_round, [&] { return nprocs == 1 || (nsteals = weft::stats().steals) >= 10; });
  });
  return unless(nprocs == 1 || nsteals >= 10, "nobody stole");
}

// Ten seconds in the life of an idle program: threads leave after five, stacks are trimmed, the CPU limit is read again.
std::string idling(unsigned nprocs) {
  unsigned nbefore = 0, nafter = 0;
  weft::run({.max_procs = 0}, [&] {
    static weft::event never;
    for (int i = 0; i < 500; ++i)
      weft::go([] {
        use_libraries();
        never.wait();
      });
    weft::wait_group all;
    for (int i = 0; i < 12; ++i) all.go([] { weft::blocking([] { sleep_ms(100); }); });
    all.wait();
    nbefore = weft::stats().threads;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < limit)
      weft::yield();  // sysmon keeps house while somebody runs
    weft::blocking([] { sleep_ms(7000); });
    nafter = weft::stats().threads;
  });
  static_cast<void>(nprocs);
  return unless(nafter < nbefore, "no idle thread left");
}

}  // namespace

const std::vector<scenario>& scenarios() {
  static const std::vector<scenario> all{
      {"spawning", &spawning},
      {"waiting", &waiting},
      {"blocking_calls", &blocking_calls},
      {"locked_threads", &locked_threads},
      {"resizing", &resizing},
      {"stack_sizes", &stack_sizes},
      {"endings", &endings},
      {"foreign_threads", &foreign_threads},
      {"running_again", &running_again},
      {"overflowing", &overflowing},
      {"stealing", &stealing},
      {"stopped_by_signal", &stopped_by_signal},
      {"borrowing", &borrowing},
      {"sleeping_untold", &sleeping_untold},
      {"timers", &timers},
      {"idling", &idling},
  };
  return all;
}

}  // namespace weft::test::bracket
