"""table: faults planted in weft's protocols, each of which the explorer must find.

A mutant is a header of src/ or include/ with a passage changed (two, where one alone is made good by the other), and the scenarios that go red with it. The passage must stand in the header exactly once:
when the source moves on, the mutant says so instead of testing nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    header: str  # below src/ or include/
    old: str
    new: str
    protocol: str  # tests/model/<protocol>_test.cpp
    why: str  # what it leaves out
    scenario: str = "*"  # a filter of GoogleTest's: where it shows
    memory: str = ""  # the memory in which it must show; empty: any
    budget: int = 20_000
    crashes: bool = False  # what is left in a frame that is gone is an address nobody may touch
    more: tuple = ()  # further passages of the header, as (old, new)

    def changes(self):
        return ((self.old, self.new), *self.more)


RELAXED = "std::memory_order_relaxed"
RELEASE = "std::memory_order_release"
SEQ_CST = "std::memory_order_seq_cst"


def weaker(name, header, line, order, protocol, why, to=RELAXED, **rest):
    """The same line with a weaker order, once."""
    assert line.count(order) == 1, name
    return Mutant(name, header, line, line.replace(order, to), protocol, why, **rest)


RUN_QUEUE = (
    weaker(
        "runq_publish_relaxed",
        "rt/run_queue.hpp",
        """tail_.store(tail + 1, std::memory_order_release);  // [runq.publish]
    return true;""",
        RELEASE,
        "run_queue",
        "a thief sees the index before the goroutine",
        memory="stale_read",
    ),
    Mutant(
        "runq_pop_without_cas",
        "rt/run_queue.hpp",
        """      if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        return gp;
      }""",
        """      head_.store(head + 1, std::memory_order_release);
      return gp;""",
        "run_queue",
        "owner and thief take the same goroutine",
        memory="sc",
    ),
    Mutant(
        "runq_steal_without_cas",
        "rt/run_queue.hpp",
        """      if (victim.head_.compare_exchange_strong(head, head + n, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {  // [runq.consume]
        return n;
      }""",
        """      victim.head_.store(head + n, std::memory_order_release);
      return n;""",
        "run_queue",
        "two thieves take the same goroutines",
        memory="sc",
    ),
    Mutant(
        "runq_stolen_one_stays_queued",
        "rt/run_queue.hpp",
        "if (n != 0) tail_.store(tail + n, std::memory_order_release);  // [runq.publish]",
        "tail_.store(tail + n + 1, std::memory_order_release);",
        "run_queue",
        "the one that is run now stays in the thief's queue, as in the first design's pseudocode",
        memory="sc",
    ),
    Mutant(
        "runq_full_by_one_too_many",
        "rt/run_queue.hpp",
        "if (tail - head >= Capacity) return false;",
        "if (tail - head > Capacity) return false;",
        "run_queue",
        "a full ring overwrites its oldest",
        memory="sc",
    ),
    Mutant(
        "runq_front_taken_without_cas",
        "rt/run_queue.hpp",
        """    return next_.compare_exchange_strong(
               gp, nullptr, std::memory_order_acq_rel,
               std::memory_order_relaxed)  // [runq.next]; failed: nothing taken
               ? gp
               : nullptr;
  }

  // Takes the older half""",
        """    next_.store(nullptr, std::memory_order_release);
    return gp;
  }

  // Takes the older half""",
        "run_queue",
        "owner and thief take the goroutine at the front",
        memory="sc",
    ),
    Mutant(
        "runq_empty_by_one_look",
        "rt/run_queue.hpp",
        "if (tail == tail_.load(std::memory_order_seq_cst)) return head == tail && next == nullptr;",
        "return head == tail && next == nullptr;",
        "run_queue",
        "one that moves from the front to the ring is seen in neither place",
        memory="sc",
    ),
    Mutant(
        "runq_spill_without_cas",
        "rt/run_queue.hpp",
        """    return head_.compare_exchange_strong(
        head, head + kSpill, std::memory_order_acq_rel,
        std::memory_order_relaxed);  // [runq.consume]; failed: caller pushes again""",
        """    head_.store(head + kSpill, std::memory_order_release);
    return true;""",
        "run_queue",
        "a spill and a thief take the same half",
        memory="sc",
    ),
)

OS = (
    Mutant(
        "note_taken_by_a_store",
        "os/note.hpp",
        "state_.exchange(kEmpty, std::memory_order_acquire);",
        "state_.store(kEmpty, std::memory_order_relaxed);",
        "note",
        "a second waker is overheard: weft had this fault until the explorer found it",
        memory="store_buffer",
    ),
    weaker(
        "note_wake_relaxed",
        "os/note.hpp",
        "state_.exchange(kSet, std::memory_order_release);",
        RELEASE,
        "note",
        "what the waker did is not visible to whom it woke",
        memory="stale_read",
    ),
    Mutant(
        "note_sleeps_without_a_look",
        "os/note.hpp",
        "if (!state_.compare_exchange_strong(seen, kAsleep, std::memory_order_relaxed)) {",
        "state_.store(kAsleep, std::memory_order_relaxed);\n    if (seen == kSet) {",
        "note",
        "a wake-up that came before the sleep is lost",
        memory="sc",
    ),
    weaker(
        "lock_freed_relaxed",
        "os/lock.hpp",
        "state_.store(kFree, std::memory_order_release);  // [lock]",
        RELEASE,
        "lock",
        "what was done under the lock is not visible to the next holder",
        memory="stale_read",
    ),
    Mutant(
        "lock_taken_in_two_steps",
        "os/lock.hpp",
        """    std::uint32_t seen = kFree;
    return state_.compare_exchange_strong(
        seen, kHeld, std::memory_order_acquire,
        std::memory_order_relaxed);  // [lock]; failed: nothing read""",
        """    if (state_.load(std::memory_order_acquire) != kFree) return false;
    state_.store(kHeld, std::memory_order_relaxed);
    return true;""",
        "lock",
        "two hold it",
        memory="sc",
    ),
)

IDLE = (
    Mutant(
        "idle_sleeps_without_a_second_look",
        "rt/idle_protocol.hpp",
        "return is_anything_queued() && regain();",
        "return false;",
        "idle",
        "work that was queued while a thread made its P idle is forgotten (HAZARDS 2, 4)",
        memory="sc",
    ),
    Mutant(
        "idle_looks_before_it_stops_spinning",
        "rt/idle_protocol.hpp",
        """    static_cast<void>(stop());
    return is_anything_queued() && regain();""",
        """    const bool is_queued = is_anything_queued();
    static_cast<void>(stop());
    return is_queued && regain();""",
        "idle",
        "a submitter trusts a spinner that has looked already",
        memory="sc",
    ),
    Mutant(
        "idle_only_spinners_look_once_more",
        "rt/idle_protocol.hpp",
        """    static_cast<void>(stop());
    return is_anything_queued() && regain();""",
        "    return stop() && is_anything_queued() && regain();",
        "idle",
        "golang/go#45867: a wake-up that finds no idle P is forgotten (weft is safe if one of the two is there)",
        more=(("if (pp == nullptr) needs_spinning.store(true, std::memory_order_seq_cst);", ""),),
        budget=100_000,
    ),
    weaker(
        "idle_global_queue_published_by_a_release",
        "rt/idle_protocol.hpp",
        "nrunq.store(static_cast<std::uint32_t>(n), std::memory_order_seq_cst);  // 1",
        SEQ_CST,
        "idle",
        "tokio#1788: the look at the sleepers overtakes the push",
        to=RELEASE,
    ),
    weaker(
        "idle_p_published_by_a_release",
        "rt/idle_protocol.hpp",
        "npidle.store(static_cast<std::uint32_t>(n), std::memory_order_seq_cst);  // b",
        SEQ_CST,
        "idle",
        "the last look at the queues overtakes the announcement that a P is idle",
        to=RELEASE,
    ),
    Mutant(
        "idle_woken_before_queued",
        "rt/idle_protocol.hpp",
        "    return nspinning.load(std::memory_order_seq_cst) != 0;",
        "    return true;",
        "idle",
        "nobody is ever woken",
        memory="sc",
    ),
)

DETACH = (
    Mutant(
        "detach_without_a_look_inside",
        "rt/detach_word.hpp",
        """    if (inside_.load(std::memory_order_seq_cst) !=
        0) {            // [detach.leave]; seq_cst for the M that enters with a fence""",
        "    if (false) {",
        "detach_word",
        "N2: the P is taken from one who is inside",
        memory="sc",
    ),
    Mutant(
        "detach_settled_by_a_store",
        "rt/detach_word.hpp",
        """      if (word_.compare_exchange_weak(seen, kOwn, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {  // [detach.exclusive]""",
        """      word_.store(kOwn, std::memory_order_release);
      {""",
        "detach_word",
        "N6: M and requester both have the P",
        memory="sc",
    ),
    Mutant(
        "detach_looks_before_it_says_so",
        "rt/detach_word.hpp",
        """    if (fence) [[unlikely]] {
      inside_.store(1, std::memory_order_seq_cst);""",
        """    const bool is_own = word_.load(std::memory_order_seq_cst) == kOwn;
    if (is_own) {
      inside_.store(1, std::memory_order_relaxed);
      return true;
    }
    if (fence) [[unlikely]] {
      inside_.store(1, std::memory_order_seq_cst);""",
        "detach_word",
        "N4: the request comes between the look and the mark",
        memory="sc",
    ),
    Mutant(
        "detach_taken_by_a_store",
        "rt/detach_word.hpp",
        """    return word_.compare_exchange_strong(
        id, kLost, std::memory_order_acq_rel,
        std::memory_order_relaxed);  // [detach.exclusive]; failed: M kept it""",
        """    word_.store(kLost, std::memory_order_release);
    return true;""",
        "detach_word",
        "the requester does not ask whether M has settled",
        memory="sc",
    ),
    weaker(
        "detach_leaves_relaxed",
        "rt/detach_word.hpp",
        "inside_.store(0, std::memory_order_release);  // [detach.leave]",
        RELEASE,
        "detach_word",
        "what M did to the P is not visible to who takes it",
        memory="stale_read",
    ),
    Mutant(
        "detach_without_ids",
        "rt/detach_word.hpp",
        """    std::uint32_t own = kOwn;
    return word_.compare_exchange_strong(own, id, std::memory_order_seq_cst,""",
        """    std::uint32_t own = kOwn;
    id = kFirstRequester;
    return word_.compare_exchange_strong(own, id, std::memory_order_seq_cst,""",
        "detach_word",
        "N11: a requester cannot tell its request from another's (ABA)",
    ),
)

G_WORD = (
    Mutant(
        "g_claimed_though_it_is_held",
        "rt/g_word.hpp",
        "      seen &= ~kTrimming;\n",
        "",
        "g_word",
        "its stack is run while it is trimmed",
        memory="sc",
    ),
    Mutant(
        "g_claimed_without_cas",
        "rt/g_word.hpp",
        """    while (!word_.compare_exchange_weak(seen, bits(g_status::runnable),
                                        std::memory_order_acq_rel,     // [g.hold] [g.status]
                                        std::memory_order_relaxed)) {  // failed: tried again""",
        "    while (((seen = word_.load(std::memory_order_acquire)) & kTrimming) != 0) {",
        "g_word",
        "somebody takes hold between the waker's look and its store",
        memory="sc",
        more=(
            (
                "      seen &= ~kTrimming;\n    }\n",
                "    }\n    word_.store(bits(g_status::runnable), std::memory_order_release);\n",
            ),
        ),
    ),
    Mutant(
        "g_held_without_cas",
        "rt/g_word.hpp",
        """           word_.compare_exchange_strong(seen, seen | kTrimming,
                                         std::memory_order_acq_rel,   // [g.hold] [g.status]
                                         std::memory_order_relaxed);  // failed: left alone""",
        "           (word_.store(seen | kTrimming, std::memory_order_seq_cst), true);",
        "g_word",
        "one that was claimed meanwhile waits again, and for ever",
        memory="sc",
    ),
    Mutant(
        "g_held_by_two",
        "rt/g_word.hpp",
        "return (seen & ~(kSettled | kTrimmed)) == kWaiting &&",
        "return (seen & ~kWaitMarks) == kWaiting &&",
        "g_word",
        "the first of two to let go lets the waker at a stack that the other still trims",
        memory="sc",
    ),
    Mutant(
        "g_let_go_keeps_hold",
        "rt/g_word.hpp",
        "word_.store((held & ~kTrimming) | mark, std::memory_order_release);  // [g.hold]",
        "word_.store(held | mark, std::memory_order_release);",
        "g_word",
        "its waker tries for ever",
        memory="sc",
    ),
    Mutant(
        "g_let_go_leaves_no_mark",
        "rt/g_word.hpp",
        "word_.store((held & ~kTrimming) | mark, std::memory_order_release);  // [g.hold]",
        "static_cast<void>(mark);\n    word_.store(held & ~kTrimming, std::memory_order_release);",
        "g_word",
        "the mark that its stack has been seen to is not left, and it is trimmed again",
        scenario="*trimmed*",
        memory="sc",
    ),
    Mutant(
        "g_settled_without_cas",
        "rt/g_word.hpp",
        """           word_.compare_exchange_strong(seen, kWaiting | kSettled, std::memory_order_relaxed,
                                         std::memory_order_relaxed);""",
        "           (word_.store(kWaiting | kSettled, std::memory_order_relaxed), true);",
        "g_word",
        "the mark overwrites a claim, or a hold",
        memory="sc",
    ),
    weaker(
        "g_becomes_relaxed",
        "rt/g_word.hpp",
        "word_.store(bits(next), std::memory_order_release);  // [g.status]",
        RELEASE,
        "g_word",
        "whoever holds it does not know where its stack ends",
        memory="stale_read",
    ),
    weaker(
        "g_status_read_relaxed",
        "rt/g_word.hpp",
        "return to_status(word_.load(std::memory_order_acquire));  // [g.status]",
        "std::memory_order_acquire",
        "g_word",
        "what led to the status is not visible to who reads it",
        memory="stale_read",
    ),
    weaker(
        "g_claim_does_not_acquire",
        "rt/g_word.hpp",
        """    while (!word_.compare_exchange_weak(seen, bits(g_status::runnable),
                                        std::memory_order_acq_rel,     // [g.hold] [g.status]""",
        "std::memory_order_acq_rel",
        "g_word",
        "the waker has the stack before it is trimmed",
        to=RELEASE,
        memory="stale_read",
    ),
    weaker(
        "g_hold_does_not_acquire",
        "rt/g_word.hpp",
        """seen, seen | kTrimming,
                                         std::memory_order_acq_rel,   // [g.hold] [g.status]""",
        "std::memory_order_acq_rel",
        "g_word",
        "the holder sees the stack of one that has not left it",
        to=RELEASE,
        memory="stale_read",
    ),
    weaker(
        "g_let_go_relaxed",
        "rt/g_word.hpp",
        "word_.store((held & ~kTrimming) | mark, std::memory_order_release);  // [g.hold]",
        RELEASE,
        "g_word",
        "it is let go before its stack is trimmed",
        memory="stale_read",
    ),
)

WAITING = (
    weaker(
        "event_set_relaxed",
        "sync/event_core.hpp",
        "state.exchange(kSet, std::memory_order_acq_rel);",
        "std::memory_order_acq_rel",
        "event",
        "what was done before set() is not visible",
        memory="stale_read",
    ),
    Mutant(
        "event_enters_a_set_one",
        "sync/event_core.hpp",
        """      if (seen == kSet) return false;
      links::next(mine) = reinterpret_cast<record*>(seen);""",
        """      links::next(mine) = seen == kSet ? nullptr : reinterpret_cast<record*>(seen);""",
        "event",
        "a missing recheck: whoever comes after set() waits for ever",
        memory="sc",
    ),
    Mutant(
        "waiters_read_after_they_were_woken",
        "sync/wait_record.hpp",
        """    in_order = links::next(r);        // before the owner of *r runs on
    __builtin_prefetch(in_order, 0);  // it has been left alone for long
    wake(links::owner(r));""",
        """    wake(links::owner(r));
    in_order = links::next(r);""",
        "event",
        "the record lies in a frame that may be gone",
        crashes=True,
    ),
    Mutant(
        "wait_group_enters_at_zero",
        "sync/wait_group_core.hpp",
        "      if (seen == 0)\n        return false;",
        "      if (false)\n        return false;",
        "wait_group",
        "whoever comes after the last done() waits for ever",
        memory="sc",
    ),
    weaker(
        "wait_group_done_relaxed",
        "sync/wait_group_core.hpp",
        "while (!state.compare_exchange_weak(seen, next, std::memory_order_acq_rel,",
        "std::memory_order_acq_rel",
        "wait_group",
        "what was done before done() is not visible after wait()",
        memory="stale_read",
    ),
    Mutant(
        "mutex_enters_a_free_one",
        "sync/mutex_core.hpp",
        "        if ((seen & kLocked) == 0 && !also_if_free) return false;\n",
        "",
        "mutex",
        "whoever enters as it is freed is not seen by who frees it",
        memory="sc",
    ),
    weaker(
        "mutex_freed_relaxed",
        "sync/mutex_core.hpp",
        """      if (state_.compare_exchange_weak(seen, calmer(seen) & ~kLocked,
                                       std::memory_order_release,     // [mutex.pass]""",
        RELEASE,
        "mutex",
        "what the holder did is not visible to the next",
        memory="stale_read",
    ),
    Mutant(
        "mutex_changed_without_a_restart",
        "sync/mutex_core.hpp",
        "      A::restart_others();\n",
        "",
        "mutex",
        "a holder that has looked already wipes out the mark of one that made sure that it was there",
        memory="sc",
    ),
    Mutant(
        "mutex_change_not_looked_for_after_the_restart",
        "sync/mutex_core.hpp",
        """      if ((state_.load(std::memory_order_relaxed) & bits) == value)
        return true;  // behind a barrier""",
        "      return true;",
        "mutex",
        "whoever waits for one that was freed meanwhile has nobody who would wake him",
        memory="sc",
    ),
    Mutant(
        "mutex_others_change_it_before_one_is_sure",
        "sync/mutex_core.hpp",
        "      A::restart_others();\n",
        "      guard_.unlock();\n      A::restart_others();\n      guard_.lock();\n",
        "mutex",
        "two who enter take each other's mark for their own",
        memory="sc",
        budget=200_000,
    ),
    Mutant(
        "mutex_turn_given_up_behind_the_holders_back",
        "sync/mutex_core.hpp",
        "if (change_beside_holder(kWokenMask, 0)) {",
        "if (is_locked()) {\n        clear(kWokenMask);",
        "mutex",
        "a calm holder puts the mark back of one that is on its way no more",
        scenario="*calm_holder*",
        memory="sc",
    ),
    Mutant(
        "mutex_turn_is_kept_by_who_gives_up",
        "sync/mutex_core.hpp",
        "      if (!mine->is_woken) return false;\n",
        "      return false;\n",
        "mutex",
        "who was woken and gives up takes the wake-up with it",
        scenario="*who_gives_up*",
        budget=200_000,
    ),
    Mutant(
        "shared_mutex_enters_a_free_one",
        "sync/shared_mutex_core.hpp",
        "} while (seen == 0 || !mark_waiting(seen));",
        "} while (!mark_waiting(seen));",
        "shared_mutex",
        "whoever wants to write as it is freed waits, and nobody is there to let it in",
        memory="sc",
        more=(("if (seen == 0 && take(seen, kWriter)) return false;", ""),),
    ),
    Mutant(
        "shared_mutex_forgets_the_rest",
        "sync/shared_mutex_core.hpp",
        "      if (!writers_.empty() || !readers_.empty()) after |= kWaiting;\n",
        "",
        "shared_mutex",
        "those who still wait when others were let in are not seen by who leaves next",
        memory="sc",
    ),
    Mutant(
        "shared_mutex_readers_pass_the_writer",
        "sync/shared_mutex_core.hpp",
        "if ((seen & (kWriter | kWaiting)) == 0) {",
        "if ((seen & kWriter) == 0) {",
        "shared_mutex",
        "new readers are let in while somebody waits to write",
        scenario="*who_waits_to_write*",
        memory="sc",
    ),
    Mutant(
        "shared_mutex_wakes_under_the_lock",
        "sync/shared_mutex_core.hpp",
        """    }
    next.wake_all(wake);
""",
        """      next.wake_all(wake);
    }
""",
        "shared_mutex",
        "whoever was let in destroys it before the lock is free",
        scenario="*destroy*",
        memory="sc",
    ),
    weaker(
        "shared_mutex_reader_leaves_relaxed",
        "sync/shared_mutex_core.hpp",
        """      if (state_.compare_exchange_weak(seen, seen - kReader,
                                       std::memory_order_release,   // [shared_mutex.pass]""",
        RELEASE,
        "shared_mutex",
        "what the first reader to leave did is not before what is written next",
        memory="stale_read",
    ),
    weaker(
        "shared_mutex_last_reader_does_not_acquire",
        "sync/shared_mutex_core.hpp",
        "state_.load(std::memory_order_acquire);  // [shared_mutex.pass]: what the other readers did",
        "std::memory_order_acquire",
        "shared_mutex",
        "the last reader hands over what it does not know of",
        memory="stale_read",
    ),
    weaker(
        "shared_mutex_handed_over_relaxed",
        "sync/shared_mutex_core.hpp",
        "state_.store(after, std::memory_order_release);  // [shared_mutex.pass]",
        RELEASE,
        "shared_mutex",
        "who joins those who were let in does not see what was written",
        memory="stale_read",
    ),
    Mutant(
        "semaphore_given_back_past_the_queue",
        "sync/semaphore_core.hpp",
        "      if ((seen & kWaiting) == 0) {\n        if (n != 0 &&",
        "      if (true) {\n        if (n != 0 &&",
        "semaphore",
        "what is given back is not given to those who wait",
        memory="sc",
    ),
    weaker(
        "semaphore_given_back_relaxed",
        "sync/semaphore_core.hpp",
        "seen, seen + n * kOne, std::memory_order_release,  // [semaphore.pass]",
        RELEASE,
        "semaphore",
        "what was done before release() is not visible after acquire()",
        memory="stale_read",
    ),
    weaker(
        "once_finished_relaxed",
        "sync/once_core.hpp",
        "is_done ? kDone : kNew, std::memory_order_acq_rel);  // [once.done] [once.push]",
        "std::memory_order_acq_rel",
        "once",
        "what f did is not visible to those who pass",
        memory="stale_read",
    ),
    Mutant(
        "once_enters_when_it_is_over",
        "sync/once_core.hpp",
        "      if ((seen & kRunning) == 0) return false;\n",
        "",
        "once",
        "whoever comes as it ends waits for ever",
        memory="sc",
    ),
    Mutant(
        "barrier_enters_a_phase_that_is_over",
        "sync/barrier_core.hpp",
        "      if (phase_of(seen) != phase) return false;\n",
        "",
        "barrier",
        "whoever comes late waits for the next phase",
        memory="sc",
    ),
    Mutant(
        "timed_wait_is_woken_before_it_has_parked",
        "rt/timed_wait_word.hpp",
        "return leave(by) == static_cast<std::uint32_t>(wait_mark::parked);",
        "return (leave(by) & ~static_cast<std::uint32_t>(wait_mark::parked)) == 0;",
        "timed_wait_word",
        "wake before publish",
        memory="sc",
    ),
    weaker(
        "timed_wait_marks_relaxed",
        "rt/timed_wait_word.hpp",
        "std::memory_order_acq_rel);  // [timed_wait.mark]",
        "std::memory_order_acq_rel",
        "timed_wait_word",
        "the frame is left while another still writes to it",
        memory="stale_read",
    ),
)

POLL_AND_TIMERS = (
    Mutant(
        "poll_news_is_not_kept",
        "rt/poll_word.hpp",
        "const std::uintptr_t next = seen == kNone ? kReady : kNone;",
        "const std::uintptr_t next = kNone;",
        "poll_word",
        "news that finds nobody is forgotten",
        memory="sc",
    ),
    Mutant(
        "poll_told_without_cas",
        "rt/poll_word.hpp",
        """      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return to_waiter(seen);
    }
  }

  // Asks for the waiter's frame""",
        """      word_.store(next, std::memory_order_release);
      return to_waiter(seen);
    }
  }

  // Asks for the waiter's frame""",
        "poll_word",
        "poller and closer wake the same waiter, or a waiter that comes is overwritten",
        memory="sc",
    ),
    Mutant(
        "poll_withdrawn_without_cas",
        "rt/poll_word.hpp",
        """    std::uintptr_t seen = of(w);
    return word_.compare_exchange_strong(seen, kNone, std::memory_order_acq_rel,
                                         std::memory_order_acquire);""",
        """    static_cast<void>(w);
    word_.store(kNone, std::memory_order_release);
    return true;""",
        "poll_word",
        "who withdraws does not ask whether somebody has it in hand",
        crashes=True,
    ),
    weaker(
        "poll_entered_by_a_release",
        "rt/poll_word.hpp",
        "if (word_.compare_exchange_strong(seen, of(w), std::memory_order_seq_cst)) return true;",
        SEQ_CST,
        "poll_word",
        "the look at the revision overtakes the entry",
        to=RELEASE,
        memory="stale_read",
    ),
    weaker(
        "timer_next_published_by_a_release",
        "rt/timer_heap.hpp",
        "next_.store(when_ns, std::memory_order_seq_cst);             // [timer.no_lost_wake]",
        SEQ_CST,
        "timer_heap",
        "golang/go#44868 of a kind: a timer is armed as the last one goes to sleep, and neither sees the other",
        to=RELEASE,
    ),
    Mutant(
        "timer_cancelled_without_its_number",
        "rt/timer_heap.hpp",
        "if (!end(t, seq, timer_state::cancelled)) return false;",
        "if (!end(t, t->seq(), timer_state::cancelled)) return false;",
        "timer_heap",
        "a late cancel hits the next arming of the node (ABA)",
        memory="sc",
    ),
)

ALARM = (
    Mutant(
        "alarm_of_another_arming_acts",
        "time/alarm_core.hpp",
        "      if (node_ == node && arming_ == seq) {",
        "      if (arming_ != 0) {",
        "alarm",
        "a fire() that comes late acts for an arming whose time has not come",
        memory="sc",
    ),
    Mutant(
        "alarm_known_by_its_number_alone",
        "time/alarm_core.hpp",
        "      if (node_ == node && arming_ == seq) {",
        "      if (arming_ == seq) {",
        "alarm",
        "two nodes have armings of the same number",
        memory="sc",
    ),
    Mutant(
        "alarm_acts_though_it_was_stopped",
        "time/alarm_core.hpp",
        """      nended_.fetch_add(1, std::memory_order_relaxed);  // nobody else has touched it
    arming_ = 0;
    node_ = nullptr;
""",
        """      nended_.fetch_add(1, std::memory_order_relaxed);  // nobody else has touched it
""",
        "alarm",
        "whoever stops it leaves the arming that he could not cancel the present one",
        memory="sc",
    ),
    Mutant(
        "alarm_over_before_it_is_left",
        "time/alarm_core.hpp",
        "    bool is_armed_again = false;\n    {",
        "    bool is_armed_again = false;\n    nended_.fetch_add(1, std::memory_order_release);\n    {",
        "alarm",
        "it is freed while somebody waits for its lock",
        memory="sc",
        more=(
            (
                "    nended_.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch\n    return",
                "    return",
            ),
        ),
    ),
    Mutant(
        "alarm_counts_what_it_could_not_cancel",
        "time/alarm_core.hpp",
        "    if (rt::basic_timer_heap<A>::cancel(node_, arming_))\n",
        "    rt::basic_timer_heap<A>::cancel(node_, arming_);\n",
        "alarm",
        "it is freed while the arming that could not be cancelled is in fire()",
        memory="sc",
    ),
    weaker(
        "alarm_left_relaxed",
        "time/alarm_core.hpp",
        "    nended_.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch\n    return",
        RELEASE,
        "alarm",
        "whoever frees it does not see that it was left",
        memory="stale_read",
    ),
    weaker(
        "alarm_over_is_read_relaxed",
        "time/alarm_core.hpp",
        "while (nended_.load(std::memory_order_acquire) != narmed_) pause();",
        "std::memory_order_acquire",
        "alarm",
        "whoever frees it does not see that it was left",
        memory="stale_read",
    ),
    Mutant(
        "alarm_is_not_told_of_the_end",
        "rt/timer_heap.hpp",
        "{ end(t, t->seq(), timer_state::cleared); }",
        "{ end(t, t->seq(), timer_state::cancelled); }",
        "alarm",
        "as it was once: what is armed beside the end of a runtime is dropped without telling, and its owner waits for ever",
        memory="sc",
    ),
    Mutant(
        "alarm_counts_what_was_cancelled_twice",
        "time/alarm_core.hpp",
        "    if (was == rt::timer_state::cleared)\n",
        "",
        "alarm",
        "what was cancelled is counted twice, and the alarm freed too early or touched too late",
        memory="sc",
    ),
)

CONTEXTS = (
    Mutant(
        "context_child_enters_one_that_has_ended",
        "context/ending_core.hpp",
        "    if (self().has_ended()) return false;\n    o->link",
        "    o->link",
        "context",
        "a child that was made while its parent ended is never told",
        memory="sc",
    ),
    Mutant(
        "context_second_cancel_does_not_wait",
        "context/ending_core.hpp",
        "    lock_.lock();  // also if it has ended: somebody may be on the way down\n    if (self().has_ended()) return lock_.unlock();",
        "    if (self().has_ended()) return;\n    lock_.lock();\n    if (self().has_ended()) return lock_.unlock();",
        "context",
        "cancel() returns while somebody else's end is on its way down",
        memory="sc",
    ),
    Mutant(
        "context_end_does_not_wait_for_one_below",
        "context/ending_core.hpp",
        "    lock_.lock();\n    if (self().has_ended() || !self().try_retain()) {",
        "    if (self().has_ended()) return false;\n    lock_.lock();\n    if (self().has_ended() || !self().try_retain()) {",
        "context",
        "cancel() returns while the child's own end is on its way down",
        memory="sc",
    ),
    Mutant(
        "context_dying_child_is_ended",
        "context/ending_core.hpp",
        "    if (self().has_ended() || !self().try_retain()) {",
        "    static_cast<void>(self().try_retain());\n    if (self().has_ended()) {",
        "context",
        "a child without shares is called after it was freed",
        memory="sc",
    ),
    Mutant(
        "context_closed_before_the_reason",
        "context/ending_core.hpp",
        "    reason_ = why;\n    self().close();  // [context.end]",
        "    self().close();\n    reason_ = why;",
        "context",
        "who sees the end does not see why",
        memory="stale_read",
    ),
    Mutant(
        "context_left_without_a_look_at_the_lock",
        "context/ending_core.hpp",
        "    const std::lock_guard hold(lock_);\n    if (o->link == nullptr) return;",
        "    if (o->link == nullptr) return;\n    const std::lock_guard hold(lock_);\n    if (o->link == nullptr) return;",
        "context",
        "it is freed while its parent, which has taken it out of the list, looks at it",
        memory="sc",
    ),
    weaker(
        "shares_given_back_relaxed",
        "weft/detail/shares.hpp",
        "return n_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // [context.free]",
        "std::memory_order_acq_rel",
        "context",
        "whoever frees it does not see what was done with it",
        memory="stale_read",
    ),
    Mutant(
        "shares_taken_from_none",
        "weft/detail/shares.hpp",
        "while (seen != 0 && !n_.compare",
        "while (!n_.compare",
        "context",
        "a child that is about to be freed is given one more share, and freed twice",
        memory="sc",
        more=(("    return seen != 0;", "    return true;"),),
    ),
    Mutant(
        "decided_without_an_exchange",
        "weft/detail/shares.hpp",
        "return !is_taken_.exchange(true, std::memory_order_relaxed);",
        "const bool was = is_taken_.load(std::memory_order_relaxed); is_taken_.store(true, std::memory_order_relaxed); return !was;",
        "context",
        "a function that was stopped is called",
        memory="sc",
    ),
)

COUNTS = (
    weaker(
        "bubble_counted_out_relaxed",
        "rt/bubble_word.hpp",
        "if (word_.fetch_sub(1, std::memory_order_acq_rel) != kAsleep + 1)",
        "std::memory_order_acq_rel",
        "bubble_word",
        "the keeper does not see what the goroutines did",
        memory="stale_read",
    ),
    Mutant(
        "bubble_keeper_woken_without_cas",
        "rt/bubble_word.hpp",
        """    return word_.compare_exchange_strong(quiet, 1,
                                         std::memory_order_acq_rel,   // [bubble.woken_once]
                                         std::memory_order_relaxed);  // failed: left to another""",
        "    word_.store(quiet - kAsleep + 1, std::memory_order_release);\n    return true;",
        "bubble_word",
        "who was counted in meanwhile is forgotten, and the keeper woken twice",
        memory="sc",
    ),
    Mutant(
        "bubble_keeper_falls_asleep_without_cas",
        "rt/bubble_word.hpp",
        """    } while (!word_.compare_exchange_weak(seen, (seen - 1) | kAsleep, std::memory_order_acq_rel,
                                          std::memory_order_acquire));  // [bubble.quiet]
    return true;""",
        "    } while (false);\n    word_.store((seen - 1) | kAsleep, std::memory_order_release);\n    return true;",
        "bubble_word",
        "who was counted out between the keeper's look and its store wakes nobody",
        memory="sc",
    ),
    Mutant(
        "bubble_quiet_but_for_the_keeper",
        "rt/bubble_word.hpp",
        "      if (seen == 1) return false;\n",
        "",
        "bubble_word",
        "the last one who is at work falls asleep, and nobody is left to wake it",
        memory="sc",
    ),
    Mutant(
        "fd_entered_without_a_look",
        "io/use_count.hpp",
        "      if ((seen & kShut) != 0) return false;\n",
        "",
        "use_count",
        "an operation begins on a number that was closed",
        memory="sc",
    ),
    Mutant(
        "fd_entered_without_cas",
        "io/use_count.hpp",
        """    } while (!nuses_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));""",
        "    } while (false);\n    nuses_.fetch_add(1, std::memory_order_acquire);",
        "use_count",
        "it is closed between the look and the count",
        memory="sc",
    ),
    Mutant(
        "fd_closed_by_whoever_shuts_it",
        "io/use_count.hpp",
        "return nuses_.fetch_sub(1, std::memory_order_acq_rel) == (kShut | 1);",
        "return (nuses_.fetch_sub(1, std::memory_order_acq_rel) & kShut) != 0;",
        "use_count",
        "the number is closed while others are in system calls with it",
        memory="sc",
    ),
    weaker(
        "fd_left_relaxed",
        "io/use_count.hpp",
        "return nuses_.fetch_sub(1, std::memory_order_acq_rel) == (kShut | 1);",
        "std::memory_order_acq_rel",
        "use_count",
        "the number is closed before the calls of others",
        memory="stale_read",
    ),
)

SURVIVORS = (
    Mutant(
        "survivor_enters_without_a_look",
        "sched/survivors_core.hpp",
        "    if (has_moved_on(now, s->epoch) || !s->publish(who, s->arg)) return false;",
        "    if (!s->publish(who, s->arg)) return false;",
        "late_mark",
        "a thread that comes after the end of the runtime waits for ever",
        memory="sc",
    ),
    Mutant(
        "survivor_looks_before_it_has_the_lock",
        "sched/survivors_core.hpp",
        "    const os::lock_guard hold(lock_);\n    if (has_moved_on(now, s->epoch) || !s->publish",
        "    if (has_moved_on(now, s->epoch)) return false;\n    const os::lock_guard hold(lock_);\n    if (!s->publish",
        "late_mark",
        "the runtime ends between the look and the list",
        memory="sc",
    ),
    Mutant(
        "survivor_is_not_entered",
        "sched/survivors_core.hpp",
        "    s->who = who;\n    all_.push_back(s);\n    return true;",
        "    s->who = who;\n    return true;",
        "late_mark",
        "a thread that waits is not found by the end of the runtime",
        memory="sc",
        more=(("    if (all_.contains(s)) all_.remove(s);", ""),),
    ),
    Mutant(
        "survivor_leaves_its_record_behind",
        "sched/survivors_core.hpp",
        "    if (all_.contains(s)) all_.remove(s);",
        "",
        "late_mark",
        "the end of the runtime finds a frame that is gone",
        crashes=True,
        memory="sc",
    ),
    Mutant(
        "survivor_is_withdrawn_without_the_lock",
        "sched/survivors_core.hpp",
        "    const os::lock_guard hold(lock_);\n    survivor* const first = all_.pop_front();",
        "    lock_.lock();\n    survivor* const first = all_.pop_front();\n    lock_.unlock();",
        "late_mark",
        "its thread is woken by the mark and leaves the frame meanwhile",
        crashes=True,
        memory="sc",
    ),
    Mutant(
        "survivor_is_woken_by_two",
        "sched/survivors_core.hpp",
        "first->withdraw(first->arg) ? first->who : nullptr",
        "(static_cast<void>(first->withdraw(first->arg)), first->who)",
        "late_mark",
        "the one who set the mark wakes it as well",
        memory="sc",
    ),
    weaker(
        "epoch_is_read_relaxed",
        "sched/survivors_core.hpp",
        "  return now.load(std::memory_order_acquire) != epoch;  // [epoch.end]",
        "std::memory_order_acquire",
        "late_mark",
        "the next runtime is seen, and not what the last one has done",
        memory="stale_read",
    ),
)

CHANNELS = (
    Mutant(
        "chan_closed_is_asked_before_empty",
        "chan/chan_core.hpp",
        "bool has_nothing() const noexcept { return seems_empty() && !is_closed(); }",
        "bool has_nothing() const noexcept { return !is_closed() && seems_empty(); }",
        "chan",
        "open, then empty: a value that was sent before the close is missed",
        memory="sc",
    ),
    Mutant(
        "chan_sender_stays_behind",
        "chan/chan_core.hpp",
        """    if (count() >= capacity_) return;  // there are some that were given back
    if (record_type* const r = senders_.take()) {""",
        """    if (count() >= capacity_) return;  // there are some that were given back
    if (record_type* const r = count() != 0 ? senders_.take() : nullptr) {""",
        "chan",
        "a receiver makes room and does not wake who waits for it",
        memory="sc",
    ),
    Mutant(
        "chan_taken_without_a_claim",
        "chan/record.hpp",
        "if (r->shared == nullptr || r->shared->claim(r)) return r;",
        "if (r->shared != nullptr) static_cast<void>(r->shared->claim(r));\n      return r;",
        "select",
        "two peers take the same select",
        memory="sc",
    ),
    Mutant(
        "select_losers_stay_queued",
        "chan/select_core.hpp",
        "      queue_of(s).remove(r);\n",
        "",
        "select",
        "the records of the cases that lost stay in their queues",
        memory="sc",
    ),
    Mutant(
        "select_locks_in_the_order_of_the_cases",
        "chan/select_core.hpp",
        "    sort_by_address();\n    for",
        "    for",
        "select",
        "two selects lock their channels in different orders",
        memory="sc",
    ),
)

MUTANTS = RUN_QUEUE + OS + IDLE + DETACH + G_WORD + WAITING + POLL_AND_TIMERS + ALARM + CONTEXTS + COUNTS + SURVIVORS + CHANNELS
