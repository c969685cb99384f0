"""report: from samples to tables.

`samples[(workload, procs)][contestant]` is the list of JSON results of one contestant, one for each
round. The median is what counts. A figure whose samples lie far apart is marked, since a ratio of
two such figures says little.
"""

from statistics import median

from harness.catalogue import Target
from harness.contestants import TITLES

NOISY = 0.25  # of the median, between the lower and the upper quartile


class Spread:
    """The samples of one figure of one contestant."""

    def __init__(self, values):
        self.values = sorted(values)
        self.median = median(self.values) if self.values else None

    def is_noisy(self):
        if len(self.values) < 3 or not self.median:
            return False
        quarter = len(self.values) // 4
        inner = self.values[quarter : len(self.values) - quarter]
        return inner[-1] - inner[0] > NOISY * self.median


def spread(results, figure):
    return Spread([r[figure.key] for r in results if figure.key in r])


def _number(value, digits):
    return "-" if value is None else f"{value:,.{digits}f}"


def _ratio(a, b):
    if a is None or not b:
        return "-"
    return f"{a / b:.2f}" if a / b >= 0.1 else f"{a / b:.1g}"


def _verdict(targets, medians, titles):
    """Of all targets of a figure what they are, and whether each is met."""
    met = ({True: "yes", False: "NO", None: "-"}[target.is_met(medians)] for target in targets)
    return ", ".join(target.text(titles) for target in targets), ", ".join(met)


def _cell(samples, results, digits):
    """A median; `starves` when the program said that it has none for that reason."""
    if samples.median is None and any(r.get("starves") for r in results):
        return "starves"
    return ("~" if samples.is_noisy() else "") + _number(samples.median, digits)


def figure_rows(figure, by_procs, contestants):
    """One row for each number of processors, as words."""
    for procs, by_contestant in sorted(by_procs.items()):
        spreads = {c.name: spread(by_contestant.get(c.name, []), figure) for c in contestants}
        medians = {name: s.median for name, s in spreads.items()}
        row = [str(procs)]
        for c in contestants:
            row.append(_cell(spreads[c.name], by_contestant.get(c.name, []), figure.digits))
        weft = medians.get("weft")
        row += [_ratio(weft, medians.get(c.name)) for c in contestants if c.name != "weft"]
        row += _verdict(figure.targets_for(procs), medians, TITLES)
        yield row


def _align(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(w.rjust(n) for w, n in zip(row, widths)).rstrip() for row in rows]


def growth(workload, by_procs):
    """{contestant: its first figure on two processors, times that on one}"""
    of = {}
    for procs in (1, 2):
        for name, results in by_procs.get(procs, {}).items():
            of.setdefault(name, {})[procs] = spread(results, workload.figures[0]).median
    return {name: m[2] / m[1] for name, m in of.items() if m.get(1) and m.get(2)}


def _growth_line(workload, by_procs, contestants):
    grown = growth(workload, by_procs)
    words = [f"{c.title} {grown[c.name]:.2f}" for c in contestants if c.name in grown]
    limit, met = _verdict([Target(workload.growth_limit)], grown, TITLES)
    return f" two processors against one: {', '.join(words)}; target {limit}, met: {met}"


def _notes(workload, by_procs, contestants, quick):
    for c in contestants:
        n, reason = (workload.limits or {}).get(c.name, (0, ""))
        if n and n == workload.n_for(c.name, quick):
            yield f"{c.title} runs {n:,} only: {reason}"
        early = [r.get("started_early", 0) for b in by_procs.values() for r in b.get(c.name, [])]
        if early and median(early) > 0:
            yield f"{c.title}: {median(early):,.0f} of them ran before the measurement, and waited for it"
    for name, reason in (workload.without or {}).items():
        yield f"{TITLES[name]} takes no part: {reason}"


def table(workload, by_procs, contestants, quick=False):
    """The text for one workload; `contestants`: those that took part."""
    lines = [f"{workload.name}: {workload.title} ({workload.size(quick)})"]
    head = ["procs"] + [c.title for c in contestants]
    head += [f"weft/{c.title}" for c in contestants if c.name != "weft"] + ["target", "met"]
    for figure in workload.figures:
        lines.append(f" {figure.title} [{figure.unit}]" + (", more is better" if figure.more_is_better() else ""))
        lines += _align([head, *figure_rows(figure, by_procs, contestants)])
    if workload.growth_limit and growth(workload, by_procs):
        lines.append(_growth_line(workload, by_procs, contestants))
    lines += [f"  note: {note}" for note in _notes(workload, by_procs, contestants, quick)]
    return "\n".join(lines)


def verdicts(workload, by_procs):
    """For each target of this workload what it is about, and whether it is met (None: not known)."""
    for figure in workload.figures:
        for procs, by_contestant in sorted(by_procs.items()):
            targets = figure.targets_for(procs)
            medians = {name: spread(results, figure).median for name, results in by_contestant.items()}
            for target in targets:
                of = f" of {TITLES[target.of]}'s" if len(targets) > 1 else ""
                yield f"{workload.name} ({figure.title}{of}, {procs} procs)", target.is_met(medians)
    if workload.growth_limit and {1, 2} <= set(by_procs):
        met = Target(workload.growth_limit).is_met(growth(workload, by_procs))
        yield f"{workload.name} (two processors against one)", met


def summary(judged):
    """One line about all targets; `judged` is what verdicts() gave."""
    by_state = {state: [about for about, met in judged if met is state] for state in (True, False, None)}
    words = [f"{len(by_state[True])} of {len(judged)} targets met"]
    if by_state[False]:
        words.append("MISSED: " + ", ".join(by_state[False]))
    if by_state[None]:
        words.append(f"{len(by_state[None])} not judged, since a figure is missing")
    return "; ".join(words)
