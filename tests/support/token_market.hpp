// token_market.hpp: a random program in which tokens change hands in every way weft has, and none may be lost or doubled.
//
//   const weft::test::market_result r = weft::test::run_market({.seed = weft::test::seed()});
//   EXPECT_TRUE(r.is_even) << r.what;
//
// Workers hold tokens, each with a number of its own, and pass them on at random: through channels, select, a pot under a mutex, a pipe,
// a socket, timers that may be stopped, children, plain threads. In between they sleep, with and without telling, compute, take permits, lock
// themselves to threads; and somebody changes the number of processors all the while. In the end all tokens are counted.
//
// What is random comes from the seed, when it happens does not. Called in a goroutine; returns when nothing of it is left.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace weft::test {

struct market_options {
  std::uint64_t seed = 1;
  int nworkers = 50;
  int nsteps = 100;  // of each worker
  int ntokens = 5;   // of each, at the beginning
  int nthreads = 2;  // plain ones that take part
  bool has_resizes = true;
  bool has_descriptors = true;
  bool has_hogs = true;  // some compute for longer than a slice
};

struct market_result {
  bool is_even = false;
  std::string what;             // which tokens are missing or there twice
  std::uint64_t nchan_ops = 0;  // sends and receives that came off
  std::uint64_t nspawned = 0;
};

market_result run_market(const market_options& opts);

}  // namespace weft::test
