// parallel_sum.cpp: spawn() and join(): cut a job into pieces, get a result from each.
#include <cstdint>
#include <iostream>
#include <numeric>
#include <span>
#include <vector>

#include <weft/weft.hpp>

namespace {

std::uint64_t sum(std::span<const std::uint32_t> values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

// Halves the work until a piece is small; the other half is somebody else's meanwhile.
std::uint64_t parallel_sum(std::span<const std::uint32_t> values) {
  constexpr std::size_t kSmall = 10'000;
  if (values.size() <= kSmall) return sum(values);
  const std::size_t half = values.size() / 2;
  auto right = weft::spawn(parallel_sum, values.subspan(half));
  const std::uint64_t left = parallel_sum(values.first(half));
  return left + right.join();  // join() would rethrow what the goroutine threw
}

}  // namespace

int main() {
  return weft::run([] {
    std::vector<std::uint32_t> values(2'000'000);
    std::iota(values.begin(), values.end(), 1u);
    const std::uint64_t total = parallel_sum(values);
    std::cout << "the sum of 1.." << values.size() << " is " << total << ", by "
              << weft::stats().started << " goroutines on " << weft::max_procs() << " processors\n";
    return total == 2'000'001'000'000u ? 0 : 1;
  });
}
