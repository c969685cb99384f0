// for_procs.cpp: how a body becomes a case per number of processors.
#include "support/for_procs.hpp"

#include <string>

#include "support/child_process.hpp"

namespace weft::test {
namespace {

class case_for_procs : public testing::Test {
 public:
  case_for_procs(void (*run)(unsigned), unsigned nprocs) : run_(run), nprocs_(nprocs) {}

 private:
  void TestBody() override { run_(nprocs_); }

  void (*run_)(unsigned);
  unsigned nprocs_;
};

}  // namespace

int as_often_as_go(int n, int elsewhere) {
  return time_scale() != 1 || is_unkind() ? elsewhere : n;
}

int add_cases(const char* suite, const char* name, std::initializer_list<unsigned> nprocs,
              void (*run)(unsigned nprocs), const char* file, int line) {
  for (const unsigned n : nprocs) {
    const std::string full_name = name + ("_on_" + std::to_string(n)) + (n == 1 ? "_p" : "_ps");
    // Returned as a plain Test: cases of TEST() may stand in the same suite.
    testing::RegisterTest(suite, full_name.c_str(), nullptr, nullptr, file, line,
                          [run, n]() -> testing::Test* { return new case_for_procs(run, n); });
  }
  return static_cast<int>(nprocs.size());
}

}  // namespace weft::test
