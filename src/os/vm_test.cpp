// vm_test.cpp: the wrappers do what they say, and report errors by value.

#include "os/vm.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace weft::os {
namespace {

TEST(vm, reserved_memory_is_aligned_zero_and_writable) {
  for (const std::size_t align : {page_size(), std::size_t{1} << 20, std::size_t{1} << 30}) {
    const mapping m = reserve(std::size_t{1} << 30, align);
    ASSERT_NE(m.base, nullptr);
    EXPECT_EQ(m.error, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.base) % align, 0u);
    EXPECT_EQ(m.base[0], std::byte{0});
    m.base[0] = m.base[(std::size_t{1} << 30) - 1] = std::byte{1};
    EXPECT_EQ(unmap(m.base, std::size_t{1} << 30), 0);
    EXPECT_EQ(probe_readable(m.base), readable::no);
  }
}

TEST(vm, impossible_reservation_is_an_error_by_value) {
  const mapping m = reserve(std::size_t{1} << 62, page_size());
  EXPECT_EQ(m.base, nullptr);
  EXPECT_EQ(m.error, ENOMEM);
}

TEST(vm, probe_tells_readable_from_faulting) {
  const mapping m = reserve(4 * page_size(), page_size());
  ASSERT_NE(m.base, nullptr);
  EXPECT_EQ(probe_readable(m.base), readable::yes);
  EXPECT_EQ(probe_readable(nullptr), readable::no);
  ASSERT_EQ(protect_none(m.base, page_size()), 0);
  EXPECT_EQ(probe_readable(m.base + page_size() - 1), readable::no);
  EXPECT_EQ(probe_readable(m.base + page_size()), readable::yes);
  ASSERT_EQ(protect_read_write(m.base, page_size()), 0);
  EXPECT_EQ(probe_readable(m.base), readable::yes);
  unmap(m.base, 4 * page_size());
}

TEST(vm, without_descriptors_the_probe_does_not_know) {
  EXPECT_EXIT(
      {
        const rlimit none = {};
        setrlimit(RLIMIT_NOFILE, &none);
        std::_Exit(probe_readable(nullptr) == readable::unknown ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(vm, discarded_pages_are_zero_and_not_resident) {
  const std::size_t bytes = 600 * page_size();  // more than one look of resident()
  const mapping m = reserve(bytes, page_size());
  ASSERT_NE(m.base, nullptr);
  EXPECT_EQ(resident(m.base, bytes), 0u);
  std::memset(m.base, 1, bytes);
  EXPECT_EQ(resident(m.base, bytes), bytes);
  EXPECT_EQ(discard(m.base + page_size(), bytes - page_size()), 0);
  EXPECT_EQ(resident(m.base, bytes), page_size());
  EXPECT_EQ(m.base[0], std::byte{1});
  EXPECT_EQ(m.base[page_size()], std::byte{0});
  unmap(m.base, bytes);
}

TEST(vm, errors_come_back_by_value) {
  const mapping m = reserve(page_size(), page_size());
  EXPECT_EQ(protect_none(m.base + 1, page_size()), EINVAL);
  EXPECT_EQ(discard(m.base + 1, page_size()), EINVAL);
  EXPECT_EQ(unmap(m.base, page_size()), 0);
  EXPECT_EQ(protect_none(m.base, page_size()), ENOMEM);
}

TEST(vm, mlockall_does_not_fill_a_reservation) {
  EXPECT_EXIT(
      {
        if (mlockall(MCL_FUTURE) != 0) std::_Exit(0);  // not allowed here: nothing to see
        const std::size_t bytes = std::size_t{1} << 30;
        const mapping m = reserve(bytes, page_size());
        // A small RLIMIT_MEMLOCK refuses the mapping; that is an answer, too.
        std::_Exit(m.base == nullptr ? m.error != EAGAIN : resident(m.base, bytes) != 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(vm, limits_are_read) {
  EXPECT_GT(max_map_count(), 0u);
  EXPECT_GT(address_space_limit(), 0u);
}

}  // namespace
}  // namespace weft::os
