// quad_heap.hpp: the array behind a timer heap: a 4-ary heap of (time, node), earliest first. No lock, no protocol.
//
// Why four children: half the depth of a binary heap, and the four that are compared at each level are 64 bytes that begin at a
// cache line, so a level costs one line. For that the root lies in slot 3 and the children of slot p in 4(p-2) .. 4(p-2)+3.
//
//   slot   0 1 2 | 3 | 4 5 6 7 | 8 .. 11 | 12 .. 15 | ...
//          unused root children   those of 4, of 5, ...
//
// The time stands beside the pointer, so nodes are not touched on the way; only where two times are equal is Node::order read,
// which keeps first come, first served. Nodes in the array must stay readable until they have left it.
//
// Memory is whole pages from the kernel: doubled when full, halved when at most an eighth is used (so a heap that breathes
// around one size makes no system calls).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "os/growable_region.hpp"

namespace weft::rt {

template <class Node>
class quad_heap {
 public:
  struct entry {
    std::int64_t when_ns;
    Node* node;
  };
  static_assert(sizeof(entry) == 16, "four of them are a cache line");

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const entry& top() const noexcept { return slots()[kRoot]; }
  std::size_t bytes() const noexcept { return memory_.size(); }
  const entry* children_of_root() const noexcept { return slots() + first_child(kRoot); }

  // Makes room for `more`. False: the kernel has no memory, and nothing has changed.
  bool reserve(std::size_t more) noexcept {
    const std::size_t need = (kRoot + size_ + more) * sizeof(entry);
    if (need <= memory_.size()) return true;
    std::size_t bytes = memory_.size() < kMinBytes ? kMinBytes : memory_.size();
    while (bytes < need) bytes *= 2;
    return memory_.resize(bytes) == 0;
  }

  // Needs room.
  void push(std::int64_t when_ns, Node* node) noexcept {
    WEFT_CHECK((kRoot + size_ + 1) * sizeof(entry) <= memory_.size(), "no room was reserved");
    rise(kRoot + size_++, {when_ns, node});
  }

  // Not when empty.
  void pop_top() noexcept {
    const entry last = slots()[kRoot + --size_];
    if (size_ != 0) sink(kRoot, last);
  }

  // Asks for the nodes that will be at the top next: the root's children are in the cache, their nodes are not.
  void prefetch_next() const noexcept {
    const std::size_t n = size_ < 5 ? size_ : 5;
    for (std::size_t i = 1; i < n; ++i) __builtin_prefetch(slots()[kRoot + i].node, 1);
  }

  // Looks at the entries before `end`, the last one first, at `most` of them or all, and takes out those that keep(node) does not hold for.
  // Returns how many are left before it that it has not come to: the next `end`. What has been looked at once may be looked at again, and an
  // entry that is pushed between two calls may move one that was not looked at behind `end`; pop_top() moves none there.
  // One that is taken out leaves its place to the last of all, which was looked at before: mostly a leaf in place of a leaf.
  template <class Keep>
  std::size_t keep_if(std::size_t end, std::size_t most, Keep keep) noexcept {
    const entry* const s = slots();
    std::size_t p = kRoot + (end < size_ ? end : size_);
    while (p > kRoot && most-- > 0) {
      const std::size_t at = p - 1;
      // The nodes lie anywhere: ask for one while those before it are on their way.
      if (at >= kRoot + kAhead) __builtin_prefetch(s[at - kAhead].node);
      if (keep(s[at].node) || !remove(at)) p = at;
    }
    return p - kRoot;
  }

  // Takes all of `other`, which is empty afterwards. False: no memory, and nothing has changed.
  bool take_all(quad_heap& other) noexcept {
    if (!reserve(other.size_)) return false;
    const std::size_t before = size_;
    for (std::size_t i = 0; i < other.size_; ++i)
      slots()[kRoot + size_++] = other.slots()[kRoot + i];
    if (other.size_ > before / 8) {
      restore();
    } else {
      for (std::size_t p = kRoot + before; p < kRoot + size_; ++p) rise(p, slots()[p]);
    }
    other.size_ = 0;
    return true;
  }

  template <class Visit>
  void for_each(Visit visit) const noexcept {
    for (std::size_t p = kRoot; p < kRoot + size_; ++p) visit(slots()[p].node);
  }

  template <class Condition>
  bool any_of(Condition condition) const noexcept {
    for (std::size_t p = kRoot; p < kRoot + size_; ++p) {
      if (condition(slots()[p].node)) return true;
    }
    return false;
  }

  // Gives memory back that is not likely to be needed soon. A kernel that refuses to take it is no harm.
  void shrink_if_sparse() noexcept {
    std::size_t bytes = memory_.size();
    while (bytes > kMinBytes && (kRoot + size_) * sizeof(entry) <= bytes / 8) bytes /= 2;
    if (bytes != memory_.size()) memory_.resize(bytes);
  }

  // Gives everything back.
  void reset() noexcept {
    size_ = 0;
    memory_.resize(0);
  }

  // For tests: no child is earlier than its parent.
  bool is_ordered() const noexcept {
    for (std::size_t p = kRoot + 1; p < kRoot + size_; ++p) {
      if (is_before(slots()[p], slots()[parent(p)])) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kRoot = 3;
  static constexpr std::size_t kMinBytes = 4096;
  static constexpr std::size_t kAhead = 12;

  static constexpr std::size_t first_child(std::size_t p) noexcept { return 4 * (p - 2); }
  static constexpr std::size_t parent(std::size_t p) noexcept { return p / 4 + 2; }

  entry* slots() const noexcept { return reinterpret_cast<entry*>(memory_.data()); }

  static bool is_before(const entry& a, const entry& b) noexcept {
    if (a.when_ns != b.when_ns) [[likely]]
      return a.when_ns < b.when_ns;
    return a.node->order < b.node->order;
  }

  // Puts e where the hole at p belongs, towards the root.
  void rise(std::size_t p, entry e) noexcept {
    entry* const s = slots();
    while (p > kRoot && is_before(e, s[parent(p)])) {
      s[p] = s[parent(p)];
      p = parent(p);
    }
    s[p] = e;
  }

  // The earliest of the four that begin at s. No branch on the times, which nobody could predict, unless two are equal.
  static std::size_t earliest_of_four(const entry* s) noexcept {
    const std::int64_t a = s[0].when_ns;
    const std::int64_t b = s[1].when_ns;
    const std::int64_t c = s[2].when_ns;
    const std::int64_t d = s[3].when_ns;
    const std::int64_t ab = a < b ? a : b;
    const std::int64_t cd = c < d ? c : d;
    if ((a == b) | (c == d) | (ab == cd)) [[unlikely]]
      return earliest_of(s, 4);
    const std::size_t left = b < a;
    const std::size_t right = 2 + (d < c);
    return cd < ab ? right : left;
  }

  static std::size_t earliest_of(const entry* s, std::size_t n) noexcept {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i) {
      if (is_before(s[i], s[best])) best = i;
    }
    return best;
  }

  // Puts e where the hole at p belongs, away from the root.
  void sink(std::size_t p, entry e) noexcept {
    entry* const s = slots();
    const std::size_t end = kRoot + size_;
    for (std::size_t child = first_child(p); child < end; child = first_child(p)) {
      const std::size_t below = first_child(child);
      if (below < end) {  // whichever child it will be, its own children are on their way
        for (std::size_t line = 0; line < 4; ++line) __builtin_prefetch(s + below + 4 * line);
      }
      const std::size_t best = child + (child + 4 <= end ? earliest_of_four(s + child)
                                                         : earliest_of(s + child, end - child));
      if (!is_before(s[best], e)) break;
      s[p] = s[best];
      p = best;
    }
    s[p] = e;
  }

  // The last one takes its place. True: at p is now what stood above it.
  bool remove(std::size_t p) noexcept {
    const entry last = slots()[kRoot + --size_];
    if (p == kRoot + size_) return false;
    const bool rises = p > kRoot && is_before(last, slots()[parent(p)]);
    if (rises) {
      rise(p, last);
    } else {
      sink(p, last);
    }
    return rises;
  }

  // Makes a heap of whatever order the entries are in, in linear time.
  void restore() noexcept {
    if (size_ < 2) return;
    for (std::size_t p = parent(kRoot + size_ - 1); p >= kRoot; --p) sink(p, slots()[p]);
  }

  os::growable_region memory_;
  std::size_t size_ = 0;
};

}  // namespace weft::rt
