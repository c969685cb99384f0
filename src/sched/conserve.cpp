// conserve.cpp: see conserve.hpp.
#include "sched/conserve.hpp"

#include "os/clock.hpp"
#include "sched/crash.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kLongestRestNs = 10 * os::kMillisecond;
constexpr int kLooks = 3;
constexpr std::uint32_t kMostNamed = 8;

// One that was kept handy a short while ago is not forgotten. What sysmon has seen of it is sysmon's own.
bool is_forgotten(const P* pp, std::int64_t now_ns) noexcept {
  if (pp->queue.ring_size() != 0 || pp->queue.has_next()) return true;
  return is_deferring(pp) && now_ns - pp->seen.deferral_since_ns >= kLongestRestNs;
}

bool is_any_forgotten(std::int64_t now_ns) noexcept {
  if (has_global()) return true;
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  for (std::uint32_t i = 0; i < n; ++i) {
    if (is_forgotten(p_at(i), now_ns)) return true;
  }
  return false;
}

// Neither on its way to anything, nor in the middle of queueing something. What an M does to a queue inside the runtime comes after its
// mark, in the order of its own stores: whoever has seen the one sees the other.
bool is_settled_locked(const M* mp) noexcept {
  if (mp->nextp != nullptr || mp->must_borrow || mp->has_polled) return false;
  if (mp->is_spinning.load(std::memory_order_acquire)) return false;  // as said above
  switch (mp->waits) {
    case rt::m_wait::idle:
    case rt::m_wait::watch:
    case rt::m_wait::locked:
    case rt::m_wait::p:
      return true;
    case rt::m_wait::borrow:
      return false;
    case rt::m_wait::none:
      break;
  }
  return !mp->detach.is_inside();
}

// The queues first: see conserve.hpp.
bool is_proved(std::int64_t now_ns) noexcept {
  locked l;
  if (sched.now.load(std::memory_order_relaxed) != phase::running) return false;  // changes under L
  if (sched.pidle.empty() || !is_any_forgotten(now_ns)) return false;
  // relaxed: changes under L. A stop's last act, without L, is to wake somebody: its lock is still held then.
  if (sched.is_stopping.load(std::memory_order_relaxed) || sched.world_lock.is_held()) return false;
  if (!sched.pstarting.empty()) return false;
  for (const M* mp = sched.allm; mp != nullptr; mp = mp->all_next) {
    if (!is_settled_locked(mp)) return false;
  }
  return true;
}

// Read without L, relaxed: as good as it gets.
void describe_queues(os::text& t) noexcept {
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  t << sched.npidle.load(std::memory_order_relaxed) << " of " << n << " processors idle, "
    << sched.nspinning.load(std::memory_order_relaxed) << " counted as spinning, "
    << sched.nrunq.load(std::memory_order_relaxed) << " in the global queue";
  std::uint32_t nnamed = 0;
  for (std::uint32_t i = 0; i < n && nnamed < kMostNamed; ++i) {
    const P* const pp = p_at(i);
    if (pp->queue.is_empty() && !is_deferring(pp)) continue;
    ++nnamed;
    t << ", " << pp->queue.ring_size()
      << (pp->queue.has_next() || is_deferring(pp) ? " and a front" : "")
      << " in that of processor " << i;
  }
}

void report(std::int64_t rest_ns) noexcept {
  sched.nunconserved.fetch_add(1, std::memory_order_relaxed);  // only counted
  if (!sched.set.debug.conserve) return;
  os::text t;
  t << "weft: a wake-up was lost: a processor has been idle for " << rest_ns / os::kMillisecond
    << " ms while goroutines were queued, and nobody is on the way (";
  describe_queues(t);
  t << "); this is a bug in weft";
  fatal(t.view());  // L is free: the report must not hang on it
}

}  // namespace

void conservation_watch::begin_anew() noexcept {
  since_ns_ = 0;
  nlooks_ = nproved_ = 0;
}

bool conservation_watch::look(std::int64_t now_ns) noexcept {
  if (sched.npidle.load(std::memory_order_seq_cst) == 0 || !is_any_forgotten(now_ns)) {
    begin_anew();
    return false;
  }
  if (nlooks_++ == 0) since_ns_ = now_ns;
  if (nlooks_ < kLooks || now_ns - since_ns_ < kLongestRestNs) return true;
  nproved_ = is_proved(now_ns) ? nproved_ + 1 : 0;
  if (nproved_ < kLooks) return true;
  report(now_ns - since_ns_);
  begin_anew();
  wake_one();  // better late than never
  return true;
}

}  // namespace weft::sched
