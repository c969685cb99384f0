// listener.hpp: waiting for connections.
//
//   auto l = weft::net::listen("tcp", "127.0.0.1:0");          // any free port: l.addr().port()
//   for (;;) {
//     auto c = l.accept();
//     weft::go([c] { serve(c); });
//   }
//
// A handle (<weft/io/handle.hpp>): copies are the same listener, and the last one closes it. Any number of goroutines may accept at once.
#pragma once

#include <memory>
#include <string_view>
#include <system_error>

#include <weft/detail/config.hpp>
#include <weft/io/handle.hpp>
#include <weft/net/address.hpp>
#include <weft/net/conn.hpp>

namespace weft::inline v1 {
namespace net {

class WEFT_API listener : public io::handle {
 public:
  // One that is closed.
  listener() noexcept = default;

  // The next connection, in the order in which they came. Those that the other side has given up meanwhile are skipped.
  // When the process or the machine has no descriptor left it tries again after a while, ever more seldom up to once a second: whoever waits
  // in the queue is served once descriptors are free.
  // Throws io::errc::closed once it is closed, also while it waits; io::errc::deadline_exceeded.
  WEFT_MAY_SWITCH conn accept() const;
  WEFT_MAY_SWITCH conn accept(std::error_code& ec) const;

  // Where it listens: with the port that was chosen.
  [[nodiscard]] const address& addr() const noexcept;

  // close(): the address is free at once, and the path of a Unix socket is gone. Connections live on.

 private:
  friend class detail::socket_access;
  listener(std::shared_ptr<io::detail::descriptor> d,
           std::shared_ptr<const detail::ends> e) noexcept;
  std::shared_ptr<const detail::ends> ends_;
};

struct listen_options {
  bool reuse_port =
      false;        // several sockets, also of several processes, share the port (SO_REUSEPORT)
  int backlog = 0;  // how many may wait to be accepted; 0: what the system allows
};

// network: "tcp", "tcp4", "tcp6", "unix", "unixpacket". address: "host:port", ":port" (every address of this machine), port 0: a free one;
// or a path, "@name" for one that is no file.
// Throws std::system_error: "listen tcp 127.0.0.1:80: Permission denied".
[[nodiscard]] WEFT_API listener listen(std::string_view network, std::string_view address,
                                       const listen_options& opts = {});
[[nodiscard]] WEFT_API listener listen(std::string_view network, std::string_view address,
                                       std::error_code& ec);
[[nodiscard]] WEFT_API listener listen(std::string_view network, std::string_view address,
                                       const listen_options& opts, std::error_code& ec);

}  // namespace net
}  // namespace weft::inline v1
