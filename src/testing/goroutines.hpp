// goroutines.hpp: the census (sched/census.hpp) with memory of its own, for reports.
#pragma once

#include <vector>

#include "sched/census.hpp"

#include <weft/testing/goroutines.hpp>

namespace weft::testing_impl {

// From user context. Throws std::bad_alloc.
std::vector<sched::goroutine_entry> list_goroutines();

testing::goroutine_info info_of(const sched::goroutine_entry& e);

}  // namespace weft::testing_impl
