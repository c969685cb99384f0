// "## Testing (<weft/testing.hpp>)"
#include <weft/testing.hpp>

void testing() {
  const weft::testing::leak_check guard;
  weft::testing::bubble([] { weft::testing::wait(); });
  weft::testing::explore(weft::testing::explore_options{}, [] {});
}
