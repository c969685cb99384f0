// resolve_test.cpp: which addresses a text means. Only the names that every machine has are looked up; others are answered here.
#include <gtest/gtest.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "net/ipv6.hpp"
#include "net/lookup.hpp"
#include "net/name_service.hpp"
#include "net/resolve.hpp"

namespace {

using weft::net::address;
using weft::net::errc;
using weft::networks::failure;
using weft::networks::host_answer;
using weft::networks::ip;
using weft::networks::parse_ip;
using weft::networks::purpose;

// Answers in the place of the system.
class answers {
 public:
  explicit answers(weft::networks::host_asker by)
      : before_(weft::networks::ask_for_host.exchange(by)) {}
  ~answers() { weft::networks::ask_for_host = before_; }
  answers(const answers&) = delete;
  answers& operator=(const answers&) = delete;

 private:
  weft::networks::host_asker before_;
};

std::string resolved(std::string_view network, std::string_view text, purpose why) {
  failure failed;
  std::string all;
  const std::vector<address> found =
      weft::networks::resolve(weft::context(), network, text, why, failed);
  EXPECT_EQ(found.empty(), static_cast<bool>(failed)) << text;
  for (const address& a : found) {
    if (!all.empty()) all += ' ';
    all += a.to_string();
  }
  return failed ? failed.about + ": " + failed.code.message() : all;
}

std::string dialled(std::string_view network, std::string_view text) {
  return resolved(network, text, purpose::dial);
}
std::string listened(std::string_view network, std::string_view text) {
  return resolved(network, text, purpose::listen);
}

TEST(resolve, takes_addresses_as_they_are) {
  EXPECT_EQ(dialled("tcp", "127.0.0.1:80"), "127.0.0.1:80");
  EXPECT_EQ(dialled("tcp4", "127.0.0.1:http"), "127.0.0.1:80");
  EXPECT_EQ(dialled("udp6", "[::1]:domain"), "[::1]:53");
  EXPECT_EQ(listened("tcp", "0.0.0.0:0"), "0.0.0.0:0");
  EXPECT_EQ(listened("tcp6", "[::]:0"), "[::]:0");
  EXPECT_EQ(dialled("unix", "/run/x.sock"), "/run/x.sock");
  EXPECT_EQ(listened("unixgram", "@x"), "@x");
}

TEST(resolve, takes_no_host_for_this_machine) {
  const bool v6 = weft::networks::ipv6_works();
  EXPECT_EQ(dialled("tcp", ":80"), v6 ? "127.0.0.1:80 [::1]:80" : "127.0.0.1:80");
  EXPECT_EQ(dialled("tcp4", ":80"), "127.0.0.1:80");
  EXPECT_EQ(dialled("tcp6", ":80"), "[::1]:80");
  EXPECT_EQ(listened("tcp", ":80"), v6 ? "[::]:80" : "0.0.0.0:80");
  EXPECT_EQ(listened("udp4", ":80"), "0.0.0.0:80");
  EXPECT_EQ(listened("udp6", ":80"), "[::]:80");
}

TEST(resolve, takes_nothing_for_any_address_to_listen_on) {
  EXPECT_EQ(listened("tcp4", ""), "0.0.0.0:0");
  EXPECT_EQ(listened("unix", ""), "");
  EXPECT_EQ(dialled("tcp", ""), "tcp: missing address");
  EXPECT_EQ(dialled("unix", ""), "unix: missing address");
}

TEST(resolve, says_what_is_wrong) {
  EXPECT_EQ(dialled("tpc", "127.0.0.1:80").find("unknown network tpc: "), 0U);
  EXPECT_EQ(dialled("tcp", "127.0.0.1"), "address 127.0.0.1: missing port in address");
  EXPECT_EQ(dialled("tcp", "127.0.0.1:65536"),
            "address 127.0.0.1:65536: invalid port: not a number from 0 to 65535");
  EXPECT_EQ(dialled("tcp4", "127.0.0.1:no-such-service"),
            "lookup tcp/no-such-service: unknown port");
  EXPECT_EQ(dialled("tcp", std::string_view("127.0.0.1:ssh\0", 14)).find("lookup tcp/ssh"), 0U);
  EXPECT_EQ(dialled("tcp4", "[::1]:80"), "address ::1: no suitable address found");
  EXPECT_EQ(dialled("tcp6", "127.0.0.1:80"), "address 127.0.0.1: no suitable address found");
  EXPECT_EQ(dialled("tcp", "nosuch.invalid:80"), "lookup nosuch.invalid: no such host");
}

TEST(resolve, keeps_the_order_of_the_addresses_and_takes_what_suits_the_network) {
  const answers of([](const char*) {
    return host_answer{{},
                       {*parse_ip("192.0.2.2"), *parse_ip("2001:db8::2"), *parse_ip("192.0.2.1")}};
  });
  EXPECT_EQ(dialled("tcp", "gopher:80"), "192.0.2.2:80 [2001:db8::2]:80 192.0.2.1:80");
  EXPECT_EQ(dialled("udp4", "gopher:80"), "192.0.2.2:80 192.0.2.1:80");
  EXPECT_EQ(listened("tcp6", "gopher:80"), "[2001:db8::2]:80");
}

TEST(resolve, has_no_address_if_none_suits) {
  const answers of([](const char*) { return host_answer{{}, {*parse_ip("192.0.2.2")}}; });
  EXPECT_EQ(dialled("tcp6", "gopher:80"), "address gopher: no suitable address found");
}

TEST(resolve, finds_services_in_the_systems_table) {
  servent entry{};
  servent* found = nullptr;
  char room[2048];
  ::getservbyname_r("sunrpc", "tcp", &entry, room, sizeof room, &found);
  if (found == nullptr) GTEST_SKIP() << "no table of services";
  EXPECT_EQ(dialled("tcp4", "127.0.0.1:sunrpc"), "127.0.0.1:111");
}

TEST(host_name, is_letters_digits_dashes_and_dots) {
  const std::string label(63, 'a');
  const std::string longest = label + '.' + label + '.' + label + '.' + std::string(61, 'a');
  for (const std::string_view name :
       {std::string_view("a"), std::string_view("localhost"), std::string_view("www.example.org"),
        std::string_view("www.example.org."), std::string_view("_x._tcp.7-up"),
        std::string_view(label), std::string_view(longest)})
    EXPECT_TRUE(weft::networks::is_host_name(name)) << name;
  for (const std::string_view name :
       {std::string_view(""), std::string_view("."), std::string_view(".."), std::string_view(".a"),
        std::string_view("a..b"), std::string_view("a b"), std::string_view("a\0b", 3),
        std::string_view("a/b"), std::string_view("a:b"), std::string_view("b\xc3\xbc"),
        std::string_view("a%lo"), std::string_view("[a]")})
    EXPECT_FALSE(weft::networks::is_host_name(name)) << name;
  EXPECT_FALSE(weft::networks::is_host_name(label + 'a'));
  EXPECT_FALSE(weft::networks::is_host_name(longest + 'a'));
}

TEST(name_service, errors_are_told_apart) {
  using weft::networks::error_of_lookup;
  EXPECT_FALSE(error_of_lookup(0, EINTR));
  EXPECT_EQ(error_of_lookup(EAI_NONAME, 0), errc::no_such_host);
  EXPECT_EQ(error_of_lookup(EAI_AGAIN, 0), errc::temporary_lookup_failure);
  EXPECT_EQ(error_of_lookup(EAI_FAIL, 0), errc::lookup_failure);
  EXPECT_EQ(error_of_lookup(EAI_MEMORY, 0), std::errc::not_enough_memory);
  EXPECT_EQ(error_of_lookup(EAI_SYSTEM, EMFILE), std::errc::too_many_files_open);
  EXPECT_EQ(error_of_lookup(EAI_SYSTEM, 0), errc::lookup_failure);
}

TEST(name_service, finds_this_machine_and_gives_each_address_once) {
  const host_answer found = weft::networks::ask_system_for_host("localhost");
  ASSERT_FALSE(found.code) << found.code.message();
  ASSERT_FALSE(found.addresses.empty());
  for (const ip& a : found.addresses) {
    EXPECT_TRUE(a.is_loopback()) << a.to_string();
    EXPECT_EQ(std::count(found.addresses.begin(), found.addresses.end(), a), 1) << a.to_string();
  }
}

}  // namespace
