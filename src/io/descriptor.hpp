// descriptor.hpp: a descriptor of the kernel's that goroutines share: who uses it, who waits for it, and when it is closed.
//
// Every operation counts itself in (use), close() only says that it is the end and wakes those who wait, and whoever is the last to leave
// closes the number: use_count.hpp.  [fd.last_one_closes]
// While others are inside the number stands for nothing from then on (empty_number): what it stood for goes at once.
//
// A read that got less than it asked for has emptied a TCP socket (a Unix socket's reads also stop short at a message that carries
// descriptors, and others' where they like), and the next one would only learn that: it waits at once (is_drained_), which
// saves every request of a server a system call. What comes later is told by the kernel. What came before is told once, perhaps before
// that read: an end of the stream, an error, urgent data, at whose mark reads stop short. Those are remembered (poll_desc::is_unusual),
// and then every read tries.  [fd.drained]
//
//    reader                                  poller
//    a short read: is_drained_               told of the end: is_unusual = true; notify
//    is_unusual ? try                        (before the read: the reader sees it; after its look: notify finds it waiting, or leaves `ready`)
//    wait
//
// Reads come one after the other (reading_), writes as well. Whoever waits for his turn is not woken by close(), but whoever has it is,
// and the next one finds the flag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

#include "io/use_count.hpp"
#include "rt/poll_desc.hpp"
#include "sched/netpoll.hpp"

#include <weft/detail/config.hpp>
#include <weft/io/stream.hpp>
#include <weft/mutex.hpp>

namespace weft::inline v1::io::detail {

enum class descriptor_kind : std::uint8_t { other, tcp_socket, stream_socket, packet_socket };

class descriptor {
 public:
  // Adopts fd and makes it non-blocking. Null: why is in ec, and fd is still the caller's.
  static std::shared_ptr<descriptor> adopt(int fd, descriptor_kind kind, std::error_code& ec);
  ~descriptor();
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  // call(fd): a system call that does not wait; -1 and errno. Tried until it says something else than EAGAIN or EINTR.
  template <class Call>
  auto read(Call call, std::error_code& ec) {
    const auto and_then_try = [&](int fd) {
      is_drained_ = false;
      return call(fd);
    };
    return transfer(rt::poll_for::reading, reading_, and_then_try, ec);
  }
  template <class Call>
  auto write(Call call, std::error_code& ec) {
    return transfer(rt::poll_for::writing, writing_, call, ec);
  }
  // call(fd) without waiting, and at any time: setsockopt() and the like.
  template <class Call>
  auto control(Call call, std::error_code& ec);

  // The same for reads of at most `room` bytes of a stream.
  template <class Call>
  auto read_bytes(std::size_t room, Call call, std::error_code& ec);

  // Whether a read would be tried now. False: it is closed, or out of time.
  bool may_read(std::error_code& ec) noexcept;

  // Waits once, whatever the kernel thinks.
  void wait(rt::poll_for what, std::error_code& ec);

  void set_deadline(rt::poll_for what, std::int64_t when_ns, std::error_code& ec) noexcept;
  // False: it was closed already.
  bool close() noexcept;
  bool is_open() const noexcept;
  int native_handle() const noexcept;
  bool is_socket() const noexcept { return kind_ != descriptor_kind::other; }
  bool is_packet() const noexcept { return kind_ == descriptor_kind::packet_socket; }

  // Set before anybody else knows it:
  std::string name;  // "tcp 127.0.0.1:4711->127.0.0.1:80", for messages
  std::string path;  // of a Unix socket that was made here, and goes with it

  // Counts an operation in for a scope.
  using use = scoped_use<descriptor>;

  int fd() const noexcept { return number_; }  // while it is in use

 private:
  friend use;

  descriptor(rt::poll_desc* desc, descriptor_kind kind) noexcept
      : desc_(desc), number_(desc->fd), kind_(kind) {}
  void close_number() noexcept;
  void empty_number() noexcept;
  // What a call that failed says. Closed meanwhile, it is that: the number may stand for nothing any more.
  std::error_code why(int error) const noexcept;
  // After EAGAIN. False: why it is no use to wait is in ec.
  bool await(rt::poll_for what, std::error_code& ec) noexcept;
  static bool may_try(sched::poll_result r, std::error_code& ec) noexcept;

  template <class Call>
  auto transfer(rt::poll_for what, mutex& turn, Call call, std::error_code& ec);
  // Nothing can be there to read. In the reader's turn.
  bool is_surely_empty() noexcept;
  // The kernel has just said EAGAIN, and yet there is something. errno stays EAGAIN.
  bool is_wrongly_refused() const noexcept;

  rt::poll_desc* const desc_;
  const int number_;  // the record has a new owner once it is closed, and another number
  const descriptor_kind kind_;
  use_count users_;
  mutex reading_;
  mutex writing_;
  bool is_drained_ = false;  // the last read got less than it asked for; reading_
};

bool is_would_block(int error) noexcept;
bool is_interrupted(int error) noexcept;
int last_error() noexcept;
std::ptrdiff_t would_block() noexcept;  // as a system call that would have to wait
std::error_code system_error(int error) noexcept;

template <class Call>
auto descriptor::control(Call call, std::error_code& ec) {
  using result = decltype(call(0));
  ec.clear();
  const use in(*this, ec);
  if (!in) return result(-1);
  const result r = call(fd());
  if (r == result(-1)) ec = why(last_error());
  return r;
}

template <class Call>
auto descriptor::read_bytes(std::size_t room, Call call, std::error_code& ec) {
  const auto unless_empty = [&](int fd) {
    if (is_surely_empty()) return would_block();
    auto n = call(fd);
    while (n < 0 && is_would_block(last_error()) && is_wrongly_refused()) n = call(fd);
    is_drained_ = n > 0 && static_cast<std::size_t>(n) < room;
    return n;
  };
  return transfer(rt::poll_for::reading, reading_, unless_empty, ec);
}

template <class Call>
auto descriptor::transfer(rt::poll_for what, mutex& turn, Call call, std::error_code& ec) {
  using result = decltype(call(0));
  ec.clear();
  const use in(*this, ec);
  if (!in) return result(-1);
  const std::lock_guard mine(turn);
  if (!may_try(sched::check_poll(desc_, what), ec)) return result(-1);
  for (;;) {
    const result r = call(fd());
    if (r != result(-1)) return r;
    const int error = last_error();
    if (is_interrupted(error)) {
      if (!may_try(sched::check_poll(desc_, what), ec)) return r;
      continue;
    }
    if (!is_would_block(error)) {
      ec = why(error);
      return r;
    }
    if (!await(what, ec)) return r;
  }
}

}  // namespace weft::inline v1::io::detail
