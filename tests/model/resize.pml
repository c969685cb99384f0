/* resize.pml: the world is stopped, the number of Ps changes, the world goes on: all Ps are in, none is lost, what they had is run.
 *
 * What it models: src/sched/README.md "Stop the world", the edges [detach.exclusive], [detach.attention] and [p.handoff]:
 *
 *   stopping        sched/world.cpp stop_world: announce, all_in, detach_round, take_from, count_stopped_locked
 *   resizing        resize_stopped, retire_locked; sched/queues.cpp drain_locked
 *   starting        start_world; sched/detach.hpp is_still_out_locked; procs.cpp anything_queued, wake_one
 *   Ms that run     find_runnable.cpp find_runnable: the look at is_stopping, drop_p, spinning and stealing; world.cpp stop_for_world
 *   Ms outside      in user code, inside blocking(), or computing: they lose their P and find out when they come in (entry.cpp enter_slow,
 *                   come_in, queue_self_locked, wait_for_p), unless start_world gave it back before
 *   Ms that part    procs.cpp hand_off (leave_p before a long call), schedule.cpp hand_over (a P on its way while the world stops), start_locked,
 *                   stop_m, pstarting
 *
 * A plain thread resizes: from FROM Ps to TO and back, -DONCE: not back. NG goroutines, each of which makes NCALLS calls (a call that may
 * yield, or blocking()) and then ends; with -DHOG the first one computes all the time, and makes no call before the last resize is done; with
 * -DLONGCALL no call of blocking() ends before it either.
 *
 * Granularity: one step is one access to word, inside, attention, is_stopping, the queues, npidle, nspinning or P::m. What only holders of L touch
 * is one step with its neighbour. Memory is sequentially consistent here (inside = 1: detach.pml; the queues: park_wake.pml). The stopper's rest
 * between two rounds ends when somebody has a P (a round that finds nobody to ask does nothing).
 *
 * Left out: fronts of queues, P::picked, needs_spinning, sysmon, borrowing, timers, the end of a runtime.
 *
 * What must hold
 *   I1  each P is in exactly one hand (own); an M inside the runtime, past enter(), has its P
 *   I2  between stop and start all Ps below nprocs are in, and no M has one
 *   I3  when nothing moves any more: every goroutine has ended, each P below nprocs is idle, none above it, nobody spins (quiescent)
 *   I4  (ltl goes_on) the world does not stay stopped, and every goroutine ends, under weak fairness
 *
 * Wrong variants (-DV_...): each must fail
 *   DROPANYWAY   drop_p puts a P into the idle list though the world stops
 *   HANDOFF      hand_off does not ask whether the world stops (seen with LONGCALL: else its P comes in with the one that returns)
 *   STOPLATE     the idle Ps are taken, and then the stop is announced
 *   ONEROUND     one round of requests only
 *   NOATTENTION  who is found inside the runtime is not told, and asked only once
 *   NODRAIN      what a removed P had stays with it
 *   NOLOOK       start_world does not look whether anything is queued
 *   NOSTILLOUT   a P goes back to the M it came from, though that has come for one since
 *   NORECHECK    come_in does not ask under L whether the P was given back meanwhile
 */
#define NP 2
#ifndef FROM
#define FROM 2
#endif
#ifndef TO
#define TO 1
#endif
#ifndef NG
#define NG 2
#endif
#ifndef NM
#define NM 3
#endif
#ifndef NCALLS
#define NCALLS 1
#endif
#define NOP NP
#define NOM NM
#define NOG NG
#define FREE NM               /* own: in the idle list, or beyond nprocs */
#define HAND (NM + 1)         /* own: in somebody's hands */
#define STOP (NM + 2)         /* own: in the stopper's */

#define OWN 0                 /* the detach word */
#define LOST 1
#define REQ 2                 /* one requester: stops are serialised */

mtype = { running, syscall, runnable, dead };
mtype gst[NG] = runnable;
byte bound[NG] = NOM;
byte left[NG] = NCALLS;
byte word[NM];
bool inside[NM] = true;
bool attention[NM];
byte mp[NM] = NOP;
byte pm[NP] = NOM;
byte own[NP] = FREE;          /* ghost */
byte ndead;                   /* ghost */
bool is_resized;              /* ghost */

bool lock;                    /* L, where a section has more than one step */
bool is_stopping;
byte nstopped;                /* L ... */
byte nprocs = FROM;
bool pidle[NP];
byte npidle;
byte nspinning;
chan ring[NP] = [NG] of { byte };
chan runq = [NG] of { byte };
bool midle[NM];
bool pstarting[NP];
bool wakes_spinning[NP];
byte nextp[NM] = NOP;
byte lender[NP] = NOM;
bool waits[NM];               /* for a P, in the queue; ... L */
bool spins[NM];
bool note[NM];
byte sc, sg;                  /* scratch, 0 outside atomic steps */

/* under L, inside atomic steps */
inline attach(p, v) {
  assert(own[p] == HAND || own[p] == FREE || own[p] == STOP); assert(mp[v] == NOP || word[v] == LOST); assert(p < nprocs);
  own[p] = v; pm[p] = v; mp[v] = p; word[v] = OWN
}
inline take_idle(p) { p = (pidle[0] -> 0 : 1); assert(pidle[p]); pidle[p] = false; npidle--; own[p] = HAND }
inline put_idle(p) { own[p] = FREE; pm[p] = NOM; pidle[p] = true; npidle++ }
inline count_stopped(p) { own[p] = STOP; pm[p] = NOM; nstopped++ }
inline release() { q = mp[id]; mp[id] = NOP; pm[q] = NOM; own[q] = HAND }
inline start_locked(p, s) {
  do
  :: sc < NM && midle[sc] -> w = sc; break
  :: sc < NM && !midle[sc] -> sc++
  :: sc == NM -> w = NOM; break
  od;
  sc = 0;
  if
  :: w != NOM -> midle[w] = false; assert(nextp[w] == NOP); nextp[w] = p; spins[w] = s
  :: else -> pstarting[p] = true; wakes_spinning[p] = s
  fi;
  own[p] = HAND
}
/* in one step with the section of L before it: later, its owner only sleeps longer */
inline wake_m() { if :: w != NOM -> note[w] = true; w = NOM :: else fi }
inline anything_queued() {
  if
  :: nempty(runq) || nempty(ring[0]) -> seen = true
  :: empty(runq) && empty(ring[0]) -> seen = (nprocs > 1 && nempty(ring[1]))
  fi
}
inline wake_one() {
  if
  :: npidle == 0
  :: npidle != 0 && nspinning != 0
  :: npidle != 0 && nspinning == 0 ->
     if
     :: atomic { !lock && nspinning == 0 && npidle > 0 -> nspinning = 1; take_idle(q); start_locked(q, true); q = NOP; wake_m() }
     :: !lock && (nspinning != 0 || npidle == 0)
     fi
  fi
}

proctype m(byte id) {
  byte g = NOG, w = NOM, q = NOP;
  bool in_call, seen;

  atomic {
    if
    :: id < FROM -> goto look
    :: else -> goto bed
    fi };

look:  /* find_runnable */
  atomic { assert(mp[id] != NOP && own[mp[id]] == id && word[id] != LOST); attention[id] = false;
    if
    :: !is_stopping -> goto round
    :: else
    fi };
  atomic { !lock ->                                       /* stop_for_world */
    if :: spins[id] -> spins[id] = false; nspinning-- :: else fi;
    release();
    assert(is_stopping);                                  /* the stop cannot end without this P */
    count_stopped(q); q = NOP; goto bed };
round:  /* look_round: its own queue, the global one */
  atomic {
    if
    :: nempty(ring[mp[id]]) -> ring[mp[id]]?g; goto found
    :: empty(ring[mp[id]]) && nempty(runq) && !lock -> runq?g; goto found
    :: empty(ring[mp[id]]) && empty(runq)
    fi };
  atomic {                                                /* take_from_others */
    if
    :: spins[id]
    :: !spins[id] && 2 * nspinning >= nprocs - npidle -> goto drop
    :: !spins[id] && 2 * nspinning < nprocs - npidle -> spins[id] = true; nspinning++
    fi };
  atomic {
    if
    :: nprocs > 1 && nempty(ring[1 - mp[id]]) -> ring[1 - mp[id]]?g; goto found
    :: nprocs == 1 || empty(ring[1 - mp[id]])
    fi };
drop:
  if
#ifndef V_DROPANYWAY
  :: !lock && is_stopping -> goto look
#define MAYDROP !is_stopping
#else
#define MAYDROP true
#endif
  :: atomic { !lock && MAYDROP && nempty(runq) -> runq?g; goto found }
  :: atomic { !lock && MAYDROP && empty(runq) -> release(); put_idle(q); q = NOP }
  fi;
  atomic { if :: spins[id] -> spins[id] = false; nspinning-- :: else fi };
  atomic { anything_queued(); if :: seen -> seen = false :: else -> goto bed fi };
  if                                                      /* regain_p */
     :: atomic { !lock && npidle > 0 -> take_idle(q); attach(q, id); q = NOP; spins[id] = true; nspinning++; goto look }
     :: !lock && npidle == 0
  fi;

bed:  /* stop_m */
  atomic { !lock ->
    do
    :: sc < NP && pstarting[sc] -> pstarting[sc] = false; spins[id] = wakes_spinning[sc]; wakes_spinning[sc] = false; attach(sc, id); sc = 0; goto look
    :: sc < NP && !pstarting[sc] -> sc++
    :: sc == NP -> sc = 0; break
    od;
    midle[id] = true };
end_asleep:
  atomic { note[id] && !lock -> note[id] = false;
    if
    :: nextp[id] != NOP -> q = nextp[id]; nextp[id] = NOP; attach(q, id); q = NOP; goto look
    :: else -> goto end_asleep
    fi };

found:
  if
  :: atomic { spins[id] -> spins[id] = false; nspinning-- }; wake_one()
  :: !spins[id]
  fi;
  if
  :: bound[g] != NOM ->                                   /* hand_over */
     atomic { w = bound[g]; g = NOG; release() };
     atomic { !lock -> assert(nextp[w] == NOP); nextp[w] = q; waits[w] = false; q = NOP; wake_m(); goto bed }
  :: else
  fi;
  atomic { assert(gst[g] == runnable); gst[g] = running }; /* execute */

leave:
  inside[id] = false;
  if
  :: attention[id] -> goto yield_in                       /* leave_slow */
  :: !attention[id]
  fi;

user:
#ifdef HOG
  (g != 0 || is_resized);
#endif
  inside[id] = true;                                      /* enter */
  if
  :: word[id] != OWN -> goto settle
  :: word[id] == OWN
  fi;
entered:
  assert(mp[id] != NOP && own[mp[id]] == id && word[id] != LOST);
  if
  :: atomic { in_call -> in_call = false; gst[g] = running; inside[id] = false; goto user }   /* end_blocking */
  :: atomic { !in_call && left[g] == 0 -> gst[g] = dead; ndead++; g = NOG; goto look }
  :: atomic { !in_call && left[g] > 0 -> left[g]--; goto leave }      /* a call that may yield: checkpoint() */
  :: atomic { !in_call && left[g] > 0 -> left[g]--; goto yield }
  :: atomic { !in_call && left[g] > 0 -> left[g]--; gst[g] = syscall; in_call = true }    /* begin_blocking */
  fi;
  if
  :: goto call
  :: atomic { release() }                                 /* leave_p: part_with_p, hand_off */
  fi;
#ifdef V_HANDOFF
#define MAYHAND true
#else
#define MAYHAND !is_stopping
#endif
  atomic { !lock ->
    if
    :: !(MAYHAND) -> count_stopped(q); q = NOP; goto lose
    :: MAYHAND && (nempty(ring[q]) || nempty(runq)) -> start_locked(q, false); q = NOP;
       if
       :: w != NOM -> wake_m(); goto lose
       :: else
       fi
    :: MAYHAND && empty(ring[q]) && empty(runq) -> put_idle(q); q = NOP
    fi };
  atomic { anything_queued(); if :: seen -> seen = false :: else -> goto lose fi };
  wake_one();
lose:
  atomic { !lock -> word[id] = LOST };
call:
  inside[id] = false;                                     /* f */
#ifdef LONGCALL
  is_resized;
#endif
  inside[id] = true;
  if
  :: word[id] == OWN -> goto entered
  :: word[id] != OWN
  fi;

settle:  /* enter_slow */
  if
  :: word[id] == OWN -> goto entered
  :: atomic { word[id] == REQ -> word[id] = OWN; attention[id] = true; goto entered }
  :: word[id] == LOST
  fi;
  if                                                      /* come_in */
#ifdef V_NORECHECK
  :: atomic { !lock ->
#else
  :: !lock && word[id] != LOST -> goto settle
  :: atomic { !lock && word[id] == LOST ->
#endif
       mp[id] = NOP;
       if
       :: npidle > 0 -> take_idle(q); attach(q, id); q = NOP; goto entered
       :: else -> bound[g] = id; gst[g] = runnable; waits[id] = true; runq!g
       fi }
  fi;
  do                                                      /* wait_for_p */
  :: atomic { note[id] && !lock -> note[id] = false;
       if
       :: nextp[id] != NOP -> q = nextp[id]; nextp[id] = NOP; attach(q, id); q = NOP; break
       :: else
       fi }
  od;
  atomic { bound[g] = NOM; gst[g] = (in_call -> syscall : running); goto entered };

yield_in:
  inside[id] = true;
  if
  :: word[id] != OWN -> goto settle                       /* regains a P; attention still stands */
  :: word[id] == OWN
  fi;
yield:  /* through g0, to the end of its P's ring */
  atomic { gst[g] = runnable; ring[mp[id]]!g; g = NOG };
  wake_one();
  goto look
}

proctype stopper() {
  byte n = TO, w = NOM, q = NOP, p;
  byte asked[NP] = NOM;
  bool seen;
  bool is_back;

again:
#ifdef V_STOPLATE
  atomic { !lock -> nstopped = 0; do :: npidle > 0 -> take_idle(q); count_stopped(q) :: npidle == 0 -> q = NOP; break od };
  atomic { !lock -> is_stopping = true; lock = true };
#else
  atomic { !lock -> nstopped = 0; is_stopping = true; lock = true };          /* announce */
  atomic { do :: npidle > 0 -> take_idle(q); count_stopped(q) :: npidle == 0 -> q = NOP; break od };
#endif
  atomic {
    do
    :: sc < NP && pstarting[sc] -> pstarting[sc] = false; nspinning = nspinning - wakes_spinning[sc]; wakes_spinning[sc] = false; count_stopped(sc)
    :: sc < NP && !pstarting[sc] -> sc++
    :: sc == NP -> sc = 0; break
    od;
    lock = false };
  do
  :: !lock && nstopped == nprocs -> break
  :: nstopped != nprocs && (pm[0] != NOM || pm[1] != NOM) ->                  /* detach_round */
     do
     :: atomic { p < nprocs -> q = pm[p];
          if
          :: q != NOM && word[q] == OWN -> word[q] = REQ; asked[p] = q
          :: else
          fi;
          q = NOP; p++ }
     :: atomic { p == nprocs -> p = 0; break }
     od;
     do
     :: atomic { p < nprocs && asked[p] == NOM -> p++ }
     :: p < nprocs && asked[p] != NOM ->
        atomic { q = mp[asked[p]];                        /* while the request stands; request_settle: load inside */
          if
          :: inside[asked[p]] -> q = NOP;
#ifndef V_NOATTENTION
             attention[asked[p]] = true
#else
             skip
#endif
          :: else
          fi };
        atomic {
          if
          :: q == NOP && word[asked[p]] == REQ -> word[asked[p]] = OWN      /* withdraw */
          :: q != NOP && word[asked[p]] == REQ -> word[asked[p]] = LOST; assert(own[q] == asked[p]); own[q] = HAND
          :: word[asked[p]] != REQ -> q = NOP
          fi };
        if
        :: q == NOP
        :: atomic { q != NOP && !lock -> lender[q] = asked[p]; count_stopped(q); q = NOP }   /* take_from */
        fi;
        atomic { asked[p] = NOM; p++ }
     :: atomic { p == nprocs -> p = 0; break }
     od;
#if defined(V_ONEROUND) || defined(V_NOATTENTION)
     nstopped == nprocs
#endif
  od;
  atomic {                                                /* I2, and resize_stopped */
    do :: sc < nprocs -> assert(own[sc] == STOP); sc++ :: sc == nprocs -> sc = 0; break od;
    do :: sc < NM -> assert(word[sc] == LOST || mp[sc] == NOP); sc++ :: sc == NM -> sc = 0; break od;
    assert(npidle == 0) };
  atomic { !lock ->
    sc = n;
    do
    :: sc < nprocs ->
       lender[sc] = NOM; own[sc] = FREE;
#ifndef V_NODRAIN
       do :: nempty(ring[sc]) -> ring[sc]?sg; runq!sg :: empty(ring[sc]) -> sg = 0; break od;
#endif
       sc++
    :: sc >= nprocs -> sc = 0; break
    od;
    do :: nprocs < n -> own[nprocs] = STOP; nprocs++ :: nprocs >= n -> break od;
    nprocs = n };
  atomic { !lock -> lock = true; is_stopping = false };   /* start_world */
  do
  :: atomic { p < nprocs ->
       q = lender[p]; lender[p] = NOM;
       if
#ifdef V_NOSTILLOUT
       :: q != NOM && word[q] == LOST -> attach(p, q)
#else
       :: q != NOM && !waits[q] && word[q] == LOST && mp[q] == p -> attach(p, q)
#endif
       :: else ->
          if
          :: nempty(ring[p]) -> start_locked(p, false); wake_m()
          :: empty(ring[p]) -> put_idle(p)
          fi
       fi;
       q = NOP; p++ }
  :: atomic { p == nprocs -> p = 0; lock = false; break }
  od;
#ifndef V_NOLOOK
  atomic { anything_queued(); if :: seen -> seen = false :: else -> goto started fi };
  wake_one();
#endif
started:
#ifndef ONCE
  if
  :: !is_back -> atomic { is_back = true; n = FROM; goto again }
  :: else
  fi;
#endif
  is_resized = true
}

#ifndef LIVE
proctype quiescent() {
  timeout ->
    assert(!is_stopping && is_resized);
    assert(ndead == NG);
    assert(npidle == nprocs && nspinning == 0)
}
#endif

init { atomic {
  byte i;
  do
  :: i < NG -> ring[0]!i; i++
  :: i == NG -> i = 0; break
  od;
  do
  :: i < NM ->
     if
     :: i < FROM -> own[i] = i; pm[i] = i; mp[i] = i
     :: else
     fi;
     run m(i); i++
  :: i == NM -> i = 0; break
  od;
  run stopper();
#ifndef LIVE
  run quiescent()
#endif
} }

#ifdef LIVE
ltl goes_on { [] (is_stopping -> <> !is_stopping) && <> [] (ndead == NG) }
#endif
