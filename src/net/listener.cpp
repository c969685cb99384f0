// listener.cpp: listening and accepting.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "net/resolve.hpp"
#include "net/socket.hpp"
#include "os/system_call.hpp"

#include <weft/clock.hpp>
#include <weft/go.hpp>
#include <weft/net/listener.hpp>

namespace weft::inline v1::net {

namespace {

using networks::network;
using namespace std::chrono_literals;

constexpr auto kFirstPause = 5ms;
constexpr auto kLongestPause = 1s;
constexpr auto kLook = 20ms;  // so soon a pause notices that it was closed, or its deadline

// The connection is gone, not the listener.
bool is_about_one_connection(int error) noexcept {
  switch (error) {
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

bool is_shortage(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// Who it is from, as the kernel tells it.
struct caller {
  sockaddr_storage place{};
  socklen_t size = 0;
};

int accept_once(int fd, caller& who) noexcept {
  who.size = sizeof who.place;
  const int got = os::call(os::site::accept, ::accept4, fd, reinterpret_cast<sockaddr*>(&who.place),
                           &who.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  // As if it had been interrupted: tried again, unless the listener was closed meanwhile.
  if (got == -1 && is_about_one_connection(errno)) errno = EINTR;
  return got;
}

// False: closed, or out of time.
bool pause(io::detail::descriptor& d, clock::duration how_long, std::error_code& ec) {
  const time_point end = clock::now() + how_long;
  while (clock::now() < end) {
    if (!d.may_read(ec)) return false;
    sleep_for(std::min<clock::duration>(kLook, end - clock::now()));
  }
  return true;
}

std::string name_of(const network& net, std::string_view text) {
  std::string name("listen ");
  return name.append(net.name).append(" ").append(text);
}

int bind_and_listen(int fd, const network& net, const address& at, const listen_options& opts) {
  const int on = 1;
  if (!net.is_unix())
    os::call(os::site::socket_option, ::setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (opts.reuse_port && os::call(os::site::socket_reuse_port, ::setsockopt, fd, SOL_SOCKET,
                                  SO_REUSEPORT, &on, sizeof on) != 0)
    return -1;
  if (os::call(os::site::bind, ::bind, fd, at.data(), at.size()) != 0) return -1;
  constexpr int kAllTheSystemAllows = 65535;  // it knows its own limit
  return os::call(os::site::listen, ::listen, fd,
                  opts.backlog > 0 ? opts.backlog : kAllTheSystemAllows);
}

listener listen_at(const network& net, const address& at, const listen_options& opts,
                   std::error_code& ec) {
  networks::owned_fd fd(networks::make_socket(net, at.family(), ec));
  if (ec) return {};
  if (bind_and_listen(fd.get(), net, at, opts) != 0) {
    ec = io::detail::system_error(io::detail::last_error());
    return {};
  }
  auto d = networks::adopt_socket(fd, net, ec);
  if (d == nullptr) return {};
  auto e = std::make_shared<detail::ends>();
  e->local = networks::local_address(d->fd(), net.name, ec);
  if (ec) return {};
  d->name = std::string(e->local.network()) + " " + e->local.to_string();
  if (net.is_unix() && !at.to_string().empty() && at.to_string().front() != '@')
    d->path = at.to_string();
  return detail::socket_access::make_listener(std::move(d), std::move(e));
}

listener listen_anywhere(std::string_view network_name, std::string_view text,
                         const listen_options& opts, networks::failure& failed) {
  const auto net = networks::find_network(network_name);
  if (!net || (net->type != SOCK_STREAM && net->via != networks::transport::unix_packet)) {
    failed.set(errc::unknown_network, "listen " + std::string(network_name) +
                                          (net ? " (datagrams: see listen_packet)" : ""));
    return {};
  }
  const auto places =
      networks::resolve(context(), network_name, text, networks::purpose::listen, failed);
  if (failed) {
    failed.about = "listen " + std::string(network_name) + ": " + failed.about;
    return {};
  }
  std::error_code ec;
  listener l = listen_at(*net, places.front(), opts, ec);
  if (ec) failed.set(ec, name_of(*net, text.empty() ? places.front().to_string() : text));
  return l;
}

}  // namespace

listener::listener(std::shared_ptr<io::detail::descriptor> d,
                   std::shared_ptr<const detail::ends> e) noexcept
    : handle(std::move(d)), ends_(std::move(e)) {}

conn listener::accept(std::error_code& ec) const {
  io::detail::descriptor* const d = get(ec);
  if (d == nullptr) return {};
  const network net = *networks::find_network(addr().network());
  clock::duration wait = kFirstPause;
  for (;;) {
    caller who;
    networks::owned_fd fd(d->read([&](int mine) { return accept_once(mine, who); }, ec));
    if (!ec) {
      networks::set_defaults(fd.get(), net.via);
      auto made = networks::adopt_socket(fd, net, ec);
      if (made == nullptr) return {};
      std::error_code unknown;  // then it came from nowhere
      const auto partner = address::from_native(
          net.name, reinterpret_cast<const sockaddr*>(&who.place), who.size, unknown);
      return networks::finish_conn(std::move(made), net, partner);
    }
    if (ec.category() != std::system_category() || !is_shortage(ec.value())) return {};
    if (!pause(*d, wait, ec)) return {};
    wait = std::min<clock::duration>(2 * wait, kLongestPause);
  }
}

conn listener::accept() const {
  std::error_code ec;
  conn c = accept(ec);
  check(ec, "accept");
  return c;
}

const address& listener::addr() const noexcept { return detail::local_of(ends_.get()); }

listener listen(std::string_view network, std::string_view address, const listen_options& opts,
                std::error_code& ec) {
  networks::failure failed;
  listener l = listen_anywhere(network, address, opts, failed);
  ec = failed.code;
  return l;
}
listener listen(std::string_view network, std::string_view address, std::error_code& ec) {
  return listen(network, address, listen_options{}, ec);
}
listener listen(std::string_view network, std::string_view address, const listen_options& opts) {
  networks::failure failed;
  listener l = listen_anywhere(network, address, opts, failed);
  failed.raise_if_any();
  return l;
}

}  // namespace weft::inline v1::net
