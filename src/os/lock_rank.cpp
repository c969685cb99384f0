// lock_rank.cpp: see lock_rank.hpp.
#include "os/lock_rank.hpp"

#include <functional>

#include "base/check.hpp"
#include "os/text.hpp"

#if defined(WEFT_DEBUG_CHECKS) && WEFT_DEBUG_CHECKS

namespace weft::os {

namespace {

// What this thread holds of one rank. A select may hold thousands, so they are not listed.
struct held {
  std::uint32_t n;
  const void* last;  // the one taken last, which is the highest
};

struct held_locks {
  held of[kLockRanks];
  bool is_reporting;  // the report itself takes locks
};

// Initial-exec: no call, and so no malloc, also in a shared library.
[[gnu::tls_model("initial-exec")]] constinit thread_local held_locks mine{};

[[noreturn, gnu::cold]] void outside(lock_rank wanted) noexcept {
  mine.is_reporting = true;
  text why;
  why << "the " << name_of(wanted) << " lock is taken where a goroutine may be stopped" << '\0';
  base::check_failed("lock order", why.view().data(), __FILE__, __LINE__);
}

[[noreturn, gnu::cold]] void out_of_order(lock_rank wanted, lock_rank has) noexcept {
  mine.is_reporting = true;
  text why;
  why << "the " << name_of(wanted) << " lock is taken while the " << name_of(has) << " lock is held"
      << '\0';
  base::check_failed("lock order", why.view().data(), __FILE__, __LINE__);
}

}  // namespace

constinit std::atomic<bool (*)() noexcept> may_hold_locks{nullptr};

[[gnu::noinline]] void check_lock_order(lock_rank r, const void* lock) noexcept {
  if (mine.is_reporting) return;
  const auto may_hold = may_hold_locks.load(std::memory_order_acquire);  // and all it reads
  if (may_hold != nullptr && !may_hold()) outside(r);
  for (std::size_t i = static_cast<std::size_t>(r); i < kLockRanks; ++i) {
    const held& h = mine.of[i];
    const auto has = static_cast<lock_rank>(i);
    if (h.n == 0) continue;
    if (has != r || !may_hold_several(r) || !std::less<>{}(h.last, lock)) out_of_order(r, has);
  }
}

[[gnu::noinline]] void count_lock(lock_rank r, const void* lock) noexcept {
  held& h = mine.of[static_cast<std::size_t>(r)];
  ++h.n;
  h.last = lock;
}

[[gnu::noinline]] void uncount_lock(lock_rank r) noexcept {
  held& h = mine.of[static_cast<std::size_t>(r)];
  WEFT_CHECK(h.n != 0, "a lock is freed by the thread that took it");
  --h.n;
}

}  // namespace weft::os

#endif
