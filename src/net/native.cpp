// native.cpp: sockaddr_in, sockaddr_in6 and sockaddr_un, made and read.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

#include "net/native.hpp"

namespace weft::networks {

namespace {

using net::errc;

constexpr std::size_t kPathAt = offsetof(sockaddr_un, sun_path);
constexpr std::size_t kPathRoom = sizeof(sockaddr_un::sun_path);

template <class T>
std::optional<T> read_as(sa_family_t family, const void* native, std::size_t size) noexcept {
  if (native == nullptr || size < sizeof(T)) return std::nullopt;
  sa_family_t found;
  std::memcpy(&found, native, sizeof found);
  if (found != family) return std::nullopt;
  T copy;
  std::memcpy(&copy, native, sizeof copy);
  return copy;
}

template <class T>
net::address make_from(const network& of, const T& native, std::size_t size) {
  return net::address::from_native(of.name, reinterpret_cast<const sockaddr*>(&native),
                                   static_cast<socklen_t>(size));
}

}  // namespace

std::optional<endpoint> read_endpoint(const void* native, std::size_t size) noexcept {
  if (const auto v4 = read_as<sockaddr_in>(AF_INET, native, size))
    return endpoint{make_v4(&v4->sin_addr), ntohs(v4->sin_port)};
  if (const auto v6 = read_as<sockaddr_in6>(AF_INET6, native, size))
    return endpoint{make_v6(&v6->sin6_addr, v6->sin6_scope_id), ntohs(v6->sin6_port)};
  return std::nullopt;
}

std::optional<std::size_t> measure_unix(const void* native, std::size_t size) noexcept {
  if (size == 0) return 0;  // from nobody: the peer has no name, and the system says nothing at all
  if (native == nullptr || size < kPathAt || size > kPathAt + kPathRoom) return std::nullopt;
  sa_family_t family;
  std::memcpy(&family, native, sizeof family);
  if (family != AF_UNIX) return std::nullopt;
  const char* const path = static_cast<const char*>(native) + kPathAt;
  const std::size_t room = size - kPathAt;
  if (room == 0 || path[0] == '\0') return size;
  return kPathAt + static_cast<std::size_t>(std::find(path, path + room, '\0') - path);
}

std::string read_path(const void* native, std::size_t size) {
  const std::size_t end = measure_unix(native, size).value_or(0);
  if (end <= kPathAt) return {};
  std::string path(static_cast<const char*>(native) + kPathAt, end - kPathAt);
  if (path[0] == '\0') path[0] = '@';
  return path;
}

net::address make_address(const network& of, const endpoint& at) {
  if (at.host.is_v4()) {
    sockaddr_in native{};
    native.sin_family = AF_INET;
    native.sin_port = htons(at.port);
    std::memcpy(&native.sin_addr, at.host.bytes.data() + 12, 4);
    return make_from(of, native, sizeof native);
  }
  sockaddr_in6 native{};
  native.sin6_family = AF_INET6;
  native.sin6_port = htons(at.port);
  native.sin6_scope_id = at.host.zone;
  std::memcpy(&native.sin6_addr, at.host.bytes.data(), at.host.bytes.size());
  return make_from(of, native, sizeof native);
}

net::address make_unix_address(const network& of, std::string_view path, failure& failed) {
  const bool is_abstract = path.starts_with('@');
  // The system takes one byte more, but then gives the path back without its NUL, which not everybody expects.
  if (path.size() >= kPathRoom)
    return failed.set(errc::path_too_long, "address " + std::string(path)), net::address{};
  if (!is_abstract && path.find('\0') != path.npos)
    return failed.set(errc::invalid_address, "address " + std::string(path)), net::address{};
  sockaddr_un native{};
  native.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), native.sun_path);
  if (is_abstract) native.sun_path[0] = '\0';
  return make_from(of, native, kPathAt + path.size() + (is_abstract || path.empty() ? 0 : 1));
}

bool suits(const network& of, const ip& host) noexcept {
  return of.family == AF_UNSPEC || of.family == (host.is_v4() ? AF_INET : AF_INET6);
}

}  // namespace weft::networks
