// raw_peer.hpp: the other side by OpenSSL alone, with blocking calls, on a thread of its own: what weft does not do itself can be tried on it.
//
//   const auto l = weft::net::listen("tcp", "127.0.0.1:0");
//   weft::test::raw_thread peer(l, [](weft::test::raw_peer& p) { p.begin(raw_side::server); p.echo(5); });
//   const auto c = tls::client(l.accept(), trusting(), "localhost");       // who dialled does not matter to TLS
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include <weft/net.hpp>
#include <weft/weft.hpp>

#include "conformance/tls/pki.hpp"

namespace weft::test {

enum class raw_side : std::uint8_t { client, server };

class raw_peer {
 public:
  explicit raw_peer(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    const timeval patience{30, 0};  // a test that failed must end
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~raw_peer() {
    SSL_free(ssl_);
    SSL_CTX_free(ctx_);
    ::close(fd_);
  }
  raw_peer(const raw_peer&) = delete;
  raw_peer& operator=(const raw_peer&) = delete;

  // change(ctx): before anything is said.
  template <class Change>
  bool begin(raw_side which, Change change) {
    const auto& files = pki::get();
    ctx_ = SSL_CTX_new(which == raw_side::server ? TLS_server_method() : TLS_client_method());
    SSL_CTX_use_certificate_chain_file(ctx_, files.server.chain.c_str());
    SSL_CTX_use_PrivateKey_file(ctx_, files.server.key.c_str(), SSL_FILETYPE_PEM);
    change(ctx_);
    ssl_ = SSL_new(ctx_);
    SSL_set_fd(ssl_, fd_);
    const int r =
        patiently([&] { return which == raw_side::server ? SSL_accept(ssl_) : SSL_connect(ssl_); });
    EXPECT_EQ(r, 1) << ERR_error_string(ERR_peek_error(), nullptr);
    return r == 1;
  }
  bool begin(raw_side which) {
    return begin(which, [](SSL_CTX*) {});
  }

  void write(std::string_view text) {
    const int n = static_cast<int>(text.size());
    EXPECT_EQ(patiently([&] { return SSL_write(ssl_, text.data(), n); }), n);
  }
  std::string read(std::size_t n) {
    std::string all(n, '?');
    std::size_t done = 0;
    while (done < n) {
      const int r =
          patiently([&] { return SSL_read(ssl_, all.data() + done, static_cast<int>(n - done)); });
      EXPECT_GT(r, 0) << ERR_error_string(ERR_peek_error(), nullptr);
      if (r <= 0) break;
      done += static_cast<std::size_t>(r);
    }
    return all;
  }
  // Until the other side ends it. Who closes before he has read all (answers to changes of keys, too) resets the connection, and what he wrote
  // last is lost.
  void read_the_rest() {
    char room = 0;
    while (patiently([&] { return SSL_read(ssl_, &room, 1); }) > 0) continue;
  }
  SSL* ssl() const { return ssl_; }

 private:
  // Others' signals cut calls short that have a time limit.
  template <class Call>
  static int patiently(Call call) {
    for (;;) {
      errno = 0;
      const int r = call();
      if (r > 0 || errno != EINTR) return r;
    }
  }

  int fd_;
  SSL_CTX* ctx_ = nullptr;
  SSL* ssl_ = nullptr;
};

// A thread with a peer that is connected to the listener; the destructor waits for it, without holding a processor.
class raw_thread {
 public:
  raw_thread(const net::listener& l, std::function<void(raw_peer&)> what)
      : thread_([port = l.addr().port(), what = std::move(what)] {
          raw_peer p(port);
          what(p);
        }) {}
  ~raw_thread() {
    weft::blocking([this] { thread_.join(); });
  }
  raw_thread(const raw_thread&) = delete;
  raw_thread& operator=(const raw_thread&) = delete;

 private:
  std::thread thread_;
};

}  // namespace weft::test
