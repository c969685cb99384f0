// address.cpp: the text of an address in any network. An address that was taken is written in one way, which is taken again; IPv4 is four
// decimal numbers and nothing older; looking up an address that needs no looking up gives just that one.
//
// Input: the network, a line feed, the text.
#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "net/ip.hpp"
#include "net/network.hpp"
#include "net/port.hpp"
#include "net/resolve.hpp"
#include "os/parse.hpp"

#include <weft/net/address.hpp>

namespace weft {
namespace {

using fuzz::exact;
using fuzz::promise;
using net::address;

std::error_code code_thrown_for(std::string_view network, std::string_view text) {
  try {
    (void)net::parse_address(network, text);
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

void try_ip(std::string_view text) {
  const auto found = networks::parse_ip(text);
  if (!found) return;
  const std::string written = found->to_string();
  promise(networks::parse_ip(exact(written)) == found, "an IP address comes back");
  const bool is_plain_v4 = text.find(':') == text.npos;
  promise(!is_plain_v4 || (found->is_v4() && written == text), "IPv4 is written in one way only");
  promise(!found->is_v4() || found->zone == 0, "IPv4 has no zone");
}

void expect_sense(const address& a) {
  promise(!a.network().empty() && a.size() > 0, "it is of a network, and somewhere");
  promise(a.is_unix() + a.is_v4() + a.is_v6() == 1, "it is of one kind");
  promise(a == address::from_native(a.network(), a.data(), a.size()),
          "the system's form comes back");
  const std::string written = a.to_string();
  promise(net::parse_address(a.network(), exact(written)) == a, "its text comes back");
  if (!a.is_unix())
    promise(net::join_host_port(a.host(), a.port()) == written, "host and port make the text");
}

// Whether a text with host and port can be understood without asking anybody.
bool needs_no_look_up(const networks::network& of, std::string_view text) {
  std::error_code ec;
  const net::host_port both = net::split_host_port(text, ec);
  if (ec) return true;
  networks::parse_port(of, both.port, ec);
  return ec != net::errc::unknown_port && !both.host.empty() && networks::parse_ip(both.host);
}

void try_resolve(const networks::network& of, std::string_view text, const address& parsed,
                 std::error_code parse_error) {
  if (text.empty() || (!of.is_unix() && !needs_no_look_up(of, text))) return;
  for (const auto why : {networks::purpose::dial, networks::purpose::listen}) {
    networks::failure failed;
    const std::vector<address> all = networks::resolve({}, of.name, text, why, failed);
    promise(failed.code == parse_error, "it resolves if it is an address");
    promise(parse_error || all == std::vector<address>{parsed}, "it resolves to itself");
  }
}

}  // namespace

FUZZ_TARGET(address) {
  std::string_view rest = input;
  const exact network(os::take_field(rest, '\n'));
  const exact text(rest);
  try_ip(text);

  std::error_code ec;
  const address a = net::parse_address(network, text, ec);
  promise(code_thrown_for(network, text) == ec, "both forms say the same");
  const auto of = networks::find_network(network);
  promise(of.has_value() == (ec != net::errc::unknown_network), "known networks are known");
  if (ec) {
    promise(ec.category() == net::error_category(), "the fault has a name");
    promise(a == address{}, "on an error nothing is given");
  } else {
    expect_sense(a);
  }
  if (of) try_resolve(*of, text, a, ec);
}

}  // namespace weft
