// error_test.cpp: the codes of net::errc say what they mean, by themselves and as standard conditions.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <system_error>

#include <weft/net/error.hpp>

namespace {

using weft::net::errc;

TEST(net_error, each_has_a_text_of_its_own) {
  const std::string unknown = std::error_code(200, weft::net::error_category()).message();
  std::set<std::string> texts{unknown};
  constexpr int kLast = static_cast<int>(errc::lookup_failure);
  for (int e = 1; e <= kLast; ++e)
    EXPECT_TRUE(texts.insert(make_error_code(static_cast<errc>(e)).message()).second) << e;
  EXPECT_EQ(std::error_code(kLast + 1, weft::net::error_category()).message(), unknown);
}

TEST(net_error, becomes_an_error_code_by_itself) {
  const std::error_code ec = errc::no_such_host;
  EXPECT_EQ(ec.message(), "no such host");
  EXPECT_STREQ(ec.category().name(), "weft.net");
  EXPECT_NE(ec, errc::lookup_failure);
}

TEST(net_error, is_equal_to_the_standards_where_it_has_one) {
  EXPECT_EQ(std::error_code(errc::missing_port), std::errc::invalid_argument);
  EXPECT_EQ(std::error_code(errc::unknown_network), std::errc::invalid_argument);
  EXPECT_EQ(std::error_code(errc::path_too_long), std::errc::filename_too_long);
  EXPECT_EQ(std::error_code(errc::no_suitable_address), std::errc::address_not_available);
  EXPECT_EQ(std::error_code(errc::temporary_lookup_failure),
            std::errc::resource_unavailable_try_again);
  EXPECT_NE(std::error_code(errc::no_such_host), std::errc::invalid_argument);
}

}  // namespace
