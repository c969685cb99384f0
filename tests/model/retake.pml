/* retake.pml: a thread inside blocking() may lose its P; exactly one has the P, and nobody who comes back stays without one for ever.
 *
 * What it models: src/sched/README.md "The bracket, blocking and retake", the edges [detach.exclusive] and [p.handoff]:
 *
 *   blocking()         sched/syscall.cpp begin_blocking, begin, end_blocking, end; with leave_p (sched/borrow.cpp) of one that blocks for long
 *   taking the P       sched/sysmon.cpp look, retake; sched/detach.hpp detach; rt/detach_word.hpp request, request_settle
 *   passing it on      sched/procs.cpp hand_off, wake_one, start_locked, stop_m
 *   coming back        rt/detach_word.hpp enter, settle; sched/entry.cpp end_on_credit, enter_slow, regain, come_in, queue_up,
 *                      queue_self_locked, wait_for_p; sched/borrow.cpp borrow, take_over
 *   on credit          entry.cpp begin_on_credit, end_on_credit: it goes on without a P until it needs one; preempt.cpp reattach may give it one
 *   bound goroutines   sched/schedule.cpp next_goroutine, hand_over; procs.cpp sleep_until_given_p
 *   yielding           entry.cpp leave_slow, park.cpp yield_through_g0: through the global queue here
 *
 * NG goroutines make NCALLS calls each (all but the first: NCALLS_OTHERS), into blocking() or one that yields, in any order, and end. NM threads, one more than goroutines at
 * least, or the spawner (left out) would have to make one.
 *
 * Granularity: one step is one access to word, inside, attention, a goroutine's status, P::m, nrunq or npidle. What only holders of L touch is one
 * step with its neighbour. Memory is sequentially consistent here: the one store that is not, inside = 1, is the subject of detach.pml, which
 * shows that the barrier makes it so.
 *
 * Left out: local queues and spinning (park_wake.pml), preemption of those who compute, urgent goroutines' precedence and press_urgent (a second
 * line of defence which this model does without), ticks: sysmon tries to retake whenever it sees one inside blocking() while somebody waits, and asks
 * for attention as it does when a slice is over.
 *
 * What must hold
 *   I1  each P is in exactly one hand: an M's, a requester's, on its way to an M (nextp, pstarting), or in the idle list (own)
 *   I2  an M inside the runtime, past enter(), has a P: its own
 *   I3  a goroutine is run by one M at a time
 *   I4  no M is woken with two Ps
 *   I5  when nothing moves any more, every goroutine has ended and every P is idle (quiescent)
 *   I6  (ltl regained) an M that waits for a P gets one, and every goroutine ends, under weak fairness
 *
 * Wrong variants (-DV_...): each must fail
 *   PLAINSETTLE  an M that comes back settles a request by a plain store
 *   STALEP       the retaker takes the P that it looked at, not the one the M has while the request stands
 *   NORECHECK    come_in does not ask under L whether a P was given back meanwhile
 *   NOMARK       one that goes to borrow is not marked so: it is given a P meanwhile
 *   NOQUEUECHECK queue_up does not look for an idle P once more
 *   WAKEFIRST    hand_over wakes the thread, then gives it the P
 *   NOHANDOFF    hand_off puts the P into the idle list though somebody is queued
 *   TWOWINNERS   the retaker stores LOST without a CAS
 */
#ifndef NP
#define NP 1
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
#ifndef NCALLS_OTHERS         /* of all but the first */
#define NCALLS_OTHERS NCALLS
#endif
#define NOP NP
#define NOM NM
#define NOG NG
#define FREE NM               /* own: in the idle list */
#define HAND (NM + 1)         /* own: in somebody's hands */

#define OWN 0                 /* the detach word */
#define LOST 1
#define REQ(r) (2 + r)        /* r: an M, or NM: sysmon */

mtype = { running, syscall, runnable, dead };
mtype gst[NG + 1] = running;
byte bound[NG] = NOM;
byte left[NG] = NCALLS_OTHERS;  /* calls it will still make */
byte ndead;                   /* ghost */
byte word[NM];
bool inside[NM] = true;
bool attention[NM];
byte mp[NM] = NOP;            /* M::p */
byte pm[NP] = NOM;            /* P::m */
byte curg[NM] = NOG;
byte own[NP] = FREE;          /* ghost */

bool pidle[NP];               /* L ... */
byte npidle;
chan runq = [NG] of { byte };
bool midle[NM];
bool pstarting[NP];
byte nextp[NM] = NOP;
mtype = { none, waits_for_p, borrows };
mtype waits[NM] = none;       /* ... L */
bool note[NM];
byte sc;                      /* scratch, 0 outside atomic steps */

/* under L, inside atomic steps */
inline attach(p, v) {
  assert(own[p] == HAND || own[p] == FREE); assert(mp[v] == NOP || word[v] == LOST);
  own[p] = v; pm[p] = v; mp[v] = p; word[v] = OWN
}
inline take_idle(p) {
#if NP > 1
  p = (pidle[0] -> 0 : 1);
#else
  p = 0;
#endif
  assert(pidle[p]); pidle[p] = false; npidle--; own[p] = HAND
}
inline put_idle(p) { assert(own[p] == HAND); own[p] = FREE; pm[p] = NOM; pidle[p] = true; npidle++ }
/* leaves w: the M to wake, or NOM */
inline start_locked(p) {
  do
  :: sc < NM && midle[sc] -> w = sc; break
  :: sc < NM && !midle[sc] -> sc++
  :: sc == NM -> w = NOM; break
  od;
  sc = 0;
  if
  :: w != NOM -> midle[w] = false; assert(nextp[w] == NOP); nextp[w] = p
  :: else -> pstarting[p] = true
  fi
}
/* in one step with the section of L before it: later, its owner only sleeps longer */
inline wake_m() { if :: w != NOM -> note[w] = true; w = NOM :: else fi }

/* somebody has p in hand */
inline hand_off(p) {
  if
#ifdef V_NOHANDOFF
  :: atomic { put_idle(p); p = NOP }
#else
  :: atomic { nempty(runq) -> start_locked(p); p = NOP; wake_m() }
  :: atomic { empty(runq) -> put_idle(p); p = NOP };
     if                                                   /* anything_queued, wake_one */
     :: nempty(runq) ->
        if
        :: atomic { npidle > 0 -> take_idle(p); start_locked(p); p = NOP; wake_m() }
        :: npidle == 0
        fi
     :: empty(runq)
     fi
#endif
  fi
}

/* requester r on the M v, of which it wants a P while its goroutine is inside blocking(); pw: the P it has looked at, or NOP: any. Leaves q */
inline detach(r, v, pw) {
  q = NOP;
  if
  :: atomic { word[v] == OWN -> word[v] = REQ(r) };
#ifdef V_STALEP
     q = (pw == NOP -> mp[v] : pw);
#else
     q = mp[v];                                           /* while the request stands, after the barrier */
#endif
     if
     :: atomic { inside[v] -> attention[v] = true; q = NOP };
        atomic { if :: word[v] == REQ(r) -> word[v] = OWN :: else fi }
     :: !inside[v] ->
        if
#ifdef V_STALEP
        :: gst[curg[v]] != syscall ->
#else
        :: q == NOP || (pw != NOP && q != pw) || gst[curg[v]] != syscall ->
#endif
           atomic { q = NOP; if :: word[v] == REQ(r) -> word[v] = OWN :: else fi }
        :: else ->
#ifdef V_TWOWINNERS
           atomic { word[v] = LOST; assert(own[q] == v); own[q] = HAND; pm[q] = NOM };
#else
           atomic {
             if
             :: word[v] == REQ(r) -> word[v] = LOST; assert(own[q] == v); own[q] = HAND; pm[q] = NOM
             :: else -> q = NOP
             fi };
#endif
           skip
        fi
     fi
  :: word[v] != OWN
  fi
}

proctype m(byte id) {
  byte g = NOG, w = NOM, q = NOP, pp = NOP, v;
  bool credit;                /* M::is_on_credit */
  bool in_call;               /* G::resume.nblocking */
  bool is_call;               /* it came in for a call that needs a P */

  atomic {
    if
    :: id < NP -> g = id; goto user
    :: else -> goto bed
    fi };

user:  /* user code, with a P or on credit */
  assert(gst[g] == running && curg[id] == g);
  atomic {                                                /* enter */
    if
    :: is_call = true                                     /* some call that yields; a slice that is over ends before blocking() as well */
    :: !attention[id] && left[g] > 0 -> is_call = false   /* begin_blocking */
    fi;
    inside[id] = true };
  if
  :: word[id] == OWN
  :: atomic { !is_call && credit && word[id] == LOST -> gst[g] = syscall; in_call = true; left[g]--; goto call }   /* begin_on_credit */
  :: word[id] != OWN && (is_call || !credit || word[id] != LOST) -> goto settle
  fi;

entered:  /* I2 */
  atomic { credit = false; assert(mp[id] != NOP && own[mp[id]] == id && word[id] != LOST);
    if
    :: in_call -> in_call = false; gst[g] = running; goto out              /* end_blocking: end */
    :: !in_call && left[g] == 0 -> gst[g] = dead; ndead++; curg[id] = NOG; g = NOG; goto look       /* it ends */
    :: !in_call && left[g] > 0 && is_call -> left[g]--; attention[id] = false; gst[g] = runnable; runq!g; curg[id] = NOG; g = NOG; goto look   /* yield_through_g0 */
    :: !in_call && left[g] > 0 && !is_call -> left[g]--; gst[g] = syscall; in_call = true   /* begin */
    fi;
    if
    :: true -> is_call = false; goto call
    :: q = mp[id]; mp[id] = NOP; pm[q] = NOM; own[q] = HAND                /* leave_p, as it blocks for long: release_p, ... */
    fi };
  hand_off(q);
  word[id] = LOST;

call:  /* f */
  inside[id] = false;
  inside[id] = true;                                      /* end_blocking: enter */
  if
  :: word[id] == OWN -> goto entered
  :: word[id] != OWN
  fi;
  if                                                      /* end_on_credit */
  :: atomic { word[id] == LOST && npidle == 0 -> credit = true; in_call = false; gst[g] = running; goto out }
  :: !(word[id] == LOST && npidle == 0)
  fi;

settle:  /* enter_slow, regain: detach_word::settle */
  if
  :: word[id] == OWN -> goto entered
#ifdef V_PLAINSETTLE
  :: word[id] > LOST -> word[id] = OWN; attention[id] = true; goto entered
#else
  :: atomic { word[id] > LOST -> word[id] = OWN; attention[id] = true; goto entered }
#endif
  :: word[id] == LOST
  fi;
  if                                                      /* come_in */
#ifndef V_NORECHECK
  :: word[id] != LOST -> goto settle
#endif
#ifdef V_NORECHECK
  :: atomic { true ->
#else
  :: atomic { word[id] == LOST ->
#endif
       mp[id] = NOP;
       if
       :: npidle > 0 -> take_idle(q); attach(q, id); q = NOP; goto entered
       :: else ->
#ifndef V_NOMARK
          waits[id] = borrows
#endif
       fi }
  fi;
  v = 0;
  do                                                      /* borrow: of one that is inside blocking() */
  :: v < NP ->
     atomic { pp = v; v = pm[pp];
       if
       :: v != NOM && v != id && !inside[v] && gst[curg[v]] == syscall      /* looks_like */
       :: else -> v = pp + 1; pp = NOP; goto tried
       fi };
     detach(id, v, NOP);
     atomic { v = pp + 1; pp = NOP;
       if
       :: q != NOP -> v = 0; break
       :: else
       fi };
tried:
     skip
  :: atomic { v >= NP -> v = 0; break }
  od;
  if
  :: atomic { q != NOP -> attach(q, id); waits[id] = none; q = NOP; goto entered }   /* take_over */
  :: q == NOP
  fi;
  atomic {                                                /* queue_up */
#ifndef V_NOQUEUECHECK
    if
    :: npidle > 0 -> take_idle(q); attach(q, id); waits[id] = none; q = NOP; goto entered
    :: else
    fi;
#endif
    bound[g] = id; gst[g] = runnable; waits[id] = waits_for_p; runq!g };
  do                                                      /* wait_for_p: sleep_until_given_p */
  :: atomic { note[id] -> note[id] = false;
       if
       :: nextp[id] != NOP -> q = nextp[id]; nextp[id] = NOP; attach(q, id); q = NOP; break
       :: else
       fi }
  od;
  atomic { bound[g] = NOM; gst[g] = (in_call -> syscall : running) };
  goto entered;

look:  /* find_runnable, next_goroutine; inside, with a P */
  atomic { assert(mp[id] != NOP && own[mp[id]] == id && word[id] != LOST); attention[id] = false; is_call = false };
  if
  :: atomic { nempty(runq) -> runq?g; goto got }
  :: atomic { empty(runq) -> q = mp[id]; mp[id] = NOP; own[q] = HAND; put_idle(q); q = NOP }
  fi;
  if                                                      /* anything_queued, regain_p */
  :: nempty(runq) ->
     if
     :: atomic { npidle > 0 -> take_idle(q); attach(q, id); q = NOP; goto look }
     :: npidle == 0
     fi
  :: empty(runq)
  fi;

bed:  /* stop_m */
  atomic {
    do
    :: sc < NP && pstarting[sc] -> pstarting[sc] = false; attach(sc, id); sc = 0; goto look
    :: sc < NP && !pstarting[sc] -> sc++
    :: sc == NP -> sc = 0; break
    od;
    midle[id] = true };
end_asleep:
  atomic { note[id] -> note[id] = false;
    if
    :: nextp[id] != NOP -> q = nextp[id]; nextp[id] = NOP; attach(q, id); q = NOP; goto look
    :: else -> goto end_asleep
    fi };

got:
  if
  :: bound[g] != NOM ->                                   /* hand_over */
     atomic { w = bound[g]; q = mp[id]; mp[id] = NOP; pm[q] = NOM; own[q] = HAND; g = NOG };   /* release_p */
#ifdef V_WAKEFIRST
     note[w] = true;
     atomic { assert(nextp[w] == NOP); nextp[w] = q; waits[w] = none; w = NOM; q = NOP };
#else
     atomic { assert(nextp[w] == NOP); nextp[w] = q; waits[w] = none; q = NOP; wake_m() };
#endif
     goto bed
  :: else
  fi;
  atomic { assert(gst[g] == runnable); curg[id] = g; gst[g] = running };   /* execute */
out:
  atomic { inside[id] = false; is_call = false };
  goto user
}

/* sysmon has something to do about P p: take it from one inside blocking(), end a slice, or give it to one on credit */
#define CALLS(p) (pm[p] != NOM && gst[curg[pm[p]]] == syscall)
#define WAITED(p) (pm[p] != NOM && nempty(runq) && !attention[pm[p]])
#define ON_CREDIT(v) (npidle > 0 && word[v] == LOST && waits[v] == none && gst[curg[v]] == running)

inline look_at(p) {
  atomic { v = pm[p]; ok = (v != NOM && gst[curg[v]] == syscall) };
  if
  :: ok -> detach(NM, v, p);
     if
     :: q != NOP -> hand_off(q)
     :: else
     fi
  :: else
  fi;
  atomic { ok = false;
    if
    :: v != NOM && nempty(runq) -> attention[v] = true    /* its slice is over */
    :: v == NOM || empty(runq)
    fi;
    v = 0 }
}

proctype sysmon() {
  byte v, w = NOM, q = NOP;
  bool ok;
end:
  do
  :: CALLS(0) || WAITED(0) -> look_at(0)
#if NP > 1
  :: CALLS(1) || WAITED(1) -> look_at(1)
#endif
  :: atomic { ON_CREDIT(0) -> take_idle(q); attach(q, 0); q = NOP }    /* look_after: reattach */
  :: atomic { ON_CREDIT(1) -> take_idle(q); attach(q, 1); q = NOP }
#if NM > 2
  :: atomic { ON_CREDIT(2) -> take_idle(q); attach(q, 2); q = NOP }
#endif
#if NM > 3
  :: atomic { ON_CREDIT(3) -> take_idle(q); attach(q, 3); q = NOP }
#endif
  od
}

#ifndef LIVE
proctype quiescent() {
  timeout ->
    assert(ndead == NG);
    assert(npidle == NP)
}
#endif

init { atomic {
  byte i;
  do
  :: i < NM ->
     if
     :: i < NP -> own[i] = i; pm[i] = i; mp[i] = i; curg[i] = i; inside[i] = false
     :: else
     fi;
     run m(i); i++
  :: i == NM -> break
  od;
  i = NP;
  do
  :: i < NG -> gst[i] = runnable; runq!i; i++
  :: i >= NG -> i = 0; break
  od;
  left[0] = NCALLS;
  run sysmon();
#ifndef LIVE
  run quiescent()
#endif
} }

#ifdef LIVE
ltl regained { [] (waits[0] == waits_for_p -> <> (waits[0] != waits_for_p)) && <> (ndead == NG) }
#endif
