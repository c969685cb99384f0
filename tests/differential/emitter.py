"""emitter: what writing a program as Go and as C++ has in common: lines, and a method per kind of statement."""


class Emitter:
    indent = "  "

    def __init__(self, program):
        self.program = program
        self.lines = []
        self.depth = 0
        self.params = {}  # of the function at hand: name -> Param

    def put(self, *lines):
        for line in lines:
            if line.startswith("}"):
                self.depth -= 1
            self.lines.append(self.indent * self.depth + line if line else "")
            if line.endswith("{") or line.endswith("(["):
                self.depth += 1

    def block(self, body):
        for s in body:
            getattr(self, "do_" + type(s).__name__.lower())(s)

    def kind(self, ch):
        return (self.params.get(ch) or self.program.chans[ch]).kind

    def is_param(self, ch):
        return ch in self.params

    def value(self, value):
        """An expression of type int."""
        if value[0] == "const":
            return str(value[1])
        if value[0] == "acc":
            return f"(g.acc+{value[1]})%1000" if self.indent == "\t" else f"(g.acc + {value[1]}) % 1000"
        return f"{value[1]} + {value[2]}" if value[2] else value[1]

    def text(self):
        return "\n".join(self.lines) + "\n"
