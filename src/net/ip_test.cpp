// ip_test.cpp: IP addresses from text and back.
#include <gtest/gtest.h>
#include <net/if.h>

#include <string>
#include <string_view>
#include <vector>

#include "net/ip.hpp"
#include "net/ipv6.hpp"

namespace {

using weft::networks::ip;
using weft::networks::parse_ip;

TEST(ip, is_written_in_its_shortest_form) {
  struct {
    std::string_view text, shortest;
    bool is_v4;
  } const cases[] = {
      {"127.0.0.1", "127.0.0.1", true},
      {"0.0.0.0", "0.0.0.0", true},
      {"255.255.255.255", "255.255.255.255", true},
      {"::", "::", false},
      {"::1", "::1", false},
      {"0:0:0:0:0:0:0:1", "::1", false},
      {"2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a", false},
      {"::ffff:192.0.2.7", "192.0.2.7", true},
      {"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
       false},
  };
  for (const auto& c : cases) {
    const auto a = parse_ip(c.text);
    ASSERT_TRUE(a) << c.text;
    EXPECT_EQ(a->to_string(), c.shortest);
    EXPECT_EQ(a->is_v4(), c.is_v4) << c.text;
    EXPECT_EQ(a->zone, 0U) << c.text;
    EXPECT_EQ(parse_ip(a->to_string()), a) << c.text;
  }
}

TEST(ip, refuses_what_is_no_address) {
  const std::string_view cases[] = {"",
                                    "localhost",
                                    "1.2.3",
                                    "127.1",
                                    "1.2.3.4.5",
                                    "256.1.1.1",
                                    "01.2.3.4",
                                    "0x7f.0.0.1",
                                    "1.2.3.4 ",
                                    " 1.2.3.4",
                                    "1.2.3.4:80",
                                    "[::1]",
                                    ":::",
                                    "1:2:3:4:5:6:7",
                                    "1:2:3:4:5:6:7:8:9",
                                    "12345::",
                                    "::g",
                                    "::1%",
                                    "%lo",
                                    "::1%nosuchlink",
                                    "::1%0",
                                    "127.0.0.1%1",
                                    "::ffff:1.2.3.4%1",
                                    "::1%aninterfacewithanamethatistoolong",
                                    std::string_view("127.0.0.1\0", 10),
                                    std::string_view("::1\0x", 5),
                                    std::string_view("::1%1\0", 6),
                                    "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555"};
  for (const std::string_view text : cases) EXPECT_FALSE(parse_ip(text)) << text;
}

TEST(ip, has_a_zone_by_number_or_by_name) {
  const auto by_number = parse_ip("fe80::1%4000000000");
  ASSERT_TRUE(by_number);
  EXPECT_EQ(by_number->zone, 4000000000U);
  EXPECT_EQ(by_number->to_string(), "fe80::1%4000000000") << "there is no interface to name";
  EXPECT_NE(by_number, parse_ip("fe80::1"));

  const unsigned loopback = ::if_nametoindex("lo");
  if (loopback == 0) GTEST_SKIP() << "no interface lo";
  const auto by_name = parse_ip("fe80::1%lo");
  ASSERT_TRUE(by_name);
  EXPECT_EQ(by_name->zone, loopback);
  EXPECT_EQ(by_name, parse_ip("fe80::1%" + std::to_string(loopback)));
  EXPECT_EQ(by_name->to_string(), "fe80::1%lo");
}

TEST(ip, knows_the_special_ones) {
  struct {
    std::string_view text;
    bool is_unspecified, is_loopback;
  } const cases[] = {
      {"0.0.0.0", true, false},
      {"::", true, false},
      {"::ffff:0.0.0.0", true, false},
      {"127.0.0.1", false, true},
      {"127.255.0.3", false, true},
      {"::1", false, true},
      {"::ffff:127.0.0.1", false, true},
      {"128.0.0.1", false, false},
      {"::2", false, false},
      {"fe80::1", false, false},
      {"0.0.0.1", false, false},
      {"::127.0.0.1", false, false},
  };
  for (const auto& c : cases) {
    const auto a = parse_ip(c.text);
    ASSERT_TRUE(a) << c.text;
    EXPECT_EQ(a->is_unspecified(), c.is_unspecified) << c.text;
    EXPECT_EQ(a->is_loopback(), c.is_loopback) << c.text;
  }
}

// Each text stands at the very end of its memory, where AddressSanitizer sees a step too far.
TEST(ip, reads_no_further_than_the_text) {
  for (const std::string_view text : {"", "1", "1.2.3.", "127.0.0.1", ":", "::", "::1%", "::1%1"}) {
    const std::vector<char> exact(text.begin(), text.end());
    EXPECT_EQ(parse_ip({exact.data(), exact.size()}), parse_ip(text)) << text;
  }
}

}  // namespace
