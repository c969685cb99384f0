// foreign.cpp: see foreign.hpp.
#include "sched/foreign.hpp"

#include <new>
#include <utility>

#include "rt/g_slab.hpp"
#include "sched/crash.hpp"
#include "sched/locals.hpp"
#include "sched/procs.hpp"

namespace weft::sched {

namespace {

// Apart from its owner and trivially destroyed, so that it can still be read and written when the owner is gone: a thread_local that
// is destroyed later may call in again, and gets a new proxy, which then belongs to nobody and stays.
constinit thread_local G* this_proxy = nullptr;

// Returns the proxy when the thread ends.
struct proxy_owner {
  bool is_needed = false;
  ~proxy_owner();
};

thread_local proxy_owner owner;

proxy_owner::~proxy_owner() {
  G* const proxy = std::exchange(this_proxy, nullptr);
  if (proxy == nullptr) return;
  end_locals(proxy);
  free_extras(proxy);
  proxy->goid.store(0, std::memory_order_relaxed);  // for those who look
  proxy->note().~basic_note();
  proxy->place = G::kOrdinary;
  proxy->become(g_status::dead);
  proxy->link = nullptr;
  rt::put_free({proxy, 1});
}

}  // namespace

// Never inlined: the addresses of thread-locals belong to this thread.
[[gnu::noinline]] G* foreign_g() noexcept {
  if (this_proxy != nullptr) return this_proxy;
  G* const proxy = rt::take_free(1).first;
  if (proxy == nullptr) fatal("weft: out of memory for a thread that calls into weft");
  proxy->link = nullptr;
  proxy->become(g_status::idle);
  proxy->place = G::kProxy;
  proxy->why = wait_reason::none;
  proxy->manners.store(0, std::memory_order_relaxed);  // its own
  // relaxed: only unique, and for those who look
  proxy->goid.store(kForeignIds + 1 + sched.nforeign.fetch_add(1, std::memory_order_relaxed),
                    std::memory_order_relaxed);
  ::new (proxy->closure) os::note;
  proxy->become(g_status::running);
  this_proxy = proxy;
  owner.is_needed = true;  // registers its destructor
  return proxy;
}

namespace {

G* lie_down(wait_reason why, bool is_timed) noexcept {
  die_if_forked();
  G* const self = foreign_g();
  self->why = why;
  self->set_manner(G::kMayWaitForEver, !is_timed);
  self->become(g_status::asleep);
  return self;
}

}  // namespace

void park_foreign(publish_fn publish, void* arg, wait_reason why) noexcept {
  G* const self = lie_down(why, false);
  if (publish(self, arg)) {
    // After we can be found: until here the deadlock check must take this thread for one that may still wake somebody.
    sched.nforeign_waiting.fetch_add(1, std::memory_order_seq_cst);
    rouse_sysmon(kSysmonNapNs);  // perhaps we were the last who could wake anybody
    self->note().sleep();
  } else {
    self->become(g_status::running);
  }
  self->why = wait_reason::none;
}

// One who looks at the clock goes on by itself and may then wake somebody: it does not count as waiting.
void park_foreign_until(publish_fn publish, void* arg, std::int64_t deadline_ns,
                        bool (*time_out)(void* arg), wait_reason why) noexcept {
  G* const self = lie_down(why, true);
  const bool waits = publish(self, arg);
  const bool was_woken = waits && self->note().sleep(deadline_ns);
  if (waits && !was_woken && !time_out(arg)) {
    self->note().sleep();  // somebody came at the last moment and is about to wake us
  } else if (!was_woken) {
    self->become(g_status::running);
  }
  self->why = wait_reason::none;
}

void wake_foreign(G* proxy) noexcept {
  proxy->become(g_status::running);
  if (proxy->has_manner(G::kMayWaitForEver)) {
    // by the waker: awake from here on
    sched.nforeign_waiting.fetch_sub(1, std::memory_order_seq_cst);
  }
  proxy->note().wake();
}

}  // namespace weft::sched
