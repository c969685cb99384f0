// address_test.cpp: addresses from the system and from text, and what they say.
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/net/address.hpp>

namespace {

using weft::net::address;
using weft::net::errc;
using weft::net::parse_address;

constexpr unsigned kPathAt = offsetof(sockaddr_un, sun_path);

const sockaddr* plain(const void* native) { return static_cast<const sockaddr*>(native); }

sockaddr_in v4(std::uint32_t host, std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(host);
  return a;
}

sockaddr_un unix_of(std::string_view path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.data(), path.size());
  return a;
}

address unix_from(std::string_view path, unsigned size) {
  const sockaddr_un native = unix_of(path);
  return address::from_native("unix", plain(&native), kPathAt + size);
}

TEST(address, that_was_not_given_is_nowhere) {
  const address a;
  EXPECT_EQ(a.network(), "");
  EXPECT_EQ(a.to_string(), "");
  EXPECT_EQ(a.host(), "");
  EXPECT_EQ(a.port(), 0);
  EXPECT_EQ(a.family(), 0);
  EXPECT_EQ(a.size(), 0U);
  EXPECT_FALSE(a.is_unix() || a.is_v4() || a.is_v6() || a.is_unspecified() || a.is_loopback());
  EXPECT_EQ(a, address());
  EXPECT_NE(a, parse_address("tcp", ":0"));
}

struct good {
  std::string_view network, text, known_network, host;
  unsigned port;
  std::string_view written;
};

TEST(address, of_ip_from_text) {
  const good cases[] = {
      {"tcp", "127.0.0.1:80", "tcp", "127.0.0.1", 80, "127.0.0.1:80"},
      {"tcp4", "127.0.0.1:http", "tcp", "127.0.0.1", 80, "127.0.0.1:80"},
      {"udp", "[::1]:domain", "udp", "::1", 53, "[::1]:53"},
      {"udp6", "[2001:db8:0::7]:0", "udp", "2001:db8::7", 0, "[2001:db8::7]:0"},
      {"tcp", "[::ffff:192.0.2.7]:1", "tcp", "192.0.2.7", 1, "192.0.2.7:1"},
      {"tcp6", "[fe80::1%4000000000]:65535", "tcp", "fe80::1%4000000000", 65535,
       "[fe80::1%4000000000]:65535"},
      {"tcp", ":7", "tcp", "0.0.0.0", 7, "0.0.0.0:7"},
      {"udp6", ":7", "udp", "::", 7, "[::]:7"},
      {"udp4", "0.0.0.0:", "udp", "0.0.0.0", 0, "0.0.0.0:0"},
  };
  for (const good& c : cases) {
    std::error_code ec = errc::lookup_failure;
    const address a = parse_address(c.network, c.text, ec);
    ASSERT_FALSE(ec) << c.text << ": " << ec.message();
    EXPECT_EQ(a.network(), c.known_network) << c.text;
    EXPECT_EQ(a.host(), c.host);
    EXPECT_EQ(a.port(), c.port) << c.text;
    EXPECT_EQ(a.to_string(), c.written);
    EXPECT_FALSE(a.is_unix()) << c.text;
    const bool is_v6 = c.host.find(':') != c.host.npos;
    EXPECT_EQ(a.is_v6(), is_v6) << c.text;
    EXPECT_EQ(a.is_v4(), !is_v6) << c.text;
    EXPECT_EQ(a.family(), is_v6 ? AF_INET6 : AF_INET) << c.text;
    EXPECT_EQ(a.size(), is_v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in)) << c.text;
    EXPECT_EQ(parse_address(c.network, a.to_string()), a) << c.text;
    EXPECT_EQ(address::from_native(c.network, a.data(), a.size()), a) << c.text;
  }
}

struct bad {
  std::string_view network, text;
  errc why;
};

TEST(address, from_text_that_is_none) {
  const std::string long_path(108, 'p');
  const std::string long_name = "@" + std::string(107, 'n');
  const bad cases[] = {
      {"tpc", "127.0.0.1:80", errc::unknown_network},
      {"", "127.0.0.1:80", errc::unknown_network},
      {"TCP", "127.0.0.1:80", errc::unknown_network},
      {"ip", "127.0.0.1:80", errc::unknown_network},
      {"tcp", "127.0.0.1", errc::missing_port},
      {"tcp", "", errc::missing_port},
      {"tcp", "::1:80", errc::too_many_colons},
      {"tcp", "localhost:80", errc::invalid_address},
      {"tcp", "127.1:80", errc::invalid_address},
      {"tcp", "[::1%nosuchlink]:80", errc::invalid_address},
      {"tcp", "127.0.0.1:65536", errc::invalid_port},
      {"tcp", "127.0.0.1:nosuchservice", errc::unknown_port},
      {"tcp4", "[::1]:80", errc::no_suitable_address},
      {"udp6", "127.0.0.1:80", errc::no_suitable_address},
      {"udp6", "[::ffff:127.0.0.1]:80", errc::no_suitable_address},
      {"unix", long_path, errc::path_too_long},
      {"unixgram", long_name, errc::path_too_long},
      {"unix", std::string_view("/run/x\0y", 8), errc::invalid_address},
  };
  for (const bad& c : cases) {
    std::error_code ec;
    const address a = parse_address(c.network, c.text, ec);
    EXPECT_EQ(ec, c.why) << c.network << ' ' << c.text << ": " << ec.message();
    EXPECT_EQ(a, address()) << c.text;
  }
}

std::string text_of_throw(std::string_view network, std::string_view text) {
  try {
    (void)parse_address(network, text);
  } catch (const std::system_error& e) {
    return e.what();
  }
  return "it did not throw";
}

TEST(address, is_named_when_a_parse_throws) {
  EXPECT_EQ(text_of_throw("tcp", "::1:80"), "address ::1:80: too many colons in address");
  EXPECT_EQ(text_of_throw("tcp", "gopher:80"), "address gopher:80: invalid address");
  EXPECT_EQ(text_of_throw("tcp4", "[::1]:80"), "address [::1]:80: no suitable address found");
  EXPECT_EQ(text_of_throw("tpc", "[::1]:80").find("unknown network tpc: "), 0U);
}

TEST(address, with_a_zone_is_written_with_the_interfaces_name) {
  if (::if_nametoindex("lo") == 0) GTEST_SKIP() << "no interface lo";
  const address a = parse_address("tcp", "[fe80::1%lo]:80");
  EXPECT_EQ(a.to_string(), "[fe80::1%lo]:80");
  EXPECT_EQ(a.host(), "fe80::1%lo");
  sockaddr_in6 native;
  std::memcpy(&native, a.data(), sizeof native);
  EXPECT_EQ(native.sin6_scope_id, ::if_nametoindex("lo"));
  EXPECT_NE(a, parse_address("tcp", "[fe80::1]:80"));
}

TEST(address, of_a_unix_socket_from_text) {
  const std::string longest(107, 'p');
  const std::string longest_name = "@" + std::string(106, 'n');
  struct {
    std::string_view network, text;
    unsigned size;
  } const cases[] = {
      {"unix", "/run/x.sock", kPathAt + 12},
      {"unixgram", "relative", kPathAt + 9},
      {"unixpacket", "@abstract", kPathAt + 9},
      {"unix", "@", kPathAt + 1},
      {"unix", std::string_view("@a\0b", 4), kPathAt + 4},
      {"unix", "", kPathAt},
      {"unix", longest, kPathAt + 108},
      {"unix", longest_name, kPathAt + 107},
  };
  for (const auto& c : cases) {
    const address a = parse_address(c.network, c.text);
    EXPECT_EQ(a.network(), c.network);
    EXPECT_EQ(a.to_string(), c.text);
    EXPECT_EQ(a.host(), c.text);
    EXPECT_EQ(a.port(), 0) << c.text;
    EXPECT_EQ(a.size(), c.size) << c.text;
    EXPECT_EQ(a.family(), AF_UNIX) << c.text;
    EXPECT_TRUE(a.is_unix()) << c.text;
    EXPECT_FALSE(a.is_v4() || a.is_v6() || a.is_unspecified() || a.is_loopback()) << c.text;
    EXPECT_EQ(a, address::from_native(c.network, a.data(), a.size())) << c.text;
  }
}

TEST(address, is_told_from_others_of_its_kind) {
  const address a = parse_address("tcp", "127.0.0.1:80");
  EXPECT_EQ(a, parse_address("tcp4", "127.0.0.1:80"));
  EXPECT_NE(a, parse_address("tcp", "127.0.0.1:81"));
  EXPECT_NE(a, parse_address("tcp", "127.0.0.2:80"));
  EXPECT_NE(a, parse_address("udp", "127.0.0.1:80"));
  EXPECT_NE(parse_address("unix", "/a"), parse_address("unix", "/b"));
  EXPECT_NE(parse_address("unix", "/a"), parse_address("unix", "/ab"));
  EXPECT_NE(parse_address("unix", "/a"), parse_address("unixgram", "/a"));
  EXPECT_NE(parse_address("unix", "@a"), unix_from("@a", 3)) << "a file may have such a name";
}

TEST(address, of_the_special_hosts) {
  EXPECT_TRUE(parse_address("tcp", "127.1.2.3:80").is_loopback());
  EXPECT_TRUE(parse_address("tcp", "[::1]:80").is_loopback());
  EXPECT_FALSE(parse_address("tcp", "[::]:80").is_loopback());
  EXPECT_TRUE(parse_address("tcp", "0.0.0.0:80").is_unspecified());
  EXPECT_TRUE(parse_address("tcp", "[::]:80").is_unspecified());
  EXPECT_FALSE(parse_address("tcp", "127.0.0.1:0").is_unspecified());
}

TEST(address, goes_to_a_stream) {
  std::ostringstream out;
  out << parse_address("tcp", "[::1]:80") << ' ' << parse_address("unix", "@x");
  EXPECT_EQ(out.str(), "[::1]:80 @x");
}

TEST(address, from_the_system_keeps_the_systems_form) {
  sockaddr_storage room{};
  const sockaddr_in native = v4(0x7f000001, 80);
  std::memcpy(&room, &native, sizeof native);
  const address a = address::from_native("tcp", plain(&room), sizeof room);
  EXPECT_EQ(a, parse_address("tcp", "127.0.0.1:80"));
  EXPECT_EQ(a.size(), sizeof native) << "not the room that it lay in";

  sockaddr_in6 mapped{};
  mapped.sin6_family = AF_INET6;
  mapped.sin6_port = htons(80);
  mapped.sin6_scope_id = 7;  // IPv4 has no zones
  ASSERT_EQ(sizeof mapped.sin6_addr, 16U);
  mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
  mapped.sin6_addr.s6_addr[12] = 127;
  mapped.sin6_addr.s6_addr[15] = 1;
  const address b = address::from_native("tcp", plain(&mapped), sizeof mapped);
  EXPECT_EQ(b.to_string(), "127.0.0.1:80");
  EXPECT_EQ(b, a);
  EXPECT_TRUE(b.is_v4() && !b.is_v6() && b.is_loopback());
  EXPECT_EQ(b.family(), AF_INET6);
  EXPECT_EQ(b.size(), sizeof mapped);
  EXPECT_EQ(std::memcmp(b.data(), &mapped, sizeof mapped), 0);
}

TEST(address, of_a_unix_path_is_the_same_with_and_without_its_nul) {
  EXPECT_EQ(unix_from("/x", 2), unix_from("/x", 3));
  EXPECT_EQ(unix_from("/x", 108), parse_address("unix", "/x"));
  EXPECT_EQ(unix_from(std::string(108, 'p'), 108).to_string(), std::string(108, 'p'));
  EXPECT_NE(unix_from(std::string_view("\0x", 2), 2), unix_from(std::string_view("\0x", 2), 3))
      << "an abstract name may have a NUL";
}

TEST(address, of_nobody_is_a_unix_socket_without_a_name) {
  for (const address& a :
       {address::from_native("unixgram", nullptr, 0), parse_address("unixgram", "")}) {
    EXPECT_TRUE(a.is_unix());
    EXPECT_EQ(a.to_string(), "");
    EXPECT_EQ(a.size(), kPathAt);
  }
}

TEST(address, from_the_system_that_is_none_of_that_network) {
  const sockaddr_in ip4 = v4(1, 1);
  const sockaddr_un path = unix_of("/x");
  struct {
    std::string_view network;
    const void* native;
    unsigned size;
    errc why;
  } const cases[] = {
      {"tpc", &ip4, sizeof ip4, errc::unknown_network},
      {"unix", &ip4, sizeof ip4, errc::invalid_address},
      {"tcp", &path, sizeof path, errc::invalid_address},
      {"tcp", &ip4, sizeof ip4 - 1, errc::invalid_address},
      {"tcp", &ip4, 0, errc::invalid_address},
      {"tcp", nullptr, 0, errc::invalid_address},
      {"tcp", nullptr, sizeof ip4, errc::invalid_address},
      {"unix", nullptr, 2, errc::invalid_address},
      {"unix", &path, 1, errc::invalid_address},
      {"unix", &path, sizeof path + 1, errc::invalid_address},
  };
  for (const auto& c : cases) {
    std::error_code ec;
    EXPECT_EQ(address::from_native(c.network, plain(c.native), c.size, ec), address());
    EXPECT_EQ(ec, c.why) << c.network << ' ' << c.size << ": " << ec.message();
    EXPECT_THROW((void)address::from_native(c.network, plain(c.native), c.size), std::system_error);
  }
}

// What the kernel itself says about sockets that were bound with these addresses.
TEST(address, comes_back_from_a_bound_socket) {
  const std::string name = "@weft-address-test-" + std::to_string(::getpid());
  struct {
    std::string_view network, text;
    int type;
  } const cases[] = {{"tcp", "127.0.0.1:0", SOCK_STREAM},
                     {"udp", "127.0.0.1:0", SOCK_DGRAM},
                     {"unix", name, SOCK_STREAM},
                     {"unixgram", name, SOCK_DGRAM}};
  for (const auto& c : cases) {
    const address wanted = parse_address(c.network, c.text);
    const int fd = ::socket(wanted.family(), c.type | SOCK_CLOEXEC, 0);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::bind(fd, wanted.data(), wanted.size()), 0) << c.text;
    sockaddr_storage room;
    socklen_t size = sizeof room;
    ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&room), &size), 0);
    ::close(fd);
    const address got = address::from_native(c.network, plain(&room), size);
    EXPECT_EQ(got.host(), wanted.host());
    if (wanted.is_unix()) {
      EXPECT_EQ(got, wanted);
    } else {
      EXPECT_NE(got.port(), 0) << "the kernel chose one";
    }
  }
}

}  // namespace
