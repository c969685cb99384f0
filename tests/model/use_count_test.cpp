// use_count_test.cpp: io/use_count.hpp, [fd.last_one_closes]: operations on a descriptor, and who closes its number.
#include "io/use_count.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"

namespace weft::model {
namespace {

struct world {
  io::detail::basic_use_count<model_atomics::atomic> users;
  // Operations read the number; closing it writes.
  plain<int> number{3, "the number"};
  bool is_closed = false;
  int nclosed = 0;
  int nshut = 0;

  void leave() {
    if (!users.leave()) return;
    number.set(-1);
    is_closed = true;
    ++nclosed;
  }
  void operate() {
    if (!users.enter()) return;
    MODEL_CHECK(!is_closed, "the number may be somebody else's by now");
    number.get();
    users.is_shut();  // others come here
    MODEL_CHECK(!is_closed, "the number may be somebody else's by now");
    leave();
  }
  void close() {
    if (!users.enter()) return;
    nshut += users.shut();
    leave();
  }
  void check_closed_once() {
    MODEL_CHECK(nshut == 1, "one of them says that it is the end");
    MODEL_CHECK(nclosed == 1, "the last one closes it");
    MODEL_CHECK(!users.enter(), "nobody comes in any more");
  }
};

//    operation                                 close
//    enter: + 1                                enter: + 1
//    system call                               shut: the flag
//    leave: the flag, and nobody else ?        leave: nobody else was in ?
TEST(use_count_model, the_last_one_to_leave_closes_it) {
  explore<world>(
      {[](world& w) { w.operate(); }, [](world& w) { w.operate(); }, [](world& w) { w.close(); }},
      [](world& w) { w.check_closed_once(); });
}

TEST(use_count_model, two_who_close_it_close_it_once) {
  explore<world>(
      {[](world& w) { w.close(); }, [](world& w) { w.close(); }, [](world& w) { w.operate(); }},
      [](world& w) { w.check_closed_once(); });
}

}  // namespace
}  // namespace weft::model
