// descriptor.cpp: see descriptor.hpp.
#include "io/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "os/system_call.hpp"
#include "sched/current.hpp"

#include <weft/go.hpp>

namespace weft::inline v1::io::detail {

namespace {

using rt::poll_for;
using sched::poll_result;

// A plain thread that waits in the kernel sees so soon that somebody closed it, or moved the deadline.
constexpr std::int64_t kThreadLookNs = 10 * os::kMillisecond;

void wait_as_thread(const rt::poll_desc& desc, poll_for what) noexcept {
  const auto& side = what == poll_for::reading ? desc.reading : desc.writing;
  const std::int64_t left_ns =
      side.deadline_ns.load(std::memory_order_relaxed) - os::now_ns();  // asked again afterwards
  const std::int64_t for_ns = std::clamp<std::int64_t>(left_ns, 0, kThreadLookNs);
  pollfd p{desc.fd, static_cast<short>(what == poll_for::reading ? POLLIN : POLLOUT), 0};
  const timespec length{0, static_cast<long>(for_ns)};
  os::call(os::site::thread_poll, ::ppoll, &p, 1, &length, nullptr);
}

}  // namespace

bool is_would_block(int error) noexcept { return error == EAGAIN; }
bool is_interrupted(int error) noexcept { return error == EINTR; }
int last_error() noexcept { return errno; }

std::ptrdiff_t would_block() noexcept {
  errno = EAGAIN;
  return -1;
}
std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

std::shared_ptr<descriptor> descriptor::adopt(int fd, descriptor_kind kind, std::error_code& ec) {
  ec.clear();
  const int flags = os::call(os::site::adopt_get_flags, ::fcntl, fd, F_GETFL);
  if (flags == -1 || ((flags & O_NONBLOCK) == 0 && os::call(os::site::adopt_set_flags, ::fcntl, fd,
                                                            F_SETFL, flags | O_NONBLOCK) == -1)) {
    ec = system_error(errno);
    return nullptr;
  }
  const auto give_up = [&](int why) {
    if ((flags & O_NONBLOCK) == 0) ::fcntl(fd, F_SETFL, flags);
    ec = system_error(why);
    return nullptr;
  };
  int why = 0;
  rt::poll_desc* const desc = sched::begin_polling(fd, why);
  if (desc == nullptr) return give_up(why);
  try {
    return std::shared_ptr<descriptor>(new descriptor(desc, kind));
  } catch (const std::bad_alloc&) {
    sched::end_polling(desc);
    sched::forget_polled(desc);
    return give_up(ENOMEM);
  }
}

// Nobody else knows it any more.
descriptor::~descriptor() { close(); }

void descriptor::close_number() noexcept {
  sched::end_polling(desc_);
  const int fd = desc_->fd;
  sched::forget_polled(desc_);
  // Never again, whatever it says: on Linux the number is free even after EINTR.
  ::close(fd);
}

// Those who are inside leave soon, or never, if their runtime has ended. What the number stands for goes at once all the same: its address
// may be wanted, and its partner waits for the end. The number stays taken until the last one has left; calls with it fail.
// If there can be no socket it goes with the last one.
void descriptor::empty_number() noexcept {
  sched::end_polling(desc_);
  const int nothing = os::call(os::site::empty_socket, ::socket, AF_UNIX,
                               SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (nothing == -1) return;
  os::call(os::site::empty_dup, ::dup3, nothing, number_, O_CLOEXEC);
  ::close(nothing);
}

bool descriptor::close() noexcept {
  // Until this is counted in, somebody else who leaves could close the number under close_polled().
  std::error_code ec;
  const use in(*this, ec);
  if (!in) return false;
  if (!users_.shut()) return false;
  sched::close_polled(desc_);
  // Before the socket goes: nobody else can have made that path again.
  if (!path.empty()) os::call(os::site::path_unlink, ::unlink, path.c_str());
  if (users_.has_others()) empty_number();
  return true;
}

std::error_code descriptor::why(int error) const noexcept {
  return is_open() ? system_error(error) : make_error_code(errc::closed);
}

bool descriptor::is_open() const noexcept { return !users_.is_shut(); }

int descriptor::native_handle() const noexcept { return is_open() ? number_ : -1; }

bool descriptor::may_try(poll_result r, std::error_code& ec) noexcept {
  switch (r) {
    case poll_result::ready:
      return true;
    case poll_result::closing:
      ec = errc::closed;
      return false;
    case poll_result::timed_out:
      break;
  }
  ec = errc::deadline_exceeded;
  return false;
}

bool descriptor::await(poll_for what, std::error_code& ec) noexcept {
  if (sched::current_m() != nullptr) return may_try(sched::wait_polled(desc_, what), ec);
  wait_as_thread(*desc_, what);
  return may_try(sched::check_poll(desc_, what), ec);
}

// A plain thread asks the kernel itself, which it can do without waiting for news.
bool descriptor::is_surely_empty() noexcept {
  if (!std::exchange(is_drained_, false) || kind_ != descriptor_kind::tcp_socket) return false;
  return !desc_->is_unusual.load(std::memory_order_seq_cst) &&  // [fd.drained]
         sched::current_m() != nullptr;
}

// At the mark of urgent data a recv() says EAGAIN as soon as a signal is pending for its thread, whatever comes after the mark. What is there
// was told already: whoever waited for news then would wait for ever. Such sockets are rare, and known (is_unusual); if they are told of it
// only now, they are woken.
bool descriptor::is_wrongly_refused() const noexcept {
  if (kind_ != descriptor_kind::tcp_socket || !desc_->is_unusual.load(std::memory_order_seq_cst))
    return false;  // [fd.drained]
  pollfd p{fd(), POLLIN, 0};
  int n;
  do n = os::call(os::site::refused_poll, ::poll, &p, 1u, 0);
  while (n == -1 && errno == EINTR);  // also without waiting, if a signal is pending
  const bool is_there = n == 1 && (p.revents & POLLIN) != 0;
  errno = EAGAIN;
  return is_there;
}

bool descriptor::may_read(std::error_code& ec) noexcept {
  ec.clear();
  const use in(*this, ec);
  return in && may_try(sched::check_poll(desc_, poll_for::reading), ec);
}

void descriptor::wait(poll_for what, std::error_code& ec) {
  ec.clear();
  const use in(*this, ec);
  if (!in) return;
  const std::lock_guard mine(what == poll_for::reading ? reading_ : writing_);
  // What is ready already tells no news: asked without waiting first.
  pollfd p{fd(), static_cast<short>(what == poll_for::reading ? POLLIN : POLLOUT), 0};
  while (may_try(sched::check_poll(desc_, what), ec)) {
    const int n = os::call(os::site::wait_poll, ::poll, &p, 1u, 0);
    if (n > 0) return;
    if (n == 0 && !await(what, ec)) return;
    if (n == -1 &&
        !is_interrupted(last_error())) {  // that comes also without waiting, if a signal is pending
      ec = why(last_error());
      return;
    }
  }
}

void descriptor::set_deadline(poll_for what, std::int64_t when_ns, std::error_code& ec) noexcept {
  ec.clear();
  const use in(*this, ec);
  if (in) sched::set_poll_deadline(desc_, what, when_ns);
}

}  // namespace weft::inline v1::io::detail
