// growable_region.cpp: see growable_region.hpp.
//
// ThreadSanitizer follows mmap and munmap but not mremap: memory that mremap puts where other memory was before would keep that
// memory's history, and races would be reported that are none. There the bytes are copied.
#include "os/growable_region.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "os/system_call.hpp"
#include "os/vm.hpp"

#if defined(__SANITIZE_THREAD__)
#define WEFT_MREMAP_IS_UNSEEN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_MREMAP_IS_UNSEEN 1
#endif
#endif

namespace weft::os {

namespace {

void* map(site at, std::size_t bytes) noexcept {
  return call(at, ::mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
              0);
}

void* remap(std::byte* base, std::size_t old_bytes, std::size_t bytes) noexcept {
#if defined(WEFT_MREMAP_IS_UNSEEN)
  void* const got = map(site::region_remap, bytes);
  if (got == MAP_FAILED) return got;
  std::memcpy(got, base, old_bytes < bytes ? old_bytes : bytes);
  ::munmap(base, old_bytes);
  return got;
#else
  return call(site::region_remap, ::mremap, base, old_bytes, bytes, MREMAP_MAYMOVE);
#endif
}

}  // namespace

int growable_region::resize(std::size_t bytes) noexcept {
  const std::size_t page = page_size();
  if (bytes > SIZE_MAX - page) return ENOMEM;
  bytes = (bytes + page - 1) / page * page;
  if (bytes == bytes_) return 0;
  const int saved = errno;  // the user's; we answer by value
  void* got = nullptr;
  if (bytes == 0) {
    ::munmap(base_, bytes_);
  } else {
    got = base_ == nullptr ? map(site::region_map, bytes) : remap(base_, bytes_, bytes);
  }
  const int error = got == MAP_FAILED ? errno : 0;
  errno = saved;
  if (error != 0) return error;
  base_ = static_cast<std::byte*>(got);
  bytes_ = bytes;
  return 0;
}

}  // namespace weft::os
