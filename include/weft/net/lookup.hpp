// lookup.hpp: the addresses of a host by its name, as the system finds them (/etc/hosts, DNS, ...).
//
//   for (const std::string& ip : weft::net::lookup_host("localhost")) ...              // "127.0.0.1", "::1"
//   auto [ctx, cancel] = weft::with_timeout(weft::background(), 2s);
//   auto found = weft::net::lookup_host(ctx, "www.example.org", ec);                   // no longer than two seconds
//
// Blocks: this goroutine only, and it holds no processor meanwhile (from a plain thread: that thread). Some five hundred may be under way
// at once; more wait their turn.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/context.hpp>
#include <weft/detail/config.hpp>
#include <weft/net/error.hpp>

namespace weft::inline v1 {
namespace net {

// In the order in which they should be tried, at least one. An IP address is its own answer. Names that end in ".invalid" do not exist, and
// nobody is asked (RFC 6761).
// Throws std::system_error "lookup NAME: no such host" with errc::no_such_host, temporary_lookup_failure, lookup_failure, or what the
// system says. With an error_code: that, and nothing is found.
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH std::vector<std::string> lookup_host(std::string_view name);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH std::vector<std::string> lookup_host(std::string_view name,
                                                                            std::error_code& ec);

// Waits no longer than the context lasts; then the error is context_errc's. The look-up itself cannot be stopped: it goes on where nobody
// waits for it.
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH std::vector<std::string> lookup_host(const context& ctx,
                                                                            std::string_view name);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH std::vector<std::string> lookup_host(const context& ctx,
                                                                            std::string_view name,
                                                                            std::error_code& ec);

}  // namespace net
}  // namespace weft::inline v1
