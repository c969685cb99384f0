// stack.cpp: the one arena and the pools of all classes, under one lock.
//
// The lock is held for a few pointer moves. Everything slow happens outside it, on a slot that nobody else can reach: installing
// the guard, getting the page of a head, giving memory back.
//
// A stack comes, in this order, from: warm pool, cold pool, slots that wait for their guard, uncut address space.
//
// Edges
//   [stack.init]  init: default_bits release  ->  default_slot_bits: acquire
//   All others are those of the lock: a stack's last owner wrote its head before release(), its next one reads it after allocate().

#include "stack/stack.hpp"

#include <atomic>
#include <cerrno>

#include "base/check.hpp"
#include "os/lock.hpp"
#include "os/vm.hpp"
#include "stack/arena.hpp"
#include "stack/guard.hpp"
#include "stack/instrument.hpp"
#include "stack/pool.hpp"

namespace weft::stack {
namespace {

using lock_type = os::lock<os::lock_rank::stacks>;
using guard_of = os::lock_guard<lock_type>;

constinit lock_type lock;
constinit arena space;                            // under lock, but for classify()
constinit pool pools[kMaxSlotBits + 1];           // under lock; indexed by slot_bits
constinit std::size_t ncarved = 0;                // under lock
constinit std::size_t nscavenged = 0;             // under lock
constinit std::atomic<unsigned> default_bits{0};  // 0: init() has not run

unsigned default_slot_bits() noexcept {
  const unsigned bits = default_bits.load(std::memory_order_acquire);  // [stack.init]
  if (bits != 0) [[likely]]
    return bits;
  init(0);
  return default_bits.load(std::memory_order_relaxed);  // our own init() has seen it under the lock
}

head* make_head(std::byte* slot, unsigned slot_bits) noexcept {
  head* const h = head_of(slot, slot_bits);
  os::populate(reinterpret_cast<std::byte*>(h));
  h->lo = slot + kGuardBytes;
  h->next = nullptr;
  h->slot_bits = static_cast<std::uint8_t>(slot_bits);
  return h;
}

// What the lock has to be held for when the P's own cache is empty: exactly one of the two is set, or neither.
struct find {
  head* warm = nullptr;
  std::byte* slot = nullptr;
  bool is_guarded = false;
};

find find_locked(unsigned slot_bits) noexcept {
  pool& p = pools[slot_bits];
  if (head* const warm = p.take()) return {.warm = warm};
  if (std::byte* const cold = space.pop(p.cold)) return {.slot = cold, .is_guarded = true};
  std::byte* slot = space.pop(p.unguarded);
  if (slot == nullptr) slot = space.carve(slot_bits);
  if (slot != nullptr) ++ncarved;
  return {.slot = slot};
}

// Turns what was found into a stack. The guard of a new slot stands before anybody can run on it, or there is no stack.
result finish(find found, unsigned slot_bits) noexcept {
  if (found.warm != nullptr) return {found.warm, 0, reason::none};
  if (found.slot == nullptr) return {nullptr, ENOMEM, reason::no_address_space};
  if (!found.is_guarded) {
    if (const guard_result guard = install_guard(found.slot); guard.error != 0) {
      const guard_of held(lock);
      space.push(pools[slot_bits].unguarded, found.slot);
      --ncarved;
      return {nullptr, ENOMEM, guard.why};
    }
    announce_stack(found.slot + kGuardBytes, found.slot + (std::size_t{1} << slot_bits));
  }
  return {make_head(found.slot, slot_bits), 0, reason::none};
}

// Gives the memory of a chain back and files its slots under `cold`. Those that the kernel refuses (locked pages) stay warm.
std::size_t cool(chain batch, unsigned slot_bits) noexcept {
  std::byte* slots[kBatch];
  std::size_t n = 0;
  for (head *h = batch.first, *next = nullptr; h != nullptr; h = next) {
    next = h->next;  // before its page goes
    std::byte* const slot = h->slot();
    if (os::discard(h->lo, h->slot_bytes() - kGuardBytes) == 0) {
      slots[n++] = slot;
    } else {
      release(h);
    }
  }
  const guard_of held(lock);
  for (std::size_t i = 0; i < n; ++i) space.push(pools[slot_bits].cold, slots[i]);
  nscavenged += n;
  return n;
}

}  // namespace

int init(std::size_t wanted, os::guard_choice guard) noexcept {
  if (wanted > kMaxBytes) return EINVAL;
  const guard_of held(lock);
  if (default_bits.load(std::memory_order_relaxed) != 0) return 0;  // written under this lock only
  choose_guard_mode(guard);
  default_bits.store(slot_bits_for(wanted != 0 ? wanted : expected_bytes()),
                     std::memory_order_release);  // [stack.init]
  return 0;
}

std::size_t default_bytes() noexcept {
  return (std::size_t{1} << default_slot_bits()) - kGuardBytes;
}

result allocate(std::size_t bytes) noexcept {
  if (bytes == 0 || bytes > kMaxBytes) return {nullptr, EINVAL, reason::bad_size};
  default_slot_bits();  // guards are chosen before the first slot is carved
  const unsigned bits = slot_bits_for(bytes);
  find found;
  {
    const guard_of held(lock);
    found = find_locked(bits);
  }
  return finish(found, bits);
}

void release(head* stack) noexcept {
  forget_frames(stack);
  const guard_of held(lock);
  pools[stack->slot_bits].put(stack);
}

result cache::get() noexcept {
  if (head* const mine = pop()) return {mine, 0, reason::none};
  const unsigned bits = default_slot_bits();
  find found;
  {
    const guard_of held(lock);
    const chain batch = pools[bits].take_batch();
    recent_ = batch.first;
    nrecent_ = batch.n;
    found.warm = pop();
    if (found.warm == nullptr) found = find_locked(bits);
  }
  return finish(found, bits);
}

void cache::push(head* stack) noexcept {
  if (stack->slot_bits != default_slot_bits()) return release(stack);
  forget_frames(stack);
  if (nrecent_ == kBatch) {
    if (nolder_ != 0) {
      const guard_of held(lock);
      pools[stack->slot_bits].put_batch({older_, nolder_});
    }
    older_ = recent_;
    nolder_ = nrecent_;
    recent_ = nullptr;
    nrecent_ = 0;
  }
  stack->next = recent_;
  recent_ = stack;
  ++nrecent_;
}

void cache::drain() noexcept {
  if (size() == 0) return;
  const guard_of held(lock);
  pool& p = pools[default_slot_bits()];
  p.put_batch({older_, nolder_});
  p.put_batch({recent_, nrecent_});
  recent_ = older_ = nullptr;
  nrecent_ = nolder_ = 0;
}

fault classify(const void* addr) noexcept { return space.classify(addr); }

bool was_deeper(const head* stack, const void* sp) noexcept {
  const std::size_t page = os::page_size();
  const std::uintptr_t below = (reinterpret_cast<std::uintptr_t>(sp) & ~(page - 1)) - 2 * page;
  if (below < reinterpret_cast<std::uintptr_t>(stack->lo)) return false;
  return os::resident(reinterpret_cast<const std::byte*>(below), page) != 0;
}

std::size_t trim(head* stack, const void* sp) noexcept {
  const std::size_t page = os::page_size();
  const auto lo = reinterpret_cast<std::uintptr_t>(stack->lo);
  WEFT_CHECK(sp >= stack->lo && sp <= stack->initial_sp(), "a stack pointer lies in its own stack");
  const std::uintptr_t keep_from =
      (reinterpret_cast<std::uintptr_t>(sp) & ~(page - 1)) - page;  // the spare page
  if (keep_from <= lo) return 0;
  const std::size_t bytes = keep_from - lo;
  const std::size_t resident = os::resident(stack->lo, bytes);
  if (resident == 0)
    return 0;  // the usual goroutine never went deep: a look is cheaper than giving nothing back
  return os::discard(stack->lo, bytes) == 0 ? resident : 0;
}

std::size_t scavenge(std::size_t max_stacks) noexcept {
  std::size_t ncooled = 0;
  for (unsigned bits = kMinSlotBits; bits <= kMaxSlotBits; ++bits) {
    for (std::size_t left = max_stacks - ncooled; left != 0;) {
      chain batch;
      {
        const guard_of held(lock);
        batch = pools[bits].take_unneeded(left);
      }
      if (batch.n == 0) break;
      left -= batch.n;
      ncooled += cool(batch, bits);
    }
    const guard_of held(lock);
    pools[bits].begin_period();
  }
  return ncooled;
}

totals stats() noexcept {
  const guard_of held(lock);
  totals t{};
  t.reserved_bytes = space.reserved_bytes();
  t.nsegments = space.nsegments();
  t.ncarved = ncarved;
  t.nscavenged = nscavenged;
  t.guard_kind = guard_kind();
  for (const pool& p : pools) {
    t.nfree_warm += p.nwarm();
    t.nfree_cold += p.cold.n;
  }
  return t;
}

const char* explain(reason why) noexcept {
  switch (why) {
    case reason::none:
      return "no error";
    case reason::bad_size:
      return "stack size must be between 1 byte and 1 GiB";
    case reason::no_address_space:
      return "no address space left for stacks (see ulimit -v and vm.overcommit_memory)";
    case reason::map_count:
      return "too many stacks for vm.max_map_count: without MADV_GUARD_INSTALL (Linux 6.13) each "
             "takes two mappings; "
             "raise it with sysctl vm.max_map_count";
    case reason::no_memory:
      return "the kernel has no memory left for a stack's guard";
  }
  return "unknown reason";
}

}  // namespace weft::stack
