"""emit_cpp: a program as weft C++: a struct of what is shared, with a member function per function.

The struct is never destroyed, as Go's is not while anybody can reach it: goroutines that main leaves behind may still be running.
"""

from emitter import Emitter
from ir import Spawn, all_statements

TYPES = {"int": "int", "text": "std::string", "void": "void"}
HANDED = {"int": "std::optional<int>", "text": "const std::optional<std::string>&", "void": "bool"}


class CppEmitter(Emitter):
    def boxed(self, ch, value):
        return {"int": value, "text": f"peer::text({value})", "void": ""}[self.kind(ch)]

    def program_text(self):
        p = self.program
        self.put("namespace {", f"struct seed_{p.seed} {{")
        for c in p.chans.values():
            made = f" = weft::make_chan<{TYPES[c.kind]}>({c.cap or ''})" if c.cap is not None else ""
            self.put(f"weft::chan<{TYPES[c.kind]}> {c.name}{made};")
        for name in p.mutexes:
            self.put(f"weft::mutex {name};")
        for name in p.counters:
            self.put(f"peer::counter {name};")
        for name in p.wgs:
            self.put(f"weft::wait_group {name};")
        started = {s.func for s in all_statements(p) if isinstance(s, Spawn)}
        for func in p.funcs.values():
            self.params = {param.name: param for param in func.params}
            params = "".join(f", weft::{q.direction}_chan<{TYPES[q.kind]}> {q.name}" for q in func.params)
            g = "gor g" if func.name in started else "gor& g"
            self.put("", f"void {func.name}([[maybe_unused]] {g}{params}) {{")
            self.block(func.body)
            self.put("}")
        self.params = {}
        self.put("};", "")
        self.put(f"const peer::program the_{p.seed}({p.seed}, [](gor& g) {{")
        self.put(f"static auto& s = *new seed_{p.seed};", "s.g0(g);", "});", "}  // namespace", "")
        return self.text()

    def sending(self, ch, value):
        return f"{ch}.send({self.boxed(ch, self.value(value))});"

    def do_send(self, s):
        if s.style == 1 and self.kind(s.ch) != "void":
            self.put(f"{s.ch} << {self.shifted(s)};")
        else:
            self.put(self.sending(s.ch, s.value))
        self.put(f'g.sent("{s.ch}");')

    def shifted(self, s):
        value = self.boxed(s.ch, self.value(s.value))
        return f"({value})" if self.kind(s.ch) == "int" else value

    def do_recv(self, s):
        kind = self.kind(s.ch)
        if s.style == 1 and kind != "void":
            zero, number = ("int v = 0;", "v") if kind == "int" else ("std::string v;", "(ok ? peer::number(v) : 0)")
            self.put("{", zero, f"const bool ok = {s.ch} >> v;", f'g.got("{s.ch}", {{{number}, ok}});', "}")
        else:
            self.put(f'g.got("{s.ch}", {s.ch}.recv());')

    def do_range(self, s):
        item = {"int": ("auto& v", "{v, true}"), "text": ("auto& v", "{peer::number(v), true}"),
                "void": ("[[maybe_unused]] auto v", "{0, true}")}[self.kind(s.ch)]  # fmt: skip
        self.put(f"for ({item[0]} : {s.ch}) {{", f'g.got("{s.ch}", {item[1]});')
        self.block(s.body)
        self.put("}", f'g.say("{s.ch} ended");')

    def do_close(self, s):
        self.put(f"{s.ch}.close();", f'g.say("{s.ch} closed");')

    def do_len(self, s):
        self.put(f'g.has("{s.ch}", {s.ch}.len(), {s.ch}.cap());')

    # ---- select

    def case(self, i, way, ch, value):
        """A case whose handler does no more than keep what came in v<i>, and how that is told. Few types of cases: the compiler's
        time goes into these."""
        if way == "send":
            sent = self.boxed(ch, value)
            return f"weft::on_send({ch}{', ' + sent if sent else ''})", f'g.sent("{ch}");'
        self.put(f"peer::taken v{i};")
        return f"weft::on_recv({ch}, peer::keep{{&v{i}}})", f'g.got("{ch}", v{i});'

    def do_try(self, s):
        if s.style == 1:
            return self.member_try(s)
        self.put("{")
        case, tell = self.case(0, s.way, s.ch, self.value(s.value))
        call = f"weft::select({case}, weft::otherwise())"
        if s.silent:
            self.put(f"{call};", "}")
        else:
            self.put(f"if ({call} == 0) {{", tell, "} else {", f'g.say("{s.ch} not now");', "}", "}")

    def member_try(self, s):
        """try_send and try_recv. The latter says of a closed channel only that nothing came."""
        ch = s.ch
        if s.way == "send":
            call = f"{ch}.try_send({self.boxed(s.ch, self.value(s.value))})"
            if s.silent:
                self.put(f"(void){call};")
            else:
                self.put(f"if ({call}) {{", f'g.sent("{s.ch}");', "} else {", f'g.say("{s.ch} not now");', "}")
            return
        if s.silent:
            self.put(f"(void){ch}.try_recv();")
            return
        self.put(f"if (const auto v = {ch}.try_recv(); v || {ch}.closed()) {{", f'g.got("{s.ch}", v);')
        self.put("} else {", f'g.say("{s.ch} not now");', "}")

    def do_spin(self, s):
        self.put("{")
        case, tell = self.case(0, s.way, s.ch, self.value(s.value))
        self.put(f"while (weft::select({case}, weft::otherwise()) != 0) weft::yield();", tell, "}")

    def case_body(self, s, i, tell):
        if s.mark == "seen":
            self.put(f"g.seen[{i}] = true;")
            return
        if s.mark == "which":
            self.put(f"g.chose({i});")
        self.put(tell)
        self.block(s.cases[i].body)

    def default_body(self, s):
        self.put('g.say("default");')
        self.block(s.default)

    def do_select(self, s):
        [self.handler_select, self.index_select, self.list_select][s.style](s)

    def handler_select(self, s):
        self.put("weft::select(")
        for i, c in enumerate(s.cases):
            sent = self.boxed(c.ch, self.value(c.value))
            if c.way == "send":
                self.put(f"weft::on_send({c.ch}{', ' + sent if sent else ''}, [&] {{")
            else:
                self.put(f"weft::on_recv({c.ch}, [&]([[maybe_unused]] {HANDED[self.kind(c.ch)]} v) {{")
            self.case_body(s, i, f'g.sent("{c.ch}");' if c.way == "send" else f'g.got("{c.ch}", v);')
            self.put("})" + ("," if i + 1 < len(s.cases) or s.default is not None else ");"))
        if s.default is not None:
            self.put("weft::otherwise([&] {")
            self.default_body(s)
            self.put("}));")

    def kept_cases(self, s):
        """The cases, and how each is told."""
        pairs = [self.case(i, c.way, c.ch, self.value(c.value)) for i, c in enumerate(s.cases)]
        cases = [case for case, _ in pairs] + (["weft::otherwise()"] if s.default is not None else [])
        return cases, [tell for _, tell in pairs]

    def index_select(self, s):
        self.put("{")
        cases, tells = self.kept_cases(s)
        self.switch(s, f"weft::select({', '.join(cases)})", tells)

    def list_select(self, s):
        self.put("{")
        cases, tells = self.kept_cases(s)
        self.put("weft::select_list list;", *(f"list.add({case});" for case in cases))
        self.switch(s, "list.wait()", tells)

    def switch(self, s, index, tells):
        self.put(f"switch ({index}) {{")
        for i, tell in enumerate(tells):
            self.put(f"case {i}: {{")
            self.case_body(s, i, tell)
            self.put("break;", "}")
        if s.default is not None:
            self.put("default: {")
            self.default_body(s)
            self.put("}")
        self.put("}", "}")

    def do_tellseen(self, s):
        self.put("g.tell_seen();")

    def do_pump(self, s):
        self.put("{")
        for i, arm in enumerate(s.arms):
            self.put(f"auto arm{i} = {arm.ch};", f"peer::digest d{i};")
            if arm.way != "drain":
                self.put(f"int n{i} = 0;")
        self.put(f"for (int left = {len(s.arms)}; left > 0;) {{")
        cases = [self.arm_case(i, arm) for i, arm in enumerate(s.arms)]
        self.put(f"switch (weft::select({', '.join(cases)})) {{")
        for i, arm in enumerate(s.arms):
            self.put(f"case {i}: {{")
            if arm.way != "drain":
                self.put(f"++n{i};")
            if arm.way != "send":
                self.put(f"if (v{i}.ok) d{i}.add(v{i}.value);")
            is_over = f"!v{i}.ok" if arm.way == "drain" else f"n{i} == {arm.n}"
            self.put(f"if ({is_over}) {{", f"arm{i} = {{}};", "--left;", "}", "break;", "}")
        self.put("}", "}")
        for i, arm in enumerate(s.arms):
            self.put(f'g.pumped("{arm.ch}", d{i}, {str(s.ordered).lower()});')
        self.put("}")

    def arm_case(self, i, arm):
        if arm.way == "send":
            sent = self.boxed(arm.ch, f"{arm.base} + n{i}")
            return f"weft::on_send(arm{i}{', ' + sent if sent else ''})"
        self.put(f"peer::taken v{i};")
        return f"weft::on_recv(arm{i}, peer::keep{{&v{i}}})"

    # ---- the rest

    def do_lock(self, s):
        self.put(f"{s.mutex}.lock();", f'g.say("{s.mutex} locked");')

    def do_unlock(self, s):
        self.put(f"{s.mutex}.unlock();", f'g.say("{s.mutex} unlocked");')

    def do_trylock(self, s):
        self.put(f'g.say({s.mutex}.try_lock() ? "{s.mutex} locked" : "{s.mutex} not now");')

    def do_pass(self, s):
        self.put("{", f"const std::lock_guard hold({s.mutex});", "}", f'g.say("{s.mutex} passed");')

    def do_add(self, s):
        self.put(f"{s.counter}.add({self.value(s.value)});")

    def do_total(self, s):
        self.put(f'{s.counter}.tell(g, "{s.counter}");')

    def do_wgadd(self, s):
        self.put(f"{s.wg}.add({s.n});", f'g.say("{s.wg} added {s.n}");')

    def do_wgdone(self, s):
        self.put(f'g.say("{s.wg} done");', f"{s.wg}.done();")

    def do_wgwait(self, s):
        self.put(f"{s.wg}.wait();", f'g.say("{s.wg} waited");')

    def do_spawn(self, s):
        gor = f"gor{{.number = {s.number}, .acc = {self.value(s.acc)}, .is_audible = {str(s.is_audible).lower()}}}"
        params = self.program.funcs[s.func].params
        args = "".join(f", weft::{p.direction}_chan<{TYPES[p.kind]}>({a})" for p, a in zip(params, s.args))
        self.put(f"weft::go(&seed_{self.program.seed}::{s.func}, this, {gor}{args});")

    def do_yield(self, s):
        self.put("weft::yield();")

    def do_forever(self, s):
        self.put("weft::select();")

    def do_say(self, s):
        self.put(f'g.say("{s.text}", g.acc);')

    def do_loop(self, s):
        self.put(f"for (int {s.var} = 0; {s.var} < {s.n}; ++{s.var}) {{")
        self.block(s.body)
        self.put("}")

    def do_if(self, s):
        self.put(f"if (({self.value(s.value)}) % 2 == 0) {{")
        self.block(s.then)
        self.put("} else {")
        self.block(s.otherwise)
        self.put("}")

    def do_call(self, s):
        self.put(f"{s.func}(g{''.join(', ' + a for a in s.args)});")

    def do_guard(self, s):
        self.put("g.failed = false;", "try {")
        self.block(s.body)
        self.put("} catch (const weft::closed_channel& e) {", "g.caught(e.what());")
        self.put("} catch (const weft::nil_channel& e) {", "g.caught(e.what());", "}")
        if s.caught:
            self.put("if (g.failed) {")
            self.block(s.caught)
            self.put("}")


HEAD = """// Generated by tests/differential: do not edit.
#include <mutex>
#include <optional>
#include <string>

#include <weft/weft.hpp>

#include "peer.hpp"

using peer::gor;

"""


def emit(program):
    return CppEmitter(program).program_text()


def emit_all(programs):
    return HEAD + "\n".join(emit(p) for p in programs)
