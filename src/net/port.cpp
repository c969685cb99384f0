// port.cpp: ports by number and by name.
#include <algorithm>
#include <charconv>

#include "net/port.hpp"

#include <weft/net/error.hpp>

namespace weft::networks {

namespace {

using net::errc;

// What works everywhere, also where the system has no table of services.
struct service {
  std::string_view name;
  std::uint16_t port;
};
constexpr service kServices[] = {
    {"domain", 53}, {"ftp", 21},   {"http", 80}, {"https", 443}, {"imap", 143},  {"imaps", 993},
    {"ntp", 123},   {"pop3", 110}, {"smtp", 25}, {"ssh", 22},    {"telnet", 23},
};

constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool looks_like_number(std::string_view text) noexcept {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::uint16_t> parse_port(const network& of, std::string_view text,
                                        std::error_code& ec) noexcept {
  if (text.empty()) return 0;
  if (looks_like_number(text)) {
    std::uint16_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && stop == end) return number;
    ec = errc::invalid_port;
    return std::nullopt;
  }
  if (!of.is_unix()) {
    for (const service& s : kServices) {
      if (is_same_name(s.name, text)) return s.port;
    }
  }
  ec = errc::unknown_port;
  return std::nullopt;
}

std::string about_network(std::string_view name) { return "unknown network " + std::string(name); }

std::string about_port(const network& of, std::string_view name) {
  std::string all = "lookup ";
  all += name_of(of.via);
  all += '/';
  all += name;
  return all;
}

namespace {

std::uint16_t parse(std::string_view name, std::string_view port, failure& failed) {
  const std::optional<network> of = find_network(name);
  if (!of) return failed.set(errc::unknown_network, about_network(name)), 0;
  std::error_code ec;
  const std::optional<std::uint16_t> number = parse_port(*of, port, ec);
  if (ec == errc::invalid_port) failed.set(ec, "port " + std::string(port));
  if (ec == errc::unknown_port) failed.set(ec, about_port(*of, port));
  return number.value_or(0);
}

}  // namespace

}  // namespace weft::networks

namespace weft::inline v1::net {

std::uint16_t parse_port(std::string_view network, std::string_view port) {
  networks::failure failed;
  const std::uint16_t number = networks::parse(network, port, failed);
  failed.raise_if_any();
  return number;
}

std::uint16_t parse_port(std::string_view network, std::string_view port, std::error_code& ec) {
  networks::failure failed;
  const std::uint16_t number = networks::parse(network, port, failed);
  ec = failed.code;
  return number;
}

}  // namespace weft::inline v1::net
