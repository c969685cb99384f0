// native_address.cpp: a sockaddr of any bytes and any size, as a broken peer or program might give it.
//
// Input: the network, a line feed, the bytes.
#include <sys/un.h>

#include <string>
#include <system_error>

#include "fuzz/fuzz.hpp"
#include "os/parse.hpp"

#include <weft/net/address.hpp>

namespace weft {
namespace {

using fuzz::exact;
using fuzz::promise;
using net::address;

// A path that is as long as the system allows, or looks like an abstract name, can be had but not written.
bool can_be_written(const address& a, const std::string& text) {
  if (!a.is_unix()) return true;
  const bool is_abstract = text.starts_with('@');
  const auto* bytes = reinterpret_cast<const char*>(a.data());
  const bool looks_abstract = is_abstract && bytes[offsetof(sockaddr_un, sun_path)] == '@';
  return text.size() < sizeof(sockaddr_un::sun_path) && !looks_abstract;
}

}  // namespace

FUZZ_TARGET(native_address) {
  std::string_view rest = input;
  const exact network(os::take_field(rest, '\n'));
  const exact bytes(rest);
  const auto* native = reinterpret_cast<const ::sockaddr*>(bytes.view().data());
  const auto size = static_cast<unsigned>(bytes.view().size());

  std::error_code ec;
  const address a = address::from_native(network, native, size, ec);
  if (ec) {
    promise(ec == net::errc::unknown_network || ec == net::errc::invalid_address,
            "the fault has a name");
    promise(a == address{}, "on an error nothing is given");
    return;
  }
  promise(a.size() <= sizeof(sockaddr_un), "it is no longer than the longest there is");
  promise(a.is_unix() + a.is_v4() + a.is_v6() == 1, "it is of one kind");
  promise(address::from_native(a.network(), a.data(), a.size()) == a,
          "it comes back from the system");
  const std::string text = a.to_string();
  if (can_be_written(a, text))
    promise(net::parse_address(a.network(), exact(text)) == a, "it comes back as text");
}

}  // namespace weft
