// uring_poller.cpp: see uring_poller.hpp.
#include "os/uring_poller.hpp"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <new>

#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/poll_bits.hpp"
#include "os/system_call.hpp"

namespace weft::os {

namespace {

// Tags: a descriptor's poll has its number, which fits into 31 bits.
constexpr std::uint64_t kKickTag = std::uint64_t{1} << 32;
constexpr std::uint64_t kCancelTag = std::uint64_t{1} << 33;

std::uint64_t tag_of(const uring_slot* slot) noexcept {
  return static_cast<std::uint64_t>(slot->fd);
}

}  // namespace

// --- opening and closing ---

uring_failure uring_poller::open(unsigned nsubmissions, unsigned ncompletions) noexcept {
  const errno_guard guard;
  nsubmissions_ = nsubmissions;
  ncompletions_ = ncompletions;
  const uring_failure why = make();
  if (why.error == 0)
    // release: what make() did
    is_open_.store(true, std::memory_order_release);
  else
    free();
  return why;
}

uring_failure uring_poller::make() noexcept {
  if (!slots_.open()) return {ENOMEM, "no memory for io_uring"};
  kick_ = call(site::uring_eventfd, ::eventfd, 0u, EFD_CLOEXEC | EFD_NONBLOCK);
  if (kick_ == -1) return {errno, "no eventfd for io_uring"};
  judge_ = call(site::uring_judge, ::epoll_create1, EPOLL_CLOEXEC);
  if (judge_ == -1) return {errno, "no epoll beside io_uring"};
  // relaxed, both: before the thread
  is_ending_.store(false, std::memory_order_relaxed);
  stage_.store(kStarting, std::memory_order_relaxed);
  const thread_result started = start_thread<&helper_main>("weft-uring", this);
  if (started.error != 0) return {started.error, "no thread for io_uring"};
  helper_ = started.made;
  // acquire: why_, which the helper wrote
  while (stage_.load(std::memory_order_acquire) == kStarting) futex_wait(stage_, kStarting);
  if (stage_.load(std::memory_order_relaxed) == kRunning) return {};  // read above
  join_thread(helper_);
  return why_;
}

void uring_poller::free() noexcept {
  if (kick_ != -1) ::close(kick_);
  if (judge_ != -1) ::close(judge_);
  kick_ = judge_ = -1;
  slots_.close();
}

void uring_poller::close() noexcept {
  if (!is_open()) return;
  const errno_guard guard;
  // release: only a flag; the join orders the rest
  is_ending_.store(true, std::memory_order_release);
  kick();
  join_thread(helper_);
  forget();
}

// A lock may have been held by a thread that is not here: the news are made anew.
void uring_poller::forget() noexcept {
  if (!is_open()) return;
  const errno_guard guard;
  ring_.close();
  free();
  ::new (&news_) uring_news;
  nheard_ = 0;
  is_kick_armed_ = must_pause_ = false;
  helper_ = {};
  is_open_.store(false, std::memory_order_relaxed);  // nobody else is here
}

// --- anybody ---

// 0 if epoll would take it. Sockets and pipes are known; of all others epoll is asked.
int uring_poller::check_kind(int fd) noexcept {
  struct stat s{};
  if (call(site::uring_stat, ::fstat, fd, &s) == -1) return errno;
  if (S_ISSOCK(s.st_mode) || S_ISFIFO(s.st_mode)) return 0;
  epoll_event e{};
  if (call(site::uring_judge_add, ::epoll_ctl, judge_, EPOLL_CTL_ADD, fd, &e) == -1)
    return errno == EEXIST ? 0 : errno;
  ::epoll_ctl(judge_, EPOLL_CTL_DEL, fd, &e);
  return 0;
}

int uring_poller::add(int fd, std::uint64_t cookie) noexcept {
  const errno_guard guard;
  if (const int why = check_kind(fd); why != 0) return why;
  uring_slot* const slot = slots_.make(fd);
  if (slot == nullptr) return ENOMEM;
  std::uint32_t seen = uring_slot::kIdle;
  // acquire: the helper has done with the last one
  while (
      !slot->state.compare_exchange_strong(seen, uring_slot::kClaimed, std::memory_order_acquire)) {
    if (seen != uring_slot::kAdded || slot->cookie == cookie) return EEXIST;
    remove(fd);  // its number was closed behind our back, and is another file's now
    seen = uring_slot::kIdle;
  }
  slot->cookie = cookie;
  slot->state.store(uring_slot::kAdded, std::memory_order_release);  // the cookie
  wish(slot);
  return 0;
}

void uring_poller::remove(int fd) noexcept {
  if (!is_open()) return;
  uring_slot* const slot = slots_.find(fd);
  if (slot == nullptr) return;
  std::uint32_t seen = uring_slot::kAdded;
  // relaxed: the list hands it over
  if (!slot->state.compare_exchange_strong(seen, uring_slot::kRemoving, std::memory_order_relaxed))
    return;
  const errno_guard guard;
  wish(slot);
  while (slot->state.load(std::memory_order_acquire) == uring_slot::kRemoving)  // all it did
    futex_wait(slot->state, uring_slot::kRemoving);
}

void uring_poller::wish(uring_slot* slot) noexcept {
  if (slots_.wish(slot)) kick();
}

// EAGAIN: the counter is full, after some centuries.
void uring_poller::kick() noexcept {
  const std::uint64_t one = 1;
  ssize_t n;
  do n = call(site::uring_kick, ::write, kick_, &one, sizeof one);
  while (n == -1 && errno == EINTR);
  if (n == -1 && errno != EAGAIN) [[unlikely]]
    die_of_call(site::uring_kick, errno, "somebody has closed the poller's descriptor");
}

// --- the helper ---

void uring_poller::helper_main(void* self) noexcept {
  auto* const p = static_cast<uring_poller*>(self);
  p->why_ = p->ring_.open(p->nsubmissions_, p->ncompletions_);
  const bool is_there = p->why_.error == 0;
  // release: why_
  p->stage_.store(is_there ? kRunning : kFailed, std::memory_order_release);
  futex_wake(p->stage_, 1);
  if (is_there) p->help();
}

void uring_poller::help() noexcept {
  for (;;) {
    // Before whatever one may be kicked for is looked at: a kick that came earlier is forgotten here.
    if (!is_kick_armed_) arm_kick();
    if (is_ending_.load(std::memory_order_acquire)) return;  // only a flag
    slots_.gather();  // once: the kernel is asked however many come meanwhile
    while (ring_.has_room()) {
      uring_slot* const slot = slots_.take_wish();
      if (slot == nullptr) break;
      fulfil(slot);
    }
    // Whoever makes the list of wishes non-empty again kicks.
    ring_.wait(is_kick_armed_ && !slots_.has_gathered());
    for (uring::completion c; ring_.take(c);) hear(c);
    pass_on();
    if (must_pause_) nap(kMillisecond);
    must_pause_ = false;
  }
}

// The counter is emptied first: it would be told at once. Whoever kicks after that is heard.
void uring_poller::arm_kick() noexcept {
  if (!ring_.has_room()) return;
  std::uint64_t count;
  [[maybe_unused]] const ssize_t ignored =
      call(site::uring_drain, ::read, kick_, &count, sizeof count);
  ring_.poll(kick_, EPOLLIN, kKickTag);
  is_kick_armed_ = true;
}

// Makes what there is follow what is wanted. There is room for a request.
void uring_poller::fulfil(uring_slot* slot) noexcept {
  const std::uint32_t wanted = slot->state.load(std::memory_order_acquire);  // the cookie
  if (wanted == uring_slot::kAdded && !slot->is_armed) {
    ring_.poll(slot->fd, kPolledChanges, tag_of(slot));
    slot->is_armed = true;
  } else if (wanted == uring_slot::kRemoving && !slot->is_armed) {
    end(slot);
  } else if (wanted == uring_slot::kRemoving && !slot->is_cancelled) {
    ring_.cancel(tag_of(slot), kCancelTag);
    slot->is_cancelled = true;
  }
}

// The kernel has let go of its file. Nobody is told of it any more.
void uring_poller::end(uring_slot* slot) noexcept {
  news_.drop(slot);
  slot->state.store(uring_slot::kIdle,
                    std::memory_order_release);  // for remove(), and the next add()
  futex_wake(slot->state, INT_MAX);
}

void uring_poller::hear(const uring::completion& c) noexcept {
  if (c.tag == kCancelTag) return;
  if (c.tag == kKickTag) {
    is_kick_armed_ = !c.is_last;
    return;
  }
  uring_slot* const slot = slots_.find(static_cast<int>(c.tag));
  // Relaxed: if it is to end since a moment ago, its end is asked for anyway.
  const bool is_wanted = slot->state.load(std::memory_order_relaxed) == uring_slot::kAdded;
  if (is_wanted) {
    if (c.result < 0) must_pause_ = true;
    // What is wrong whoever waits finds out.
    heard_[nheard_++] = {
        slot, c.result < 0 ? std::uint32_t{EPOLLERR} : static_cast<std::uint32_t>(c.result)};
    if (nheard_ == heard_.size()) pass_on();
  }
  if (!c.is_last) return;
  slot->is_armed = slot->is_cancelled = false;
  slots_.wish_again(slot);  // it is submitted again, or has come to its end
}

void uring_poller::pass_on() noexcept {
  news_.tell({heard_.data(), nheard_});
  nheard_ = 0;
}

}  // namespace weft::os
