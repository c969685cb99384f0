// goroutines.cpp: see goroutines.hpp.
#include "testing/goroutines.hpp"

#include "os/text.hpp"
#include "sched/crash.hpp"

namespace weft::testing_impl {

std::vector<sched::goroutine_entry> list_goroutines() {
  std::vector<sched::goroutine_entry> all(64);
  for (;;) {
    const std::size_t n = sched::list_goroutines(all.data(), all.size());
    const bool is_complete = n <= all.size();
    all.resize(is_complete ? n : n + n / 4);  // more may come meanwhile
    if (is_complete) return all;
  }
}

testing::goroutine_info info_of(const sched::goroutine_entry& e) {
  testing::goroutine_info g;
  g.id = e.goid;
  g.name = e.name;
  g.state = e.why != rt::wait_reason::none ? name_of(e.why) : name_of(e.status);
  os::text origin;
  sched::describe_origin(origin, e.made_at, e.made_by);
  g.origin = origin.view();
  g.waits_on = e.waits_on;
  g.is_abandoned =
      e.epoch != sched::sched.epoch.load(std::memory_order_relaxed);  // changes between runtimes
  return g;
}

}  // namespace weft::testing_impl

namespace weft::inline v1::testing {

std::string to_string(const goroutine_info& g) {
  os::text t;
  t << "goroutine " << g.id;
  if (!g.name.empty()) t << " \"" << g.name << '"';
  t << " [" << g.state << "]: " << g.origin;
  if (g.waits_on != nullptr)
    t << ", waits on " << os::hex{reinterpret_cast<std::uintptr_t>(g.waits_on)};
  if (g.is_abandoned) t << ", abandoned when its runtime ended";
  return std::string(t.view());
}

std::string to_string(const std::vector<goroutine_info>& all) {
  std::string lines;
  for (const goroutine_info& g : all) lines += "  " + to_string(g) + '\n';
  return lines;
}

}  // namespace weft::inline v1::testing
