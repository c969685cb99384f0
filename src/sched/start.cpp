// start.cpp: see start.hpp.
#include "sched/start.hpp"

#include <algorithm>
#include <new>

#include "rt/g_slab.hpp"
#include "sched/bubbles.hpp"
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/locals.hpp"
#include "sched/park.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/switch.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

namespace {

constexpr std::uint32_t kFreeBatch = 32;  // Gs that move between a P and the slab at a time
constexpr std::uint32_t kFreeMax = 2 * kFreeBatch;
constexpr std::uint64_t kGoidBatch = 16;

G* pop_free(P* pp) noexcept {
  if (pp->free_first == nullptr) {
    const rt::g_chain chain = rt::take_free(kFreeBatch);
    pp->free_first = chain.first;
    pp->nfree = chain.count;
    if (pp->free_first == nullptr) return nullptr;
  }
  G* const gp = pp->free_first;
  pp->free_first = gp->link;
  --pp->nfree;
  return gp;
}

std::uint64_t next_goid(P* pp) noexcept {
  if (pp == nullptr) return sched.next_goid.fetch_add(1, std::memory_order_relaxed);  // only unique
  if (pp->next_goid == pp->last_goid) {
    pp->next_goid =
        sched.next_goid.fetch_add(kGoidBatch, std::memory_order_relaxed);  // only unique
    pp->last_goid = pp->next_goid + kGoidBatch;
  }
  return pp->next_goid++;
}

void spill_free(P* pp) noexcept {
  rt::g_chain half;
  while (half.count < kFreeBatch) {
    G* const gp = pp->free_first;
    pp->free_first = gp->link;
    gp->link = half.first;
    half.first = gp;
    ++half.count;
  }
  pp->nfree -= kFreeBatch;
  rt::put_free(half);
}

// Counts a goroutine that comes from a thread without a P (or goes to any, in forced migration). False: its runtime has ended, or is
// about to, and it is abandoned like the others of that one. Under L, where the end counts what it abandons: whatever was
// counted before that is among them, and nothing is counted after it. Relaxed: the epoch changes under L, and whoever
// comes to L after that sees at least `ending`.
bool count_start(const G* gp) noexcept {
  locked l;
  if (gp->epoch != sched.epoch.load(std::memory_order_relaxed) ||
      sched.now.load(std::memory_order_relaxed) != phase::running)
    return false;
  sched.nstarted.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void begin_on(stack::head* stack, G* gp) noexcept {
  gp->stack = stack;
  rt::g_cold* const cold = ::new (stack->cold) rt::g_cold;
  arch::create_fiber(cold->fiber, stack->lo, stack->usable());
  gp->fp = sched.fp;
  arch::make_context(&gp->context, stack->initial_sp(), &goroutine_main, gp);
}

}  // namespace

G* new_g(P* pp) noexcept {
  G* const gp = pp != nullptr ? pop_free(pp) : rt::take_free(1).first;
  if (gp == nullptr) return nullptr;
  gp->become(g_status::idle);
  // relaxed: came with the P, or with the acquire of require_running(); an end since then is noticed by launch()
  gp->epoch = sched.epoch.load(std::memory_order_relaxed);
  gp->stack_bits = sched.set.stack_bits.load(std::memory_order_relaxed);  // fixed while running
  // relaxed: guards nothing. Here, and not where its last owner ended: sysmon may have come late with what it had seen of that one.
  gp->manners.store(0, std::memory_order_relaxed);
  gp->goid.store(next_goid(pp), std::memory_order_relaxed);  // for those who look
  return gp;
}

void free_g(P* pp, G* gp) noexcept {
  // relaxed, all: for those who look
  gp->goid.store(0, std::memory_order_relaxed);
  gp->m.store(nullptr, std::memory_order_relaxed);
  gp->place = G::kOrdinary;
  gp->bound_m = nullptr;
  gp->made_at = nullptr;
  gp->made_by = 0;
  gp->why = wait_reason::none;
  gp->nlocks = 0;
  gp->stack_bits = 0;
  gp->is_exiting = false;
  gp->resume.nblocking = 0;
  if (pp == nullptr) {
    gp->link = nullptr;
    rt::put_free({gp, 1});
    return;
  }
  gp->link = pp->free_first;
  pp->free_first = gp;
  if (++pp->nfree > kFreeMax) spill_free(pp);
}

namespace {

[[gnu::always_inline]] inline void launch_here(M* mp, G* gp) noexcept {
  P* const pp = mp->proc();
  base::add_by_owner(pp->counters.nstarted, 1);
  put_in_front(pp, gp);
}

[[gnu::noinline]] void launch_slow(M* mp, G* gp) noexcept {
  if (gp->bubble() != G::kOrdinary) begin_in_bubble(gp);
  // relaxed: fixed before any M was made
  if (mp != nullptr && !sched.is_chaotic.load(std::memory_order_relaxed))
    return launch_here(mp, gp);
  if (!count_start(gp)) return;
  if (mp == nullptr) {
    submit(gp);
  } else {
    put_slowly(mp->proc(), gp);
  }
}

}  // namespace

void launch(M* mp, G* gp) noexcept {
  gp->become(g_status::runnable);
  // relaxed: fixed before any M was made
  const unsigned is_special = sched.is_chaotic.load(std::memory_order_relaxed) | gp->place;
  if (mp != nullptr && is_special == 0) [[likely]] {
    launch_here(mp, gp);
  } else {
    launch_slow(mp, gp);
  }
}

void launch_by_timer(G* gp) noexcept {
  M* const mp = current_m();
  // relaxed: our own
  const bool has_p = mp->proc() != nullptr && !mp->is_borrowing.load(std::memory_order_relaxed);
  launch(has_p ? mp : nullptr, gp);
}

bool bind_cached_stack(P* pp, G* gp) noexcept {
  if (gp->stack_bits != 0) return false;
  stack::head* const stack = pp->stacks.pop();
  if (stack == nullptr) return false;
  begin_on(stack, gp);
  return true;
}

void bind_stack(P* pp, G* gp) noexcept {
  if (gp->stack != nullptr) return;
  const std::size_t wanted = (std::size_t{1} << gp->stack_bits) - stack::kGuardBytes;
  const stack::result got =
      gp->stack_bits == 0 ? pp->stacks.get() : stack::allocate(std::min(wanted, stack::kMaxBytes));
  if (got.stack == nullptr) fatal_no_stack(gp, got);
  begin_on(got.stack, gp);
}

[[noreturn]] void goroutine_main(void* g) noexcept(false) {
  G* const self = static_cast<G*>(g);
  arrive(self);
  void (*const entry)(void*) = std::exchange(self->entry, nullptr);
  leave(current_m());

  entry(
      self->closure);  // an exception that leaves it is met by weft_entry_personality (unwind.cpp)

  end_locals(self);
  free_extras(self);
  end_goroutine();
}

}  // namespace weft::sched
