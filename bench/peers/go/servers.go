// servers.go: the Go servers that load is put on from outside: `<prog> serve_echo|serve_http <procs> <port>`.
//
// Each prints `ready <port>` when it listens on 127.0.0.1 (port 0: any free one) and serves until it is killed. One goroutine for
// each connection is how package net is used; TCP_NODELAY is on, as it always is there.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
)

var servers = map[string]func(net.Listener) error{
	"serve_echo": serveEcho,
	"serve_http": serveHTTP,
}

func serve(name, procs, port string) {
	n, err := strconv.Atoi(procs)
	if err != nil || n < 1 {
		fail("procs must be a positive number, not %q", procs)
	}
	runtime.GOMAXPROCS(n)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		fail("%v", err)
	}
	fmt.Printf("ready %d\n", listener.Addr().(*net.TCPAddr).Port)
	fail("%s: %v", name, servers[name](listener))
}

func serveEcho(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go echo(conn)
	}
}

// echo reads and writes with a buffer of its own. io.Copy is shorter, but goes through a pipe in the kernel (splice): as quick with
// 100 connections, about a tenth slower with 1,000.
func echo(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if n > 0 {
			if _, err := conn.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func serveHTTP(listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "Hello, World!\n")
	})
	return http.Serve(listener, mux)
}
