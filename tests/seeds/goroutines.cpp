// goroutines.cpp: what belongs to a goroutine stays with it: its result, its end, its locals, its exceptions.
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "numbered_error.hpp"
#include "scenario.hpp"

#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::numbered_error;
using weft::seeds::together;
using weft::seeds::trial;

namespace {

SCENARIO(goroutine_seeds, whoever_joins_has_the_result_or_the_exception) {
  const bool looks_early = t.fault("the result is looked at and not waited for");
  const bool swallows = t.fault("a goroutine keeps its exception to itself");
  int result = 0;
  auto number = weft::spawn([&] {
    weft::sleep_for(1ms);
    result = 7;
    return result;
  });
  auto thrower = weft::spawn([swallows] {
    weft::yield();
    if (!swallows) throw numbered_error(3);
  });
  auto idler = weft::spawn([] { weft::sleep_for(2ms); });
  std::optional<int> got = looks_early ? result : number.join_for(1ms);
  if (!got) got = number.join();
  t.must(got == 7, "join gives the result");
  int caught = 0;
  try {
    thrower.join();
  } catch (const numbered_error& e) {
    caught = e.id;
  }
  t.must(caught == 3, "join throws what the goroutine threw");
  const auto began = weft::clock::now();
  const bool has_ended = idler.join_for(1ms);
  if (!has_ended) idler.join();
  const auto [a, b] = weft::await_all(weft::spawn([] { return 1; }), weft::spawn([began] {
                                        weft::sleep_until(began + 1ms);
                                        return 2;
                                      }));
  if (number.joinable()) number.join();
  t.must(a == 1 && b == (looks_early ? 0 : 2),
         "all that were awaited have their results, in order");
}

SCENARIO(goroutine_seeds, who_exits_is_unwound_and_joiners_learn_of_it) {
  const bool is_untidy =
      t.fault("what was begun is ended by the last line, and not by a destructor");
  const bool returns = t.fault("it returns and does not exit");
  int nbegun = 0;
  int nexited = 0;
  struct ending {
    int* n;
    ~ending() {
      weft::yield();  // others run while this one is being unwound
      if (n != nullptr) --*n;
    }
  };
  std::vector<weft::join_handle<int>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(weft::spawn([&, i] {
      ++nbegun;
      const ending at_end{is_untidy ? nullptr : &nbegun};
      weft::yield();
      if (i % 2 == 0 && !returns) weft::exit_goroutine();
      if (is_untidy) --nbegun;
      return i;
    }));
  }
  for (int i = 0; i < 4; ++i) {
    try {
      static_cast<void>(all[i].join());
    } catch (const weft::goroutine_exited&) {
      ++nexited;
    }
  }
  t.must(nbegun == 0, "destructors have run when the goroutine can be joined");
  t.must(nexited == 2, "who joins learns that it exited");
}

SCENARIO(goroutine_seeds, each_goroutine_has_locals_of_its_own) {
  const bool shares = t.fault("one variable serves all");
  const bool leaks = t.fault("a local is left to nobody");
  struct counted {
    int* nalive = nullptr;
    ~counted() {
      if (nalive != nullptr) --*nalive;
    }
  };
  weft::goroutine_local<int> own(0);
  int common = 0;
  int nalive = 0;
  together(4, [&](int i) {
    ++nalive;
    if (!leaks) weft::this_goroutine::local<counted>(&nalive).nalive = &nalive;
    for (int k = 1; k <= 4; ++k) {
      int& mine = shares ? common : *own;
      mine += i + 1;
      weft::yield();
      t.must(mine == k * (i + 1), "nobody else changes a local");
    }
  });
  t.must(nalive == 0, "locals are gone when the goroutine has ended");
}

SCENARIO(goroutine_seeds, an_exception_stays_with_the_goroutine_that_parks_in_its_catch_block) {
  const bool shares = t.fault("one variable keeps everybody's exception");
  const bool leaves_early = t.fault("a scope is left before the exception is thrown");
  struct unwound {
    trial& of;
    ~unwound() {
      of.must(std::uncaught_exceptions() == 1, "one exception is under way where one was thrown");
      weft::yield();
      of.must(std::uncaught_exceptions() == 1, "and still after others have run");
    }
  };
  auto c = weft::make_chan<int>();
  std::exception_ptr last;
  together(4, [&](int i) {
    for (int k = 0; k < 2; ++k) {
      try {
        try {
          {
            const std::optional<unwound> early =
                leaves_early ? std::optional<unwound>(std::in_place, t) : std::nullopt;
          }
          const unwound scope{t};
          throw numbered_error(i);
        } catch (const numbered_error&) {
          const std::exception_ptr mine = std::current_exception();
          last = mine;
          if (i % 2 == 0) {
            c.send(i);
          } else {
            static_cast<void>(c.recv());
          }
          t.must(std::current_exception() == (shares ? last : mine),
                 "the exception in hand is the same after others have run");
          if (shares) std::rethrow_exception(last);
          throw;
        }
      } catch (const numbered_error& e) {
        t.must(e.id == i, "what is rethrown is one's own");
      }
    }
  });
}

}  // namespace
