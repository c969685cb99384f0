// session.cpp: see session.hpp.
#include "net/tls/session.hpp"

#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "net/tls/error.hpp"

#include <weft/clock.hpp>
#include <weft/io/error.hpp>

namespace weft::inline v1::net::tls::detail {

namespace {

// A record has at most 16 KiB and what OpenSSL puts around it: one read of the network takes it whole.
constexpr std::size_t kRoom = 17 << 10;
// What is encrypted before it is sent: a few records, for one system call.
constexpr std::size_t kMostPerSend = 64 << 10;
constexpr std::size_t kMostPerRecord = 16 << 10;
constexpr std::size_t kMostAround = 128;  // generously, for each record
// A buffer that grew beyond this is given back when it is empty.
constexpr std::size_t kKept = 20 << 10;
constexpr std::size_t kMostLeft = 16 << 10;
// Goodbye is said only where there is room; should that be gone in the same moment, no longer than this.
constexpr std::chrono::seconds kGoodbye{1};

}  // namespace

session::session(net::conn under, std::shared_ptr<const settings> how, std::string_view server_name)
    : under_(std::move(under)), how_(std::move(how)), ssl_(how_->make(server_name)) {
  wire_.attach_to(ssl_.get());
}

// Nobody else knows it any more.
session::~session() {
  turn hold(inside_);
  if (!is_closed_ && under_.is_open()) say_goodbye(hold);
}

bool session::may_use(std::error_code& ec) const noexcept {
  if (!is_closed_ && under_.is_open()) return true;
  ec = io::errc::closed;
  return false;
}

// Nothing between the call and the end of the switch may park: the queue of errors is this thread's.
template <class Call>
session::outcome session::attempt(Call call, std::error_code& ec) {
  if (broken_) {
    ec = broken_;
    return outcome::failed;
  }
  forget_errors();
  const int r = call(ssl_.get());
  switch (SSL_get_error(ssl_.get(), r)) {
    case SSL_ERROR_NONE:
      return outcome::done;
    case SSL_ERROR_WANT_READ:
      return outcome::needs_bytes;
    case SSL_ERROR_ZERO_RETURN:
      return outcome::ended;
    default:
      broken_ = take_error(ssl_.get());
      ec = broken_;
      return outcome::failed;
  }
}

// One read of the network on behalf of everybody, by this goroutine or by another who is at it, unless some have come since the caller saw that
// bytes were lacking. Then he tries again what he wanted. False: why it is no use is in ec.
bool session::fill(turn& hold, std::uint64_t nfills_seen, std::error_code& ec) {
  if (nfills_ != nfills_seen) return true;
  if (is_filling_) {
    changed_.wait(hold);  // whatever has changed: the caller tries again
    return true;
  }
  if (room_ == nullptr) room_.reset(new unsigned char[kRoom]);
  is_filling_ = true;
  hold.unlock();
  const std::size_t n = under_.read_some(io::mutable_buffer(room_.get(), kRoom), ec);
  hold.lock();
  is_filling_ = false;
  if (!ec && n != 0) {
    wire_.give(room_.get(), n);
    ++nfills_;
  }
  changed_.notify_all();
  if (!ec && n == 0) ec = io::errc::unexpected_eof;
  return !ec;
}

// All that is to be sent, in its order; returns when what was there on entry has gone out, by this goroutine or by another.
void session::send(turn& hold, std::error_code& ec) {
  changed_.wait(hold, [this] { return !is_sending_; });
  if (!has_unsent()) return;
  is_sending_ = true;
  while (!ec && has_unsent()) {
    if (nsent_ == out_.size()) {
      out_.clear();
      nsent_ = 0;
      out_.swap(wire_.out);
    }
    hold.unlock();
    nsent_ += under_.write_all(io::const_buffer(out_.data() + nsent_, out_.size() - nsent_), ec);
    hold.lock();
  }
  if (!has_unsent() && out_.capacity() > kKept) {
    out_ = {};
    nsent_ = 0;
  }
  is_sending_ = false;
  changed_.notify_all();
}

// A number that is somebody else's by now gives a wrong answer, and no harm.
bool session::has_room() const noexcept {
  pollfd p{under_.native_handle(), POLLOUT, 0};
  int n;
  do n = ::poll(&p, 1, 0);
  while (n == -1 && errno == EINTR);  // also without waiting, if a signal is pending
  return n == 1 && (p.revents & POLLOUT) != 0;
}

void session::send_if_room(turn& hold) {
  if (wire_.out.empty()) return;
  const bool is_much = wire_.out.size() > kMostLeft;
  if (!is_much && (is_sending_ || !has_room())) return;
  std::error_code ec;  // whoever writes finds out for himself
  send(hold, ec);
}

// What reads and shutdown() have in common: until it is done, or cannot be.
template <class Call>
session::outcome session::go_through(turn& hold, Call call, std::error_code& ec) {
  for (;;) {
    if (!may_use(ec)) return outcome::failed;
    const outcome o = attempt(call, ec);
    const std::uint64_t nfills = nfills_;
    send_if_room(hold);
    if (o != outcome::needs_bytes) return o;
    if (!fill(hold, nfills, ec)) return outcome::failed;
  }
}

// Several may be at it: each does what is to be done next, and all are done at the same time.
bool session::agree(turn& hold, std::error_code& ec) {
  while (!is_agreed_) {
    if (!may_use(ec)) return false;
    const outcome o = attempt(&SSL_do_handshake, ec);
    const std::uint64_t nfills = nfills_;
    std::error_code unsent;
    send(hold, unsent);  // also why we do not go on
    if (o == outcome::failed) return false;
    if (unsent) {
      ec = unsent;
      return false;
    }
    if (o == outcome::done) is_agreed_ = true;
    if (o == outcome::ended) ec = io::errc::unexpected_eof;
    if (ec || (o == outcome::needs_bytes && !fill(hold, nfills, ec))) return false;
  }
  return may_use(ec);
}

void session::handshake(std::error_code& ec) {
  ec.clear();
  turn hold(inside_);
  agree(hold, ec);
}

void session::handshake(const context& ctx, std::error_code& ec) {
  if (!ctx || has_agreed()) return handshake(ec);
  ec = ctx.err();
  if (ec) {
    under_.close();
    return;
  }
  const context_stop stop = after_func(ctx, [under = under_] { under.close(); });
  handshake(ec);
  if (!stop()) ec = ctx.err();
}

std::size_t session::read_some(io::mutable_buffer into, std::error_code& ec) {
  ec.clear();
  turn hold(inside_);
  if (!agree(hold, ec) || into.size() == 0) return 0;
  std::size_t n = 0;
  const outcome o = go_through(
      hold, [&](SSL* ssl) { return SSL_read_ex(ssl, into.data(), into.size(), &n); }, ec);
  return o == outcome::done ? n : 0;
}

// As much as is sent at once. Leaves the turn only before the first of it, if a half message must be waited for.
std::size_t session::encrypt(turn& hold, pieces& rest, std::error_code& ec) {
  std::size_t done = 0;
  while (!rest.is_empty() && done < kMostPerSend) {
    const io::const_buffer next = rest.first();
    const std::size_t most = std::min(next.size(), kMostPerSend - done);
    wire_.out.reserve(wire_.out.size() + most + (most / kMostPerRecord + 1) * kMostAround);
    std::size_t n = 0;
    const auto call = [&](SSL* ssl) { return SSL_write_ex(ssl, next.data(), most, &n); };
    const outcome o = attempt(call, ec);
    if (o == outcome::ended) ec = make_error_code(std::errc::broken_pipe);
    if (o == outcome::needs_bytes && done == 0 && fill(hold, nfills_, ec) && may_use(ec)) continue;
    if (o != outcome::done) break;
    rest.advance(n);
    done += n;
  }
  return done;
}

std::size_t session::write(std::span<const io::const_buffer> from, bool all, std::error_code& ec) {
  ec.clear();
  const std::lock_guard mine(writing_);
  turn hold(inside_);
  if (!agree(hold, ec)) return 0;
  std::size_t done = 0;
  pieces rest(from);
  while (!rest.is_empty()) {
    if (!may_use(ec)) break;
    if (is_sending_ || has_unsent()) send(hold, ec);  // of one that ran out of time
    if (is_shut_ && !ec) ec = make_error_code(std::errc::broken_pipe);
    if (ec) break;
    done += encrypt(hold, rest, ec);
    std::error_code unsent;
    send(hold, unsent);
    if (!ec) ec = unsent;
    if (ec || !all) break;
  }
  return done;
}

// OpenSSL refuses while a message has come by half; and said twice it would read, and take what is not its own.
session::outcome session::end_writing(turn& hold, std::error_code& ec) {
  const auto call = [this](SSL* ssl) {
    if (is_shut_) return 1;
    if (SSL_in_init(ssl) != 0) {
      if (const int r = SSL_do_handshake(ssl); r != 1) return r;
    }
    is_shut_ = true;
    return SSL_shutdown(ssl) >= 0 ? 1 : -1;  // 0: the other side has not said so yet
  };
  return go_through(hold, call, ec);
}

void session::shutdown(std::error_code& ec) {
  ec.clear();
  const std::lock_guard mine(writing_);
  turn hold(inside_);
  if (!agree(hold, ec)) return;
  if (end_writing(hold, ec) == outcome::done) send(hold, ec);
}

// If nobody is sending, all has been sent, and there is room for a few bytes.
void session::say_goodbye(turn& hold) {
  const bool can = is_agreed_ && !broken_ && !is_shut_ && !is_sending_ && !has_unsent() &&
                   SSL_in_init(ssl_.get()) == 0 && has_room();
  if (!can) return;
  is_shut_ = true;
  std::error_code ec;
  if (attempt([](SSL* ssl) { return SSL_shutdown(ssl) >= 0 ? 1 : -1; }, ec) != outcome::done)
    return;
  under_.set_write_deadline(clock::now() + kGoodbye, ec);
  if (!ec) send(hold, ec);
}

void session::close() noexcept {
  {
    turn hold(inside_);
    if (is_closed_) return;
    is_closed_ = true;
    if (under_.is_open()) say_goodbye(hold);
  }
  under_.close();
}

bool session::has_agreed() {
  const std::lock_guard hold(inside_);
  return is_agreed_;
}

version session::agreed_version() {
  const std::lock_guard hold(inside_);
  return SSL_version(ssl_.get()) == TLS1_3_VERSION ? version::tls_1_3 : version::tls_1_2;
}

std::string session::agreed_protocol() {
  const std::lock_guard hold(inside_);
  const unsigned char* text = nullptr;
  unsigned n = 0;
  SSL_get0_alpn_selected(ssl_.get(), &text, &n);
  return n == 0 ? std::string() : std::string(reinterpret_cast<const char*>(text), n);
}

}  // namespace weft::inline v1::net::tls::detail
