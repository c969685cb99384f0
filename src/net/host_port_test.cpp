// host_port_test.cpp: addresses taken apart and put together, case by case.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/net/error.hpp>
#include <weft/net/host_port.hpp>

namespace {

using weft::net::errc;
using weft::net::host_port;
using weft::net::join_host_port;
using weft::net::split_host_port;

struct good {
  std::string_view text, host, port;
};

TEST(split_host_port, takes_apart_what_is_well_formed) {
  const good cases[] = {
      // a name, an address, nothing, with a port by name, by number, without
      {"gopher:http", "gopher", "http"},
      {"gopher:80", "gopher", "80"},
      {"gopher:", "gopher", ""},
      {"192.0.2.7:https", "192.0.2.7", "https"},
      {"192.0.2.7:", "192.0.2.7", ""},
      {":domain", "", "domain"},
      {":0", "", "0"},
      {":", "", ""},
      // brackets: needed for colons, allowed for anything
      {"[::1]:80", "::1", "80"},
      {"[2001:db8::7]:", "2001:db8::7", ""},
      {"[fe80::7%eth0]:ssh", "fe80::7%eth0", "ssh"},
      {"[gopher]:80", "gopher", "80"},
      {"[]:80", "", "80"},
      {"[]:", "", ""},
      // neither host nor port is judged
      {"no such host:-1", "no such host", "-1"},
      {"gopher%eth0:80", "gopher%eth0", "80"},
      {"/run/x:y", "/run/x", "y"},
  };
  for (const good& c : cases) {
    std::error_code ec = errc::lookup_failure;
    const host_port both = split_host_port(c.text, ec);
    EXPECT_FALSE(ec) << c.text << ": " << ec.message();
    EXPECT_EQ(both.host, c.host) << c.text;
    EXPECT_EQ(both.port, c.port) << c.text;
    EXPECT_EQ(split_host_port(c.text).host, c.host) << c.text;
  }
}

struct bad {
  std::string_view text;
  errc why;
};

TEST(split_host_port, says_what_is_wrong) {
  const bad cases[] = {
      {"", errc::missing_port},
      {"gopher", errc::missing_port},
      {"192.0.2.7", errc::missing_port},
      {"[::1]", errc::missing_port},
      {"[gopher]", errc::missing_port},
      {"[gopher", errc::missing_port},  // there is no colon at all
      {"[::1]80", errc::missing_port},
      {"[gopher]x:80", errc::missing_port},
      {"[]]:80", errc::missing_port},
      {"::1", errc::too_many_colons},
      {"2001:db8::7", errc::too_many_colons},
      {"fe80::7%eth0:80", errc::too_many_colons},
      {"gopher:80:81", errc::too_many_colons},
      {"::", errc::too_many_colons},
      {"[::1]:80:81", errc::too_many_colons},
      {"[::1]::80", errc::too_many_colons},
      {"[gopher]:[80]:81", errc::too_many_colons},
      {"[::1", errc::missing_bracket},
      {"[::1:80", errc::missing_bracket},
      {"[:", errc::missing_bracket},
      {"go[pher:80", errc::unexpected_open_bracket},
      {"go[pher]:80", errc::unexpected_open_bracket},
      {"gopher:[80", errc::unexpected_open_bracket},
      {"[go[pher]:80", errc::unexpected_open_bracket},
      {"[[::1]:80", errc::unexpected_open_bracket},
      {"[gopher]:[80]", errc::unexpected_open_bracket},
      {"gopher]:80", errc::unexpected_close_bracket},
      {"gopher:80]", errc::unexpected_close_bracket},
      {"[gopher]:80]", errc::unexpected_close_bracket},
  };
  for (const bad& c : cases) {
    std::error_code ec;
    const host_port both = split_host_port(c.text, ec);
    EXPECT_EQ(ec, c.why) << c.text << ": " << ec.message();
    EXPECT_EQ(both.host + both.port, "") << c.text;
  }
}

TEST(split_host_port, names_the_address_when_it_throws) {
  try {
    (void)split_host_port("127.0.0.1");
    FAIL() << "it did not throw";
  } catch (const std::system_error& e) {
    EXPECT_STREQ(e.what(), "address 127.0.0.1: missing port in address");
    EXPECT_EQ(e.code(), errc::missing_port);
  }
}

// Each text stands at the very end of its memory, where AddressSanitizer sees a step too far.
TEST(split_host_port, reads_no_further_than_the_text) {
  for (const std::string_view text : {"", "[", "]", ":", "[:", "[]", "[]:", "a:", "[::1]", "a"}) {
    const std::vector<char> exact(text.begin(), text.end());
    std::error_code ec;
    const host_port both = split_host_port({exact.data(), exact.size()}, ec);
    EXPECT_LE(both.host.size() + both.port.size(), text.size());
  }
}

TEST(join_host_port, puts_brackets_where_colons_are) {
  EXPECT_EQ(join_host_port("gopher", "http"), "gopher:http");
  EXPECT_EQ(join_host_port("127.0.0.1", 80), "127.0.0.1:80");
  EXPECT_EQ(join_host_port("::1", 65535), "[::1]:65535");
  EXPECT_EQ(join_host_port("fe80::7%eth0", "80"), "[fe80::7%eth0]:80");
  EXPECT_EQ(join_host_port("", ""), ":");
}

TEST(join_host_port, undoes_split) {
  for (const std::string_view text : {"gopher:http", "[::1]:80", ":", "[fe80::7%eth0]:"}) {
    const host_port both = split_host_port(text);
    EXPECT_EQ(join_host_port(both.host, both.port), text);
  }
}

TEST(parse_port, takes_numbers_and_the_names_that_everybody_knows) {
  struct {
    std::string_view text;
    unsigned port;
  } const cases[] = {
      {"0", 0},         {"", 0},      {"1", 1},       {"80", 80},     {"0080", 80},
      {"65535", 65535}, {"http", 80}, {"HTTPS", 443}, {"domain", 53}, {"Ssh", 22},
  };
  for (const auto& c : cases) {
    for (const std::string_view network : {"tcp", "udp6"}) {
      std::error_code ec = errc::lookup_failure;
      EXPECT_EQ(weft::net::parse_port(network, c.text, ec), c.port) << c.text;
      EXPECT_FALSE(ec) << c.text << ": " << ec.message();
    }
  }
}

TEST(parse_port, refuses_everything_else) {
  const bad cases[] = {
      {"65536", errc::invalid_port},
      {"99999999999999999999", errc::invalid_port},
      {"-1", errc::invalid_port},
      {"+80", errc::invalid_port},
      {"80 ", errc::unknown_port},
      {" 80", errc::unknown_port},
      {"0x50", errc::unknown_port},
      {"-", errc::unknown_port},
      {"nosuchservice", errc::unknown_port},
      {std::string_view("80\0", 3), errc::unknown_port},
      {std::string_view("http\0", 5), errc::unknown_port},
  };
  for (const bad& c : cases) {
    std::error_code ec;
    EXPECT_EQ(weft::net::parse_port("tcp", c.text, ec), 0) << c.text;
    EXPECT_EQ(ec, c.why) << c.text << ": " << ec.message();
  }
  std::error_code ec;
  EXPECT_EQ(weft::net::parse_port("unix", "http", ec), 0);
  EXPECT_EQ(ec, errc::unknown_port);
}

std::string text_of_throw(std::string_view network, std::string_view port) {
  try {
    (void)weft::net::parse_port(network, port);
  } catch (const std::system_error& e) {
    return e.what();
  }
  return "it did not throw";
}

TEST(parse_port, says_what_it_is_about_when_it_throws) {
  EXPECT_EQ(text_of_throw("tcp", "65536"),
            "port 65536: invalid port: not a number from 0 to 65535");
  EXPECT_EQ(text_of_throw("udp4", "nosuchservice"), "lookup udp/nosuchservice: unknown port");
  EXPECT_EQ(text_of_throw("tpc", "80").find("unknown network tpc: "), 0U);
  EXPECT_EQ(weft::net::parse_port("tcp", "ssh"), 22);
}

}  // namespace
