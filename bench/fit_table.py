"""The tables of fit_vs_peers.py, in Markdown, and what they add up to."""

from dataclasses import dataclass

EVERY = 500  # rows between two points of a curve
PEERS = {
    "naive": "last label",
    "sklearn": "scikit-learn",
    "vw-default": "Vowpal Wabbit",
    "vw-best": "its best of 24",
    "vw-other": "coin, freegrad, pistol, ftrl",
    "autovw": "AutoVW",
    "river": "river",
    "optax": "optax",
}


@dataclass(frozen=True)
class Measure:
    key: str
    title: str
    sign: int  # 1: less is better

    def best(self, results):
        """(name, result) of the best, of those that saw most rows; None where nothing was measured."""
        there = {name: r for name, r in results.items() if self.key in r}
        most = max((r["rows"] for r in there.values()), default=0)
        seen = {name: r for name, r in there.items() if r["rows"] == most}
        return min(seen.items(), key=lambda pair: self.sign * pair[1][self.key]) if seen else None

    def worse_by(self, ours, theirs):
        """In percent of the loss; in points of accuracy. Positive: ours is worse."""
        return 100 * (ours / theirs - 1) if self.sign > 0 else 100 * (theirs - ours)

    @property
    def unit(self):
        return "%" if self.sign > 0 else "points"

    def show(self, value):
        if self.key.endswith("error"):
            return f"{value:.4g}"
        return f"{value:.4f}" if self.sign > 0 else f"{100 * value:.2f}"


MEASURES = (
    Measure("log_loss", "Log-loss", 1),
    Measure("accuracy", "Accuracy, %", -1),
    Measure("squared_error", "Squared error", 1),
    Measure("absolute_error", "Absolute error", 1),
)
MAIN = ("log_loss", "squared_error")  # the others are told, not promised


class Row:
    """One stream under one measure."""

    def __init__(self, known, measure, cells_tune):
        self.known, self.measure, self.methods = known, measure, known["methods"]
        self.name = known["stream"]
        self.default = self.methods.get("default")
        self.stride = measure.best(self.named(lambda n: n.startswith("stride ")))
        self.cell = measure.best(self.named(lambda n: n.startswith("cell ") and n.endswith(f" {cells_tune}")))
        self.peers = {peer: self.strongest(self.named(lambda n, p=peer: n.split()[0] == p)) for peer in PEERS}

    def named(self, wanted):
        return {name: r for name, r in self.methods.items() if wanted(name)}

    def ours(self, rows):
        """The default's figure on the first rows."""
        if rows == self.default["rows"]:
            return self.default[self.measure.key]
        return self.default["curve"][self.measure.key][rows // EVERY - 1]

    def behind(self, result):
        """By how much the default is worse than a method on the rows that this saw."""
        return self.measure.worse_by(self.ours(result["rows"]), result[self.measure.key])

    def strongest(self, results):
        """The variant that the default does worst against, on the rows that it saw."""
        there = {name: r for name, r in results.items() if self.measure.key in r}
        if self.default is None or not there:
            return self.measure.best(there)
        return max(there.items(), key=lambda pair: self.behind(pair[1]))

    def rival(self):
        found = [pair for pair in self.peers.values() if pair]
        return max(found, key=lambda pair: self.behind(pair[1]), default=None) if self.default else None

    def shown(self, found, short):
        if found is None:
            return "–"
        name, result = found
        how = name.partition(" ")[2] if short else name
        text = self.measure.show(result[self.measure.key]) + (f" ({how})" if how else "")
        if result["rows"] < self.known["rows"]:
            there = f"; ours there {self.measure.show(self.ours(result['rows']))}" if self.default else ""
            text += f", first {result['rows']:,} rows{there}"
        return text

    def apart(self, found):
        return f"{self.behind(found[1]):+.2f}" if found and self.default else "–"

    def summary(self):
        k = self.known
        size = f"{k['rows']:,} × {k['features']:,}" + (f", {k['classes']}" if k["classes"] else "")
        ours = self.measure.show(self.default[self.measure.key]) if self.default else "–"
        line = [self.name, size + (f", delay {k['delay']}" if k["delay"] else ""), ours]
        for found, short in ((self.stride, True), (self.cell, True), (self.rival(), False)):
            line += [self.shown(found, short), self.apart(found)]
        return line


def table(lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


def criterion(title, rows, apart, most, allowed, unit):
    """`apart` of a row is what must not be above `most`, except on `allowed` streams; None where it is not known."""
    known = {row.name: apart(row) for row in rows if apart(row) is not None}
    if not known:
        return f"- {title}: not measured."
    above = {name: by for name, by in known.items() if by > most}
    verdict = "**does not hold**" if len(above) > allowed else "holds"
    where = "; not on " + ", ".join(f"{name} ({by:+.2f} {unit})" for name, by in above.items()) if above else ""
    missing = f"; {len(rows) - len(known)} more are not measured" if len(known) < len(rows) else ""
    return f"- {title}: {verdict}, on {len(known) - len(above)} of {len(known)} streams{where}{missing}."


def verdicts(rows, measure):
    """Of a loss."""

    def against(of_row):
        return lambda row: row.behind(of_row(row)[1]) if row.default and of_row(row) else None

    def better(row):  # as good is not better
        by = against(Row.rival)(row)
        return by if by != 0 else 1e-9

    unit = measure.unit
    lines = [
        criterion(
            "Within 2 % of the best of stride 1, 2, 4, 8, with and without replay",
            rows,
            against(lambda r: r.stride),
            2,
            0,
            unit,
        ),
        criterion("At most 1 % above the best of 18 cells", rows, against(lambda r: r.cell), 1, 0, unit),
        criterion("Below every rival, on all but two streams", rows, better, 0, 2, unit),
    ]
    return "\n".join(lines)


def costs(known):
    timed = [(k["stream"], k["methods"]["cost"]) for k in known if "cost" in k["methods"]]
    if not timed:
        return []
    lines = [["stream", "defaults, s", "one fixed cell, s", "ratio"]]
    lines += [[name, f"{c['tuned']:.2f}", f"{c['fixed']:.2f}", f"{c['ratio']:.2f}"] for name, c in timed]
    above = [f"{name} ({c['ratio']:.2f})" for name, c in timed if c["ratio"] > 2]
    verdict = f"**does not hold** on {', '.join(above)}" if above else "holds"
    return ["### Cost of tuning", table(lines), f"- Cost against one fixed learner at most 2: {verdict}."]


def group(title, known, cells_tune):
    parts = [f"## {title} streams"]
    for measure in MEASURES:
        rows = rows_of(known, measure, cells_tune)
        if not rows:
            continue
        head = ["stream", "rows × features, classes", "obolus fit"]
        for other in ("best stride", "best of 18 (rate, l2)", "strongest rival"):
            head += [other, f"ours is worse by, {measure.unit}"]
        parts += [f"### {measure.title}", table([head, *(row.summary() for row in rows)])]
        if measure.key in MAIN:
            parts += [verdicts(rows, measure)]
        rivals = [[row.name, *(row.shown(found, True) for found in row.peers.values())] for row in rows]
        parts += [table([["stream", *PEERS.values()], *rivals])]
    return parts


def rows_of(known, measure, cells_tune):
    numbers = measure.key.endswith("error")
    return [Row(k, measure, cells_tune) for k in known if (k["classes"] == 0) == numbers]


def altogether(known, cells_tune):
    parts = ["## All streams"]
    for measure in MEASURES:
        rows = rows_of(known, measure, cells_tune)
        if rows and measure.key in MAIN:
            parts += [f"### {measure.title}", verdicts(rows, measure)]
    return parts + costs(known) + failures(known)


def failures(known):
    lines = [
        f"- {k['stream']}: {name}: {result['failed']}"
        for k in known
        for name, result in k["methods"].items()
        if "failed" in result
    ]
    return ["### Without a result", "\n".join(lines)] if lines else []


def write(known, cells_tune):
    """`known` is {title: results of its streams}."""
    parts = []
    for title, of_group in known.items():
        if of_group:
            parts += group(title, of_group, cells_tune)
    everything = sum(known.values(), [])
    parts += altogether(everything, cells_tune)
    built = {r["program"] for k in everything for r in k["methods"].values() if "program" in r}
    if len(built) > 1:
        parts += [f"**Numbers of {len(built)} builds of the program are mixed here**: run again without `--only`."]
    return "\n\n".join(parts) + "\n"
