"""emit_go: a program as Go: a struct of what is shared, with a method per function."""

from emitter import Emitter

TYPES = {"int": "int", "text": "string", "void": "struct{}"}


class GoEmitter(Emitter):
    indent = "\t"

    def ch(self, name):
        return name if self.is_param(name) else "s." + name

    def boxed(self, ch, value):
        kind = self.kind(ch)
        return {"int": value, "text": f"text({value})", "void": "struct{}{}"}[kind]

    def unboxed(self, ch):
        """The names bound by a receive, and the value as a number."""
        kind = self.kind(ch)
        return {"int": ("v", "v"), "text": ("v", "number(v)"), "void": ("_", "0")}[kind]

    def program_text(self):
        p = self.program
        self.put(f"type seed{p.seed} struct {{")
        for c in p.chans.values():
            self.put(f"{c.name} chan {TYPES[c.kind]}")
        for name in p.mutexes:
            self.put(f"{name} sync.Mutex")
        for name in p.counters:
            self.put(f"{name} counter")
        for name in p.wgs:
            self.put(f"{name} sync.WaitGroup")
        self.put("}", "")
        for func in p.funcs.values():
            self.params = {param.name: param for param in func.params}
            arrow = {"recv": "<-chan", "send": "chan<-"}
            params = "".join(f", {q.name} {arrow[q.direction]} {TYPES[q.kind]}" for q in func.params)
            self.put(f"func (s *seed{p.seed}) {func.name}(g *gor{params}) {{")
            self.block(func.body)
            self.put("}", "")
        self.params = {}
        self.put(f"func init() {{", f"programs[{p.seed}] = func(g *gor) {{", f"s := &seed{p.seed}{{}}")
        for c in p.chans.values():
            if c.cap is not None:
                self.put(f"s.{c.name} = make(chan {TYPES[c.kind]}" + (f", {c.cap})" if c.cap else ")"))
        self.put("s.g0(g)", "}", "}", "")
        return self.text()

    def do_send(self, s):
        self.put(f"{self.ch(s.ch)} <- {self.boxed(s.ch, self.value(s.value))}", f'g.sent("{s.ch}")')

    def received(self, ch):
        names, value = self.unboxed(ch)
        return f"{names}, ok := <-{self.ch(ch)}", f'g.got("{ch}", {value}, ok)'

    def do_recv(self, s):
        take, tell = self.received(s.ch)
        self.put("{", take, tell, "}")

    def do_range(self, s):
        names, value = self.unboxed(s.ch)
        self.put(f"for {names} := range {self.ch(s.ch)} {{" if names != "_" else f"for range {self.ch(s.ch)} {{")
        self.put(f'g.got("{s.ch}", {value}, true)')
        self.block(s.body)
        self.put("}", f'g.say("{s.ch} ended")')

    def do_close(self, s):
        self.put(f"close({self.ch(s.ch)})", f'g.say("{s.ch} closed")')

    def do_len(self, s):
        self.put(f'g.has("{s.ch}", len({self.ch(s.ch)}), cap({self.ch(s.ch)}))')

    def case(self, way, ch, value, tells):
        """One case; silent ones bind nothing."""
        if way == "send":
            self.put(f"case {self.ch(ch)} <- {self.boxed(ch, self.value(value))}:")
            return f'g.sent("{ch}")' if tells else ""
        if not tells:
            self.put(f"case <-{self.ch(ch)}:")
            return ""
        take, tell = self.received(ch)
        self.put(f"case {take}:")
        return tell

    def do_try(self, s):
        self.put("select {")
        tell = self.case(s.way, s.ch, s.value, not s.silent)
        self.put(*([tell] if tell else []), "default:")
        if not s.silent:
            self.put(f'g.say("{s.ch} not now")')
        self.put("}")

    def do_spin(self, s):
        self.put("for done := false; !done; {", "select {")
        tell = self.case(s.way, s.ch, s.value, True)
        self.put(tell, "done = true", "default:", "runtime.Gosched()", "}", "}")

    def do_select(self, s):
        self.put("select {")
        for i, c in enumerate(s.cases):
            tell = self.case(c.way, c.ch, c.value, s.mark != "seen")
            if s.mark == "seen":
                self.put(f"g.seen[{i}] = true")
                continue
            if s.mark == "which":
                self.put(f"g.chose({i})")
            self.put(tell)
            self.block(c.body)
        if s.default is not None:
            self.put("default:", 'g.say("default")')
            self.block(s.default)
        self.put("}")

    def do_tellseen(self, s):
        self.put("g.tellSeen()")

    def do_pump(self, s):
        self.put("{")
        for i, arm in enumerate(s.arms):
            self.put(f"arm{i}, n{i}, d{i} := {self.ch(arm.ch)}, 0, digest{{}}")
        self.put(f"for left := {len(s.arms)}; left > 0; {{", "select {")
        for i, arm in enumerate(s.arms):
            if arm.way == "send":
                sent = self.boxed(arm.ch, f"{arm.base}+n{i}")
                self.put(f"case arm{i} <- {sent}:")
            else:
                names, value = self.unboxed(arm.ch)
                take = f"{names}, ok" if arm.way == "drain" else names
                self.put(f"case {take} := <-arm{i}:" if take != "_" else f"case <-arm{i}:")
            is_over = f"n{i} == {arm.n}"
            if arm.way == "drain":
                self.put("if ok {", f"d{i}.add({value})", "}")
                is_over = "!ok"
            elif arm.way == "recv":
                self.put(f"d{i}.add({value})")
            self.put(f"n{i}++", f"if {is_over} {{", f"arm{i} = nil", "left--", "}")
        self.put("}", "}")
        for i, arm in enumerate(s.arms):
            self.put(f'g.pumped("{arm.ch}", d{i}, {str(s.ordered).lower()})')
        self.put("}")

    def do_lock(self, s):
        self.put(f"s.{s.mutex}.Lock()", f'g.say("{s.mutex} locked")')

    def do_unlock(self, s):
        self.put(f"s.{s.mutex}.Unlock()", f'g.say("{s.mutex} unlocked")')

    def do_trylock(self, s):
        self.put(f"if s.{s.mutex}.TryLock() {{", f'g.say("{s.mutex} locked")', "} else {")
        self.put(f'g.say("{s.mutex} not now")', "}")

    def do_pass(self, s):
        self.put(f"s.{s.mutex}.Lock()", f"s.{s.mutex}.Unlock()", f'g.say("{s.mutex} passed")')

    def do_add(self, s):
        self.put(f"s.{s.counter}.add({self.value(s.value)})")

    def do_total(self, s):
        self.put(f's.{s.counter}.tell(g, "{s.counter}")')

    def do_wgadd(self, s):
        self.put(f"s.{s.wg}.Add({s.n})", f'g.say("{s.wg} added {s.n}")')

    def do_wgdone(self, s):
        self.put(f'g.say("{s.wg} done")', f"s.{s.wg}.Done()")

    def do_wgwait(self, s):
        self.put(f"s.{s.wg}.Wait()", f'g.say("{s.wg} waited")')

    def do_spawn(self, s):
        args = "".join(", " + self.ch(a) for a in s.args)
        made = f"&gor{{number: {s.number}, acc: {self.value(s.acc)}, audible: {str(s.is_audible).lower()}}}"
        self.put(f"go s.{s.func}({made}{args})")

    def do_yield(self, s):
        self.put("runtime.Gosched()")

    def do_forever(self, s):
        self.put("select {}")

    def do_say(self, s):
        self.put(f'g.say("{s.text} " + strconv.Itoa(g.acc))')

    def do_loop(self, s):
        self.put(f"for {s.var} := 0; {s.var} < {s.n}; {s.var}++ {{")
        self.block(s.body)
        self.put("}")

    def do_if(self, s):
        self.put(f"if ({self.value(s.value)})%2 == 0 {{")
        self.block(s.then)
        self.put("} else {")
        self.block(s.otherwise)
        self.put("}")

    def do_call(self, s):
        self.put(f"s.{s.func}(g{''.join(', ' + self.ch(a) for a in s.args)})")

    def do_guard(self, s):
        self.put("g.failed = false", "func() {", "defer g.recovered()")
        self.block(s.body)
        self.put("}()")
        if s.caught:
            self.put("if g.failed {")
            self.block(s.caught)
            self.put("}")


HEAD = """// Generated by tests/differential: do not edit.
package main

import (
\t"runtime"
\t"strconv"
\t"sync"
)

var _ = runtime.Gosched
var _ = strconv.Itoa
var _ sync.Mutex

"""


def emit(program):
    return GoEmitter(program).program_text()


def emit_all(programs):
    return HEAD + "\n".join(emit(p) for p in programs)
