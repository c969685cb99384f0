// prime_sieve.cpp: a chain of goroutines, each of which lets pass what its prime does not divide.
//
// The numbers 2, 3, 4, ... go in at one end. The first number that comes out of the chain is a prime, and a filter for it becomes the chain's
// new end. Four hundred goroutines and a few million sends, and no lock in sight.
#include <cstdio>

#include <weft/weft.hpp>

namespace {

void generate(weft::send_chan<int> out) {
  for (int i = 2;; ++i) out.send(i);
}

void filter(weft::recv_chan<int> in, weft::send_chan<int> out, int prime) {
  for (const int& i : in)
    if (i % prime != 0) out.send(i);
}

}  // namespace

int main() {
  return weft::run([] {
    constexpr int kPrimes = 400;
    auto chain = weft::make_chan<int>();
    weft::go([chain] { generate(chain); });
    int prime = 0;
    for (int n = 0; n < kPrimes; ++n) {
      prime = *chain.recv();
      auto next = weft::make_chan<int>();
      weft::go([chain, next, prime] { filter(chain, next, prime); });
      chain = next;
    }
    std::printf("the %dth prime is %d\n", kPrimes, prime);
    return prime == 2741 ? 0 : 1;  // the filters still wait; they end with run()
  });
}
