#include "os/signal_name.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace weft::os {
namespace {

std::string name_of(int number) {
  text out;
  append_signal_name(out, number);
  return std::string(out.view());
}

TEST(signal_name, short_long_and_number_mean_the_same) {
  for (const std::string_view name : {"URG", "SIGURG", "23"})
    EXPECT_EQ(signal_number(name), SIGURG) << name;
  EXPECT_EQ(signal_number("USR2"), SIGUSR2);
  EXPECT_EQ(signal_number("SIGKILL"), SIGKILL) << "who may use it is asked elsewhere";
  EXPECT_EQ(signal_number("1"), 1);
  EXPECT_EQ(signal_number("64"), 64);
}

TEST(signal_name, anything_else_is_none) {
  for (const std::string_view name :
       {"", "SIG", "urg", "Sigurg", "SIGSIGURG", "URG ", " URG", "SIGFOO", "0", "65", "-1", "+23",
        "23x", "0x17", "99999999999999999999"})
    EXPECT_EQ(signal_number(name), 0) << name;
}

TEST(signal_name, every_name_comes_back) {
  int nnamed = 0;
  for (int number = 1; number <= kHighestSignal; ++number) {
    const std::string name = name_of(number);
    if (!name.starts_with("SIG")) continue;
    ++nnamed;
    EXPECT_EQ(signal_number(name), number) << name;
  }
  EXPECT_EQ(nnamed, 31) << "all that are not real-time";
  EXPECT_EQ(name_of(SIGURG), "SIGURG");
  EXPECT_EQ(name_of(40), "signal 40");
}

}  // namespace
}  // namespace weft::os
