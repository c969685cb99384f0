/* park_wake.pml: a thread without work goes to sleep; work that comes is announced: nothing is forgotten between the two.
 *
 * What it models: "submit, spin, park" of src/sched/README.md, the edge [idle.no_lost_wake], step by step as it is coded:
 *
 *   local submit      sched/queues.hpp put_next, rt/run_queue.hpp set_next and push, sched/wake.hpp put_in_front
 *   foreign submit    sched/queues.cpp submit: under L, wake_one_locked
 *   wake_one          sched/procs.cpp wake_one, wake_one_locked, take_idle_spinning_locked, start_locked, wake_m
 *   looking           sched/find_runnable.cpp find_runnable: take_own, take_global, may_spin, take_from_others, drop_p, end_spinning,
 *                     anything_queued, regain_p, found; sched/steal.cpp in its last round; run_queue.hpp is_empty, tail read twice
 *   going to sleep    sched/procs.cpp stop_m: lie_down_locked (with pstarting), os/note.hpp sleep and wake, get_up_locked
 *   parting with a P  sched/procs.cpp hand_off, as in leave_p() of one that goes into blocking() for long
 *   yield (-DYIELD)   sched/switch.hpp commit_departure, departure::yield
 *   the words         rt/idle_protocol.hpp: nrunq, npidle, nspinning, needs_spinning
 *
 * Two Ps, NM Ms, NG goroutines. Each goroutine is queued once (a yield: once more), by another one or, the last, by a plain thread. One
 * that runs may queue others, end, compute for ever on its P (MAXHOG of them: then only somebody else can run what it queued), or
 * go into blocking() and hand its P off (MAXAWAY of them; they do not come back here: that is retake.pml).
 *
 * Granularity: one step is one access to something that others read without L: next, ring, nrunq, npidle, nspinning, needs_spinning, the
 * notes. What only holders of L touch is done in one step with its neighbour; taking L moves up to the first such access of its section
 * and freeing it to the last (in between others can only wait). A note is set in one step with the unlock before it: later, its owner only sleeps longer. Memory is TSO: the one store on these paths that is neither seq_cst nor a
 * read-modify-write, push()'s tail_, goes through a store buffer of its M (sb) and arrives whenever the process `memory` likes, or with
 * the M's next locked instruction.
 *
 * The one who was pushed from the front into the ring, and one who yields (-DYIELD; npidle is only a hint to that), are queued by such
 * a store. An idler may look before it arrives, and if the P's next goroutine computes nobody looks again: so sysmon does (sched/sysmon.cpp
 * watch_slice: something in the ring of a P whose goroutine has run since its last look). Without it the model fails (V_NOSYSMON).
 *
 * Left out: timers and the watcher, the poller, urgent goroutines and borrowing, the stop of the world (resize.pml), handy goroutines
 * (sched/wake.hpp: no thief sees those, and sysmon gets them by the handshake of detach.pml), the 61st turn, the spawner (a P in pstarting waits for the next M that lies down). Lists hand out
 * their lowest member instead of the youngest.
 *
 * What must hold
 *   I1  a P has at most one M (own); a goroutine is run once (state)
 *   I2  when nothing moves any more, nothing is queued, nobody counts as spinning, and each P is idle or computes: `quiescent`
 *   I3  (ltl served) what is queued is run: eventually nothing is queued, since finitely much is, under weak fairness
 *
 * Wrong variants (-DV_...): each must fail
 *   NORECHECK    an idler does not look at the queues after its P is idle (d)
 *   LOOKFIRST    it looks before its P is idle and it has stopped spinning
 *   SPINLATE     it looks, and then stops spinning (c after d)
 *   WAKEFIRST    the submitter announces, then queues
 *   NOCHAIN      whoever found work while spinning does not wake the next one
 *   NOHANDOFF    hand_off puts its P into the idle list and looks no further
 *   PLAINNEXT    set_next is a plain store: it is still in the store buffer when npidle is read
 *   PLAINIDLE    npidle is a plain store: it is still in the store buffer, with the unlock behind it, when the queues are read
 *   SPINNERS     golang/go#45867: as in Go, only an M that was spinning looks again, a submitter does not ask whether a P is idle, and
 *                there is no needs_spinning. With needs_spinning (-DAS_IN_GO) that holds. Every idler of weft looks again, so that
 *                weft holds without the flag as well (-DNO_NEEDS): here it is the second of two locks on one door.
 *   NOSYSMON     nobody looks at the ring of a P whose goroutine computes
 *   DEAFNOTE     a sleeper lies down by a plain store, over a wake-up that came before
 */
#define NP 2
#ifndef NM
#define NM 3
#endif
#ifndef NG
#define NG 4                  /* goroutine 1 runs at the beginning, NG comes from a plain thread */
#endif
#ifndef MAXHOG
#define MAXHOG 1
#endif
#ifndef MAXAWAY
#define MAXAWAY 1
#endif
#define NOP NP                /* no P */
#define FREE NM               /* no M */

#ifdef V_SPINNERS
#define AS_IN_GO
#define NO_NEEDS
#endif

mtype = { fresh, queued, running, over };
mtype state[NG + 1] = fresh;  /* ghost */
byte nqueued;                 /* ghost */
byte own[NP] = FREE;          /* ghost: who has it */
byte nhog, naway;             /* ghost */
bool computes[NP];            /* its goroutine does, for ever */
#ifdef YIELD
byte nyielded;                /* ghost */
#endif
byte nmade = 1;               /* goroutines that others than the plain thread have made */

bool lock;                    /* L */
byte next[NP];                /* run_queue: the front ... */
chan ring[NP] = [NG] of { byte };  /* ... and the ring */
chan runq = [NG] of { byte }; /* L */
byte nrunq;
bool pidle[NP];               /* L */
byte npidle;
byte nspinning;
bool needs_spinning;
bool midle[NM];               /* L */
bool pstarting[NP];           /* L */
bool wakes_spinning[NP];      /* L */
byte nextp[NM] = NOP;         /* L */
bool spins[NM];               /* M::is_spinning: its own, or it sleeps */
#define EMPTY 0
#define SET 1
#define ASLEEP 2
byte note[NM];

#define RING 1
#define NEXT 2
#define IDLE 3
chan sb[NM + 1] = [1] of { byte, byte, byte };  /* store buffers: what, P, goroutine; sysmon's is empty */
byte sw, sp, sg;              /* scratch, 0 outside atomic steps */

/* inside atomic steps */
inline drain(i) {
  if
  :: nempty(sb[i]) ->
     sb[i]?sw,sp,sg;
     if
     :: sw == RING -> ring[sp]!sg
     :: sw == NEXT -> next[sp] = sg
     :: sw == IDLE -> npidle++; lock = false
     fi;
     sw = 0; sp = 0; sg = 0
  :: empty(sb[i])
  fi
}
inline begin_run(gg) { assert(state[gg] == queued); state[gg] = running; nqueued-- }
inline now_queued(gg) { state[gg] = queued; nqueued++ }
inline attach(p) { assert(own[p] == FREE); own[p] = id }
inline release(p) { assert(own[p] == id); own[p] = FREE }
inline take_idle(p) { p = (pidle[0] -> 0 : 1); assert(pidle[p]); pidle[p] = false; npidle-- }
inline start_locked(p, s) {
  if
  :: midle[0] -> w = 1
  :: !midle[0] && midle[1] -> w = 2
#if NM > 2
  :: !midle[0] && !midle[1] && midle[2] -> w = 3
#endif
  :: else -> pstarting[p] = true; wakes_spinning[p] = s
  fi;
  if
  :: w != 0 -> midle[w - 1] = false; nextp[w - 1] = p; spins[w - 1] = s
  :: else
  fi
}

/* begin_spinning; inside a step with what is before it */
inline needs_no_more() { needs_spinning = false }
#ifdef NO_NEEDS
#define NEEDS false
#else
#define NEEDS needs_spinning
#endif

inline wake_m() { if :: w != 0 -> note[w - 1] = SET; w = 0 :: else fi }

/* wake_one_locked and what follows it; L is held, and nspinning was 0 and is 1 by our CAS */
inline wake_idle() {
  if
  :: atomic { npidle > 0 -> take_idle(x); start_locked(x, true); x = 0; lock = false; wake_m() }
  :: atomic { npidle == 0 -> needs_spinning = true }; atomic { nspinning--; lock = false }
  fi
}
inline wake_one() {
  if
#ifdef AS_IN_GO
  :: true ->
#else
  :: npidle == 0
  :: else ->
#endif
     if
     :: nspinning != 0
     :: else ->
        if
        :: atomic { !lock && nspinning == 0 -> drain(id); lock = true; nspinning = 1 }; wake_idle()
        :: atomic { !lock && nspinning != 0 -> drain(id) }
        fi
     fi
  fi
}

/* one half of anything_queued: is_empty of P p, without the first read of head_, with which it could only say "not empty" more often */
inline look_at_queue(p) {
  if
  :: seen
  :: else ->
     if :: nempty(ring[p]) -> seen = true :: empty(ring[p]) fi;
     if :: seen :: !seen && next[p] != 0 -> seen = true :: !seen && next[p] == 0 fi;
     if :: seen :: !seen && nempty(ring[p]) -> seen = true :: !seen && empty(ring[p]) fi
  fi
}
inline anything_queued() {
  if :: nrunq != 0 -> seen = true :: nrunq == 0 -> seen = false fi;
  look_at_queue(0);
  look_at_queue(1)
}

proctype m(byte id) {
  byte pp = NOP, g, w, x;
  bool seen, is_wanted;

  if
  :: id == 0 -> atomic { pp = 0; g = 1; goto body }
  :: else -> goto bed
  fi;

look:  /* find_runnable */
  assert(own[pp] == id && nextp[id] == NOP);
  if                                                      /* take_own: the front */
  :: atomic { next[pp] != 0 -> drain(id); g = next[pp]; next[pp] = 0; goto found }
  :: atomic { next[pp] == 0 && nempty(sb[id]) -> drain(id); goto look }  /* an M sees its own stores, and pop() is a CAS */
  :: next[pp] == 0 && empty(sb[id])
  fi;
  if
  :: atomic { nempty(ring[pp]) -> ring[pp]?g; goto found }
  :: empty(ring[pp])
  fi;
  if                                                      /* take_global */
  :: nrunq == 0
  :: atomic { nrunq != 0 && !lock -> drain(id);
       if
       :: nempty(runq) -> runq?g; lock = true; goto share
       :: empty(runq)
       fi }
  fi;
  if                                                      /* may_spin */
  :: spins[id]
  :: else -> x = NP - npidle;
     if
     :: atomic { 2 * nspinning < x -> x = 0; }; atomic { spins[id] = true; nspinning++; drain(id) }; needs_no_more()
     :: atomic { 2 * nspinning >= x -> x = 0; goto drop }
     fi
  fi;
  if                                                      /* steal_work: the other P's ring, then its front */
  :: atomic { nempty(ring[1 - pp]) -> ring[1 - pp]?g; goto found }
  :: empty(ring[1 - pp])
  fi;
  if
  :: atomic { next[1 - pp] != 0 -> g = next[1 - pp]; next[1 - pp] = 0; goto found }
  :: next[1 - pp] == 0
  fi;

drop:  /* drop_p */
#ifdef V_LOOKFIRST
  anything_queued();
#endif
  if
  :: atomic { !lock && nempty(runq) -> drain(id); runq?g; lock = true; goto share }
  :: atomic { !lock && empty(runq) && !spins[id] && NEEDS -> drain(id); lock = true; spins[id] = true; nspinning++ };
     atomic { needs_no_more(); lock = false; goto look }
#ifdef V_PLAINIDLE
  :: atomic { !lock && empty(runq) && (spins[id] || !NEEDS) -> drain(id); release(pp); pidle[pp] = true; lock = true; sb[id]!IDLE,0,0; pp = NOP }
#else
  :: atomic { !lock && empty(runq) && (spins[id] || !NEEDS) -> drain(id); release(pp); pidle[pp] = true; npidle++; pp = NOP }
#endif
  fi;
#if !defined(V_SPINLATE)
  if                                                      /* end_spinning */
  :: atomic { spins[id] -> spins[id] = false; drain(id); nspinning-- }
  :: atomic { !spins[id] ->
#ifdef AS_IN_GO
       goto bed
#else
       skip
#endif
     }
  fi;
#endif
#if defined(V_NORECHECK)
  seen = false;
#elif !defined(V_LOOKFIRST)
  anything_queued();
#endif
#ifdef V_SPINLATE
  if
  :: atomic { spins[id] -> spins[id] = false; drain(id); nspinning-- }
  :: !spins[id]
  fi;
#endif
  if
  :: seen ->                                              /* regain_p */
     atomic { seen = false;
       if :: nempty(sb[id]) -> drain(id) :: empty(sb[id]) fi };
     if
     :: atomic { !lock && npidle > 0 -> lock = true; take_idle(pp); attach(pp) };
        atomic { spins[id] = true; nspinning++ };
        atomic { needs_no_more(); lock = false; goto look }
     :: atomic { !lock && npidle == 0 -> needs_spinning = true }
     fi
  :: else
  fi;

bed:  /* stop_m */
  atomic { nempty(sb[id]) || !lock ->
    drain(id);
    if
    :: !lock
    :: else -> goto bed
    fi;
    if
    :: pstarting[0] || pstarting[1] ->
       pp = (pstarting[0] -> 0 : 1); pstarting[pp] = false; spins[id] = wakes_spinning[pp]; wakes_spinning[pp] = false; attach(pp); goto look
    :: else -> midle[id] = true
    fi };
sleep:
#ifdef V_DEAFNOTE
  if :: note[id] == SET -> goto end_asleep :: else fi;
  note[id] = ASLEEP;
#else
  atomic { if :: note[id] == SET -> goto end_asleep :: else -> note[id] = ASLEEP fi };
#endif
end_asleep:
  atomic { note[id] != ASLEEP && !lock -> note[id] = EMPTY;
    if
    :: nextp[id] != NOP -> pp = nextp[id]; nextp[id] = NOP; attach(pp); goto look
    :: else -> goto sleep
    fi };

share:  /* take_global_locked: g is in hand, L held; of two more one goes into our ring (size / nprocs + 1) */
  atomic { assert(lock);
    if
    :: len(runq) > 0 -> runq?x; ring[pp]!x; x = 0
    :: else
    fi };
  atomic { nrunq = len(runq); lock = false };

found:
  if
  :: atomic { spins[id] -> spins[id] = false; drain(id); nspinning-- };
#ifndef V_NOCHAIN
     wake_one()
#else
     skip
#endif
  :: !spins[id]
  fi;
  atomic { begin_run(g) };

body:  /* it runs, and makes calls into the runtime */
  assert(own[pp] == id);
  if
  :: atomic { nmade < NG - 1 -> nmade++; x = nmade;       /* it makes another one runnable: put_next */
#ifdef V_WAKEFIRST
       skip }; wake_one(); atomic { x = 0; do :: state[x] != fresh || x == 0 -> x++ :: else -> break od;
#endif
       now_queued(x);
#ifdef V_PLAINNEXT
       drain(id); w = next[pp]; sb[id]!NEXT,pp,x; x = 0
#else
       drain(id); w = next[pp]; next[pp] = x; x = 0
#endif
     };
     if
     :: atomic { w != 0 -> drain(id); sb[id]!RING,pp,w; w = 0 }
     :: w == 0
     fi;
#ifndef V_WAKEFIRST
     wake_one();
#endif
     goto body
#ifdef YIELD
  :: atomic { nyielded < 1 && (next[pp] != 0 || nempty(ring[pp])) ->  /* it yields, to the next of its own P: pick_direct, then the commit */
       nyielded++; drain(id); x = g;
       if
       :: next[pp] != 0 -> g = next[pp]; next[pp] = 0
       :: else -> ring[pp]?g
       fi };
     atomic { now_queued(x);
       sb[id]!RING,pp,x; x = 0 };
     if :: npidle != 0 -> wake_one() :: npidle == 0 fi;
     atomic { begin_run(g); goto body }
#endif
  :: atomic { state[g] = over; g = 0; goto look }         /* it ends */
  :: atomic { nhog < MAXHOG -> nhog++; computes[pp] = true; state[g] = over; g = 0 };
end_computes:
     false
  :: atomic { naway < MAXAWAY -> naway++; state[g] = over; g = 0; release(pp) };
     if                                                   /* hand_off */
     :: atomic { !lock && (next[pp] != 0 || nempty(ring[pp]) || nempty(sb[id]) || nrunq != 0) ->
          drain(id); start_locked(pp, false); pp = NOP;
          if
          :: w != 0 -> wake_m(); goto end_away
          :: else
          fi };
#ifndef V_NOHANDOFF
        anything_queued(); if :: seen -> wake_one() :: !seen fi
#endif
     :: atomic { !lock && next[pp] == 0 && empty(ring[pp]) && empty(sb[id]) && nrunq == 0 -> pidle[pp] = true; npidle++; pp = NOP; lock = true };
        atomic { is_wanted = NEEDS; lock = false };
#ifndef V_NOHANDOFF
        if
        :: is_wanted -> seen = true
        :: else -> anything_queued()
        fi;
        if :: seen -> wake_one() :: !seen fi
#endif
     fi;
end_away:
     false
  fi
}

/* submit(), on a thread that is not weft's */
proctype outside() {
  byte w, x;
  atomic { !lock -> lock = true; now_queued(NG); runq!NG; nrunq = len(runq) };
  if
  :: atomic { nspinning == 0 -> nspinning = 1 }; wake_idle()
  :: atomic { nspinning != 0 -> lock = false }
  fi
}

#ifndef V_NOSYSMON
/* watch_slice; a look that finds nobody idle, or one that spins, changes nothing */
#define OVERHEARD(p) (computes[p] && nempty(ring[p]) && npidle > 0 && nspinning == 0)
proctype sysmon() {
  byte id = NM, w, x;
end:
  do
  :: OVERHEARD(0) || OVERHEARD(1) -> wake_one()
  od
}
#endif

proctype memory() {
end: do
  :: atomic { nempty(sb[0]) -> drain(0) }
  :: atomic { nempty(sb[1]) -> drain(1) }
#if NM > 2
  :: atomic { nempty(sb[2]) -> drain(2) }
#endif
  od
}

#ifndef LIVE
proctype quiescent() {
  timeout ->
    assert(nqueued == 0);
    assert(nspinning == 0);
    assert(npidle + nhog == NP)
}
#endif

init { atomic {
  own[0] = 0; state[1] = running;
  pidle[1] = true; npidle = 1;
  run m(0); run m(1);
#if NM > 2
  run m(2);
#endif
  run outside(); run memory();
#ifndef V_NOSYSMON
  run sysmon();
#endif
#ifndef LIVE
  run quiescent()
#endif
} }

#ifdef LIVE
ltl served { <> [] (nqueued == 0) }
#endif
