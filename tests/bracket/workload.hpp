// workload.hpp: programs that between them use every way into the runtime and every path through it.
//
// A scenario ends by saying whether it reached what it is there for: a stealing scenario in which nobody stole shows nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::test::bracket {

struct scenario {
  std::string_view name;
  // Empty: it reached what it is there for. Else what it did not see. The runtime has not been started.
  std::string (*run)(unsigned nprocs);
};

const std::vector<scenario>& scenarios();

}  // namespace weft::test::bracket
