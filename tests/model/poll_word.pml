/* poll_word.pml: a goroutine waits for a descriptor; events, the end of the descriptor and moves of its deadline all find it.
 *
 * What it models: one direction of a descriptor, the edges [poll.no_lost_event], [poll.no_lost_end] and [timed_wait.once]:
 *
 *   the call      a read: takes what there is, or EAGAIN
 *   waiter        sched/netpoll.cpp wait_polled, enter_wait, withdraw_wait; rt/poll_word.hpp enter, withdraw; sched/park_until.cpp
 *                 park_until, park_limited, arm_and_publish, enter_and_park, settle; rt/timed_wait_word.hpp park
 *   poller        os: each change is told once (edge-triggered); sched/netpoll.cpp ask and tell; rt/poll_word.hpp notify; take_waiter
 *   closer        close_polled: is_closing, revision, evict
 *   mover         set_poll_deadline, NMOVES times, of this direction or of the other one (which shares the revision)
 *   timer         rt/timer_heap.hpp pop_due and cancel, which settle by CAS who has the node; park_until.cpp time_is_over
 *   clock         one tick: what was `soon` is past
 *
 * The goroutine reads until it has NDATA, or is told that the descriptor is closed or the time over. The kernel may tell of something that
 * is over (one event without data: an old generation's, or data that was read already).
 *
 * Granularity: one step is one access to word, mark, revision, is_closing, deadline, the timer's state or the kernel. Memory is TSO: the one store
 * that is neither seq_cst nor a read-modify-write, enter()'s word = none when it found `ready`, goes through a store buffer. A system call
 * empties that: the kernel takes the descriptor's lock before it looks for data, and the lock is taken by whoever brings data as well.
 * (V_BARECALL shows that this is needed: enter() relies on the call that follows it.)
 *
 * Left out: who asks the kernel and when ([poll.somebody_asks]), the other direction's own word, generations of the record, plain threads.
 *
 * What must hold
 *   I1  who is woken waits: nobody is woken twice (ready)
 *   I2  nobody touches the waiter's frame after it was left (touch)
 *   I3  when nothing moves any more and the goroutine still waits, there is no data, no end, and no deadline that is past (quiescent)
 *   I4  (ltl told) if the descriptor is closed, or its data has come, the goroutine goes on, under weak fairness
 *
 * Wrong variants (-DV_...): each must fail
 *   NONEWS     news that finds nobody is not kept
 *   LOOKFIRST  the waiter looks at the revision, then enters the word
 *   NOLOOK     it does not look at the revision
 *   REVLATE    the closer and the mover wake first, then change the revision
 *   REVAFTER   the waiter reads the revision after it has looked at the state
 *   PLAINREV   the revision is still in the store buffer when the word is looked at
 *   NOCAS      evict takes the waiter by a load and a store
 *   NOAWAIT    a waiter whose time is over leaves though its waker has it in hand
 *   NOCANCEL   a waiter that was woken leaves its timer running
 *   BARECALL   the call is no barrier
 */
#ifndef NDATA
#define NDATA 2
#endif
#ifndef NMOVES
#define NMOVES 1
#endif

#define NONE 0                /* the word */
#define READY 1
#define WAITER 2
#define PARKED 1              /* the mark: a set of bits */
#define WOKEN 2
#define TIMED_OUT 4
#define NEVER 0               /* deadlines */
#define SOON 1
#define PAST 2
#define is_past(d) (d == PAST || (d == SOON && is_late))

mtype = { running, waiting, runnable };
mtype g = running;            /* the goroutine's status */
byte word;
byte mark;
byte revision;
bool is_closing;
byte deadline;
mtype = { idle, armed, firing };
mtype node = idle;            /* the timer */
byte node_when;
bool is_late;
byte data;                    /* in the kernel */
bool event;                   /* and it has something to tell */
bool is_ready;                /* poll_waiter, in the frame */

bool is_alive;                /* ghost: the frame is somebody's */
byte frame;                   /* ghost: which one */
byte nread;
bool is_done;

bool pending;                 /* store buffer of the waiter: word = NONE */
bool pending_revision[2];     /* of the closer and the mover, in PLAINREV */
inline drain() { if :: pending -> word = NONE; pending = false :: else fi }

inline touch(f) { assert(is_alive && frame == f) }
inline ready() { assert(g == waiting); g = runnable }

/* take_waiter and ready(), by whoever has taken the waiter of frame f out of the word */
inline end_wait(f) {
  atomic { touch(f);
    if
    :: mark == PARKED -> mark = mark | WOKEN; ready()
    :: else -> mark = mark | WOKEN
    fi }
}

/* poll_word::evict; me: 0 the closer, 1 the mover */
inline evict(me) {
#ifdef V_NOCAS
  seen = word;
  if
  :: seen == WAITER -> atomic { word = NONE; f = frame }; end_wait(f)
  :: else
  fi
#else
  if
  :: word == WAITER ->
     if
     :: atomic { word == WAITER -> word = NONE; f = frame }; end_wait(f)
     :: word != WAITER
     fi
  :: word != WAITER
  fi
#endif
}
inline next_revision(me) {
#ifdef V_PLAINREV
  pending_revision[me] = true
#else
  revision++
#endif
}

/* by the waiter; leaves `won` */
inline withdraw() {
  atomic { drain();
    if
    :: word == WAITER -> word = NONE; won = true
    :: else -> won = false
    fi }
}

proctype waiter() {
  byte rev, when;
  bool won, is_entered;

call:
  atomic {
#ifndef V_BARECALL
    drain();
#endif
    if
    :: data > 0 -> nread = nread + data; data = 0
    :: else
    fi };
  if
  :: nread == NDATA -> goto done
  :: else
  fi;

again:  /* wait_polled */
#ifndef V_REVAFTER
  rev = revision;
#endif
  if
  :: is_closing -> goto done
  :: else
  fi;
  if
  :: is_past(deadline) -> goto done
  :: else
  fi;
  when = deadline;
#ifdef V_REVAFTER
  rev = revision;
#endif
  atomic { is_alive = true; frame++; mark = 0; is_ready = false; is_entered = false; g = waiting };
  if                                                      /* arm_and_publish */
  :: when != NEVER -> atomic { node = armed; node_when = when }
  :: else
  fi;
#ifdef V_LOOKFIRST
  if
  :: revision != rev -> goto entered
  :: else
  fi;
#endif
  if                                                      /* enter_wait */
  :: atomic { pending || word == NONE -> drain(); word = WAITER }
  :: atomic { !pending && word == READY -> skip };
     atomic { pending = true; is_ready = true; goto entered }
  fi;
  is_entered = true;
#if !defined(V_LOOKFIRST) && !defined(V_NOLOOK)
  if
  :: revision == rev
  :: else -> withdraw(); is_entered = !won
  fi;
#endif
entered:
  if                                                      /* enter_and_park, or undo_park */
  :: is_entered ->
     atomic {
       if
       :: mark == 0 -> mark = PARKED
       :: else -> mark = mark | PARKED; ready()
       fi }
  :: else -> atomic { ready() }
  fi;
end_asleep:
  atomic { g == runnable -> g = running };
  if                                                      /* park_limited: the timer is cancelled, or has left its mark */
  :: when == NEVER
  :: else ->
     if
     :: (mark & TIMED_OUT) != 0
     :: atomic { (mark & TIMED_OUT) == 0 && node == armed -> node = idle }
#ifdef V_NOCANCEL
     :: (mark & TIMED_OUT) == 0 && node != armed
#else
     :: (mark & TIMED_OUT) == 0 && node != armed -> (mark & TIMED_OUT) != 0
#endif
     fi
  fi;
  if                                                      /* settle */
  :: !is_entered
  :: else ->
     if
     :: (mark & WOKEN) != 0
     :: else -> withdraw();
#ifndef V_NOAWAIT
        if
        :: won
        :: else -> (mark & WOKEN) != 0
        fi
#endif
     fi
  fi;
  atomic { is_alive = false; won = false; is_entered = false; rev = 0;
    if
    :: is_ready -> goto call
    :: else -> goto again
    fi };

done:
  is_done = true
}

/* the kernel, and whoever asks it */
proctype poller() {
  byte seen, f, n;
  bool is_spurious;
  if                                                      /* as much is still to come, or nothing ever: no event may stand in for a lost end */
  :: n = 0
  :: n = NDATA
  fi;
end:
  do
  :: atomic { n < NDATA -> n++; data++; event = true }    /* something comes */
  :: atomic { !is_spurious -> is_spurious = true; event = true }
  :: atomic { event -> event = false };
     seen = word;                                         /* notify */
     do
     :: atomic { seen == READY -> seen = 0; break }
     :: seen != READY ->
        if
        :: atomic { word == seen && seen == NONE ->
#ifndef V_NONEWS
             word = READY;
#endif
             seen = 0; break }
        :: atomic { word == seen && seen == WAITER -> word = NONE; f = frame; seen = 0 };
           atomic { touch(f); is_ready = true };          /* tell */
           end_wait(f);
           f = 0; break
        :: atomic { word != seen -> seen = word }
        fi
     od
  od
}

proctype timer() {
  byte f;
end:
  do
  :: atomic { node == armed && is_past(node_when) -> node = firing; f = frame };
     atomic { touch(f); node = idle; f = 0;               /* time_is_over */
       if
       :: mark == PARKED -> mark = mark | TIMED_OUT; ready()
       :: else -> mark = mark | TIMED_OUT
       fi }
  od
}

proctype clock() { is_late = true }

proctype closer() {
  byte seen, f;
  if
  :: is_closing = true
  :: goto out                                             /* or nobody ever does, and no end may stand in for a lost event */
  fi;
#ifdef V_REVLATE
  evict(0); revision++;
#else
  next_revision(0); evict(0);
#endif
out:
  skip
}

proctype mover() {
  byte n, seen, f;
end:
  do
  :: atomic { n < NMOVES -> n++ };
     if
     :: deadline = NEVER
     :: deadline = SOON
     :: deadline = PAST
     :: atomic { true -> revision++; goto end }           /* the other direction's */
     fi;
#ifdef V_REVLATE
     evict(1); revision++
#else
     next_revision(1); evict(1)
#endif
  od
}

#ifdef V_PLAINREV
proctype memory_of_others() {
end:
  do
  :: atomic { pending_revision[0] -> pending_revision[0] = false; revision++ }
  :: atomic { pending_revision[1] -> pending_revision[1] = false; revision++ }
  od
}
#endif

proctype memory() {
end:
  do
  :: atomic { pending -> drain() }
  od
}

#ifndef LIVE
proctype quiescent() {
  timeout ->
    assert(is_done || (data == 0 && !event && !is_closing && !is_past(deadline)));
    assert(is_done || (g == waiting && word == WAITER))
}
#endif

init { atomic {
  run waiter(); run poller(); run timer(); run clock(); run mover(); run memory();
  run closer();
#ifdef V_PLAINREV
  run memory_of_others();
#endif
#ifndef LIVE
  run quiescent()
#endif
} }

#ifdef LIVE
ltl told { [] (is_closing -> <> is_done) && [] (deadline == PAST -> <> (deadline != PAST || is_done)) && [] (data > 0 -> <> (data == 0 || is_done)) }
#endif
