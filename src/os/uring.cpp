// uring.cpp: see uring.hpp.
#include "os/uring.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/system_call.hpp"

namespace weft::os {

namespace {

constexpr unsigned kFlags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL |
                            IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
constexpr unsigned kFeatures = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP;

// Poll bits are 32 bits whose halves big-endian kernels want swapped: weft runs on little-endian machines only.
static_assert(std::endian::native == std::endian::little);

uring_failure failed_setup(int error) noexcept {
  switch (error) {
    case ENOSYS:
      return {error, "this kernel has no io_uring"};
    case EPERM:
    case EACCES:
      return {error, "io_uring is forbidden (kernel.io_uring_disabled, or a seccomp filter)"};
    case EINVAL:
      return {error, "io_uring is too old (it takes Linux 6.1)"};
    case EMFILE:
    case ENFILE:
      return {error, "no descriptor is left for io_uring"};
    case ENOMEM:
      return {error, "no memory for io_uring"};
    default:
      return {error, "io_uring_setup failed"};
  }
}

}  // namespace

uring_failure uring::open(unsigned nsubmissions, unsigned ncompletions) noexcept {
  io_uring_params params{};
  params.flags = kFlags;
  params.cq_entries = std::max(ncompletions, nsubmissions);
  const long fd = call(site::uring_setup, ::syscall, SYS_io_uring_setup, nsubmissions, &params);
  if (fd == -1) return failed_setup(errno);
  fd_ = static_cast<int>(fd);
  nsubmissions_ = params.sq_entries;
  ncompletions_ = params.cq_entries;

  uring_failure why;
  if ((params.features & kFeatures) != kFeatures) {
    why = {EINVAL, "io_uring is too old (it takes Linux 6.1)"};
  } else if (why = probe(); why.error == 0) {
    rings_bytes_ =
        std::max<std::size_t>(params.sq_off.array + params.sq_entries * sizeof(std::uint32_t),
                              params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
    why = map();
  }
  if (why.error != 0) {
    close();
    return why;
  }

  const auto word = [this](std::uint32_t offset) {
    return reinterpret_cast<std::uint32_t*>(rings_ + offset);
  };
  sq_head_ = word(params.sq_off.head);
  sq_tail_ = word(params.sq_off.tail);
  sq_flags_ = word(params.sq_off.flags);
  cq_head_ = word(params.cq_off.head);
  cq_tail_ = word(params.cq_off.tail);
  completions_ = reinterpret_cast<const io_uring_cqe*>(rings_ + params.cq_off.cqes);
  // Submissions are taken in the order of their places, for ever.
  for (std::uint32_t i = 0; i < nsubmissions_; ++i) word(params.sq_off.array)[i] = i;
  return {};
}

uring_failure uring::probe() noexcept {
  constexpr unsigned kOps = 64;
  alignas(io_uring_probe)
      std::byte memory[sizeof(io_uring_probe) + kOps * sizeof(io_uring_probe_op)]{};
  auto* const known = reinterpret_cast<io_uring_probe*>(memory);
  if (call(site::uring_probe, ::syscall, SYS_io_uring_register, fd_, IORING_REGISTER_PROBE, known,
           kOps) == -1)
    return {errno, "io_uring does not say what it can do"};
  for (const unsigned op : {IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL}) {
    if (op > known->last_op || (known->ops[op].flags & IO_URING_OP_SUPPORTED) == 0)
      return {EOPNOTSUPP, "io_uring cannot poll here"};
  }
  return {};
}

uring_failure uring::map() noexcept {
  const auto shared_with_kernel = [this](std::size_t bytes, std::uint64_t which) {
    return call(site::uring_map, ::mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_POPULATE, fd_, static_cast<off_t>(which));
  };
  void* const rings = shared_with_kernel(rings_bytes_, IORING_OFF_SQ_RING);
  if (rings == MAP_FAILED) return {errno, "no memory for io_uring"};
  rings_ = static_cast<std::byte*>(rings);
  void* const submissions =
      shared_with_kernel(nsubmissions_ * sizeof(io_uring_sqe), IORING_OFF_SQES);
  if (submissions == MAP_FAILED) return {errno, "no memory for io_uring"};
  submissions_ = static_cast<io_uring_sqe*>(submissions);
  return {};
}

void uring::close() noexcept {
  if (fd_ == -1) return;
  if (submissions_ != nullptr) ::munmap(submissions_, nsubmissions_ * sizeof(io_uring_sqe));
  if (rings_ != nullptr) ::munmap(rings_, rings_bytes_);
  ::close(fd_);
  submissions_ = nullptr;
  rings_ = nullptr;
  fd_ = -1;
}

// Acquire: the places that the kernel has taken are ours again. The tail is our own.
std::uint32_t uring::nwritten() const noexcept {
  return shared(sq_tail_).load(std::memory_order_relaxed) -
         shared(sq_head_).load(std::memory_order_acquire);
}

bool uring::has_room() const noexcept {
  // relaxed: the kernel sets and clears it in our own calls
  const std::uint32_t flags = shared(sq_flags_).load(std::memory_order_relaxed);
  return (flags & IORING_SQ_CQ_OVERFLOW) == 0 && nwritten() < nsubmissions_;
}

// The kernel looks at it during wait() only, so it may be filled after it is counted.
io_uring_sqe& uring::next() noexcept {
  WEFT_CHECK(nwritten() < nsubmissions_, "has_room() was asked");
  const std::uint32_t tail = shared(sq_tail_).load(std::memory_order_relaxed);  // our own
  io_uring_sqe& place = submissions_[tail & (nsubmissions_ - 1)];
  place = {};
  shared(sq_tail_).store(tail + 1, std::memory_order_release);  // before the kernel looks
  return place;
}

void uring::poll(int fd, std::uint32_t changes, std::uint64_t tag) noexcept {
  io_uring_sqe& request = next();
  request.opcode = IORING_OP_POLL_ADD;
  request.fd = fd;
  request.poll32_events = changes;
  request.len = IORING_POLL_ADD_MULTI;
  request.user_data = tag;
}

// Not POLL_REMOVE: that gives up (EALREADY) when the kernel is just telling of a change.
void uring::cancel(std::uint64_t tag, std::uint64_t own_tag) noexcept {
  io_uring_sqe& request = next();
  request.opcode = IORING_OP_ASYNC_CANCEL;
  request.fd = -1;
  request.addr = tag;
  request.user_data = own_tag;
}

// EINTR: a debugger, or the process was stopped. EBUSY: completions wait in the kernel; they come with this very call. EAGAIN, ENOMEM: no
// memory for a request just now; what was not taken stays written down, and is taken the next time.
void uring::wait(bool may_sleep) noexcept {
  const long n = call(site::uring_enter, ::syscall, SYS_io_uring_enter, fd_, nwritten(),
                      may_sleep ? 1 : 0, IORING_ENTER_GETEVENTS, nullptr, std::size_t{0});
  if (n != -1 || errno == EINTR || errno == EBUSY) [[likely]]
    return;
  if (errno != EAGAIN && errno != ENOMEM)
    die_of_call(
        site::uring_enter, errno,
        "somebody has closed the descriptor of io_uring, or forbids its use since it was opened");
  nap(kMillisecond);
}

bool uring::take(completion& into) noexcept {
  const std::uint32_t head = shared(cq_head_).load(std::memory_order_relaxed);  // our own
  if (head == shared(cq_tail_).load(std::memory_order_acquire))
    return false;  // before what it says
  const io_uring_cqe& found = completions_[head & (ncompletions_ - 1)];
  into = {found.user_data, found.res, (found.flags & IORING_CQE_F_MORE) == 0};
  shared(cq_head_).store(head + 1, std::memory_order_release);  // the place is the kernel's again
  return true;
}

}  // namespace weft::os
