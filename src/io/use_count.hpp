// use_count.hpp: who uses a number of the kernel's, and who is to close it.
//
// The number must not be closed while somebody is in a system call with it, or the call could hit whatever gets the same number next. So
// every operation counts itself in, shut() only says that it is the end, and whoever is the last to leave closes it.  [fd.last_one_closes]
//
//    operation                                    closing
//    enter: + 1, unless the flag is set           enter
//    system call                                  shut: the flag
//    leave: the flag, and nobody else left ?      leave: nobody else was in ?
//    then close the number                        then close the number
//
// Edges
//   [fd.last_one_closes]  leave: nuses_ release  ->  leave: nuses_ acquire
#pragma once

#include <atomic>
#include <cstdint>
#include <system_error>

#include <weft/io/error.hpp>

namespace weft::inline v1::io::detail {

template <template <class> class Atomic>
class basic_use_count {
 public:
  // False: it is closed.
  bool enter() noexcept {
    std::uint32_t seen = nuses_.load(std::memory_order_relaxed);  // checked by the CAS
    do {
      if ((seen & kShut) != 0) return false;
      // acquire: not before it was made
    } while (!nuses_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    return true;
  }
  // True, once: it is closed and nobody uses it any more, so the caller closes the number.
  [[nodiscard]] bool leave() noexcept {
    // acq_rel: the number is closed after all others' calls  [fd.last_one_closes]
    return nuses_.fetch_sub(1, std::memory_order_acq_rel) == (kShut | 1);
  }
  // By one who is in. False: somebody else has.
  [[nodiscard]] bool shut() noexcept {
    return (nuses_.fetch_or(kShut, std::memory_order_acq_rel) & kShut) == 0;
  }
  // By one who is in, after shut(): nobody comes any more, but some may still leave.
  bool has_others() const noexcept {
    return (nuses_.load(std::memory_order_relaxed) & ~kShut) != 1;  // whoever is last closes it
  }
  bool is_shut() const noexcept { return (nuses_.load(std::memory_order_acquire) & kShut) != 0; }

 private:
  static constexpr std::uint32_t kShut = std::uint32_t{1} << 31;
  Atomic<std::uint32_t> nuses_{0};
};
using use_count = basic_use_count<std::atomic>;

// Counts an operation on `Owner` in for a scope. Owner has a use_count users_ and a close_number().
template <class Owner>
class scoped_use {
 public:
  scoped_use(Owner& owner, std::error_code& ec) noexcept
      : owner_(owner.users_.enter() ? &owner : nullptr) {
    if (owner_ == nullptr) ec = errc::closed;
  }
  ~scoped_use() {
    if (owner_ != nullptr && owner_->users_.leave()) owner_->close_number();
  }
  scoped_use(const scoped_use&) = delete;
  scoped_use& operator=(const scoped_use&) = delete;
  explicit operator bool() const noexcept { return owner_ != nullptr; }

 private:
  Owner* owner_;
};

}  // namespace weft::inline v1::io::detail
