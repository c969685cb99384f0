// name_service.cpp: getaddrinfo and getservbyname_r.
//
// In a file of its own: a program that is linked statically and looks nothing up is spared the linker's warning about them.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "net/name_service.hpp"
#include "net/native.hpp"
#include "os/system_call.hpp"

#include <weft/net/error.hpp>

namespace weft::networks {

constinit std::atomic<host_asker> ask_for_host{&ask_system_for_host};

std::error_code error_of_lookup(int result, int system_error) noexcept {
  using net::errc;
  switch (result) {
    case 0:
      return {};
    case EAI_NONAME:
#if defined(EAI_NODATA)
    case EAI_NODATA:
#endif
#if defined(EAI_ADDRFAMILY)
    case EAI_ADDRFAMILY:
#endif
      return errc::no_such_host;
    case EAI_AGAIN:
      return errc::temporary_lookup_failure;
    case EAI_MEMORY:
      return std::make_error_code(std::errc::not_enough_memory);
    case EAI_SYSTEM:
      if (system_error != 0) return {system_error, std::system_category()};
      return errc::lookup_failure;
    default:
      return errc::lookup_failure;
  }
}

host_answer ask_system_for_host(const char* name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;  // one kind, or each address comes three times
  addrinfo* first = nullptr;
  errno = 0;
  const int result =
      os::call_for_error(os::site::lookup_host, ::getaddrinfo, name, nullptr, &hints, &first);
  host_answer answer{error_of_lookup(result, errno), {}};
  if (answer.code) return answer;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &::freeaddrinfo);
  for (const addrinfo* a = first; a != nullptr; a = a->ai_next) {
    const auto at = read_endpoint(a->ai_addr, a->ai_addrlen);
    // A name that stands twice in /etc/hosts gives an address twice.
    if (at && std::find(answer.addresses.begin(), answer.addresses.end(), at->host) ==
                  answer.addresses.end())
      answer.addresses.push_back(at->host);
  }
  if (answer.addresses.empty()) answer.code = net::errc::no_such_host;
  return answer;
}

std::optional<std::uint16_t> ask_system_for_service(const char* name,
                                                    const char* protocol) noexcept {
  char room[2048];  // for a line of the table with all its other names
  servent entry{};
  servent* found = nullptr;
  if (os::call_for_error(os::site::lookup_service, ::getservbyname_r, name, protocol, &entry, room,
                         sizeof room, &found) != 0 ||
      found == nullptr)
    return std::nullopt;
  return ntohs(static_cast<std::uint16_t>(found->s_port));
}

}  // namespace weft::networks
