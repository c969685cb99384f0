// growable_region_test.cpp: contents survive growing and shrinking; a refusal changes nothing.
#include "os/growable_region.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>

#include "os/vm.hpp"

namespace weft::os {
namespace {

unsigned char pattern(std::size_t i) { return static_cast<unsigned char>(i * 7 + i / 251); }

TEST(growable_region, begins_empty_and_gives_whole_zero_pages) {
  growable_region r;
  EXPECT_EQ(r.data(), nullptr);
  EXPECT_EQ(r.size(), 0u);
  ASSERT_EQ(r.resize(1), 0);
  EXPECT_EQ(r.size(), page_size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.data()) % page_size(), 0u);
  for (std::size_t i = 0; i < r.size(); ++i) ASSERT_EQ(r.data()[i], std::byte{0});
  EXPECT_EQ(r.resize(0), 0);
  EXPECT_EQ(r.data(), nullptr);
  EXPECT_EQ(r.resize(0), 0);
}

TEST(growable_region, keeps_its_contents_while_it_grows_and_shrinks) {
  growable_region r;
  growable_region other;  // in the way, so that growing in place does not always work
  const std::size_t page = page_size();
  std::size_t filled = 0;
  for (const std::size_t pages : {1u, 2u, 4u, 64u, 512u, 128u, 3u, 1u, 32u}) {
    const std::size_t kept = filled < pages * page ? filled : pages * page;
    ASSERT_EQ(r.resize(pages * page), 0);
    ASSERT_EQ(other.resize(pages * page), 0);
    ASSERT_EQ(r.size(), pages * page);
    for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(r.data()[i], std::byte{pattern(i)}) << i;
    for (std::size_t i = kept; i < r.size(); ++i) ASSERT_EQ(r.data()[i], std::byte{0}) << i;
    for (std::size_t i = 0; i < r.size(); ++i) r.data()[i] = std::byte{pattern(i)};
    filled = r.size();
  }
  r.resize(0);
  other.resize(0);
}

TEST(growable_region, a_refusal_comes_back_by_value_and_changes_nothing) {
  growable_region r;
  ASSERT_EQ(r.resize(page_size()), 0);
  r.data()[0] = std::byte{42};
  std::byte* const before = r.data();
  errno = 77;
  EXPECT_NE(r.resize(std::size_t{1} << 62), 0);
  EXPECT_NE(r.resize(SIZE_MAX), 0);
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(r.data(), before);
  EXPECT_EQ(r.size(), page_size());
  EXPECT_EQ(r.data()[0], std::byte{42});
  r.resize(0);
}

}  // namespace
}  // namespace weft::os
