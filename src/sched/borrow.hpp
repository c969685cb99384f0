// borrow.hpp: a P for a goroutine that was woken, when none is idle.
//
// Somebody waited for this goroutine's moment: a timer, a descriptor, another thread, the end of a system call. It does not queue behind
// goroutines that compute. Its M takes the P of one of these by the detach handshake, without a signal; that one computes on for
// the moment, without a P, and gets it back as soon as the borrower stops, without ever having noticed. Only if it
// computes for 0.2 ms without a P is it stopped by signal (preempt.hpp).
//
// "Back" means that the P is kept for its lender (P::is_kept): it stays LOST, but its P is not used and is its own at its next call. Until
// then the next borrower, sysmon, or a stop of the world can have it for L alone, without the handshake and its barrier.  [detach.kept]
//
// The P remembers from whom it was taken (P::lender), the M that it is not its own (M::is_borrowing): it runs what is urgent, nothing from
// the P's own queue, and no slice begins or ends.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// mp holds no P and is inside the runtime, marked m_wait::borrow under L. True: it holds one now. False: every P is in the runtime itself,
// and will look at what is urgent on its way out; mp is marked as before.
bool borrow(M* mp) noexcept;

// mp holds a borrowed P. True: it went back to its lender, or is kept for it, and mp has none. False: the lender came for it meanwhile, or sits in blocking() (or the world stops):
// mp keeps it as its own.
bool give_back(M* mp) noexcept;

// mp, which has just been given its P, holds it on loan.
void mark_borrowed_locked(M* mp) noexcept;
// pp is no longer on loan.
void end_loan_locked(P* pp) noexcept;

// An M that will borrow for what is urgent, to be woken after L is released, or null.
M* wake_borrower_locked() noexcept;

// mp gives its P away: to its lender, if it is borrowed, or to whoever has use for it. Inside the runtime.
void part_with_p(M* mp) noexcept;

// A goroutine that leaves the runtime to sleep in the kernel, as it always does (G::kHabit), or says so (blocking()): gives the P away.
// Inside the runtime; afterwards mp is LOST, and goes out.
void leave_p(M* mp) noexcept;

}  // namespace weft::sched
