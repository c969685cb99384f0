// session.hpp: one TLS connection that goroutines share: OpenSSL's state, and who waits for the network on its behalf.
//
// OpenSSL's state (SSL*) is one thing for both directions, and not made for several threads. So every call of it is made in one turn
// (inside_), and such a call never waits: it works on memory (wire.hpp), and says so if it needs bytes that have not come. Nobody waits for
// the network in that turn. Waiting is done by whoever has one of two rights, each a flag that is changed in the turn:
//
//   is_filling_   to read from the network, once. One has it, all who need bytes wait for him; then all try again what they wanted, whoever
//                 it was that the bytes were for. Who has left the turn since he saw that he needs some looks whether some have come (nfills_):
//                 another may have taken in all that ever comes.
//   is_sending_   to write to the network what OpenSSL has put into wire_.out, until nothing is left.
//
// So nobody depends on what another goroutine wants:
//
//   * A read, a write, a handshake and shutdown() all go the same way: try in the turn, give away what came out of it, get bytes, try again.
//     A write can need bytes, too: while a message of the protocol's own (a ticket, a new key) has come by half, OpenSSL does nothing before
//     the other half. If a reader waits for the network at that time it gets that half; the writer is woken and goes on, though
//     the reader, whom it was not for, waits on.
//   * Ciphertext goes out in the order in which it was made, or the other side takes it for forged. It is made in the turn and put at the end
//     of wire_.out in the turn; who has the right to send takes all of it at once, and nobody else sends before that has gone out.
//
//        writer (has is_sending_)                    another, with something to say
//        turn: takes wire_.out                       turn: encrypts, at the end of wire_.out
//        sends it                                    a writer waits for the right; a reader leaves it:
//        turn: wire_.out is not empty: takes it      is_sending_ is set, and only taken back in a turn in which nothing is left
//
//   * A read never waits for the other side to read, or two who write first and read later, and would get by with one reader each, would wait for
//     each other for ever. What a read has to say (that it has changed keys, that there is no renegotiation, why it breaks off) goes out if there is room, else with
//     the next write. That can be made to grow by a partner who only asks, so beyond kMostLeft the read waits after all.
//
// What is sent by half when the time is over stays (out_, nsent_), and goes out before all else when somebody writes again: the deadline can be
// moved, and nothing is lost.
//
// close() closes the connection underneath: whoever has a right is woken with errc::closed, gives it back, and wakes the others, who find the
// same. Those who wait for a right have no deadline of their own; the one they wait for has.
//
// The error queue of OpenSSL's belongs to the thread: attempt() reads it before the turn is given back (error.hpp).
//
// Invariants
//   T1  ssl_, wire_, broken_, is_agreed_, is_shut_ and both flags are used in the turn inside_
//   T2  wire_ has bytes of room_ only; room_ is written by whoever has is_filling_, outside the turn, and only while wire_ has nothing of it left
//   T3  out_ and nsent_ belong to whoever has is_sending_; if nobody has, they are used in the turn
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "net/tls/pieces.hpp"
#include "net/tls/settings.hpp"
#include "net/tls/wire.hpp"

#include <weft/condition_variable.hpp>
#include <weft/context.hpp>
#include <weft/io/buffer.hpp>
#include <weft/mutex.hpp>
#include <weft/net/conn.hpp>
#include <weft/net/tls.hpp>

namespace weft::inline v1::net::tls::detail {

class session {
 public:
  session(net::conn under, std::shared_ptr<const settings> how, std::string_view server_name);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  WEFT_MAY_SWITCH void handshake(std::error_code& ec);
  WEFT_MAY_SWITCH void handshake(const context& ctx, std::error_code& ec);
  WEFT_MAY_SWITCH std::size_t read_some(io::mutable_buffer into, std::error_code& ec);
  // One flush's worth of them, or all.
  WEFT_MAY_SWITCH std::size_t write(std::span<const io::const_buffer> from, bool all,
                                    std::error_code& ec);
  WEFT_MAY_SWITCH void shutdown(std::error_code& ec);
  WEFT_MAY_SWITCH void close() noexcept;

  const net::conn& lower() const noexcept { return under_; }
  bool has_agreed();
  version agreed_version();
  std::string agreed_protocol();
  std::string peer_name();

 private:
  using turn = std::unique_lock<mutex>;
  enum class outcome : std::uint8_t { done, needs_bytes, ended, failed };

  // All in the turn. Those that are given it may leave it and come back; what was true before need not be afterwards.
  template <class Call>
  outcome attempt(Call call, std::error_code& ec);
  template <class Call>
  outcome go_through(turn& hold, Call call, std::error_code& ec);
  bool agree(turn& hold, std::error_code& ec);
  bool fill(turn& hold, std::uint64_t nfills_seen, std::error_code& ec);
  void send(turn& hold, std::error_code& ec);
  void send_if_room(turn& hold);
  void say_goodbye(turn& hold);
  std::size_t encrypt(turn& hold, pieces& rest, std::error_code& ec);
  outcome end_writing(turn& hold, std::error_code& ec);

  bool may_use(std::error_code& ec) const noexcept;  // false: it is closed
  bool has_unsent() const noexcept { return nsent_ != out_.size() || !wire_.out.empty(); }
  bool has_room() const noexcept;  // to send a little without waiting

  const net::conn under_;
  const std::shared_ptr<const settings> how_;  // before ssl_: goes after it

  mutex inside_;
  condition_variable changed_;  // a right is free again, or bytes have come
  wire wire_;
  settings::ssl_ptr ssl_;
  std::error_code broken_;  // what OpenSSL could not go on after
  bool is_agreed_ = false;
  bool is_shut_ = false;  // we have said that nothing more comes
  bool is_closed_ = false;
  bool is_filling_ = false;
  std::uint64_t nfills_ = 0;  // how often bytes have come
  bool is_sending_ = false;

  std::unique_ptr<unsigned char[]> room_;
  std::vector<unsigned char> out_;
  std::size_t nsent_ = 0;

  // One write after the other, in the order in which they came; before inside_. A write keeps the turn or the right to send all along, but for
  // when it waits for the rest of a half message between two of its pieces.
  mutex writing_;
};

}  // namespace weft::inline v1::net::tls::detail
