// name_service.hpp: the system's tables and servers of names. All of it may block the thread, for seconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "net/ip.hpp"

namespace weft::networks {

// No error: at least one address, in the order in which the system would have them tried (RFC 6724), each once.
struct host_answer {
  std::error_code code;
  std::vector<ip> addresses;
};

host_answer ask_system_for_host(const char* name);

// What getaddrinfo's result and errno mean.
std::error_code error_of_lookup(int result, int system_error) noexcept;

// The port of a service, by "tcp" or "udp".
std::optional<std::uint16_t> ask_system_for_service(const char* name,
                                                    const char* protocol) noexcept;

// Whom look-ups ask: the system. Tests put another in its place, one that blocks until it is told otherwise, and put the old one back.
using host_asker = host_answer (*)(const char* name);
extern std::atomic<host_asker> ask_for_host;

}  // namespace weft::networks
