// connect.cpp: see connect.hpp.
#include "net/connect.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "net/socket.hpp"
#include "os/system_call.hpp"
#include "sched/current.hpp"

#include <weft/chan.hpp>
#include <weft/clock.hpp>
#include <weft/go.hpp>
#include <weft/select.hpp>

namespace weft::networks {

namespace {

using namespace std::chrono_literals;
using descriptor = io::detail::descriptor;

constexpr auto kFallbackDelay = 300ms;
constexpr auto kLeastShare = 2s;
constexpr auto kFullPause = 1ms;  // a Unix socket whose queue is full tells nobody when it is not
constexpr int kSelfTries = 3;

// The kernel's answer to a connect() that was begun: 0, or -1 and errno; EAGAIN: none yet.
int ask_answer(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (os::call(os::site::connect_answer, ::getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &size) !=
      0)
    return -1;
  if (error == 0) {
    // Told that it can be written, and yet perhaps not connected: that is known once it has a partner.
    sockaddr_storage partner;
    size = sizeof partner;
    if (os::call(os::site::connect_partner, ::getpeername, fd,
                 reinterpret_cast<sockaddr*>(&partner), &size) == 0)
      return 0;
    error = EAGAIN;
  }
  const bool is_under_way = error == EINPROGRESS || error == EALREADY || error == EINTR;
  errno = is_under_way ? EAGAIN : error;
  return error == EISCONN ? 0 : -1;
}

class attempt {
 public:
  explicit attempt(const net::address& to) noexcept : to_(&to) {}

  bool was_queue_full() const noexcept { return was_queue_full_; }
  int refusal() const noexcept { return refusal_; }  // 0: none that begin() would know of
  attempt again() const noexcept { return attempt(*to_); }

  void begin(int fd) noexcept {
    is_begun_ = true;
    answer_ = os::call(os::site::connect, ::connect, fd, to_->data(), to_->size()) == 0 ? 0 : errno;
    was_queue_full_ = answer_ == EAGAIN && to_->family() == AF_UNIX;
    if (was_queue_full_) {
      answer_ = EBUSY;  // not to be waited for
    } else if (answer_ == EAGAIN) {
      refusal_ =
          answer_;  // of others it means that no port or no route is left: nothing to wait for either
    } else if (answer_ == EINPROGRESS || answer_ == EINTR) {
      answer_ = EAGAIN;
    }
  }

  // As a system call: 0, or -1 and errno. EAGAIN: to be asked again when the socket can be written.
  int operator()(int fd) noexcept {
    if (!is_begun_) begin(fd);
    if (answer_ == kNotTold) return ask_answer(fd);
    errno = std::exchange(answer_, kNotTold);
    return errno == 0 ? 0 : -1;
  }

 private:
  static constexpr int kNotTold = -1;

  const net::address* to_;
  bool is_begun_ = false;
  bool was_queue_full_ = false;
  int refusal_ = 0;
  int answer_ = kNotTold;  // to begin()
};

// From its making to stop() the end of the context ends every wait for the descriptor.
class cut_short {
 public:
  cut_short(const context& ctx, const std::shared_ptr<descriptor>& d) {
    if (!ctx) return;
    is_on_ = true;
    stop_ = after_func(ctx, [d] {
      std::error_code ignored;
      d->set_deadline(rt::poll_for::writing, 0, ignored);
    });
  }
  // False: the context has ended.
  bool stop() { return !is_on_ || stop_.stop(); }

 private:
  bool is_on_ = false;
  context_stop stop_{nullptr};
};

void connect_waiting(descriptor& d, attempt a, std::error_code& ec) {
  for (;; a = a.again()) {
    d.write([&](int fd) { return a(fd); }, ec);
    if (!ec || !a.was_queue_full()) return;
    sleep_for(kFullPause);
  }
}

net::conn connect_once(const context& ctx, const network& net, const net::address& to,
                       std::error_code& ec) {
  if (ctx && (ec = ctx.err())) return {};
  owned_fd fd(make_socket(net, to.family(), ec));
  if (ec) return {};
  set_defaults(fd.get(), net.via);
  // Before the poller knows the socket: of one that has not begun to connect it is told a hang-up, and after that every read tries
  // (io/descriptor.hpp).
  attempt first(to);
  first.begin(fd.get());
  if (first.refusal() != 0) {
    ec = io::detail::system_error(first.refusal());
    return {};
  }
  auto d = adopt_socket(fd, net, ec);
  if (d == nullptr) return {};
  cut_short watch(ctx, d);
  connect_waiting(*d, first, ec);
  if (!watch.stop()) ec = ctx.err();
  if (ec) return {};
  return finish_conn(std::move(d), net);
}

// Two ports of this machine may be given to one another by chance, and a socket then talks to itself.
bool is_own_echo(const network& net, const net::conn& c) noexcept {
  return net.via == transport::tcp && c && c.local_addr() == c.remote_addr();
}

struct outcome {
  net::conn made;
  failure failed;
};

}  // namespace

net::conn connect(const context& ctx, const network& net, const net::address& to,
                  std::error_code& ec) {
  for (int i = 1;; ++i) {
    net::conn c = connect_once(ctx, net, to, ec);
    if (!is_own_echo(net, c)) return c;
    if (i == kSelfTries) {
      ec = io::detail::system_error(ECONNREFUSED);
      return {};
    }
  }
}

net::conn connect_in_order(const context& ctx, const network& net,
                           const std::vector<net::address>& places, failure& failed) {
  const auto deadline = ctx ? ctx.deadline() : std::nullopt;
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::error_code ec;
    net::conn c;
    if (!deadline || i + 1 == places.size()) {
      c = connect(ctx, net, places[i], ec);
    } else {
      const auto left = *deadline - clock::now();
      const auto share = std::max<clock::duration>(
          left / static_cast<std::int64_t>(places.size() - i), kLeastShare);
      const auto [part, cancel] = with_timeout(ctx, share);
      c = connect(part, net, places[i], ec);
      cancel();
    }
    if (!ec) {
      failed = {};
      return c;
    }
    if (!failed) failed.set(ec, "dial " + std::string(net.name) + " " + places[i].to_string());
    if (ctx && ctx.err()) break;
  }
  return {};
}

net::conn connect_to_any(const context& ctx, const network& net, std::vector<net::address> places,
                         failure& failed) {
  // std::stable_partition() would do, but uses what C++20 does not have any more.
  const auto is_first_kind = [kind = places.front().is_v4()](const net::address& a) {
    return a.is_v4() == kind;
  };
  std::vector<net::address> sorted;
  std::copy_if(places.begin(), places.end(), std::back_inserter(sorted), is_first_kind);
  const auto nfirst = static_cast<std::ptrdiff_t>(sorted.size());
  std::copy_if(places.begin(), places.end(), std::back_inserter(sorted),
               std::not_fn(is_first_kind));
  places = std::move(sorted);
  const auto first_other = places.begin() + nfirst;
  // A plain thread has nobody to try beside it.
  if (first_other == places.end() || sched::current_m() == nullptr)
    return connect_in_order(ctx, net, places, failed);
  const auto [race, cancel] = with_cancel(ctx ? ctx : background());
  const auto results = make_chan<outcome>(2);
  const auto begin = [&, race = race](auto from, auto to) {
    go([=, some = std::vector<net::address>(from, to)] {
      outcome o;
      o.made = connect_in_order(race, net, some, o.failed);
      results.send(
          std::move(o));  // there is room; if nobody takes it, it is closed with the channel
    });
  };
  begin(places.begin(), first_other);
  bool is_other_begun = false;
  int nrunning = 1;
  const auto begin_other = [&] {
    if (std::exchange(is_other_begun, true)) return;
    begin(first_other, places.end());
    ++nrunning;
  };
  net::conn won;
  while (nrunning != 0) {
    const auto take = [&](std::optional<outcome> o) {
      --nrunning;
      if (!o->failed) won = std::move(o->made);
      if (o->failed && !failed) failed = std::move(o->failed);
    };
    if (is_other_begun) {
      select(on_recv(results, take));
    } else {
      select(on_recv(results, take), on_timeout(kFallbackDelay, begin_other));
    }
    if (won) {
      failed = {};
      break;
    }
    begin_other();
  }
  cancel();
  return won;
}

}  // namespace weft::networks
