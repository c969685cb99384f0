// preempt.go: the Go workloads about goroutines that do not give up their processor: tight loops, and calls that block.
//
// What the loops of a run reach is compared with what one loop for each processor reaches alone in the same process, right before and
// right after: each of these has a P and a thread to itself, which is what the C++ contestants' plain threads are.
package main

import (
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	stepsPerRound = 256
	reference     = 400 * time.Millisecond // before and after
	nap           = 10 * time.Millisecond
)

// tally is a count on a cache line of its own.
type tally struct {
	n      atomic.Uint64
	result uint64
	_      [48]byte
}

func sum(tallies []tally) (total uint64) {
	for i := range tallies {
		total += tallies[i].n.Load()
	}
	return total
}

// tightLoops compute without a call until they are stopped.
type tightLoops struct {
	stopped atomic.Bool
	ended   sync.WaitGroup
	tallies []tally
}

func startLoops(n int) *tightLoops {
	loops := &tightLoops{tallies: make([]tally, n)}
	loops.ended.Add(n)
	for i := 0; i < n; i++ {
		go loops.spin(i)
	}
	return loops
}

func (l *tightLoops) spin(i int) {
	mine := &l.tallies[i]
	x := uint64(i + 1)
	for n := uint64(1); !l.stopped.Load(); n++ {
		for step := 0; step < stepsPerRound; step++ {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		mine.n.Store(n)
	}
	mine.result = x
	l.ended.Done()
}

func (l *tightLoops) rounds() uint64 { return sum(l.tallies) }

func (l *tightLoops) stop() {
	l.stopped.Store(true)
	l.ended.Wait()
}

// plainRate is what n loops reach that nothing disturbs. The one who measures sleeps in the kernel, so it needs no P to time them.
func plainRate(n int) float64 {
	loops := startLoops(n)
	rawSleep(20 * time.Millisecond)
	before, start := loops.rounds(), time.Now()
	rawSleep(reference)
	rate := float64(loops.rounds()-before) / time.Since(start).Seconds()
	loops.stop()
	return rate
}

// rawSleep blocks the thread in nanosleep. syscall.Syscall tells the scheduler, as every blocking call of Go's own library does:
// it is what blocking() is in weft, and nobody writes RawSyscall for a call that blocks.
func rawSleep(d time.Duration) {
	length := syscall.NsecToTimespec(d.Nanoseconds())
	syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&length)), 0, 0)
}

// quantile sorts the values.
func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		fail("no samples")
	}
	sort.Float64s(values)
	return values[int(float64(len(values)-1)*part+0.5)]
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// sleepAndNote sleeps 1 ms in a loop and notes how late it woke.
func sleepAndNote(duration time.Duration) (late []float64) {
	for start := time.Now(); time.Since(start) < duration; {
		asleep := time.Now()
		time.Sleep(time.Millisecond)
		late = append(late, microseconds(time.Since(asleep)-time.Millisecond))
	}
	return late
}

// lateness: of a goroutine that sleeps 1 ms in a loop, while n tight loops run.
func lateness(req request) figures {
	plain := plainRate(req.procs)
	loops := startLoops(req.n)
	sleepAndNote(200 * time.Millisecond)
	before, start := loops.rounds(), time.Now()
	late := sleepAndNote(req.duration)
	rate := float64(loops.rounds()-before) / time.Since(start).Seconds()
	loops.stop()
	plain = (plain + plainRate(req.procs)) / 2
	return figures{
		"p50_us":        quantile(late, 0.5),
		"p99_us":        quantile(late, 0.99),
		"loops_percent": 100 * rate / plain,
		"wakeups":       len(late),
	}
}

// naps: n goroutines block in nanosleep again and again, with one call of the scheduler per round, while a loop for each processor
// computes.
func naps(req request) figures {
	plain := plainRate(req.procs)
	tallies := make([]tally, req.n)
	var stopped atomic.Bool
	var ended sync.WaitGroup
	ended.Add(req.n)
	for i := range tallies {
		go func(mine *tally) {
			for !stopped.Load() {
				rawSleep(nap)
				runtime.Gosched()
				mine.n.Add(1)
			}
			ended.Done()
		}(&tallies[i])
	}
	loops := startLoops(req.procs)
	time.Sleep(500 * time.Millisecond)
	calls, rounds, start := sum(tallies), loops.rounds(), time.Now()
	time.Sleep(req.duration)
	elapsed := time.Since(start).Seconds()
	perSecond := float64(sum(tallies)-calls) / elapsed
	rate := float64(loops.rounds()-rounds) / elapsed
	loops.stop()
	stopped.Store(true)
	ended.Wait()
	plain = (plain + plainRate(req.procs)) / 2
	return figures{
		"calls_percent":    100 * perSecond * nap.Seconds() / float64(req.n),
		"compute_percent":  100 * rate / plain,
		"calls_per_second": perSecond,
	}
}

// stopWorld: the time of a call that stops the world, while a tight loop runs on every processor. n times, or as often as there is
// time for.
func stopWorld(req request) figures {
	loops := startLoops(req.procs + 1)
	time.Sleep(100 * time.Millisecond)
	var took []float64
	for start := time.Now(); len(took) < req.n && time.Since(start) < req.duration; {
		time.Sleep(time.Millisecond)
		before := time.Now()
		runtime.GOMAXPROCS(req.procs + (len(took)+1)%2)
		took = append(took, microseconds(time.Since(before)))
	}
	loops.stop()
	return figures{
		"p50_us": quantile(took, 0.5),
		"p99_us": quantile(took, 0.99),
		"stops":  len(took),
	}
}

// interrupted: n goroutines spin for 1 ms and wait in ppoll for 1 ms, by turns: how many of the calls return EINTR?
func interrupted(req request) figures {
	loops := startLoops(2 * req.procs)
	var calls, cut atomic.Uint64
	var stopped atomic.Bool
	var ended sync.WaitGroup
	ended.Add(req.n)
	for i := 0; i < req.n; i++ {
		go func() {
			for !stopped.Load() {
				for start := time.Now(); time.Since(start) < time.Millisecond; {
				}
				length := syscall.NsecToTimespec(time.Millisecond.Nanoseconds())
				_, _, err := syscall.Syscall6(syscall.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&length)), 0, 0, 0)
				calls.Add(1)
				if err == syscall.EINTR {
					cut.Add(1)
				}
			}
			ended.Done()
		}()
	}
	rawSleep(req.duration)
	stopped.Store(true)
	loops.stop()
	ended.Wait()
	if calls.Load() == 0 {
		fail("no call was made")
	}
	return figures{
		"cut_per_mille": 1000 * float64(cut.Load()) / float64(calls.Load()),
		"calls":         calls.Load(),
	}
}
