// channels.go: the Go workloads in which goroutines pass values to one another.
//
// A time per operation is processor time where every processor has a pair of its own (ping_pong) and wall time where all of them work
// on one thing. The C++ contestants compute it the same way.
package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// pingPong: for each processor a pair that sends a number to and fro, n round trips. One channel for both
// ways takes the same time.
func pingPong(req request) figures {
	var wg sync.WaitGroup
	var total atomic.Int64
	wg.Add(2 * req.procs)
	start := time.Now()
	for i := 0; i < req.procs; i++ {
		there, back := make(chan int), make(chan int)
		go func() {
			for j := 0; j < req.n; j++ {
				back <- <-there + 1
			}
			wg.Done()
		}()
		go func() {
			ball := 0
			for j := 0; j < req.n; j++ {
				there <- ball
				ball = <-back + 1
			}
			total.Add(int64(ball))
			wg.Done()
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if total.Load() != int64(2*req.procs*req.n) {
		fail("ping_pong lost a ball")
	}
	return nsPerOp(elapsed, req.n)
}

const room = 128

// passThrough: n numbers through one buffered channel, from so many senders to as many receivers.
func passThrough(req request, senders int) figures {
	each := req.n / senders
	c := make(chan int, room)
	var sending, receiving sync.WaitGroup
	var total atomic.Int64
	sending.Add(senders)
	receiving.Add(senders)
	start := time.Now()
	for i := 0; i < senders; i++ {
		go func() {
			sum := 0
			for v := range c {
				sum += v
			}
			total.Add(int64(sum))
			receiving.Done()
		}()
		go func() {
			for v := 1; v <= each; v++ {
				c <- v
			}
			sending.Done()
		}()
	}
	sending.Wait()
	close(c)
	receiving.Wait()
	elapsed := time.Since(start)
	if total.Load() != int64(senders*(each*(each+1)/2)) {
		fail("buffered lost a value")
	}
	return nsPerOp(elapsed, senders*each)
}

func buffered1x1(req request) figures { return passThrough(req, 1) }
func buffered4x4(req request) figures { return passThrough(req, 4) }

const members = 503

// ring: one token makes n hops round a ring of goroutines. It says how many are left.
func ring(req request) figures {
	var links [members]chan int
	for i := range links {
		links[i] = make(chan int)
	}
	var wg sync.WaitGroup
	var hops atomic.Int64
	wg.Add(members)
	for i := range links {
		from, to := links[i], links[(i+1)%members]
		go func() {
			seen := 0
			for left := range from {
				seen++
				if left == 1 {
					break
				}
				to <- left - 1
			}
			hops.Add(int64(seen))
			close(to)
			wg.Done()
		}()
	}
	start := time.Now()
	links[0] <- req.n
	wg.Wait()
	elapsed := time.Since(start)
	if hops.Load() != int64(req.n) {
		fail("ring lost the token")
	}
	return nsPerOp(elapsed, req.n)
}

func isPrime(x int) bool {
	for d := 2; d*d <= x; d++ {
		if x%d == 0 {
			return false
		}
	}
	return x >= 2
}

func nthPrime(n int) int {
	x := 1
	for n > 0 {
		x++
		if isPrime(x) {
			n--
		}
	}
	return x
}

// sieve: the first n primes, by a goroutine for each.
func sieve(req request) figures {
	last := 0
	start := time.Now()
	chain := make(chan int)
	go func(to chan<- int) {
		for x := 2; ; x++ {
			to <- x
		}
	}(chain)
	for i := 0; i < req.n; i++ {
		last = <-chain
		longer := make(chan int)
		go func(from <-chan int, to chan<- int, prime int) {
			for x := range from {
				if x%prime != 0 {
					to <- x
				}
			}
		}(chain, longer, last)
		chain = longer
	}
	elapsed := time.Since(start)
	if last != nthPrime(req.n) {
		fail("sieve found another number")
	}
	return figures{"ms": elapsed.Seconds() * 1e3}
}

const children = 10

// The channels have room for all children; without a buffer it takes the same time.
func node(up chan<- int, number, size int) {
	if size == 1 {
		up <- number
		return
	}
	down := make(chan int, children)
	part := size / children
	for i := 0; i < children; i++ {
		go node(down, number+i*part, part)
	}
	sum := 0
	for i := 0; i < children; i++ {
		sum += <-down
	}
	up <- sum
}

// skynet: a tree of goroutines with n leaves, ten children each.
func skynet(req request) figures {
	start := time.Now()
	result := make(chan int, 1)
	go node(result, 0, req.n)
	sum := <-result
	elapsed := time.Since(start)
	if sum != req.n*(req.n-1)/2 {
		fail("skynet has a wrong sum")
	}
	return nsPerOp(elapsed, req.n)
}
