"""The tables of fit_vs_peers.py, in Markdown, and what they add up to."""

import statistics

PEERS = {
    "decay": "decayed step",
    "sklearn": "scikit-learn",
    "vw-default": "Vowpal Wabbit",
    "vw-best": "Vowpal Wabbit, best of 18",
    "river": "river",
}


class Measure:
    """log_loss, less is better; or accuracy, more is."""

    def __init__(self, key, title, curve, sign):
        self.key, self.title, self.curve, self.sign = key, title, curve, sign

    def better(self, a, b):
        return self.sign * a < self.sign * b

    def best(self, results):
        """(name, result) of the best, of those that saw most rows; None where nothing was measured."""
        there = {name: r for name, r in results.items() if self.key in r}
        most = max((r["rows"] for r in there.values()), default=0)
        seen = {name: r for name, r in there.items() if r["rows"] == most}
        return min(seen.items(), key=lambda pair: self.sign * pair[1][self.key]) if seen else None

    def difference(self, ours, theirs):
        """In percent of the loss; in points of accuracy. Positive: ours is worse."""
        return 100 * (ours / theirs - 1) if self.sign > 0 else 100 * (theirs - ours)

    def show(self, value):
        return f"{value:.4f}" if self.sign > 0 else f"{100 * value:.2f}"


MEASURES = [Measure("log_loss", "Log-loss", "loss", 1), Measure("accuracy", "Accuracy, %", "right", -1)]


class Row:
    """One stream under one measure."""

    def __init__(self, known, measure, cells_tune):
        self.known, self.measure, methods = known, measure, known["methods"]
        self.default = methods.get("default", {}).get(measure.key)
        cells = {n: r for n, r in methods.items() if n.startswith("cell ") and n.endswith(f" {cells_tune}")}
        self.cell = measure.best(cells)
        self.peers = {p: measure.best({n: r for n, r in methods.items() if n.split()[0] == p}) for p in PEERS}

    def ours_for(self, peer):
        """The default's figure on the rows that this peer saw; None where either is missing."""
        found = self.peers[peer]
        if found is None or found[1]["rows"] == self.known["rows"]:
            return None if found is None else self.default
        return self.known["methods"].get(f"default-first {found[1]['rows']}", {}).get(self.measure.key)

    def shown(self, peer):
        found = self.peers[peer]
        if found is None:
            return "–"
        name, result = found
        how = name.partition(" ")[2]
        text = self.measure.show(result[self.measure.key]) + (f" ({how})" if how else "")
        if result["rows"] < self.known["rows"]:
            ours = self.ours_for(peer)
            there = "" if ours is None else f"; ours there {self.measure.show(ours)}"
            text += f", first {result['rows']:,} rows{there}"
        return text

    def line(self):
        k, m = self.known, self.measure
        size = f"{k['rows']:,} × {k['features']:,}, {k['classes']}"
        ours = "–" if self.default is None else m.show(self.default)
        cell = apart = "–"
        if self.cell:
            rate, l2 = self.cell[0].split()[1:3]
            cell = f"{m.show(self.cell[1][m.key])} ({rate}, {l2})"
            apart = apart if self.default is None else f"{self.apart():+.2f}"
        return [k["stream"], size, ours, cell, apart, *(self.shown(peer) for peer in PEERS)]

    def apart(self):
        return self.measure.difference(self.default, self.cell[1][self.measure.key])

    def strongest(self):
        whole = {p: f for p, f in self.peers.items() if p != "decay" and f and f[1]["rows"] == self.known["rows"]}
        return min(whole, key=lambda p: self.measure.sign * whole[p][1][self.measure.key], default=None)


def table(lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


def verdict(rows, measure):
    """Counts over the streams where both sides were measured."""
    said, unit = [], "%" if measure.sign > 0 else " points"
    apart = {row.known["stream"]: row.apart() for row in rows if row.default is not None and row.cell}
    if apart:
        close, ahead, n = sum(d <= 1 for d in apart.values()), sum(d < 0 for d in apart.values()), len(apart)
        worst = max(apart, key=apart.get)
        said += [
            f"- The default is better than the best of 18 cells in hindsight on {ahead} of {n} streams, and within "
            f"1{unit.rstrip('s')} of it or better on {close}. Median {statistics.median(apart.values()):+.2f}"
            f"{unit}, worst {apart[worst]:+.2f}{unit} ({worst})."
        ]
    for peer, title in PEERS.items():
        pairs = [
            (row.ours_for(peer), row.peers[peer][1][measure.key]) for row in rows if row.ours_for(peer) is not None
        ]
        if pairs:
            said += [f"- Better than {title} on {sum(measure.better(*pair) for pair in pairs)} of {len(pairs)}."]
    all_of = [[(row.ours_for(p), row.peers[p]) for p in PEERS] for row in rows]
    full = [pairs for pairs in all_of if all(ours is not None and found for ours, found in pairs)]
    if full:
        won = sum(all(measure.better(ours, found[1][measure.key]) for ours, found in pairs) for pairs in full)
        said += [f"- Better than all of these on {won} of {len(full)}."]
    strongest = [f"{row.known['stream']} {PEERS[row.strongest()]}" for row in rows if row.strongest()]
    return said + [f"- Strongest peer on all rows: {'; '.join(strongest)}."]


def costs(known):
    timed = [(k["stream"], k["methods"]["cost"]) for k in known if "cost" in k["methods"]]
    if not timed:
        return []
    lines = [["stream", "defaults, s", "one fixed cell, s", "ratio"]]
    lines += [[name, f"{c['tuned']:.2f}", f"{c['fixed']:.2f}", f"{c['ratio']:.2f}"] for name, c in timed]
    return ["## Cost of tuning", table(lines), f"- Median ratio {statistics.median(c['ratio'] for _, c in timed):.2f}."]


def write(known, cells_tune):
    parts = []
    for measure in MEASURES:
        rows = [Row(k, measure, cells_tune) for k in known]
        difference = "difference, %" if measure.sign > 0 else "difference, points"
        head = [
            "stream",
            "rows × features, classes",
            "obolus fit",
            "best of 18 (rate, l2)",
            difference,
            *PEERS.values(),
        ]
        parts += [
            f"## {measure.title}",
            table([head, *(row.line() for row in rows)]),
            "\n".join(verdict(rows, measure)),
        ]
    parts += costs(known)
    built = {r["program"] for k in known for r in k["methods"].values() if "program" in r}
    if len(built) > 1:
        parts += [f"**Numbers of {len(built)} builds of the program are mixed here**: run again without `--only`."]
    return "\n\n".join(parts) + "\n"
