// netpoll.cpp: see netpoll.hpp.
#include "sched/netpoll.hpp"

#include <cerrno>
#include <span>

#include "os/clock.hpp"
#include "os/poller.hpp"
#include "os/signal.hpp"
#include "os/text.hpp"
#include "os/thread.hpp"
#include "sched/bubbles.hpp"
#include "sched/chaos.hpp"
#include "sched/entry.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

namespace {

using rt::poll_desc;
using rt::poll_for;
using rt::poll_waiter;

constexpr std::size_t kEvents = 128;
// Nobody has asked for so long.
constexpr std::int64_t kStaleNs = os::kMillisecond;

constinit os::poller poller;
// Written under its lock, when there is a poller that can be used.
constinit os::lock<os::lock_rank::libraries> open_lock;
constinit std::atomic<bool> is_open{false};
// Grows when descriptors are to be added anew: with every fork that this process comes from, and when the other kind of poller is chosen.
constinit std::atomic<std::uint32_t> npoller{0};

// The child would take the parent's news, and what it closes the parent's poller would forget. So it gets one of its own when it needs one,
// and what it has inherited is added to that when somebody waits for it. Relaxed: it has no other thread.
void leave_poller_to_parent() {
  poller.forget();
  is_open.store(false, std::memory_order_relaxed);
  npoller.fetch_add(1, std::memory_order_relaxed);
}

// One of the threads that sleep on their notes goes to sleep in the poller instead.
void move_a_sleeper() noexcept {
  M* woken = nullptr;
  {
    locked l;
    woken = sched.watcher != nullptr ? sched.watcher : sched.midle.front();
  }
  if (woken == nullptr) kick_spawner();  // it makes a spare, which goes there
  wake_m(woken);
}

void watch_forks() noexcept {
  static constinit std::atomic<bool> is_fork_watched{false};
  if (!is_fork_watched.exchange(true, std::memory_order_relaxed))  // only counted
    os::on_fork_in_child(&leave_poller_to_parent);
}

int open_once() noexcept {
  if (is_open.load(std::memory_order_acquire)) return 0;  // what open() did
  watch_forks();
  {
    const bracket inside;
    os::lock_guard guard(open_lock);
    if (is_open.load(std::memory_order_relaxed)) return 0;  // under the lock
    if (const int why = poller.open(); why != 0) return why;
    is_open.store(true, std::memory_order_release);  // what open() did
  }
  return 0;
}

// --- waiting ---

struct polled_wait {
  poll_desc* desc;
  poll_for what;
  std::uint32_t revision;
  poll_waiter mine{};
};

bool enter_wait(waiter* w, void* arg) {
  auto* const p = static_cast<polled_wait*>(arg);
  sched.nio_waiting.fetch_add(1, std::memory_order_seq_cst);  // [poll.somebody_asks]
  p->mine.who = w;
  rt::poll_word& word = p->desc->of(p->what).word;
  if (!word.enter(&p->mine)) {
    p->mine.is_ready = true;
    return false;
  }
  dawdle(window::entered);
  // seq_cst: after we can be seen  [poll.no_lost_end]
  if (p->desc->revision.load(std::memory_order_seq_cst) == p->revision) return true;
  return !word.withdraw(&p->mine);
}

bool withdraw_wait(waiter*, void* arg) {
  auto* const p = static_cast<polled_wait*>(arg);
  return p->desc->of(p->what).word.withdraw(&p->mine);
}

// The goroutine does it itself, inside the bracket: one that is abandoned with its runtime never does.
void end_count() noexcept {
  const bracket inside;
  sched.nio_waiting.fetch_sub(1, std::memory_order_seq_cst);
}

// --- waking ---

// Who is told, from what the kernel says to what the goroutine is. Each step reads what the one before has found, and after a while of
// waiting none of it is in a cache: the record, the frame of whoever waits, its G. So each step is taken for all before the next one, and asks
// for what that will need: the waits for memory pass side by side and not one after the other.
class told {
 public:
  explicit told(std::span<const os::poll_event> events) noexcept : events_(events) {
    for (const os::poll_event& e : events_) poll_desc::prefetch(e.cookie);
    for (const os::poll_event& e : events_) prefetch_waiters(e);
    for (const os::poll_event& e : events_) find_waiters(e);
  }

  // All that can go on now.
  rt::g_queue claim() noexcept {
    rt::g_queue woken;
    for (std::size_t i = 0; i < ngs_; ++i) {
      if (is_abandoned(gs_[i])) continue;
      claim_waiting(gs_[i]);
      woken.push_back(gs_[i]);
    }
    return woken;
  }

 private:
  static void prefetch_waiters(const os::poll_event& e) noexcept {
    const poll_desc* const desc = poll_desc::from_cookie(e.cookie);
    if (desc == nullptr) return;
    if (e.is_readable) desc->reading.word.prefetch_waiter();
    if (e.is_writable) desc->writing.word.prefetch_waiter();
  }

  void find_waiters(const os::poll_event& e) noexcept {
    poll_desc* const desc = poll_desc::from_cookie(e.cookie);
    if (desc == nullptr) return;
    // seq_cst: before the word, which whoever relies on it looks at afterwards  [fd.drained]
    if (e.is_unusual) desc->is_unusual.store(true, std::memory_order_seq_cst);
    if (e.is_readable) find_waiter(desc->reading.word);
    if (e.is_writable) find_waiter(desc->writing.word);
  }

  void find_waiter(rt::poll_word& word) noexcept {
    poll_waiter* const w = word.notify();
    if (w == nullptr) return;
    w->is_ready = true;
    G* const gp = take_waiter(w->who);
    if (gp == nullptr) return;
    __builtin_prefetch(gp, 1);
    __builtin_prefetch(&gp->goid, 1);
    gs_[ngs_++] = gp;
  }

  std::span<const os::poll_event> events_;
  G* gs_[2 * kEvents];
  std::size_t ngs_ = 0;
};

rt::g_queue ask(std::int64_t deadline_ns) noexcept {
  os::poll_event events[kEvents];
  const std::size_t n = poller.wait(events, deadline_ns);
  sched.npolls.fetch_add(1, std::memory_order_relaxed);  // sysmon looks whether it changes
  if (n != 0) dawdle(window::polled);
  return told({events, n}).claim();
}

void evict(rt::poll_word& word) noexcept {
  const bracket inside;
  if (poll_waiter* const w = word.evict()) end_wait(inside.m(), w->who);
}

poll_desc* take_record(int fd) noexcept {
  const bracket inside;
  return rt::take_poll_desc(fd);
}

// 0, or errno. The poller is made for the first one.
int add(poll_desc* desc) noexcept {
  if (const int why = open_once(); why != 0) return why;
  // Before it is added: if another poller is chosen meanwhile it is added to that as well. Acquire: which one was chosen.
  const std::uint32_t mine = npoller.load(std::memory_order_acquire);
  const int why = poller.add(desc->fd, desc->cookie());
  if (why == 0 || why == EEXIST)
    desc->npoller.store(mine, std::memory_order_relaxed);  // whoever reads an old one adds it again
  return why;
}

}  // namespace

poll_desc* begin_polling(int fd, int& why) noexcept {
  poll_desc* const desc = take_record(fd);
  why = desc != nullptr ? add(desc) : ENOMEM;
  if (why == 0) return desc;
  if (desc != nullptr) forget_polled(desc);
  return nullptr;
}

void end_polling(poll_desc* desc) noexcept { poller.remove(desc->fd); }

void forget_polled(poll_desc* desc) noexcept {
  const bracket inside;
  rt::release_poll_desc(desc);
}

poll_result check_poll(poll_desc* desc, poll_for what) noexcept {
  if (desc->is_closing.load(std::memory_order_seq_cst)) return poll_result::closing;
  const std::int64_t deadline_ns = desc->of(what).deadline_ns.load(std::memory_order_seq_cst);
  if (deadline_ns != rt::kNever && deadline_ns <= os::now_ns()) return poll_result::timed_out;
  return poll_result::ready;
}

poll_result wait_polled(poll_desc* desc, poll_for what) noexcept {
  // relaxed: it changes between runtimes only
  if (desc->npoller.load(std::memory_order_relaxed) != npoller.load(std::memory_order_relaxed))
      [[unlikely]] {
    if (const int why = add(desc); why != 0 && why != EEXIST) return poll_result::closing;
  }
  for (;;) {
    polled_wait p{desc, what, desc->revision.load(std::memory_order_seq_cst)};  // before the check
    if (const poll_result r = check_poll(desc, what); r != poll_result::ready) return r;
    const std::int64_t deadline_ns = desc->of(what).deadline_ns.load(std::memory_order_seq_cst);
    const wait_list list{&enter_wait, &withdraw_wait, &p};
    park_until(list, deadline_ns, wait_reason::io, desc);
    end_count();
    if (p.mine.is_ready) return poll_result::ready;
  }
}

void close_polled(poll_desc* desc) noexcept {
  desc->is_closing.store(true, std::memory_order_seq_cst);
  desc->revision.fetch_add(1, std::memory_order_seq_cst);  // [poll.no_lost_end]
  evict(desc->reading.word);
  evict(desc->writing.word);
}

void set_poll_deadline(poll_desc* desc, poll_for what, std::int64_t deadline_ns) noexcept {
  desc->of(what).deadline_ns.store(to_real_ns(deadline_ns), std::memory_order_seq_cst);
  desc->revision.fetch_add(1, std::memory_order_seq_cst);  // [poll.no_lost_end]
  evict(desc->of(what).word);
}

// Nobody sleeps in either: no runtime runs. Plain threads may be adding descriptors.
void choose_poller(os::poller_choice wanted) noexcept {
  if ((wanted == os::poller_choice::uring) == poller.is_uring()) return;
  watch_forks();
  if (wanted == os::poller_choice::uring) {
    if (const os::uring_failure why = poller.open_uring(); why.error != 0) {
      os::text t;
      t << "weft: poller=uring: " << why.what << " (errno=" << why.error << "); epoll is used\n";
      os::write_all(os::kStderr, t.view());
      return;
    }
    is_open.store(true, std::memory_order_release);  // what open() did
  } else {
    // First: whoever is between open_once() and add() finds one that is open. If it cannot be had, open_once() says why.
    os::lock_guard guard(open_lock);
    // release: what open() did
    is_open.store(poller.open() == 0, std::memory_order_release);
    poller.leave_uring();
  }
  npoller.fetch_add(1, std::memory_order_release);  // which one was chosen
}

const char* poller_name() noexcept { return poller.is_uring() ? "uring" : "epoll"; }

unsigned poller_threads() noexcept { return poller.nhelpers(); }

namespace {

// Without waiting. One at a time: a second one would find nothing.
rt::g_queue ask_in_passing() noexcept {
  if (sched.is_asking.exchange(true, std::memory_order_acquire))
    return {};  // what the last one was told
  rt::g_queue woken = ask(os::poller::kDoNotWait);
  sched.is_asking.store(false, std::memory_order_release);  // what we were told
  return woken;
}

}  // namespace

G* take_from_poller(M* mp) noexcept {
  if (!is_anybody_polled_for()) return nullptr;
  release_poller();
  if (!is_poller_wanted()) return nullptr;
  rt::g_queue woken = ask_in_passing();
  if (woken.empty()) return nullptr;
  P* const pp = mp->proc();
  if (sched.is_migrating.load(std::memory_order_relaxed)) {  // fixed at start
    while (G* const gp = woken.pop_front()) submit(gp);
    return take_global(pp, 1);
  }
  G* const first = woken.pop_front();
  base::add_by_owner(pp->schedtick, 1);
  if (woken.empty()) return first;
  while (G* const gp = woken.pop_front()) put_local(pp, gp);
  wake_one();
  return first;
}

void ask_poller_if_due(M* mp) noexcept {
  if (!sched.is_poll_due.load(std::memory_order_relaxed)) [[likely]]  // a hint
    return;
  sched.is_poll_due.store(false, std::memory_order_relaxed);  // perhaps another does so too
  if (!is_poller_wanted()) return;
  rt::g_queue woken = ask_in_passing();
  if (woken.empty()) return;
  const bool is_spread = sched.is_migrating.load(std::memory_order_relaxed);  // fixed at start
  const front_aside front(mp->proc());
  while (G* const gp = woken.pop_front()) is_spread ? submit(gp) : put_local(mp->proc(), gp);
  wake_one();
}

bool claim_poller() noexcept {
  if (!is_poller_wanted()) return false;
  const bool is_worth_it =
      sched.npidle.load(std::memory_order_seq_cst) != 0 ||
      sched.needs_poller.load(std::memory_order_relaxed);  // set before we were woken for it
  // seq_cst: [poll.somebody_asks]
  return is_worth_it && !sched.is_poller_taken.exchange(true, std::memory_order_seq_cst);
}

void sleep_in_poller(M* mp, std::int64_t until_ns) noexcept {
  rt::g_queue woken;
  if (mp->park.begin_elsewhere()) {
    woken = ask(until_ns == rt::kNever ? os::kNoDeadline : until_ns);
    mp->park.end_elsewhere();
  }
  sched.is_poller_taken.store(false, std::memory_order_seq_cst);
  if (woken.empty()) return;
  locked l;
  while (G* const gp = woken.pop_front()) put_urgent_locked(gp);
  mp->has_polled = true;
}

void interrupt_poller() noexcept { poller.interrupt(); }

void release_poller() noexcept {
  // a hint
  if (sched.needs_poller.load(std::memory_order_relaxed))
    sched.needs_poller.store(false, std::memory_order_relaxed);
}

namespace {

// How often Ps have looked for a goroutine: to be compared.
std::uint32_t count_looks() noexcept {
  std::uint32_t nlooks = 0;
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  for (std::uint32_t i = 0; i < n; ++i)
    nlooks += p_at(i)->schedtick.load(std::memory_order_relaxed);  // a hint
  return nlooks;
}

}  // namespace

void polling_watch::begin(std::int64_t now_ns) noexcept {
  since_ns_ = now_ns;
  npolls_ = sched.npolls.load(std::memory_order_relaxed);  // only compared
  nlooks_ = count_looks();
}

bool polling_watch::look(std::int64_t now_ns) noexcept {
  // relaxed: only compared
  if (!is_poller_wanted() || sched.npolls.load(std::memory_order_relaxed) != npolls_) {
    begin(now_ns);
    return is_poller_wanted();
  }
  if (now_ns - since_ns_ < kStaleNs) return true;
  const bool is_any_passing_by = count_looks() != nlooks_;
  begin(now_ns);
  // relaxed: a hint, and nobody else sets it
  if (!sched.is_poll_due.exchange(true, std::memory_order_relaxed) && is_any_passing_by)
    return true;
  sched.needs_poller.store(true, std::memory_order_seq_cst);  // seen by whoever is woken
  move_a_sleeper();
  return true;
}

}  // namespace weft::sched
