// stack_bench.cpp: what a stack costs.
//
// recycle is the usual case: a goroutine ends and the next one begins on the same P. pool is what a P pays that has none left.
#include <benchmark/benchmark.h>

#include "stack/stack.hpp"

namespace {

using namespace weft;

void recycle_through_the_cache(benchmark::State& state) {
  stack::cache mine;
  mine.push(stack::allocate(stack::default_bytes()).stack);
  for (auto _ : state) {
    stack::head* const s = mine.pop();
    benchmark::DoNotOptimize(s);
    mine.push(s);
  }
  mine.drain();
}
BENCHMARK(recycle_through_the_cache);

void allocate_and_release_through_the_pool(benchmark::State& state) {
  for (auto _ : state) {
    stack::head* const s = stack::allocate(stack::default_bytes()).stack;
    benchmark::DoNotOptimize(s);
    stack::release(s);
  }
}
BENCHMARK(allocate_and_release_through_the_pool);

void scavenge_a_stack_and_use_it_again(benchmark::State& state) {
  for (auto _ : state) {
    stack::head* const s = stack::allocate(stack::default_bytes()).stack;
    *(s->initial_sp() - 64) = std::byte{1};
    stack::release(s);
    stack::scavenge(1);
    stack::scavenge(1);  // only what has lain there since the call before
  }
}
BENCHMARK(scavenge_a_stack_and_use_it_again);

}  // namespace
