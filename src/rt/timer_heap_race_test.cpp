// timer_heap_race_test.cpp: several threads arm, cancel, pop and move at once: each arming fires or is cancelled, never both, never
// neither (B203, B207; HAZARDS 17, 18, 20).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "rt/timer_heap.hpp"
#include "rt/timer_slab.hpp"
#include "support/for_procs.hpp"

namespace weft::rt {
namespace {

// Atomics that now and then dawdle before they do their work, so that a gap of one instruction is wide open. They mostly spin: on
// a busy machine a thread that yields is gone for a long time.
void now_and_then_dawdle() noexcept {
  static std::atomic<std::uint64_t> next_seed{1};
  thread_local base::rng rng(next_seed++);
  const std::uint32_t what = rng.below(1024);
  if (what == 0) {
    std::this_thread::yield();
  } else if (what < 128) {
    for (int i = 0; i < 100; ++i) base::std_atomics::pause();
  }
}

// They also watch T2: the heap's only 64-bit signed word is next_, its only 32-bit word the lock.
thread_local int nlocks_held = 0;
std::atomic<int> nbare_stores{0};  // to next_, by somebody who did not hold a lock

// And they let a test do something at the worst moment: right before this thread next writes a node's word.
thread_local std::function<void()>* before_next_write = nullptr;
void worst_moment() {
  if (auto* const act = std::exchange(before_next_write, nullptr)) (*act)();
}

struct slow_atomics {
  template <class T>
  class atomic : std::atomic<T> {
    using base = std::atomic<T>;
    static constexpr bool kIsLock = std::is_same_v<T, std::uint32_t>;
    static constexpr bool kIsNext = std::is_same_v<T, std::int64_t>;
    static constexpr bool kIsWord = std::is_same_v<T, std::uint64_t>;  // or a counter

   public:
    using base::base;
    T load(std::memory_order order) const noexcept {
      now_and_then_dawdle();
      return base::load(order);
    }
    void store(T v, std::memory_order order) noexcept {
      now_and_then_dawdle();
      if (kIsWord) worst_moment();
      if (kIsNext && nlocks_held == 0) ++nbare_stores;
      if (kIsLock) --nlocks_held;  // nobody stores another value than free
      base::store(v, order);
    }
    T fetch_add(T v, std::memory_order order) noexcept {
      now_and_then_dawdle();
      return base::fetch_add(v, order);
    }
    bool compare_exchange_strong(T& seen, T v, std::memory_order won,
                                 std::memory_order lost) noexcept {
      now_and_then_dawdle();
      if (kIsWord) worst_moment();
      const bool has_won = base::compare_exchange_strong(seen, v, won, lost);
      if (kIsLock && has_won) ++nlocks_held;
      return has_won;
    }
  };
  static void pause() noexcept { base::std_atomics::pause(); }
  static void nap(std::int64_t) noexcept { std::this_thread::yield(); }
};

// Type-stable nodes: the runtime's own, or for other atomics a list of them that is kept to the end.
template <class A>
struct node_pool {
  basic_timer<A>* take() {
    const std::lock_guard guard(lock);
    if (free.empty()) return &all.emplace_back();
    basic_timer<A>* const t = free.back();
    free.pop_back();
    return t;
  }
  void put(basic_timer<A>* t) {
    const std::lock_guard guard(lock);
    free.push_back(t);
  }
  std::mutex lock;
  std::deque<basic_timer<A>> all;
  std::vector<basic_timer<A>*> free;
};
template <>
struct node_pool<os::futex_atomics> {
  timer* take() { return take_timer(); }
  void put(timer* t) { release_timer(t); }
};

// Everything that four threads do to three heaps, and what came of it.
template <class A>
class everyone_at_once {
 public:
  explicit everyone_at_once(std::size_t narmings) : seed_(test::seed()), heaps_(3) {
    for (std::size_t t = 0; t < kThreads; ++t) tokens_.emplace_back(narmings);
  }

  void run() {
    std::vector<std::thread> threads;
    for (std::size_t me = 0; me < kThreads; ++me) threads.emplace_back([this, me] { work(me); });
    std::thread mover([this] { move_about(); });
    for (auto& t : threads) t.join();
    stop_ = true;
    mover.join();
    now_ = kNever;
    for (heap_type& h : heaps_) {
      while (h.next_when() != kNever) fire_due(h);
      EXPECT_EQ(h.size(), 0u);
    }
  }

  void check() {
    std::uint64_t nfired = 0;
    std::uint64_t ncancelled = 0;
    for (const auto& mine : tokens_) {
      for (const token& k : mine) {
        ASSERT_EQ(k.nfired + k.ncancelled, 1)
            << "fired " << k.nfired << ", cancelled " << k.ncancelled;
        nfired += static_cast<std::uint64_t>(k.nfired);
        ncancelled += static_cast<std::uint64_t>(k.ncancelled);
      }
    }
    EXPECT_EQ(nreleased_, ncancelled) << "every cancelled node is released, once";
    EXPECT_EQ(nearly_, 0);
    EXPECT_GT(nfired, 0u);
    EXPECT_GT(ncancelled, 0u);
    for (heap_type& h : heaps_) h.clear();
  }

 private:
  static constexpr std::size_t kThreads = 4;
  using heap_type = basic_timer_heap<A>;
  using node_type = basic_timer<A>;

  // One arming. The node's arg points to it.
  struct token {
    std::atomic<int> nfired{0};
    std::atomic<int> ncancelled{0};
    everyone_at_once* world =
        nullptr;  // this and the next written before arm(), read by the callback
    std::int64_t when_ns = 0;
    std::uint64_t seq = 0;
    node_type* node = nullptr;
  };

  static void on_fire(node_type* t, void* arg, std::uint64_t) {
    auto& mine = *static_cast<token*>(arg);
    if (mine.when_ns > mine.world->now_.load()) ++mine.world->nearly_;
    ++mine.nfired;
    mine.world->nodes_.put(t);  // may be somebody else's from here on
  }
  static void on_release(node_type* t, timer_state) {
    auto& world = *static_cast<token*>(t->arg)->world;
    ++world.nreleased_;
    world.nodes_.put(t);
  }

  void arm_somewhere(token& k, base::rng& rng) {
    k.world = this;
    k.node = nodes_.take();
    k.node->fire = &on_fire;
    k.node->arg = &k;
    k.node->release = &on_release;
    k.when_ns = now_.load(std::memory_order_relaxed) + rng.below(200) - 20;
    for (std::uint32_t h = rng.below(3);; ++h) {
      const arm_result r = heaps_[h % 3].arm(k.node, k.when_ns);
      k.seq = r.seq;
      if (r.is_armed()) return;
      EXPECT_EQ(r.status, arm_status::retired);
    }
  }

  void cancel_one(std::size_t whose, base::rng& rng) {
    const std::size_t n = narmed_[whose].load(std::memory_order_acquire);
    if (n == 0) return;
    const std::size_t back = rng.below(40);
    token& k = tokens_[whose][n - 1 - (back < n ? back : n - 1)];
    if (heap_type::cancel(k.node, k.seq)) ++k.ncancelled;
  }

  void fire_due(heap_type& heap) {
    std::array<typename heap_type::due, 8> out{};
    const std::size_t n = heap.pop_due(now_.load(), out);
    for (std::size_t i = 0; i < n; ++i) out[i].run();
  }

  // Arms, cancels its own and its neighbour's, and fires.
  void work(std::size_t me) {
    base::rng rng(seed_ + me);
    for (std::size_t i = 0; i < tokens_[me].size(); ++i) {
      arm_somewhere(tokens_[me][i], rng);
      narmed_[me].store(i + 1, std::memory_order_release);  // the token is complete
      cancel_one(me, rng);
      cancel_one((me + 1) % kThreads, rng);
      now_ += rng.below(3);
      if (rng.below(2) == 0) fire_due(heaps_[rng.below(3)]);
    }
  }

  // Retires heaps and takes them into use again.
  void move_about() {
    base::rng rng(seed_ + 99);
    while (!stop_) {
      const std::uint32_t from = rng.below(3);
      const std::uint32_t to = (from + 1 + rng.below(2)) % 3;
      EXPECT_TRUE(heaps_[from].move_all_to(heaps_[to]));
      std::this_thread::yield();
      heaps_[from].reopen();
      if (rng.below(8) == 0) heaps_[to].tidy();
    }
  }

  std::uint64_t seed_;
  std::vector<heap_type> heaps_;
  node_pool<A> nodes_;
  std::vector<std::vector<token>> tokens_;
  std::array<std::atomic<std::size_t>, kThreads> narmed_{};
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> now_{0};
  std::atomic<std::uint64_t> nreleased_{0};
  std::atomic<int> nearly_{0};
};

TEST(timer_heap_race, each_arming_fires_once_or_is_cancelled_once) {
  everyone_at_once<os::futex_atomics> e(static_cast<std::size_t>(test::scaled(50'000)));
  e.run();
  e.check();
}
TEST(timer_heap_race, each_arming_ends_once_with_every_gap_wide_open) {
  nbare_stores = 0;
  everyone_at_once<slow_atomics> e(static_cast<std::size_t>(test::scaled(400)));
  e.run();
  e.check();
  EXPECT_EQ(nbare_stores, 0) << "next_ was stored without the lock";
}

// [timer.cancel], at the worst moment: between the look at the node and its becoming idle.
TEST(timer_heap_race, a_cancel_at_the_last_moment_is_believed) {
  using heap_type = basic_timer_heap<slow_atomics>;
  heap_type heap;
  basic_timer<slow_atomics> t;
  int nfired = 0;
  t.arg = &nfired;
  t.fire = [](basic_timer<slow_atomics>*, void* arg, std::uint64_t) { ++*static_cast<int*>(arg); };
  const std::uint64_t seq = heap.arm(&t, 10).seq;
  bool was_cancelled = false;
  std::function<void()> cancel = [&] { was_cancelled = heap_type::cancel(&t, seq); };
  before_next_write = &cancel;
  std::array<heap_type::due, 1> out{};
  const std::size_t n = heap.pop_due(10, out);
  EXPECT_EQ(before_next_write, nullptr) << "the moment did not come";
  if (n != 0) out[0].run();
  EXPECT_TRUE(was_cancelled);
  EXPECT_EQ(nfired, 0);
  EXPECT_EQ(t.state(), timer_state::idle) << "and the zombie was dropped at once";
  heap.clear();
}

// [timer.no_lost_wake], this half: from the return of arm() until the timer fires, next_when() is not later than it.
template <class A>
void look_at_next(int nrounds) {
  using heap_type = basic_timer_heap<A>;
  using node_type = basic_timer<A>;
  heap_type heap;
  std::atomic<int> late{0};
  std::atomic<bool> stop{false};
  const std::uint64_t seed = test::seed();
  std::vector<std::thread> threads;
  for (std::uint64_t me = 0; me < 3; ++me) {
    threads.emplace_back([&, me] {
      base::rng rng(seed + me);
      std::vector<node_type> mine(64);
      for (int i = 0; i < nrounds; ++i) {
        node_type& t = mine[static_cast<std::size_t>(i) % mine.size()];
        while (t.state() != timer_state::idle) heap.tidy();
        const std::int64_t when = 1000 + rng.below(1000);
        const std::uint64_t seq = heap.arm(&t, when).seq;
        for (int look = 0; look < 3; ++look) {
          if (heap.next_when() > when) ++late;
        }
        EXPECT_TRUE(heap_type::cancel(&t, seq)) << "nothing is due before 1000";
      }
      for (node_type& t : mine) {
        while (t.state() != timer_state::idle) heap.tidy();
      }
    });
  }
  std::thread popper([&] {  // drops zombies and moves the top to and fro
    std::array<typename heap_type::due, 4> out{};
    node_type t;
    t.fire = [](node_type*, void*, std::uint64_t) {};
    for (std::int64_t now = 1; !stop; now = now % 900 + 1) {
      ASSERT_TRUE(heap.arm(&t, now).is_armed());
      ASSERT_EQ(heap.pop_due(now, out), 1u) << "it is due, and nobody else takes it";
    }
  });
  for (auto& t : threads) t.join();
  stop = true;
  popper.join();
  EXPECT_EQ(late, 0) << "of " << 3 * nrounds << " rounds";
  EXPECT_FALSE(heap.has_armed());
  heap.clear();
}

TEST(timer_heap_race, next_when_is_never_later_than_what_is_armed) {
  look_at_next<os::futex_atomics>(test::scaled(50'000));
}
TEST(timer_heap_race, next_when_is_never_later_with_every_gap_wide_open) {
  nbare_stores = 0;
  look_at_next<slow_atomics>(test::scaled(400));
  EXPECT_EQ(nbare_stores, 0) << "next_ was stored without the lock";
}

// [timer.fire], [timer.cancel]: plain data goes with the timer, to fire() or to release(), without other synchronisation.
struct parcel {
  int content = 0;
};

TEST(timer_heap_race, what_was_written_before_arm_is_visible_in_fire_and_before_cancel_in_release) {
  timer_heap heap;
  std::atomic<bool> is_done{false};
  std::atomic<int> nopened{0};
  static std::atomic<int>* opened;
  opened = &nopened;
  const int n = test::scaled(50'000);
  std::thread sender([&] {
    for (int i = 0; i < n; ++i) {
      timer* const t = take_timer();
      auto* const p = new parcel{.content = 1};
      t->arg = p;
      t->fire = [](timer* node, void* arg, std::uint64_t) {
        *opened += static_cast<parcel*>(arg)->content;
        delete static_cast<parcel*>(arg);
        release_timer(node);
      };
      t->release = [](timer* node, timer_state) {
        *opened += static_cast<parcel*>(node->arg)->content;
        delete static_cast<parcel*>(node->arg);
        release_timer(node);
      };
      const std::uint64_t seq = heap.arm(t, i).seq;
      if (i % 3 == 0) timer_heap::cancel(t, seq);
    }
    is_done = true;
  });
  std::array<timer_heap::due, 4> out{};
  const auto open_due = [&] {
    const std::size_t got = heap.pop_due(kNever, out);
    for (std::size_t i = 0; i < got; ++i) out[i].run();
  };
  while (!is_done) open_due();
  sender.join();
  while (heap.next_when() != kNever) open_due();
  EXPECT_EQ(nopened, n) << "every parcel is opened once";
  heap.clear();
}

// A node without a release function is its owner's again when state() says idle: no lock, no callback.  [timer.idle]
TEST(timer_heap_race, an_owner_may_use_its_nodes_again_when_they_are_idle) {
  timer_heap heap;
  std::atomic<bool> stop{false};
  std::thread popper([&] {
    std::array<timer_heap::due, 4> out{};
    while (!stop) {
      const std::size_t n = heap.pop_due(1000, out);
      for (std::size_t i = 0; i < n; ++i) out[i].run();
      if (n == 0) std::this_thread::yield();
    }
  });
  std::atomic<int> nfired{0};
  int narmed = 0;
  int ncancelled = 0;
  std::array<timer, 32> nodes;
  for (int round = 0; round < test::scaled(100); ++round) {
    for (timer& node : nodes) {
      node.arg = &nfired;  // plain: ThreadSanitizer sees whether the heap is still at it
      node.fire = [](timer*, void* arg, std::uint64_t) { ++*static_cast<std::atomic<int>*>(arg); };
      const std::uint64_t seq = heap.arm(&node, ++narmed % 1000).seq;
      if (narmed % 2 == 0 && timer_heap::cancel(&node, seq)) ++ncancelled;
    }
    for (timer& node : nodes) {
      while (node.state() != timer_state::idle) std::this_thread::yield();
    }
  }
  stop = true;
  popper.join();
  EXPECT_EQ(nfired + ncancelled, narmed);
  heap.clear();
}

}  // namespace
}  // namespace weft::rt
