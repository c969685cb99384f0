// growable_region.hpp: one stretch of memory that grows and shrinks, without malloc.
//
// For arrays that are reallocated inside the runtime, where malloc is forbidden. The kernel moves page tables instead of bytes
// (mremap), so growing a large array costs no copy and no second set of pages.
//
// No destructor: what owns one (a P) is never destroyed, and static destruction must not pull memory away from threads that
// still run. resize(0) gives everything back. Not locked: the owner's lock covers it.
#pragma once

#include <cstddef>

namespace weft::os {

class growable_region {
 public:
  constexpr growable_region() noexcept = default;
  growable_region(const growable_region&) = delete;
  growable_region& operator=(const growable_region&) = delete;

  // Makes it at least `bytes` long, rounded up to whole pages, or gives it back (0). What was in it is kept up to the smaller
  // length, new bytes are zero, the address may change. 0, or an errno value; then nothing has changed.
  int resize(std::size_t bytes) noexcept;

  std::byte* data() const noexcept { return base_; }  // page aligned; null when empty
  std::size_t size() const noexcept { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace weft::os
