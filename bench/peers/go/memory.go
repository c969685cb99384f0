// memory.go: the Go workloads whose figure is what a goroutine costs while it does nothing:
// bytes for one that is parked or queued, processor time for a program full of parked ones.
//
// Bytes are the growth of VmRSS plus VmPTE in /proc/self/status, for Go as for everyone: what the
// kernel has given, page tables included, whoever asked for it.
package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// residentBytes is VmRSS + VmPTE of this process.
func residentBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail("%v", err)
	}
	var kib int64
	for _, line := range strings.Split(string(status), "\n") {
		fields := strings.Fields(line)
		if len(fields) >= 2 && (fields[0] == "VmRSS:" || fields[0] == "VmPTE:") {
			value, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				fail("%v", err)
			}
			kib += value
		}
	}
	return kib * 1024
}

// parked: n goroutines report that they have arrived and wait to be released.
func parked(req request) figures {
	var arrived, left sync.WaitGroup
	release := make(chan struct{})
	body := func() {
		arrived.Done()
		<-release
		left.Done()
	}
	arrived.Add(req.n)
	left.Add(req.n)
	before := residentBytes()
	start := time.Now()
	for i := 0; i < req.n; i++ {
		go body()
	}
	arrived.Wait()
	created := time.Since(start)
	after := residentBytes()
	start = time.Now()
	close(release)
	left.Wait()
	return figures{
		"bytes_per_item":  float64(after-before) / float64(req.n),
		"seconds":         created.Seconds(),
		"release_seconds": time.Since(start).Seconds(),
	}
}

// queued: n goroutines that have been started by `go` and have not run when memory is looked at.
// Go's sysmon takes the processor from the spawner every 10 ms; a goroutine that runs too early
// waits, so that n of them exist at the measurement all the same. Nothing is lost by that in Go,
// where the stack is there from the start.
func queued(req request) figures {
	var left sync.WaitGroup
	var started atomic.Int64
	measured := make(chan struct{})
	body := func() {
		started.Add(1)
		<-measured
		left.Done()
	}
	left.Add(req.n)
	before := residentBytes()
	for i := 0; i < req.n; i++ {
		go body()
	}
	after := residentBytes()
	early := started.Load()
	close(measured)
	left.Wait()
	return figures{
		"bytes_per_item": float64(after-before) / float64(req.n),
		"started_early":  early,
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("%v", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// idle: processor time that passes while n goroutines are parked and the main one sleeps.
func idle(req request) figures {
	var arrived sync.WaitGroup
	release := make(chan struct{})
	arrived.Add(req.n)
	for i := 0; i < req.n; i++ {
		go func() {
			arrived.Done()
			<-release
		}()
	}
	arrived.Wait()
	before := cpuTime()
	time.Sleep(req.duration)
	used := cpuTime() - before
	close(release)
	return figures{
		"cpu_ms":  float64(used.Nanoseconds()) / 1e6,
		"seconds": req.duration.Seconds(),
	}
}
