// sieve.cpp: the first n primes by a chain of goroutines, one for each prime, which lets pass what its prime does not divide.
//
// All channels are without a buffer, as in the program that made the sieve known. The figure is the time until the last prime is there;
// the chain is then left behind, as a Go program would.
#include <weft/chan.hpp>
#include <weft/go.hpp>
#include <weft/runtime.hpp>

#include "workload.hpp"

namespace weft_bench {

namespace {

using numbers = weft::chan<std::size_t>;

bool is_prime(std::size_t x) {
  for (std::size_t d = 2; d * d <= x; ++d)
    if (x % d == 0) return false;
  return x >= 2;
}

std::size_t nth_prime(std::size_t n) {
  std::size_t x = 1;
  while (n > 0)
    if (is_prime(++x)) --n;
  return x;
}

void generate(const numbers& to) {
  for (std::size_t x = 2;; ++x) to.send(x);
}

void filter(const numbers& from, const numbers& to, std::size_t prime) {
  for (const std::size_t x : from)
    if (x % prime != 0) to.send(x);
}

}  // namespace

std::string sieve(const request& req) {
  std::size_t last = 0;
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    const auto begin = clock::now();
    auto chain = weft::make_chan<std::size_t>();
    weft::go([chain] { generate(chain); });
    for (std::size_t i = 0; i < req.n; ++i) {
      last = *chain.recv();
      auto longer = weft::make_chan<std::size_t>();
      weft::go([from = std::move(chain), longer, last] { filter(from, longer, last); });
      chain = std::move(longer);
    }
    elapsed = seconds_since(begin);
  });
  if (last != nth_prime(req.n)) fail("sieve found another number");
  return member("ms", elapsed * 1e3);
}

}  // namespace weft_bench
