// netpoll.hpp: goroutines that wait for a descriptor, and who looks for what the kernel has to tell them.
//
// The kernel is asked in one of two ways.
//   In passing: a P that has run out of goroutines asks without waiting, before it looks at others' queues.
//   Asleep: a thread that has nothing to do sleeps in the poller instead of on its note, if nobody does so yet: the *poller*. What it is
//   told about it runs itself, on an idle P or a borrowed one.
// While a thread is asleep there nobody asks in passing: each event goes to whoever asks first. And as long as the Ps are busy and
// ask in passing nobody sleeps there, or every event would cost a thread's wake-up.
//
// If nobody has asked for a millisecond, sysmon notices (polling_watch). The Ps may have many goroutines to run, each for a short while:
// then the next that looks for one asks first (is_poll_due). Or they compute, and nobody comes by: then sysmon has a thread go to sleep
// in the poller (needs_poller), and it goes back there each time until the Ps turn out not to compute (release_poller): one has run out of
// work; or it could borrow none, since all were in the runtime; or one that it had borrowed was missed before it was given back.
// Without all this a server with more requests than it can serve had every one told by that thread (1,000 connections on one P: 0.4 thread
// switches for each request, and 130 threads).
//
// Somebody sleeps there when everything is idle and a goroutine waits: the goroutine is counted before its P becomes idle; whoever goes
// to sleep sees the count, and finds the place taken or takes it; and whoever leaves the place goes to work, or back to it.
//    [poll.somebody_asks]
//
// The kernel is asked by epoll, or by io_uring if the program wants that (os/poller.hpp). The choice is a runtime's, the poller the process's: it
// is left as it is between runtimes, and one that asks for the other kind finds its descriptors added to that when somebody waits.
//
// Plain threads do not wait here: they can wait in the kernel themselves.
#pragma once

#include "rt/poll_desc.hpp"
#include "sched/park_until.hpp"
#include "sched/state.hpp"

namespace weft::rt {

// In the frame of the one who waits.
struct poll_waiter {
  sched::waiter* who = nullptr;
  bool is_ready = false;  // else somebody has moved the end of the wait
};

}  // namespace weft::rt

namespace weft::sched {

// --- descriptors, from user context ---

// A record of fd, or null and errno in `why`. The poller is made for the first one. EPERM: of a kind that cannot be waited for.
rt::poll_desc* begin_polling(int fd, int& why) noexcept;
void end_polling(rt::poll_desc* desc) noexcept;
// Nobody will ask about it any more.
void forget_polled(rt::poll_desc* desc) noexcept;

enum class poll_result : std::uint8_t { ready, closing, timed_out };

// Whether a call may be tried at all.
poll_result check_poll(rt::poll_desc* desc, rt::poll_for what) noexcept;
// After the kernel has said EAGAIN: until it is worth another try. One at a time for each of reading and writing.
poll_result wait_polled(rt::poll_desc* desc, rt::poll_for what) noexcept;

// Every wait ends, now and in the future.
void close_polled(rt::poll_desc* desc) noexcept;
// Waits end then (kNever: not for the time). Those who wait already follow.
void set_poll_deadline(rt::poll_desc* desc, rt::poll_for what, std::int64_t deadline_ns) noexcept;

// --- for the scheduler ---

// At the start of a runtime, on a plain thread. What cannot be had is said on stderr, and epoll is used.
void choose_poller(os::poller_choice wanted) noexcept;
const char* poller_name() noexcept;
// That have to do with nothing else, and never wake a goroutine unless somebody waits for the kernel.
unsigned poller_threads() noexcept;

// In passing, for mp's P. The first of those that can go on now; the others are queued.
G* take_from_poller(M* mp) noexcept;
// The same for a P with work of its own: all are queued behind it.
void ask_poller_if_due(M* mp) noexcept;

// mp is about to sleep: may it do so in the poller? Then it sleeps there (until: kNever, for ever), and ends what is to be ended. If it
// woke somebody, mp->has_polled is set and they are urgent.
bool claim_poller() noexcept;
void sleep_in_poller(M* mp, std::int64_t until_ns) noexcept;
void interrupt_poller() noexcept;
// The Ps are not busy with computing after all: nobody need sleep there while none is idle.
void release_poller() noexcept;

// A goroutine waits for the kernel: nobody can say that it waits for ever.
inline bool is_anybody_polled_for() noexcept {
  return sched.nio_waiting.load(std::memory_order_seq_cst) != 0;  // [poll.somebody_asks]
}
// And nobody sleeps in the poller.
inline bool is_poller_wanted() noexcept {
  return is_anybody_polled_for() && !sched.is_poller_taken.load(std::memory_order_seq_cst);
}

// By sysmon at each look: sees that the kernel is asked. True: it should look again soon.
class polling_watch {
 public:
  bool look(std::int64_t now_ns) noexcept;

 private:
  void begin(std::int64_t now_ns) noexcept;

  // At the begin of the time in which nobody has asked, or since which a passing P should have.
  std::int64_t since_ns_ = 0;
  std::uint32_t npolls_ = 0;
  std::uint32_t nlooks_ = 0;
};

}  // namespace weft::sched
