// peers.cpp: others who do what weft does not: change keys, ask for another handshake, say nonsense, send byte by byte or half a message.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/tls/raw_peer.hpp"
#include "conformance/tls/secured.hpp"
#include "support/parked.hpp"

using namespace weft::test;
namespace net = weft::net;
namespace io = weft::io;

namespace {

constexpr std::size_t kBlock = 1000;

// Writes and reads on one connection at once, by two goroutines, against one who echoes.
void expect_echo(const tls::conn& c, int nblocks) {
  weft::wait_group wg;
  wg.go([&] {
    for (int i = 0; i < nblocks; ++i) c.write_all(bytes_of(static_cast<unsigned>(i), kBlock));
  });
  std::vector<char> block(kBlock);
  for (int i = 0; i < nblocks; ++i) {
    c.read_full(block);
    EXPECT_TRUE(block == bytes_of(static_cast<unsigned>(i), kBlock)) << "block " << i;
  }
  wg.wait();
}

TEST_FOR_PROCS(tls_peer, may_change_keys_in_the_midst_of_traffic) {
  const int nblocks = scaled(300) + 10;
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const raw_thread peer(l, [&](raw_peer& p) {
    if (!p.begin(raw_side::server)) return;
    for (int i = 0; i < nblocks; ++i) {
      const std::string block = p.read(kBlock);
      if (i % 3 == 0) {
        const int how = i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
        EXPECT_EQ(SSL_key_update(p.ssl(), how), 1);
      }
      p.write(block);
    }
    EXPECT_EQ(SSL_shutdown(p.ssl()), 0) << ERR_error_string(ERR_peek_error(), nullptr);
    p.read_the_rest();
  });
  const auto c = tls::client(l.accept(), trusting(), "localhost");
  expect_echo(c, nblocks);
  std::array<char, 1> room;
  EXPECT_EQ(c.read_some(room), 0u);
}

// The answers to changes of keys are sent by whoever reads, between the writes of others; which stay whole all the same.
TEST_FOR_PROCS(tls_peer, may_change_keys_while_several_write) {
  constexpr int kWriters = 3;
  constexpr std::size_t kSize = 200'000;
  const int rounds = scaled(10) + 2;
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const raw_thread peer(l, [&](raw_peer& p) {
    if (!p.begin(raw_side::server)) return;
    for (int i = 0; i < kWriters * rounds; ++i) {
      std::string message;
      while (message.size() < kSize) {
        message += p.read(kSize / 40);
        EXPECT_EQ(SSL_key_update(p.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
        EXPECT_EQ(SSL_do_handshake(p.ssl()), 1);  // sends it
      }
      if (message != std::string(kSize, message[0])) {
        ADD_FAILURE() << "message " << i << " is mixed";
        return;
      }
    }
    p.write(".");
    p.read_the_rest();
  });
  const auto c = tls::client(l.accept(), trusting(), "localhost");
  weft::wait_group wg;
  for (int w = 0; w < kWriters; ++w)
    wg.go([&, w] {
      const std::string message(kSize, static_cast<char>('a' + w));
      std::error_code ec;
      for (int i = 0; i < rounds && !ec; ++i) c.write_all(message, ec);
      EXPECT_FALSE(ec) << ec.message();
    });
  std::string end(1, '?');
  std::error_code ec;
  c.read_full(end, ec);
  EXPECT_EQ(end, ".") << ec.message();
  wg.wait();
}

// Both sides of weft's: as a server it is asked by a client, as a client by a server.
TEST_FOR_PROCS(tls_peer, that_wants_another_handshake_is_refused_and_traffic_goes_on) {
  for (const raw_side its : {raw_side::client, raw_side::server}) {
    const auto l = net::listen("tcp", "127.0.0.1:0");
    const raw_thread peer(l, [its](raw_peer& p) {
      const bool has_begun =
          p.begin(its, [](SSL_CTX* ctx) { SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION); });
      if (!has_begun) return;
      p.write(p.read(kBlock));
      if (its == raw_side::client) {
        SSL_renegotiate(p.ssl());
        EXPECT_LE(SSL_do_handshake(p.ssl()), 0) << "it was not refused";
        EXPECT_EQ(ERR_GET_REASON(ERR_get_error()), SSL_R_NO_RENEGOTIATION);
      } else {
        SSL_renegotiate(p.ssl());
        SSL_do_handshake(p.ssl());  // the wish is sent
        p.write("still there");
        char room = 0;
        EXPECT_LE(SSL_read(p.ssl(), &room, 1), 0) << "it was not refused";
        EXPECT_EQ(ERR_GET_REASON(ERR_get_error()), SSL_R_NO_RENEGOTIATION);
      }
    });
    const auto under = l.accept();
    const auto c = its == raw_side::client ? tls::server(under, being())
                                           : tls::client(under, trusting(), "localhost");
    expect_echo(c, 1);
    std::string got(11, '?');
    std::error_code ec;
    c.read_full(got, ec);  // of a client nothing more comes
    EXPECT_EQ(got == "still there", its == raw_side::server) << ec.message();
  }
}

TEST_FOR_PROCS(tls_peer, that_speaks_no_tls_is_an_error) {
  for (const std::string& nonsense :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(2000, '\0'), std::string(2000, '\x16'),
        std::string("\x16\x03\x03\x00\x02\x0b", 6) + std::string(100, 'x')}) {
    for (const bool as_server : {true, false}) {
      const auto under = connected();
      under.there.write_all(nonsense);
      under.there.shutdown();
      const auto c = as_server ? tls::server(under.here, being())
                               : tls::client(under.here, trusting(), "localhost");
      std::error_code ec;
      c.handshake(ec);
      EXPECT_EQ(ec, tls::errc::protocol) << ec.message();
      std::error_code again;
      EXPECT_EQ(c.write_all("x", again), 0u);
      EXPECT_EQ(again, ec) << "it stays broken: " << again.message();
    }
  }
}

TEST_FOR_PROCS(tls_peer, that_says_nonsense_later_is_an_error) {
  for (const tls::version v : kBothVersions) {
    const auto p = secured(trusting().versions(v, v));
    p.here.write_all("good");
    p.here.lower().write_all(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'f'));
    std::string got(4, '?');
    p.there.read_full(got);
    EXPECT_EQ(got, "good");
    std::error_code ec;
    EXPECT_EQ(p.there.read_some(got, ec), 0u);
    EXPECT_EQ(ec, tls::errc::protocol) << ec.message();
    EXPECT_EQ(p.here.read_some(got, ec), 0u);
    EXPECT_EQ(ec, tls::errc::refused) << "it is told: " << ec.message();
  }
}

// Passes bytes on, no more than `most` at a time.
void relay(const net::conn& from, const net::conn& to, std::size_t most) {
  std::vector<char> room(most);
  std::error_code ec;
  while (const std::size_t n = from.read_some(room, ec)) to.write_all({room.data(), n}, ec);
  to.shutdown(net::direction::write, ec);
}

TEST_FOR_PROCS(tls_peer, whose_bytes_come_one_by_one) {
  for (const tls::version v : kBothVersions) {
    const auto left = connected();
    const auto right = connected();
    weft::wait_group wg;
    wg.go([&] { relay(left.there, right.here, 1); });
    wg.go([&] { relay(right.here, left.there, 1); });
    const tls_pair p{tls::client(left.here, trusting().versions(v, v), "localhost"),
                     tls::server(right.there, being())};
    const verdicts said = agree(p);
    EXPECT_FALSE(said.client) << said.client.message();
    EXPECT_FALSE(said.server) << said.server.message();
    expect_passes(p.here, p.there, std::string(5000, 'u'));
    expect_passes(p.there, p.here, std::string(5000, 'd'));
    p.here.close();
    p.there.close();
    wg.wait();
  }
}

// A whole record, or nothing at the end.
std::string read_record(const net::conn& from) {
  std::string record(5, '\0');
  std::error_code ec;
  if (from.read_full(record, ec) != 5) return {};
  const auto at = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(record[i]));
  };
  std::string rest(at(3) << 8 | at(4), '\0');
  from.read_full(rest, ec);
  return ec ? std::string() : record + rest;
}

int unread(const net::conn& c) {
  int n = -1;
  ::ioctl(c.native_handle(), FIONREAD, &n);
  return n;
}

// Of a ticket that comes in several records only the first comes. Until it is whole OpenSSL does nothing else, so a write needs what comes,
// though it is a read that waits for it; and the read, for whom nothing comes, waits on.
TEST_FOR_PROCS(tls_peer, who_sends_half_a_message_and_later_the_rest_delays_a_write_and_no_more) {
  const auto& files = pki::get();
  const auto l = net::listen("tcp", "127.0.0.1:0");
  const raw_thread peer(l, [&files](raw_peer& p) {
    const bool has_begun = p.begin(raw_side::server, [&files](SSL_CTX* ctx) {
      SSL_CTX_set_max_send_fragment(ctx, 512);
      SSL_CTX_set_num_tickets(ctx, 1);
      SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER,
                         nullptr);  // the client's certificate becomes part of the ticket
      SSL_CTX_load_verify_file(ctx, files.authority.c_str());
      SSL_CTX_set_session_id_context(ctx, reinterpret_cast<const unsigned char*>("x"), 1);
    });
    if (has_begun) p.write(p.read(8));
  });
  const auto outer = l.accept();
  const auto inner = connected();
  weft::wait_group wg;
  weft::event
      is_seen;  // that the client has agreed: only then the server hears its last words, and sends the ticket
  wg.go([&] {
    outer.write_all(read_record(inner.there));
    is_seen.wait();
    relay(inner.there, outer, 4096);
  });
  const auto c =
      tls::client(inner.here, trusting().identity(files.user.chain, files.user.key), "localhost");

  std::atomic<bool> is_done{false};
  wg.go([&] {
    c.handshake();
    is_done = true;
  });
  weft::chan<std::string> records = weft::make_chan<std::string>(100);
  wg.go([&] {
    for (std::string r = read_record(outer); !r.empty(); r = read_record(outer)) records.send(r);
    records.close();
  });
  while (!is_done) {
    if (auto r = records.try_recv()) {
      inner.there.write_all(*r);
    } else {
      weft::yield();
    }
  }
  is_seen.set();
  std::optional<std::string> first = records.recv();
  ASSERT_TRUE(first.has_value());
  ASSERT_GT(first->size(), 512u) << "the ticket comes in one record";
  inner.there.write_all(*first);

  weft::wait_group talkers;
  comer reader;
  comer writer;
  std::string echo(8, '?');
  talkers.go([&] {
    reader.comes();
    c.read_full(echo);
    EXPECT_EQ(echo, "question");
  });
  ASSERT_TRUE(eventually([&] { return unread(inner.here) == 0; }))
      << "nobody has taken the first half";
  ASSERT_TRUE(reader.waits()) << "for the other";
  talkers.go([&] {
    writer.comes();
    c.write_all("question");
  });
  ASSERT_TRUE(writer.waits());
  while (std::optional<std::string> r = records.recv()) inner.there.write_all(*r);
  talkers.wait();
  c.close();
  wg.wait();
}

}  // namespace
