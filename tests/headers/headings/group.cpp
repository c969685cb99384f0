// "## Structure and cancellation (<weft/context.hpp>, <weft/group.hpp>)": the second.
#include <string>
#include <vector>

#include <weft/group.hpp>

std::vector<int> structure() {
  weft::group g;
  g.limit(2);
  g.go([] {});
  g.go([](const weft::context&) {});
  const weft::context ctx = g.ctx();
  g.wait();
  std::vector<int> numbers(3);
  weft::parallel_for(0, 3, [](int) {});
  weft::parallel_for(numbers.begin(), numbers.end(), [](int&) {});
  weft::worker_pool pool(2);
  weft::single_flight<std::string, int> flights;
  numbers.push_back(flights.call("key", [] { return 1; }) + (ctx.err() ? 1 : 0));
  return weft::parallel_map(numbers.begin(), numbers.end(), [](int v) { return v; });
}
