// pipe.cpp: testing::pipe(): two lanes, one for each direction, each a ring under a mutex with one condition.
//
// Nobody holds the mutex while it waits, also not for its turn: a goroutine that waits for a mutex is not durably blocked.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <weft/condition_variable.hpp>
#include <weft/mutex.hpp>
#include <weft/testing/pipe.hpp>

namespace weft::inline v1::testing {

namespace detail {

namespace {

// How one side of a lane stands.
struct side {
  bool is_closed = false;  // its own calls fail
  bool is_shut = false;    // nothing more passes through it
  bool is_busy = false;    // somebody reads, or writes
  time_point deadline = io::no_deadline;
};

class lane {
 public:
  explicit lane(std::size_t capacity) : ring_(std::max<std::size_t>(capacity, 1)) {}

  std::size_t read(io::mutable_buffer into, bool is_whole, std::error_code& ec) {
    std::unique_lock hold(mutex_);
    const turn mine(*this, hold, reader_, ec);
    std::size_t done = 0;
    while (!ec && done < into.size()) {
      if (count_ == 0) {
        if (writer_.is_shut || reader_.is_shut) break;
        if (done != 0 && !is_whole) break;
        wait(hold, reader_, ec);
      } else {
        done += take(static_cast<std::byte*>(into.data()) + done, into.size() - done);
        changed_.notify_all();
      }
    }
    if (!ec && is_whole && done < into.size()) ec = io::errc::unexpected_eof;
    return done;
  }

  std::size_t write(std::span<const io::const_buffer> pieces, bool is_whole, std::error_code& ec) {
    std::unique_lock hold(mutex_);
    const turn mine(*this, hold, writer_, ec);
    std::size_t done = 0;
    for (const io::const_buffer& piece : pieces) {
      for (std::size_t at = 0; !ec && at < piece.size();) {
        if (reader_.is_shut || writer_.is_shut) {
          ec = std::make_error_code(std::errc::broken_pipe);
        } else if (count_ == ring_.size()) {
          if (done != 0 && !is_whole) return done;
          wait(hold, writer_, ec);
        } else {
          const std::size_t n =
              put(static_cast<const std::byte*>(piece.data()) + at, piece.size() - at);
          at += n;
          done += n;
          changed_.notify_all();
        }
      }
      if (ec) break;
    }
    return done;
  }

  enum class which : std::uint8_t { reader, writer };

  void shut(which w) noexcept {
    change(w, [](side& s) { s.is_shut = true; });
  }
  void close(which w) noexcept {
    change(w, [](side& s) { s.is_shut = s.is_closed = true; });
  }
  void set_deadline(which w, time_point when) noexcept {
    change(w, [when](side& s) { s.deadline = when; });
  }

 private:
  // One after the other.
  class turn {
   public:
    turn(lane& l, std::unique_lock<mutex>& hold, side& s, std::error_code& ec)
        : lane_(l), side_(s) {
      l.check(s, ec);
      while (!ec && s.is_busy) l.wait(hold, s, ec);
      is_mine_ = !ec;
      if (is_mine_) s.is_busy = true;
    }
    ~turn() {
      if (!is_mine_) return;
      side_.is_busy = false;
      lane_.changed_.notify_all();
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    lane& lane_;
    side& side_;
    bool is_mine_ = false;
  };

  void check(const side& s, std::error_code& ec) const noexcept {
    if (s.is_closed) {
      ec = io::errc::closed;
    } else if (s.deadline != io::no_deadline && s.deadline <= clock::now()) {
      ec = io::errc::deadline_exceeded;
    }
  }

  void wait(std::unique_lock<mutex>& hold, const side& s, std::error_code& ec) {
    check(s, ec);
    if (ec) return;
    if (s.deadline == io::no_deadline) {
      changed_.wait(hold);
    } else {
      changed_.wait_until(hold, s.deadline);
    }
    check(s, ec);
  }

  template <class Change>
  void change(which w, Change apply) noexcept {
    const std::lock_guard hold(mutex_);
    apply(w == which::reader ? reader_ : writer_);
    changed_.notify_all();
  }

  // As much as lies in one piece.
  std::size_t take(std::byte* to, std::size_t room) noexcept {
    const std::size_t n = std::min({room, count_, ring_.size() - first_});
    std::memcpy(to, ring_.data() + first_, n);
    first_ = (first_ + n) % ring_.size();
    count_ -= n;
    return n;
  }
  std::size_t put(const std::byte* from, std::size_t size) noexcept {
    const std::size_t last = (first_ + count_) % ring_.size();
    const std::size_t n = std::min({size, ring_.size() - count_, ring_.size() - last});
    std::memcpy(ring_.data() + last, from, n);
    count_ += n;
    return n;
  }

  mutex mutex_;
  condition_variable changed_;
  side reader_;
  side writer_;
  std::vector<std::byte> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

// One end: the lane that it reads from, and the one that it writes to.
class pipe_state {
 public:
  pipe_state(std::shared_ptr<lane> from, std::shared_ptr<lane> to) noexcept
      : in(std::move(from)), out(std::move(to)) {}
  pipe_state(const pipe_state&) = delete;
  pipe_state& operator=(const pipe_state&) = delete;
  ~pipe_state() { close(); }

  // False: it was closed already.
  bool close() noexcept {
    if (is_closed.exchange(true, std::memory_order_relaxed))
      return false;  // the lanes' mutexes order the rest
    in->close(lane::which::reader);
    out->close(lane::which::writer);
    return true;
  }

  const std::shared_ptr<lane> in;
  const std::shared_ptr<lane> out;
  std::atomic<bool> is_closed{false};
};

}  // namespace detail

namespace {

using detail::lane;
using detail::pipe_state;

void check(const std::error_code& ec, const char* operation) {
  if (ec) throw std::system_error(ec, std::string(operation) + " pipe");
}

// Clears ec. Null: closed, and ec says so.
pipe_state* open_or(const std::shared_ptr<pipe_state>& s, std::error_code& ec) noexcept {
  ec.clear();
  if (s != nullptr && !s->is_closed.load(std::memory_order_relaxed))
    return s.get();  // the lane asks again
  ec = io::errc::closed;
  return nullptr;
}

}  // namespace

std::size_t pipe_end::read_some(io::mutable_buffer into, std::error_code& ec) const {
  pipe_state* const s = open_or(state_, ec);
  return s != nullptr ? s->in->read(into, false, ec) : 0;
}
std::size_t pipe_end::read_some(io::mutable_buffer into) const {
  std::error_code ec;
  const std::size_t n = read_some(into, ec);
  check(ec, "read");
  return n;
}

std::size_t pipe_end::read_full(io::mutable_buffer into, std::error_code& ec) const {
  pipe_state* const s = open_or(state_, ec);
  return s != nullptr ? s->in->read(into, true, ec) : 0;
}
void pipe_end::read_full(io::mutable_buffer into) const {
  std::error_code ec;
  read_full(into, ec);
  check(ec, "read");
}

std::size_t pipe_end::write_some(io::const_buffer from, std::error_code& ec) const {
  pipe_state* const s = open_or(state_, ec);
  return s != nullptr ? s->out->write({&from, 1}, false, ec) : 0;
}
std::size_t pipe_end::write_some(io::const_buffer from) const {
  std::error_code ec;
  const std::size_t n = write_some(from, ec);
  check(ec, "write");
  return n;
}

std::size_t pipe_end::write_all(std::span<const io::const_buffer> pieces,
                                std::error_code& ec) const {
  pipe_state* const s = open_or(state_, ec);
  return s != nullptr ? s->out->write(pieces, true, ec) : 0;
}
void pipe_end::write_all(std::span<const io::const_buffer> pieces) const {
  std::error_code ec;
  write_all(pieces, ec);
  check(ec, "write");
}
std::size_t pipe_end::write_all(io::const_buffer from, std::error_code& ec) const {
  return write_all(std::span<const io::const_buffer>(&from, 1), ec);
}
void pipe_end::write_all(io::const_buffer from) const {
  write_all(std::span<const io::const_buffer>(&from, 1));
}

void pipe_end::shutdown(net::direction what, std::error_code& ec) const noexcept {
  pipe_state* const s = open_or(state_, ec);
  if (s == nullptr) return;
  if (what != net::direction::write) s->in->shut(lane::which::reader);
  if (what != net::direction::read) s->out->shut(lane::which::writer);
}
void pipe_end::shutdown(net::direction what) const {
  std::error_code ec;
  shutdown(what, ec);
  check(ec, "shutdown");
}

void pipe_end::set_read_deadline(time_point when, std::error_code& ec) const noexcept {
  if (pipe_state* const s = open_or(state_, ec)) s->in->set_deadline(lane::which::reader, when);
}
void pipe_end::set_write_deadline(time_point when, std::error_code& ec) const noexcept {
  if (pipe_state* const s = open_or(state_, ec)) s->out->set_deadline(lane::which::writer, when);
}
void pipe_end::set_deadline(time_point when, std::error_code& ec) const noexcept {
  set_read_deadline(when, ec);
  if (!ec) set_write_deadline(when, ec);
}
void pipe_end::set_deadline(time_point when) const {
  std::error_code ec;
  set_deadline(when, ec);
  check(ec, "set deadline");
}
void pipe_end::set_read_deadline(time_point when) const {
  std::error_code ec;
  set_read_deadline(when, ec);
  check(ec, "set read deadline");
}
void pipe_end::set_write_deadline(time_point when) const {
  std::error_code ec;
  set_write_deadline(when, ec);
  check(ec, "set write deadline");
}

void pipe_end::close(std::error_code& ec) const noexcept {
  pipe_state* const s = open_or(state_, ec);
  if (s != nullptr && !s->close()) ec = io::errc::closed;
}
void pipe_end::close() const noexcept {
  std::error_code ignored;
  close(ignored);
}
bool pipe_end::is_open() const noexcept {
  std::error_code ec;
  return open_or(state_, ec) != nullptr;
}

std::pair<pipe_end, pipe_end> pipe(std::size_t capacity) {
  const auto there = std::make_shared<lane>(capacity);
  const auto back = std::make_shared<lane>(capacity);
  std::pair<pipe_end, pipe_end> ends;
  ends.first.state_ = std::make_shared<pipe_state>(back, there);
  ends.second.state_ = std::make_shared<pipe_state>(there, back);
  return ends;
}

}  // namespace weft::inline v1::testing
