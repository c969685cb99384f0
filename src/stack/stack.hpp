// stack.hpp: goroutine stacks. What the layers above may use of the stack layer; the rest of src/stack is its inside.
//
// A stack is a slot: a power-of-two stretch of reserved address space, aligned to its own size, committed by the MMU a page at a
// time as the goroutine goes deeper. Nothing is copied and nothing moves when it grows.
//
//    slot                                                                                  slot + slot_bytes()
//    | guard, 64 KiB, faults | lo ... usable, grows down ... initial_sp() | head | colour, 0..15 cache lines |
//
// Why so: a large frame jumps over a one-page guard into the neighbour, hence 64 KiB. With every top at the same page offset the
// hot lines of all goroutines would fall into the same cache sets, hence the colour. The head sits with the first frames in the
// top page, so a parked goroutine with a shallow stack costs one resident page.
//
// Invariants
//   S1  A head handed out by allocate() or a cache has a guard that was seen to be installed without error. There is no other kind.
//   S2  A slot belongs to one class for ever, and to one owner at a time: a goroutine, a cache, or the global pool.
//   S3  Nothing here allocates from the heap, throws or takes a lock of anybody else: safe inside the runtime's bracket.
//   S4  Address space is never given back, so a stale head pointer never faults; memory is (scavenge, trim).
//
// A size counts from `lo` to the end of the slot: the head and the colour (together at most 1,152 bytes) come out of it.

#pragma once

#include <cstddef>
#include <cstdint>

#include "os/environment.hpp"

namespace weft::stack {

inline constexpr std::size_t kGuardBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMinBytes = std::size_t{16} * 1024;  // smaller wishes are rounded up
inline constexpr std::size_t kDefaultBytes =
    std::size_t{192} * 1024;  // a slot of 256 KiB; see init() for instrumented builds
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

inline constexpr std::size_t kCacheMax = 64;  // stacks a cache holds at most
inline constexpr std::size_t kBatch =
    kCacheMax / 2;  // stacks that move between cache and pool at a time

// Lies at the top of every stack. `cold` is the rt layer's: unspecified when a stack is handed out, untouched while it is owned.
// The links belong to whoever owns the free stack; while a goroutine runs on it nobody reads them.
struct alignas(64) head {
  std::byte* lo;     // lowest usable byte, just above the guard
  head* next;        // next in the same batch of free stacks
  head* next_batch;  // first stack of a batch only: neighbours in the pool's list of batches
  head* prev_batch;
  std::uint32_t nbatch;    // first stack of a batch only: how many the chain has
  std::uint8_t slot_bits;  // log2 of the slot's size; also names the class
  std::byte reserved[11];
  alignas(16) std::byte cold[144];

  // Where the first frame goes: 64-byte aligned, right below the head.
  std::byte* initial_sp() noexcept { return reinterpret_cast<std::byte*>(this); }
  const std::byte* initial_sp() const noexcept { return reinterpret_cast<const std::byte*>(this); }
  // Bytes between lo and initial_sp().
  std::size_t usable() const noexcept { return static_cast<std::size_t>(initial_sp() - lo); }
  std::byte* slot() const noexcept { return lo - kGuardBytes; }
  std::size_t slot_bytes() const noexcept { return std::size_t{1} << slot_bits; }
};
static_assert(sizeof(head) == 192, "the head shares the top page with the first frames");

// Why there is no stack. explain() turns it into a sentence for the error message.
enum class reason : std::uint8_t {
  none,
  bad_size,          // EINVAL: zero, or more than kMaxBytes
  no_address_space,  // ENOMEM: RLIMIT_AS, strict overcommit, or the table of segments is full
  map_count,         // ENOMEM: mprotect guards have come near vm.max_map_count
  no_memory,         // ENOMEM: the kernel had no page for the guard's page table
};

struct result {
  head* stack;  // nullptr on failure
  int error;    // errno value; 0 when stack is set
  reason why;
};
const char* explain(reason why) noexcept;

// Chooses the kind of guard and the default class. The first call decides; later ones change nothing and return 0.
// 0 asks for what suits this program: kDefaultBytes, or more where frames are larger (sanitizers, no optimisation).
// Returns EINVAL for more than kMaxBytes and then has done nothing. Called by the others with 0 when nobody did.
int init(std::size_t default_bytes, os::guard_choice guard = os::guard_choice::automatic) noexcept;
std::size_t default_bytes() noexcept;

// A stack of at least `bytes`, from the pool of its class or newly carved. Thread safe.
// Blocks: on the layer's own short lock; may make one system call.
result allocate(std::size_t bytes) noexcept;
// Gives it back to the pool of its class. The caller must not be running on it. Thread safe.
void release(head* stack) noexcept;

// The stacks of the default class that a P keeps for itself. Owner only: no atomics, no lock on the usual path.
// Two chains, so that spilling and refilling cost one lock and no walk: pushes and pops work on the recent one.
class cache {
 public:
  cache() noexcept = default;
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;

  // The most recently pushed, or nullptr when empty.
  head* pop() noexcept {
    if (recent_ == nullptr) {
      if (older_ == nullptr) return nullptr;
      recent_ = older_;
      nrecent_ = nolder_;
      older_ = nullptr;
      nolder_ = 0;
    }
    head* const s = recent_;
    recent_ = s->next;
    --nrecent_;
    return s;
  }

  // pop(), else a batch from the pool, else a new stack: what a P calls to start a goroutine of default size.
  result get() noexcept;

  // Takes a free stack of the default class (any other goes through to the pool). Spills the older half when full.
  void push(head* stack) noexcept;

  // All to the global pool: the P retires.
  void drain() noexcept;

  std::size_t size() const noexcept { return nrecent_ + nolder_; }

 private:
  head* recent_ = nullptr;
  head* older_ = nullptr;
  std::uint32_t nrecent_ = 0;  // at most kBatch
  std::uint32_t nolder_ = 0;   // at most kBatch
};

// What an address is to us. For the handler that must tell stack overflow from any other fault.
struct fault {
  bool in_guard;       // the address lies in a guard: overflow of the stack in `slot`
  std::byte* slot;     // nullptr: not an address of ours
  std::size_t usable;  // of that stack
  head* owner;  // the head of that stack; its page may have been given back if the stack is free
};
// Async-signal-safe: reads the segment table, takes no lock. Addresses below a slot's guard belong to the slot below.
fault classify(const void* addr) noexcept;

// Whether a parked goroutine has been deeper than it is now: the page below the one that trim() would keep is resident. One page is
// asked for, not all of them: this is asked for every goroutine that waits for long, and hardly any has been.
bool was_deeper(const head* stack, const void* sp) noexcept;

// Gives the pages from lo up to one spare page below sp's page back to the OS. The caller owns the parked goroutine; what lies at
// or above sp, and the page below it (red zone, a signal's leftovers), is kept. Returns the bytes that were resident.
std::size_t trim(head* stack, const void* sp) noexcept;

// Gives back all memory of at most max_stacks stacks that have lain in the global pool since the call before, oldest first,
// their top page included. Returns how many. They keep their guards and are handed out after the warm ones.
std::size_t scavenge(std::size_t max_stacks) noexcept;

struct totals {
  std::size_t reserved_bytes;  // address space of all segments
  std::size_t nsegments;
  std::size_t ncarved;     // slots ever handed out, in all classes
  std::size_t nfree_warm;  // in the global pool with their memory
  std::size_t nfree_cold;  // in the global pool, memory given back
  std::size_t nscavenged;  // stacks scavenged since start
  const char* guard_kind;  // "madvise" or "mprotect"
};
totals stats() noexcept;
const char* guard_kind() noexcept;

}  // namespace weft::stack
