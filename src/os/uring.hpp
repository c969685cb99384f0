// uring.hpp: one io_uring, for polling only: set up, filled, waited on and emptied by one thread.
//
// Raw system calls and the kernel's own header: weft needs nothing but libc.
//
// DEFER_TASKRUN (Linux 6.1): what the kernel has to do for a request after it was submitted, it does inside the submitter's own calls of
// io_uring_enter and nowhere else. So the submitter's other calls are not interrupted, completions appear only during wait(), and when a
// request's last completion is seen the kernel has let go of its file (its reference is dropped before the call returns). It goes
// together with SINGLE_ISSUER: calls by any other thread fail. When that thread ends its requests end.
//
// A poll is multishot: one request, a completion for each change, edge-triggered. The kernel may end it at any completion (one without
// IORING_CQE_F_MORE), when the queue of completions was full for instance; then it must be submitted again, and what is there at that
// moment is told again. No completion is ever lost (IORING_FEAT_NODROP): those that find the queue full wait in the kernel and come with
// the next wait().
//
// The kernel reads and writes the rings at any time: heads and tails are taken and given with acquire and release.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

struct io_uring_cqe;
struct io_uring_sqe;

namespace weft::os {

// Why there is none: in words, and errno. 0: there is.
struct uring_failure {
  int error = 0;
  const char* what = "";
};

class uring {
 public:
  constexpr uring() noexcept = default;

  // By the thread that will use it. The sizes are rounded up to powers of two.
  uring_failure open(unsigned nsubmissions, unsigned ncompletions) noexcept;
  // Also in the child of a fork, which has the memory in common with its parent and must not touch it.
  void close() noexcept;

  // Whether a request can be written down now, or only after the next wait(). Not while completions wait in the kernel either: a poll that is
  // submitted then and has something to tell ends at once, so that there would be no end of it.
  bool has_room() const noexcept;
  // Written down for the next wait(). The tag comes back with each completion.
  void poll(int fd, std::uint32_t changes, std::uint64_t tag) noexcept;
  // Ends the poll with that tag, if there still is one: its last completion says so. This itself completes with its own tag.
  void cancel(std::uint64_t tag, std::uint64_t own_tag) noexcept;

  // Submits what was written down, and comes back when there is a completion, or at once; also for no reason.
  void wait(bool may_sleep) noexcept;

  struct completion {
    std::uint64_t tag;
    std::int32_t result;  // the kernel's bits, or a negative errno
    bool is_last;         // of its request
  };
  // The next one; false: there is none.
  bool take(completion& into) noexcept;

 private:
  uring_failure map() noexcept;
  uring_failure probe() noexcept;
  io_uring_sqe& next() noexcept;
  std::uint32_t nwritten() const noexcept;

  static std::atomic_ref<std::uint32_t> shared(std::uint32_t* word) noexcept {
    return std::atomic_ref<std::uint32_t>(*word);
  }

  int fd_ = -1;
  std::byte* rings_ = nullptr;  // both, in one mapping
  std::size_t rings_bytes_ = 0;
  io_uring_sqe* submissions_ = nullptr;
  std::uint32_t nsubmissions_ = 0;
  std::uint32_t ncompletions_ = 0;
  std::uint32_t* sq_head_ = nullptr;   // the kernel's
  std::uint32_t* sq_tail_ = nullptr;   // ours
  std::uint32_t* sq_flags_ = nullptr;  // the kernel's
  std::uint32_t* cq_head_ = nullptr;   // ours
  std::uint32_t* cq_tail_ = nullptr;   // the kernel's
  const io_uring_cqe* completions_ = nullptr;
};

}  // namespace weft::os
