// shadow_stack_test.cpp: who is refused, and that asking harms nobody.
#include "arch/shadow_stack.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace weft::arch {
namespace {

TEST(shadow_stack, is_not_there_in_a_program_that_links_weft) {
  EXPECT_EQ(shadow_stack_of_thread(), 0u);
  EXPECT_EQ(explain_shadow_stack(shadow_stack_of_thread()), nullptr);
}

TEST(shadow_stack, is_refused_in_one_line_that_says_what_to_do) {
  const char* const why = explain_shadow_stack(0x7fff12345000);
  ASSERT_NE(why, nullptr);
  const std::string_view line = why;
  EXPECT_TRUE(line.starts_with("weft: this thread has a shadow stack"));
  EXPECT_NE(line.find("GLIBC_TUNABLES="), line.npos);
  EXPECT_NE(line.find("build the program with"), line.npos);
  EXPECT_EQ(line.find('\n'), line.npos);
}

}  // namespace
}  // namespace weft::arch
