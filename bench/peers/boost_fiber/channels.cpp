// channels.cpp: the Boost.Fiber workloads in which fibers pass values to one another, and the one about a mutex that many want.
//
// There is no select: the library has nothing that waits at several channels. Fibers that live long are posted, on stacks from malloc, as
// by default: they are made once.
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/fiber/all.hpp>

#include "peer.hpp"

namespace peer {

namespace {

using numbers = boost::fibers::unbuffered_channel<std::size_t>;
using buffered_numbers = boost::fibers::buffered_channel<std::size_t>;

void join_all(std::vector<boost::fibers::fiber>& fibers) {
  for (auto& one : fibers) one.join();
}

}  // namespace

// On each thread a pair that sends a number to and fro, n round trips.
std::string ping_pong(const request& req) {
  std::atomic<std::size_t> total{0};
  const auto begin = clock::now();
  on_threads(req.procs, [&](unsigned) {
    numbers there;
    numbers back;
    boost::fibers::fiber first([&] {
      std::size_t ball = 0;
      for (std::size_t i = 0; i < req.n; ++i) {
        there.push(ball);
        ball = back.value_pop() + 1;
      }
      total += ball;
    });
    boost::fibers::fiber second([&] {
      for (std::size_t i = 0; i < req.n; ++i) back.push(there.value_pop() + 1);
    });
    first.join();
    second.join();
  });
  const double elapsed = seconds_since(begin);
  if (total != 2 * req.procs * req.n) fail("ping_pong lost a ball");
  return ns_per_op(elapsed, req.n);
}

namespace {

constexpr std::size_t kRoom = 128;  // must be a power of two, and one of the places stays empty

// n numbers through one channel; the fibers start on the threads by turns.
std::string pass_through(const request& req, std::size_t nsenders) {
  const std::size_t each = req.n / nsenders;
  std::atomic<std::size_t> total{0};
  std::atomic<std::size_t> nsending{nsenders};
  buffered_numbers c(kRoom);
  const auto begin = clock::now();
  on_threads(req.procs, [&](unsigned index) {
    std::vector<boost::fibers::fiber> mine;
    for (std::size_t i = 0; i < nsenders; ++i) {
      if (2 * i % req.procs == index) {
        mine.emplace_back([&] {
          std::size_t sum = 0;
          for (const std::size_t v : c) sum += v;
          total += sum;
        });
      }
      if ((2 * i + 1) % req.procs == index) {
        mine.emplace_back([&] {
          for (std::size_t v = 1; v <= each; ++v) c.push(v);
          if (--nsending == 0) c.close();
        });
      }
    }
    join_all(mine);
  });
  const double elapsed = seconds_since(begin);
  if (total != nsenders * (each * (each + 1) / 2)) fail("buffered lost a value");
  return ns_per_op(elapsed, nsenders * each);
}

}  // namespace

std::string buffered_1x1(const request& req) { return pass_through(req, 1); }
std::string buffered_4x4(const request& req) { return pass_through(req, 4); }

// One token makes n hops round a ring of fibers. It says how many are left.
std::string ring(const request& req) {
  constexpr std::size_t kMembers = 503;
  std::atomic<std::size_t> hops{0};
  double elapsed = 0;
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    std::vector<numbers> links(kMembers);
    std::vector<boost::fibers::fiber> members;
    for (std::size_t i = 0; i < kMembers; ++i) {
      members.emplace_back([&hops, &from = links[i], &to = links[(i + 1) % kMembers]] {
        std::size_t seen = 0;
        for (const std::size_t left : from) {
          ++seen;
          if (left == 1) break;
          to.push(left - 1);
        }
        hops += seen;
        to.close();
      });
    }
    const auto begin = clock::now();
    links[0].push(req.n);
    join_all(members);
    elapsed = seconds_since(begin);
  });
  if (hops != req.n) fail("ring lost the token");
  return ns_per_op(elapsed, req.n);
}

namespace {

using link = std::shared_ptr<boost::fibers::unbuffered_channel<std::size_t>>;

link make_link() { return std::make_shared<boost::fibers::unbuffered_channel<std::size_t>>(); }

bool was_sent(const link& to, std::size_t x) {
  return to->push(x) == boost::fibers::channel_op_status::success;
}

std::size_t nth_prime(std::size_t n) {
  const auto is_prime = [](std::size_t x) {
    for (std::size_t d = 2; d * d <= x; ++d)
      if (x % d == 0) return false;
    return x >= 2;
  };
  std::size_t x = 1;
  while (n > 0)
    if (is_prime(++x)) --n;
  return x;
}

}  // namespace

// The first n primes, by a fiber for each. Fibers cannot be left behind, so the chain is closed from its end, after the time is taken.
std::string sieve(const request& req) {
  std::size_t last = 0;
  double elapsed = 0;
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    const auto begin = clock::now();
    std::vector<boost::fibers::fiber> fibers;
    link chain = make_link();
    fibers.emplace_back([to = chain] {
      for (std::size_t x = 2; was_sent(to, x); ++x) {
      }
    });
    for (std::size_t i = 0; i < req.n; ++i) {
      last = chain->value_pop();
      link longer = make_link();
      fibers.emplace_back([from = chain, to = longer, prime = last] {
        for (const std::size_t x : *from)
          if (x % prime != 0 && !was_sent(to, x)) break;
        from->close();
      });
      chain = std::move(longer);
    }
    elapsed = seconds_since(begin);
    chain->close();
    join_all(fibers);
  });
  if (last != nth_prime(req.n)) fail("sieve found another number");
  return member("ms", elapsed * 1e3);
}

namespace {

constexpr std::size_t kChildren = 10;

constexpr std::size_t kStackSize = 16 * 1024;

// Dispatched, as in spawn_storm: a child runs before its parent goes on, so few stacks are ever in use. Posted it takes three times as
// long, without a buffer four times. A parent may be stolen while its child runs, and a pool of stacks is for one thread: so they come from
// malloc, which is as quick if they are small.
void node(buffered_numbers& up, std::size_t number, std::size_t size) {
  if (size == 1) {
    up.push(number);
    return;
  }
  buffered_numbers down(16);  // a power of two
  const std::size_t part = size / kChildren;
  for (std::size_t i = 0; i < kChildren; ++i) {
    boost::fibers::fiber(boost::fibers::launch::dispatch, std::allocator_arg,
                         boost::fibers::fixedsize_stack(kStackSize),
                         [&down, first = number + i * part, part] { node(down, first, part); })
        .detach();
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kChildren; ++i) sum += down.value_pop();
  up.push(sum);
}

}  // namespace

// A tree of fibers with n leaves, ten children each.
std::string skynet(const request& req) {
  std::size_t sum = 0;
  double elapsed = 0;
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    const auto begin = clock::now();
    buffered_numbers result(2);
    node(result, 0, req.n);
    sum = result.value_pop();
    elapsed = seconds_since(begin);
  });
  if (sum != req.n * (req.n - 1) / 2) fail("skynet has a wrong sum");
  return ns_per_op(elapsed, req.n);
}

// Four fibers on each thread add 1 to one number under one mutex, n times in all.
std::string mutex(const request& req) {
  constexpr std::size_t kWorkers = 4;
  const std::size_t each = req.n / (kWorkers * req.procs);
  std::size_t number = 0;
  boost::fibers::mutex m;
  const auto begin = clock::now();
  on_threads(req.procs, [&](unsigned) {
    std::vector<boost::fibers::fiber> workers;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      workers.emplace_back([&] {
        for (std::size_t j = 0; j < each; ++j) {
          const std::lock_guard hold(m);
          ++number;
        }
      });
    }
    join_all(workers);
  });
  const double elapsed = seconds_since(begin);
  if (number != kWorkers * req.procs * each) fail("mutex let two in at once");
  return ns_per_op(elapsed, number);
}

}  // namespace peer
