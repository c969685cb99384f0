// locks.go: the Go workload about a mutex that many want.
package main

import (
	"sync"
	"time"
)

// mutex: four goroutines for each processor add 1 to one number under one mutex, n times in all. No defer: that would cost a nanosecond.
func mutex(req request) figures {
	workers := 4 * req.procs
	each := req.n / workers
	var m sync.Mutex
	var wg sync.WaitGroup
	number := 0
	wg.Add(workers)
	start := time.Now()
	for i := 0; i < workers; i++ {
		go func() {
			for j := 0; j < each; j++ {
				m.Lock()
				number++
				m.Unlock()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if number != workers*each {
		fail("mutex let two in at once")
	}
	return nsPerOp(elapsed, number)
}
