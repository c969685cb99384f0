// tls_protocols.cpp: lists of protocols (ALPN), as users set them and as clients offer them. A server takes the first of its own that is
// offered.
//
// Input: what we like, a line feed, what is offered; each separated by commas.
#include "net/tls/protocols.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "os/parse.hpp"

namespace weft {
namespace {

using fuzz::exact;
using fuzz::promise;
namespace tls = net::tls::detail;

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> all;
  while (text.data() != nullptr) all.emplace_back(os::take_field(text, ','));
  return all;
}

std::vector<std::string> from_wire(std::string_view wire) {
  std::vector<std::string> all;
  while (!wire.empty()) {
    const std::size_t size = static_cast<unsigned char>(wire.front());
    promise(size > 0 && size < wire.size(), "every length is that of a protocol that is there");
    all.emplace_back(wire.substr(1, size));
    wire.remove_prefix(1 + size);
  }
  return all;
}

bool is_good(const std::vector<std::string>& list) {
  std::size_t size = 0;
  for (const std::string& each : list) {
    if (each.empty() || each.size() > 255) return false;
    size += 1 + each.size();
  }
  return size <= 65535;
}

// Nothing: it was refused.
std::string to_wire(const std::vector<std::string>& list) {
  try {
    const std::string wire = tls::to_wire(list);
    promise(is_good(list), "only what fits is taken");
    promise(from_wire(wire) == list, "the wire holds just that list");
    return wire;
  } catch (const std::invalid_argument& e) {
    promise(!is_good(list), "what fits is taken");
    promise(std::string_view(e.what()).starts_with("tls: protocols: "),
            "the message says what is wrong");
    return {};
  }
}

}  // namespace

FUZZ_TARGET(tls_protocols) {
  std::string_view rest = input;
  const auto liked = list_of(os::take_field(rest, '\n'));
  const auto offered = list_of(rest.data() == nullptr ? "" : rest);
  std::string ours = to_wire(liked);
  const exact theirs(to_wire(offered));
  if (ours.empty() || theirs.view().empty()) return;

  const unsigned char* chosen = nullptr;
  unsigned char nchosen = 0;
  const int verdict = tls::choose_protocol(
      nullptr, &chosen, &nchosen, reinterpret_cast<const unsigned char*>(theirs.view().data()),
      static_cast<unsigned>(theirs.view().size()), &ours);
  const auto first = std::find_first_of(liked.begin(), liked.end(), offered.begin(), offered.end());
  if (first == liked.end()) {
    promise(verdict == SSL_TLSEXT_ERR_ALERT_FATAL, "nothing in common ends the handshake");
  } else {
    promise(verdict == SSL_TLSEXT_ERR_OK, "something in common is taken");
    promise(std::string_view(reinterpret_cast<const char*>(chosen), nchosen) == *first,
            "and is what we like best");
  }
}

}  // namespace weft
