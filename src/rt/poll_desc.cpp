// poll_desc.cpp: see poll_desc.hpp.
#include "rt/poll_desc.hpp"

#include "rt/slab.hpp"

namespace weft::rt {

namespace {

constinit slab<poll_desc, &poll_desc::link, std::size_t{1} << 16> descs;

}  // namespace

// Relaxed: nobody else knows it, but for a poller with an old event, which finds a generation of its own time or of ours.
poll_desc* take_poll_desc(int fd) noexcept {
  poll_desc* const desc = descs.take(1).first;
  if (desc == nullptr) return nullptr;
  desc->link = nullptr;
  desc->fd = fd;
  for (poll_desc::side* each : {&desc->reading, &desc->writing}) {
    each->word.reset();
    each->deadline_ns.store(kNever, std::memory_order_relaxed);
  }
  desc->is_closing.store(false, std::memory_order_relaxed);
  desc->is_unusual.store(false, std::memory_order_relaxed);
  return desc;
}

void release_poll_desc(poll_desc* desc) noexcept {
  desc->generation.fetch_add(1, std::memory_order_acq_rel);  // events of the old fd are nobody's
  desc->fd = -1;
  desc->link = nullptr;
  descs.put({desc, 1});
}

}  // namespace weft::rt
