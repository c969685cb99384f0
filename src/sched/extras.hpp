// extras.hpp: what few goroutines have: a name, labels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rt/g.hpp"

namespace weft::rt {

// Allocated from the heap, in user context only.
struct g_extras {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
};

}  // namespace weft::rt
