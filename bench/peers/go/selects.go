// selects.go: the Go workloads with select: over 2 and over 8 channels that has to wait, and over 8 that are ready.
//
// The cases are written out, as a Go programmer does when their number is known; reflect.Select is many times slower.
package main

import (
	"sync"
	"sync/atomic"
	"time"
)

func recvAny2(c []chan int) (v int) {
	select {
	case v = <-c[0]:
	case v = <-c[1]:
	}
	return v
}

func recvAny8(c []chan int) (v int) {
	select {
	case v = <-c[0]:
	case v = <-c[1]:
	case v = <-c[2]:
	case v = <-c[3]:
	case v = <-c[4]:
	case v = <-c[5]:
	case v = <-c[6]:
	case v = <-c[7]:
	}
	return v
}

func makeAll(n, room int) []chan int {
	c := make([]chan int, n)
	for i := range c {
		c[i] = make(chan int, room)
	}
	return c
}

// side is one of a pair: n times it feeds the other one and waits at its own channels, or (second) the other way round.
type side struct {
	own, other []chan int
	recvAny    func([]chan int) int
}

func (s side) first(n int) int {
	ball := 0
	for j := 0; j < n; j++ {
		s.other[j%len(s.other)] <- ball
		ball = s.recvAny(s.own) + 1
	}
	return ball
}

func (s side) second(n int) {
	for j := 0; j < n; j++ {
		s.other[j%len(s.other)] <- s.recvAny(s.own) + 1
	}
}

func pairs(req request, channels int, recvAny func([]chan int) int) figures {
	var wg sync.WaitGroup
	var total atomic.Int64
	wg.Add(2 * req.procs)
	start := time.Now()
	for i := 0; i < req.procs; i++ {
		there, back := makeAll(channels, 0), makeAll(channels, 0)
		go func() {
			side{there, back, recvAny}.second(req.n)
			wg.Done()
		}()
		go func() {
			total.Add(int64(side{back, there, recvAny}.first(req.n)))
			wg.Done()
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if total.Load() != int64(2*req.procs*req.n) {
		fail("select lost a ball")
	}
	return nsPerOp(elapsed, 2*req.n)
}

func select2(req request) figures { return pairs(req, 2, recvAny2) }
func select8(req request) figures { return pairs(req, 8, recvAny8) }

func choose(c []chan int, n int) (sum int) {
	for j := 0; j < n; j++ {
		select {
		case v := <-c[0]:
			sum += v
			c[0] <- v
		case v := <-c[1]:
			sum += v
			c[1] <- v
		case v := <-c[2]:
			sum += v
			c[2] <- v
		case v := <-c[3]:
			sum += v
			c[3] <- v
		case v := <-c[4]:
			sum += v
			c[4] <- v
		case v := <-c[5]:
			sum += v
			c[5] <- v
		case v := <-c[6]:
			sum += v
			c[6] <- v
		case v := <-c[7]:
			sum += v
			c[7] <- v
		}
	}
	return sum
}

// selectReady: a goroutine for each processor chooses n times among eight that are ready, and puts back what it got.
func selectReady(req request) figures {
	const channels = 8
	var wg sync.WaitGroup
	var total atomic.Int64
	wg.Add(req.procs)
	start := time.Now()
	for i := 0; i < req.procs; i++ {
		go func() {
			c := makeAll(channels, 1)
			for _, one := range c {
				one <- 1
			}
			total.Add(int64(choose(c, req.n)))
			wg.Done()
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if total.Load() != int64(req.procs*req.n) {
		fail("select_ready lost a value")
	}
	return nsPerOp(elapsed, req.n)
}
