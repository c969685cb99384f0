// speed.go: the Go workloads whose figure is a time per operation.
//
// Time per operation is processor time where every processor does the work (yield, spawn_join:
// elapsed * procs / operations), and wall time where one goroutine feeds the others (spawn_storm).
// The C++ contestants compute it the same way.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func nsPerOp(elapsed time.Duration, ops int) figures {
	return figures{"ns_per_op": float64(elapsed.Nanoseconds()) / float64(ops)}
}

// yield: two goroutines for each processor, each of which yields n times.
func yield(req request) figures {
	var wg sync.WaitGroup
	wg.Add(2 * req.procs)
	start := time.Now()
	for i := 0; i < 2*req.procs; i++ {
		go func() {
			for j := 0; j < req.n; j++ {
				runtime.Gosched()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	return nsPerOp(time.Since(start), 2*req.n)
}

// joinLoop starts a goroutine and waits for its end, n times. An unbuffered channel that is made
// once, with the closure made once too, is the quickest of the seven usual idioms that were tried
// (a channel or WaitGroup per loop or per goroutine, buffered or not, closed or sent on).
func joinLoop(n int) (sum int) {
	done := make(chan struct{})
	body := func() {
		sum++
		done <- struct{}{}
	}
	for i := 0; i < n; i++ {
		go body()
		<-done
	}
	return sum
}

// spawnJoin: one such loop for each processor.
func spawnJoin(req request) figures {
	var wg sync.WaitGroup
	var total atomic.Int64
	wg.Add(req.procs)
	start := time.Now()
	for i := 0; i < req.procs; i++ {
		go func() {
			total.Add(int64(joinLoop(req.n)))
			wg.Done()
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if total.Load() != int64(req.procs*req.n) {
		fail("spawn_join lost a goroutine")
	}
	return nsPerOp(elapsed, req.n)
}

// spawnStorm: one goroutine starts n others, which count themselves, and waits for them all.
func spawnStorm(req request) figures {
	var wg sync.WaitGroup
	var counter atomic.Int64
	body := func() {
		counter.Add(1)
		wg.Done()
	}
	start := time.Now()
	wg.Add(req.n)
	for i := 0; i < req.n; i++ {
		go body()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if counter.Load() != int64(req.n) {
		fail("spawn_storm lost a goroutine")
	}
	return nsPerOp(elapsed, req.n)
}
