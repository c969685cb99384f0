// timers.go: the Go workloads about what sleeping costs.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const shortNap = 100 * time.Microsecond

// noteNaps: how late sleepOnce ends, for the duration.
func noteNaps(duration time.Duration, sleepOnce func(time.Duration)) (late []float64) {
	for start := time.Now(); time.Since(start) < duration; {
		asleep := time.Now()
		sleepOnce(shortNap)
		late = append(late, microseconds(time.Since(asleep)-shortNap))
	}
	return late
}

// shortNaps: how late a goroutine wakes that sleeps 100 us in a loop, beside a thread in nanosleep that has asked for exact wake-ups.
func shortNaps(req request) figures {
	noteNaps(100*time.Millisecond, time.Sleep)
	late := noteNaps(req.duration, time.Sleep)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const setTimerSlack = 29
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
	kernel := noteNaps(req.duration, rawSleep)
	return figures{
		"p50_us":        quantile(late, 0.5),
		"p99_us":        quantile(late, 0.99),
		"kernel_p50_us": quantile(kernel, 0.5),
	}
}

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
	late := make([]float64, req.n)
	for i := range late {
		late[i] = 0 // so that its memory is there before it is looked at
	}
	before := residentBytes()
	for i := 0; i < req.n; i++ {
		i := i
		wanted := req.duration + time.Second*time.Duration(i)/time.Duration(req.n)
		go func() {
			made.Done()
			<-begin
			armed.Done()
			asleep := time.Now()
			time.Sleep(wanted)
			late[i] = microseconds(time.Since(asleep) - wanted)
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
	used := cpuTime() - cpuBefore
	return figures{
		"bytes_per_item": float64(with-before) / float64(req.n),
		"seconds":        took.Seconds(),
		"cpu_us_each":    microseconds(used) / float64(req.n),
		"late_p50_us":    quantile(late, 0.5),
		"late_p99_us":    quantile(late, 0.99),
		"timer_bytes":    float64(with-without) / float64(req.n),
	}
}
