// host_port.cpp: "host:port" in any form. What was taken apart can be put together; what is faulty gives an error and nothing else, and the
// same one from both forms.
#include <string>
#include <system_error>

#include "fuzz/fuzz.hpp"

#include <weft/net/error.hpp>
#include <weft/net/host_port.hpp>

namespace weft {
namespace {

using fuzz::exact;
using fuzz::promise;

std::error_code code_thrown_for(std::string_view text) {
  try {
    (void)net::split_host_port(text);
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

void try_split(std::string_view text) {
  std::error_code ec;
  const net::host_port both = net::split_host_port(text, ec);
  promise(code_thrown_for(text) == ec, "both forms say the same");
  if (ec) {
    promise(ec.category() == net::error_category(), "the fault has a name");
    promise(ec == std::errc::invalid_argument, "it is about how something is written");
    promise(both.host.empty() && both.port.empty(), "on an error nothing is given");
    return;
  }
  promise(both.host.find_first_of("[]") == std::string::npos, "brackets are no part of a host");
  promise(both.port.find_first_of("[]:") == std::string::npos,
          "a port has neither brackets nor colons");
  const net::host_port again =
      net::split_host_port(exact(net::join_host_port(both.host, both.port)));
  promise(again.host == both.host && again.port == both.port, "put together it is the same again");
}

void try_port(std::string_view text) {
  std::error_code ec;
  const std::uint16_t port = net::parse_port("tcp", text, ec);
  if (ec) {
    promise(ec == net::errc::invalid_port || ec == net::errc::unknown_port, "a port's fault");
    promise(port == 0, "on an error nothing is given");
  } else {
    promise(net::parse_port("tcp", exact(std::to_string(port))) == port, "a port comes back");
  }
}

}  // namespace

FUZZ_TARGET(host_port) {
  const exact text(input);
  try_split(text);
  try_port(text);
  try_split(exact(net::join_host_port(input, 80)));
}

}  // namespace weft
