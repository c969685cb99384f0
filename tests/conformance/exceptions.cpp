// exceptions.cpp: an exception in flight or in hand belongs to its goroutine, wherever that goes on (B085, HAZARDS 45-47).
// What nobody catches ends the process: tests/death.
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// Yields often enough that others come and go on this thread, and that this goroutine is stolen if there is somebody to.
void wander(int n = 5) {
  for (int i = 0; i < n; ++i) weft::yield();
}

TEST_FOR_PROCS(exceptions, a_goroutine_may_park_inside_a_catch_block) {
  weft::wait_group wg;
  for (int i = 0; i < 50; ++i) {
    wg.go([i] {
      try {
        throw i;
      } catch (int n) {
        weft::event e;
        weft::go([&e] { e.set(); });
        e.wait();
        wander();
        EXPECT_EQ(n, i);
        try {
          throw;  // the one in hand, not some other goroutine's
        } catch (int again) {
          EXPECT_EQ(again, i);
        }
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(exceptions, rethrow_after_parking_carries_the_right_object) {
  weft::wait_group wg;
  for (int i = 0; i < 50; ++i) {
    wg.go([i] {
      const std::string mine = "number " + std::to_string(i);
      try {
        try {
          throw std::runtime_error(mine);
        } catch (...) {
          wander();
          throw;
        }
      } catch (const std::runtime_error& e) {
        wander();
        EXPECT_EQ(e.what(), mine);
      }
    });
  }
  wg.wait();
}

// B085
TEST_FOR_PROCS(exceptions, uncaught_exceptions_is_per_goroutine) {
  struct parks_while_unwinding {
    int expected;
    ~parks_while_unwinding() {
      EXPECT_EQ(std::uncaught_exceptions(), expected);
      wander();
      weft::event e;
      weft::go([&e] {
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        e.set();
      });
      e.wait();
      EXPECT_EQ(std::uncaught_exceptions(), expected);
    }
  };
  weft::wait_group wg;
  for (int i = 0; i < 30; ++i) {
    wg.go([i] {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      if (i % 3 == 0) {
        parks_while_unwinding p{0};
      } else {
        try {
          parks_while_unwinding p{1};
          throw i;
        } catch (int n) {
          EXPECT_EQ(n, i);
          EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
      }
      wander();
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(exceptions, a_throw_inside_unwinding_inside_a_catch_nests) {
  struct throws_and_catches {
    ~throws_and_catches() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      try {
        wander(2);
        throw std::string("inner");
      } catch (const std::string& s) {
        wander(2);
        EXPECT_EQ(s, "inner");
        EXPECT_EQ(std::uncaught_exceptions(), 1);
      }
    }
  };
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([i] {
      try {
        throw i;
      } catch (int outer) {
        try {
          throws_and_catches t;
          throw 1000 + i;
        } catch (int middle) {
          wander(2);
          EXPECT_EQ(middle, 1000 + i);
        }
        EXPECT_EQ(outer, i);
        try {
          throw;
        } catch (int n) {
          EXPECT_EQ(n, i);
        }
      }
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(exceptions, nested_exceptions_keep_their_order) {
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([i] {
      try {
        try {
          throw std::out_of_range(std::to_string(i));
        } catch (...) {
          wander();
          std::throw_with_nested(std::runtime_error("outer"));
        }
      } catch (const std::runtime_error& e) {
        wander();
        EXPECT_STREQ(e.what(), "outer");
        try {
          std::rethrow_if_nested(e);
          ADD_FAILURE() << "nothing nested";
        } catch (const std::out_of_range& inner) {
          EXPECT_EQ(inner.what(), std::to_string(i));
        }
      }
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(exceptions, an_exception_ptr_travels_between_goroutines) {
  std::exception_ptr p;
  weft::spawn([&] {
    try {
      throw std::runtime_error("made elsewhere");
    } catch (...) {
      p = std::current_exception();
      wander();
    }
  }).join();
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] {
      try {
        std::rethrow_exception(p);
      } catch (const std::runtime_error& e) {
        wander();
        EXPECT_STREQ(e.what(), "made elsewhere");
      }
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(exceptions, every_exception_object_is_destroyed_once) {
  static std::atomic<int> alive{0};
  struct counted {
    counted() { ++alive; }
    counted(const counted&) { ++alive; }
    ~counted() { --alive; }
  };
  alive = 0;
  weft::wait_group wg;
  for (int i = 0; i < 100; ++i) {
    wg.go([] {
      try {
        throw counted();
      } catch (const counted&) {
        wander(3);
      }
      auto h = weft::spawn([] { throw counted(); });
      EXPECT_THROW(h.join(), counted);
      weft::spawn([] { throw counted(); }).detach();
    });
  }
  wg.wait();
  EXPECT_TRUE(weft::test::eventually([] { return alive == 0; })) << alive << " left";
}

TEST_FOR_PROCS(exceptions, a_noexcept_function_may_park) {
  struct helper {
    static int parks(int n) noexcept {
      wander(3);
      try {
        throw n;
      } catch (int m) {
        wander(3);
        return m;
      }
    }
  };
  std::vector<weft::join_handle<int>> hs;
  for (int i = 0; i < 20; ++i) hs.push_back(weft::spawn([i] { return helper::parks(i); }));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(hs[static_cast<std::size_t>(i)].join(), i);
}

TEST_FOR_PROCS(exceptions, one_thrown_across_many_frames_is_caught_at_the_bottom) {
  struct helper {
    static int down(int n) {
      const std::string frame(static_cast<std::size_t>(n % 50), 'x');  // something to destroy
      if (n == 0) throw std::runtime_error("bottom");
      return down(n - 1) + static_cast<int>(frame.size());
    }
  };
  auto h = weft::spawn([] { return helper::down(200); });
  EXPECT_THROW(h.join(), std::runtime_error);
}

// B112: after a catch the stack is walked and thrown through as if nothing had been.
TEST_FOR_PROCS(exceptions, throwing_goes_on_after_catching) {
  auto h = weft::spawn([] {
    int caught = 0;
    for (int i = 0; i < 100; ++i) {
      try {
        if (i % 10 == 0) weft::yield();
        throw i;
      } catch (int) {
        ++caught;
      }
    }
    return caught;
  });
  EXPECT_EQ(h.join(), 100);
}

TEST(exceptions, what_leaves_main_leaves_run_as_the_same_object) {
  struct marked {
    const void* self = this;
  };
  const void* thrown = nullptr;
  try {
    weft::run([&] {
      const auto p = std::make_exception_ptr(marked{});
      try {
        std::rethrow_exception(p);
      } catch (const marked& m) {
        thrown = &m;
        wander();
        throw;
      }
    });
    ADD_FAILURE() << "run returned";
  } catch (const marked& m) {
    EXPECT_EQ(&m, thrown);
  }
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(exceptions, run_inside_a_catch_block_leaves_the_callers_exception_alone) {
  try {
    throw 5;
  } catch (int) {
    weft::test::run_on(2, [] {
      EXPECT_EQ(std::current_exception(), nullptr)
          << "the thread's exception is not the goroutine's";
      wander();
    });
    try {
      throw;
    } catch (int n) {
      EXPECT_EQ(n, 5);
    }
  }
}

TEST(exceptions, lock_main_inside_a_catch_block_leaves_the_callers_exception_alone) {
  try {
    throw 5;
  } catch (int) {
    weft::test::run_with({.max_procs = 2, .lock_main = true}, [] {
      EXPECT_EQ(std::current_exception(), nullptr)
          << "the thread's exception is not the goroutine's";
      try {
        throw 6;
      } catch (int n) {
        wander();
        EXPECT_EQ(n, 6);
      }
    });
    try {
      throw;
    } catch (int n) {
      EXPECT_EQ(n, 5);
    }
  }
}

TEST_FOR_PROCS(exceptions_race, throwing_catching_and_parking_mix) {
  weft::wait_group wg;
  std::atomic<int> caught{0};
  constexpr int kRounds = weft::test::scaled(200);
  for (int g = 0; g < 8; ++g) {
    wg.go([&, g] {
      for (int i = 0; i < kRounds; ++i) {
        try {
          try {
            if (i % 2 == 0) weft::yield();
            throw std::to_string(g);
          } catch (const std::string&) {
            weft::yield();
            throw;
          }
        } catch (const std::string& s) {
          if (s == std::to_string(g)) ++caught;
        }
      }
    });
  }
  wg.wait();
  EXPECT_EQ(caught, 8 * kRounds);
}

}  // namespace
