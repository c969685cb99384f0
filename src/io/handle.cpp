// handle.cpp: deadlines and closing.
#include <algorithm>
#include <string>

#include "io/descriptor.hpp"

#include <weft/io/handle.hpp>

namespace weft::inline v1::io {

namespace {

std::int64_t to_ns(time_point when) noexcept {
  return std::max<std::int64_t>(when.time_since_epoch().count(), 0);
}

}  // namespace

handle::handle(std::shared_ptr<detail::descriptor> d) noexcept : impl_(std::move(d)) {}

detail::descriptor* handle::get(std::error_code& ec) const noexcept {
  if (impl_ == nullptr) {
    ec = errc::closed;
  } else {
    ec.clear();
  }
  return impl_.get();
}

void handle::check(const std::error_code& ec, std::string_view operation,
                   std::string_view about) const {
  if (!ec) return;
  std::string what(operation);
  if (impl_ != nullptr && !impl_->name.empty()) what.append(" ").append(impl_->name);
  what.append(about);
  throw std::system_error(ec, what);
}

void handle::set_read_deadline(time_point when, std::error_code& ec) const noexcept {
  if (detail::descriptor* const d = get(ec))
    d->set_deadline(rt::poll_for::reading, to_ns(when), ec);
}
void handle::set_write_deadline(time_point when, std::error_code& ec) const noexcept {
  if (detail::descriptor* const d = get(ec))
    d->set_deadline(rt::poll_for::writing, to_ns(when), ec);
}
void handle::set_deadline(time_point when, std::error_code& ec) const noexcept {
  set_read_deadline(when, ec);
  if (!ec) set_write_deadline(when, ec);
}

void handle::set_deadline(time_point when) const {
  std::error_code ec;
  set_deadline(when, ec);
  check(ec, "set deadline");
}
void handle::set_read_deadline(time_point when) const {
  std::error_code ec;
  set_read_deadline(when, ec);
  check(ec, "set read deadline");
}
void handle::set_write_deadline(time_point when) const {
  std::error_code ec;
  set_write_deadline(when, ec);
  check(ec, "set write deadline");
}

void handle::close() const noexcept {
  if (impl_ != nullptr) impl_->close();
}
void handle::close(std::error_code& ec) const noexcept {
  if (detail::descriptor* const d = get(ec); d != nullptr && !d->close()) ec = errc::closed;
}

bool handle::is_open() const noexcept { return impl_ != nullptr && impl_->is_open(); }

int handle::native_handle() const noexcept {
  return impl_ != nullptr ? impl_->native_handle() : -1;
}

}  // namespace weft::inline v1::io
