// foreign.cpp: see foreign.hpp.
#include "sched/foreign.hpp"

#include <new>

#include "rt/g_slab.hpp"
#include "sched/crash.hpp"
#include "sched/locals.hpp"
#include "sched/procs.hpp"

namespace weft::sched {

namespace {

// Returns the proxy when the thread ends, after the thread's own thread_locals that used it before were destroyed or not: if
// one of those calls in again it gets a new proxy.
struct proxy_owner {
  G* proxy = nullptr;
  ~proxy_owner();
};

thread_local proxy_owner owner;

proxy_owner::~proxy_owner() {
  if (proxy == nullptr) return;
  end_locals(proxy);
  free_extras(proxy);
  proxy->goid.store(0, std::memory_order_relaxed);
  proxy->note().~basic_note();
  proxy->is_proxy = false;
  proxy->become(g_status::dead);
  proxy->link = nullptr;
  rt::put_free({proxy, 1});
  proxy = nullptr;
}

}  // namespace

// Never inlined: the address of `owner` belongs to this thread.
[[gnu::noinline]] G* foreign_g() noexcept {
  if (owner.proxy != nullptr) return owner.proxy;
  G* const proxy = rt::take_free(1).first;
  if (proxy == nullptr) fatal("out of memory for a thread that calls into weft");
  proxy->link = nullptr;
  proxy->become(g_status::idle);
  proxy->is_proxy = true;
  proxy->why = wait_reason::none;
  proxy->goid.store(kForeignIds + 1 + sched.nforeign.fetch_add(1, std::memory_order_relaxed),
                    std::memory_order_relaxed);
  ::new (proxy->closure) os::note;
  proxy->become(g_status::running);
  owner.proxy = proxy;
  return proxy;
}

void park_foreign(publish_fn publish, void* arg, wait_reason why) noexcept {
  die_if_forked();
  G* const self = foreign_g();
  self->why = why;
  self->become(g_status::asleep);
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

void wake_foreign(G* proxy) noexcept {
  proxy->become(g_status::running);
  sched.nforeign_waiting.fetch_sub(1, std::memory_order_seq_cst);  // by the waker: awake from here on
  proxy->note().wake();
}

}  // namespace weft::sched
