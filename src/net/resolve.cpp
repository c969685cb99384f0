// resolve.cpp: which addresses a text means.
#include <string>

#include "net/ipv6.hpp"
#include "net/lookup.hpp"
#include "net/native.hpp"
#include "net/port.hpp"
#include "net/resolve.hpp"

namespace weft::networks {

namespace {

using net::address;
using net::errc;

// What no host at all means.
std::vector<ip> this_machine(const network& of, purpose why) {
  const bool is_v6_only = !suits(of, make_v4(kAny4));
  const bool takes_v6 = is_v6_only || (suits(of, make_v6(kAny6, 0)) && ipv6_works());
  if (why == purpose::listen) return {takes_v6 ? make_v6(kAny6, 0) : make_v4(kAny4)};
  std::vector<ip> both;
  if (!is_v6_only) both.push_back(make_v4(kLoopback4));
  if (takes_v6) both.push_back(make_v6(kLoopback6, 0));
  return both;
}

std::vector<address> suitable(const network& of, const std::vector<ip>& hosts, std::uint16_t port) {
  std::vector<address> all;
  for (const ip& host : hosts) {
    if (suits(of, host)) all.push_back(make_address(of, {host, port}));
  }
  return all;
}

std::vector<address> resolve_ip(const context& ctx, const network& of, std::string_view text,
                                purpose why, failure& failed) {
  const net::host_port both = split(text, failed);
  if (failed) return {};
  const auto port = find_port(ctx, of, both.port, failed);
  if (failed.code == errc::invalid_port) failed.about = "address " + std::string(text);
  if (failed) return {};
  const std::vector<ip> hosts =
      both.host.empty() ? this_machine(of, why) : find_host(ctx, both.host, failed);
  if (failed) return {};
  std::vector<address> all = suitable(of, hosts, *port);
  if (all.empty()) failed.set(errc::no_suitable_address, "address " + both.host);
  return all;
}

}  // namespace

std::vector<address> resolve(const context& ctx, std::string_view network_name,
                             std::string_view text, purpose why, failure& failed) {
  const std::optional<network> of = find_network(network_name);
  if (!of)
    return failed.set(errc::unknown_network, about_network(network_name)), std::vector<address>{};
  if (text.empty() && why == purpose::dial)
    return failed.set(errc::missing_address, std::string(network_name)), std::vector<address>{};
  if (!of->is_unix()) return resolve_ip(ctx, *of, text.empty() ? ":0" : text, why, failed);
  const address only = make_unix_address(*of, text, failed);
  return failed ? std::vector<address>{} : std::vector<address>{only};
}

}  // namespace weft::networks
