// timers.go: the Go workloads about what sleeping costs.
package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// sleep: processor time per sleep of n goroutines that sleep 1 ms in a loop.
func sleep(req request) figures {
	var wg sync.WaitGroup
	var slept atomic.Int64
	wg.Add(req.n)
	start, before := time.Now(), cpuTime()
	for i := 0; i < req.n; i++ {
		go func() {
			mine := int64(0)
			for ; time.Since(start) < req.duration; mine++ {
				time.Sleep(time.Millisecond)
			}
			slept.Add(mine)
			wg.Done()
		}()
	}
	wg.Wait()
	result := nsPerOp(cpuTime()-before, int(slept.Load()))
	result["sleeps"] = slept.Load()
	return result
}

// timers: n goroutines are parked; then all of them go to sleep, for the duration and up to a second more, evenly spread. Time and
// memory are looked at when all of them sleep, processor time when all have woken.
func timers(req request) figures {
	var made, armed, left sync.WaitGroup
	made.Add(req.n)
	armed.Add(req.n)
	left.Add(req.n)
	begin := make(chan struct{})
	before := residentBytes()
	for i := 0; i < req.n; i++ {
		wanted := req.duration + time.Second*time.Duration(i)/time.Duration(req.n)
		go func() {
			made.Done()
			<-begin
			armed.Done()
			time.Sleep(wanted)
			left.Done()
		}()
	}
	made.Wait()
	without, cpuBefore, released := residentBytes(), cpuTime(), time.Now()
	close(begin)
	armed.Wait()
	took := time.Since(released)
	with := residentBytes()
	if took > req.duration {
		fail("timers: some woke before all slept; more seconds are needed")
	}
	left.Wait()
	return figures{
		"bytes_per_item": float64(with-before) / float64(req.n),
		"seconds":        took.Seconds(),
		"cpu_us_each":    microseconds(cpuTime()-cpuBefore) / float64(req.n),
		"timer_bytes":    float64(with-without) / float64(req.n),
	}
}
