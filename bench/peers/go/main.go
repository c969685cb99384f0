// main.go: the Go contestant of `make bench`: picks a workload, runs it, prints one line of JSON.
//
// It takes the command line that every contestant takes, `<prog> <workload> <procs> <n> [seconds]`,
// so that the runner needs no case for Go; with `serve_<what> <procs> <port>` it is a server (servers.go). bench/README.md says what each workload measures and
// which rules keep the comparison fair; the first of them is that this code is what a Go
// programmer would write, with the quickest of the usual idioms where there are several, and with
// the garbage collector as Go ships it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

// request is the command line, parsed.
type request struct {
	workload string
	procs    int
	n        int
	duration time.Duration // for workloads that last a given time
}

// figures are the numbers of one run; encoding/json sorts the keys, the runner reads them by name.
type figures map[string]any

var workloads = map[string]func(request) figures{
	"yield":        yield,
	"spawn_join":   spawnJoin,
	"spawn_storm":  spawnStorm,
	"ping_pong":    pingPong,
	"buffered_1x1": buffered1x1,
	"buffered_4x4": buffered4x4,
	"ring":         ring,
	"sieve":        sieve,
	"skynet":       skynet,
	"select_2":     select2,
	"select_8":     select8,
	"select_ready": selectReady,
	"mutex":        mutex,
	"parked":       parked,
	"queued":       queued,
	"idle":         idle,
	"lateness":     lateness,
	// Go tells its scheduler about every blocking call by itself, so both forms are one.
	"naps":          naps,
	"naps_blocking": naps,
	"interrupted":   interrupted,
	"stop_world":    stopWorld,
	"nap":           shortNaps,
	"sleep":         sleep,
	"timers":        timers,
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "go peer: "+format+"\n", args...)
	os.Exit(2)
}

func parse(args []string) request {
	if len(args) < 3 || len(args) > 4 {
		fail("usage: <prog> <workload> <procs> <n> [seconds], or <prog> version")
	}
	procs, err := strconv.Atoi(args[1])
	if err != nil || procs < 1 {
		fail("procs must be a positive number, not %q", args[1])
	}
	n, err := strconv.Atoi(args[2])
	if err != nil || n < 1 {
		fail("n must be a positive number, not %q", args[2])
	}
	seconds := 10.0
	if len(args) == 4 {
		if seconds, err = strconv.ParseFloat(args[3], 64); err != nil || seconds <= 0 {
			fail("seconds must be a positive number, not %q", args[3])
		}
	}
	return request{args[0], procs, n, time.Duration(seconds * float64(time.Second))}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Printf("{\"version\":%q}\n", runtime.Version())
		return
	}
	if len(os.Args) == 4 && servers[os.Args[1]] != nil {
		serve(os.Args[1], os.Args[2], os.Args[3])
		return
	}
	req := parse(os.Args[1:])
	workload, ok := workloads[req.workload]
	if !ok {
		fail("no workload %q", req.workload)
	}
	runtime.GOMAXPROCS(req.procs)
	result := workload(req)
	result["workload"], result["procs"], result["n"] = req.workload, req.procs, req.n
	line, err := json.Marshal(result)
	if err != nil {
		fail("%v", err)
	}
	fmt.Println(string(line))
}
