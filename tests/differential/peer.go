// peer.go: what every generated Go program is linked with: a goroutine that says what happens to it, and main.
package main

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

const modulus = 1000003

func mix(acc, value int) int { return (acc*31 + value) % modulus }

// A goroutine of the program: see ir.py.
type gor struct {
	number, acc int
	audible     bool
	failed      bool
	seen        [8]bool
}

// One write per line, so that lines stay whole and none is lost when the process dies.
func (g *gor) say(text string) {
	if g.audible {
		syscall.Write(1, []byte("g"+strconv.Itoa(g.number)+" "+text+"\n"))
	}
}

func (g *gor) sent(ch string) { g.say(ch + " <-") }

func (g *gor) got(ch string, value int, ok bool) {
	if ok {
		g.acc = mix(g.acc, value)
	}
	g.say(ch + " -> " + strconv.Itoa(value) + " " + strconv.FormatBool(ok))
}

func (g *gor) chose(index int) { g.say("case " + strconv.Itoa(index)) }

func (g *gor) has(ch string, length, capacity int) {
	g.say(ch + " has " + strconv.Itoa(length) + " of " + strconv.Itoa(capacity))
}

func (g *gor) tellSeen() {
	text := "seen"
	for i, is := range g.seen {
		if is {
			text += " " + strconv.Itoa(i)
		}
	}
	g.say(text)
	g.seen = [8]bool{}
}

// Deferred by a guard.
func (g *gor) recovered() {
	if problem := recover(); problem != nil {
		g.failed = true
		g.say("caught " + problem.(error).Error())
	}
}

// What is said of one arm of a pump.
type digest struct{ n, sum, mixed int }

func (d *digest) add(value int) {
	d.n, d.sum, d.mixed = d.n+1, d.sum+value, mix(d.mixed, value)
}

func (g *gor) pumped(ch string, d digest, ordered bool) {
	text := ch + " pumped " + strconv.Itoa(d.n) + " " + strconv.Itoa(d.sum)
	if ordered {
		text += " " + strconv.Itoa(d.mixed)
	}
	g.say(text)
}

// A text that stands for a number, and back. A zero value is the number 0.
func text(value int) string {
	return "a text that is longer than any that fits inside: " + strconv.Itoa(value)
}

func number(t string) int {
	if t == "" {
		return 0
	}
	const front = len("a text that is longer than any that fits inside: ")
	value, err := strconv.Atoi(t[front:])
	if err != nil {
		os.Exit(99)
	}
	return value
}

// By seed. The generated file fills it in.
var programs = map[int]func(*gor){}

// A mutex, and what it guards.
type counter struct {
	sync.Mutex
	n, sum, squares int
}

func (c *counter) add(value int) {
	c.Lock()
	defer c.Unlock()
	c.n, c.sum, c.squares = c.n+1, c.sum+value, c.squares+value*value
}

func (c *counter) tell(g *gor, name string) {
	c.Lock()
	defer c.Unlock()
	g.say(name + " = " + strconv.Itoa(c.n) + " " + strconv.Itoa(c.sum) + " " + strconv.Itoa(c.squares))
}

func main() {
	seed, _ := strconv.Atoi(os.Args[1])
	program, known := programs[seed]
	if !known {
		os.Exit(98)
	}
	program(&gor{audible: true})
}
