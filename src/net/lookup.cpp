// lookup.cpp: looking names up.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "net/errand.hpp"
#include "net/lookup.hpp"
#include "net/name_service.hpp"
#include "net/port.hpp"

#include <weft/net/error.hpp>
#include <weft/net/lookup.hpp>

namespace weft::networks {

namespace {

using net::errc;

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

bool is_letter_of_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

// The C library takes "127.1", "0x7f000001" and the like for addresses. We do not: see parse_ip().
bool is_old_address(const char* name) noexcept {
  in_addr ignored;
  return ::inet_aton(name, &ignored) != 0;
}

bool is_invalid_by_decree(std::string_view name) noexcept {
  constexpr std::string_view kEnd = "invalid";
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.size() < kEnd.size()) return false;
  const std::string_view tail = name.substr(name.size() - kEnd.size());
  const bool is_label = tail.size() == name.size() || name[name.size() - kEnd.size() - 1] == '.';
  return is_label && std::equal(tail.begin(), tail.end(), kEnd.begin(),
                                [](char a, char b) { return (a | 0x20) == b; });
}

class host_errand final : public errand {
 public:
  explicit host_errand(std::string name) : name_(std::move(name)) {}
  void run() noexcept override {
    try {
      answer_ =
          ask_for_host.load(std::memory_order_acquire)(name_.c_str());  // with what a test wrote
    } catch (const std::bad_alloc&) {
      answer_.code = std::make_error_code(std::errc::not_enough_memory);
    }
  }
  host_answer take() { return std::move(answer_); }

 private:
  const std::string name_;
  host_answer answer_;
};

class service_errand final : public errand {
 public:
  service_errand(std::string name, std::string protocol)
      : name_(std::move(name)), protocol_(std::move(protocol)) {}
  void run() noexcept override {
    answer_ = ask_system_for_service(name_.c_str(), protocol_.c_str());
  }
  std::optional<std::uint16_t> answer() const noexcept { return answer_; }

 private:
  const std::string name_;
  const std::string protocol_;
  std::optional<std::uint16_t> answer_;
};

host_answer ask(const context& ctx, std::string_view name) {
  if (!is_host_name(name) || is_invalid_by_decree(name)) return {errc::no_such_host, {}};
  std::string terminated(name);
  if (is_old_address(terminated.c_str())) return {errc::no_such_host, {}};
  const auto question = std::make_shared<host_errand>(std::move(terminated));
  if (const std::error_code ended = send_on(ctx, question)) return {ended, {}};
  return question->take();
}

std::vector<std::string> lookup(const context& ctx, std::string_view name, failure& failed) {
  std::vector<std::string> all;
  if (parse_ip(name)) {
    all.emplace_back(name);
    return all;
  }
  for (const ip& a : find_host(ctx, name, failed)) all.push_back(a.to_string());
  return all;
}

}  // namespace

bool is_host_name(std::string_view name) noexcept {
  if (name.ends_with('.')) name.remove_suffix(1);  // from the root
  if (name.size() > kLongestName) return false;
  for (;;) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > kLongestLabel ||
        !std::all_of(label.begin(), label.end(), is_letter_of_name))
      return false;
    if (label.size() == name.size()) return true;
    name.remove_prefix(label.size() + 1);
  }
}

std::vector<ip> find_host(const context& ctx, std::string_view name, failure& failed) {
  if (const std::optional<ip> itself = parse_ip(name)) return {*itself};
  host_answer answer = ask(ctx, name);
  if (answer.code) failed.set(answer.code, "lookup " + std::string(name));
  return std::move(answer.addresses);
}

std::optional<std::uint16_t> find_port(const context& ctx, const network& of, std::string_view name,
                                       failure& failed) {
  std::error_code ec;
  std::optional<std::uint16_t> port = parse_port(of, name, ec);
  if (port) return port;
  if (ec == errc::unknown_port && name.find('\0') == name.npos) {
    const auto question =
        std::make_shared<service_errand>(std::string(name), std::string(name_of(of.via)));
    const std::error_code ended = send_on(ctx, question);
    if (ended) ec = ended;
    if (!ended) port = question->answer();
  }
  if (!port) failed.set(ec, about_port(of, name));
  return port;
}

}  // namespace weft::networks

namespace weft::inline v1::net {

std::vector<std::string> lookup_host(const context& ctx, std::string_view name) {
  networks::failure failed;
  std::vector<std::string> all = networks::lookup(ctx, name, failed);
  failed.raise_if_any();
  return all;
}

std::vector<std::string> lookup_host(const context& ctx, std::string_view name,
                                     std::error_code& ec) {
  networks::failure failed;
  std::vector<std::string> all = networks::lookup(ctx, name, failed);
  ec = failed.code;
  return all;
}

std::vector<std::string> lookup_host(std::string_view name) { return lookup_host(context(), name); }

std::vector<std::string> lookup_host(std::string_view name, std::error_code& ec) {
  return lookup_host(context(), name, ec);
}

}  // namespace weft::inline v1::net
