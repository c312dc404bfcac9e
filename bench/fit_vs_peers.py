"""`obolus fit` with its defaults beside its own settings in hindsight and every rival of bench/peers/, on 33 streams.

    python3 bench/fit_vs_peers.py [--program PATH] [--data DIR] [--out DIR] [--streams a,b] [--only LIST] [--rows N]
    python3 bench/fit_vs_peers.py --confirm     # the six streams that were set aside: once, at the end

One pass over each stream; every row is judged before it is learnt, and learnt before the next is judged. Log-loss is
natural, of probabilities of at least 1e-15; numbers have squared and absolute errors, from the first row before which a
label was known. Needs what bench/requirements.txt lists.

What was measured stays in DIR/results and is not measured again: another run continues where this one ended. A new
program or a changed stream makes its own numbers void. DIR/table.md is the result, of both groups of streams.

Of several variants or cells of a side the best counts, for each measure, chosen afterwards: that favours the peers and
the fixed settings, not the default. A peer that ran out of --seconds is compared on the rows that it saw.

--only takes default, strides, cells, cost, naive, vw, optax, sklearn, river, autovw; obolus is the first four and peers
the others; none writes the table only.
"""

import os

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # before NumPy: threads that wait for each other cost scikit-learn tenfold
    os.environ.setdefault(variable, "1")

import argparse
import fcntl
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fit_streams
import fit_table
import numpy
import peers
from fit_table import EVERY

RATES = (0.002, 0.01, 0.05, 0.3, 1.5, 8.0)
L2 = (0.0, 1e-4, 1e-2)
STRIDES = (1, 2, 4, 8)
# The cell that the default's time is compared with.
FIXED = ["--tune", "none", "--learning-rate", "0.2", "--l2", "1e-4"]
GROUPS = {"obolus": ["default", "strides", "cells", "cost"], "peers": list(peers.LIBRARIES)}


class Program:
    """`obolus fit` on streams."""

    def __init__(self, path, more):
        self.path, self.more = path, more
        there = path and Path(path).exists()
        self.digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16] if there else None

    def call(self, stream, options, folder):
        task = ["--task", "numbers"] if stream.numbers else ["--classes=" + ",".join(stream.classes)]
        call = [self.path, "fit", str(stream.path), *task, "--delay", str(stream.delay), "--out", f"{folder}/run"]
        return [*call, "--metrics", f"{folder}/metrics.json", "--seed", "1", "-q", *self.more, *options]

    def fit(self, stream, options):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = subprocess.run(self.call(stream, options, folder), capture_output=True, encoding="utf-8")
            seconds = time.perf_counter() - start
            if done.returncode != 0:
                sys.exit(f"{' '.join(done.args)}\n{done.stderr}")
            summary = json.loads(Path(f"{folder}/metrics.json").read_text())
        keys = ("squared_error", "absolute_error") if stream.numbers else ("log_loss", "accuracy")
        result = {key: summary["prequential"][key] for key in keys}
        tuned = {"tuned": summary.get("hyperparameters")}
        return result | {"rows": summary["rows"], "seconds": seconds, "program": self.digest} | tuned

    def default(self, stream):
        """Judged here, by what it wrote of each row, as the peers are; what it says itself must agree."""
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "predictions"
            said = self.fit(stream, ["--predictions", str(written), *([] if stream.numbers else ["--probabilities"])])
            lines = [line.split("\t") for line in written.read_text(errors="surrogateescape").splitlines()]
        columns = slice(1) if stream.numbers else slice(1, 1 + len(stream.classes))
        told = numpy.array([line[columns] for line in lines], float)
        found = judged(stream, told[:, 0] if stream.numbers else told)
        for key in found["curve"]:
            if abs(found[key] - said[key]) > 1e-3 * abs(said[key]):
                sys.exit(f"{stream.name}: {key} is {found[key]} by the predictions, and {said[key]} by --metrics")
        return said | found

    def cost(self, stream, repeat):
        """Times of the default and of one fixed cell, in turns; the least of each."""
        times = [[self.fit(stream, options)["seconds"] for options in ([], FIXED)] for _ in range(repeat)]
        tuned, fixed = (min(column) for column in zip(*times, strict=True))
        return {"tuned": tuned, "fixed": fixed, "ratio": tuned / fixed, "program": self.digest}


def judged(stream, told):
    """Means, over all rows and over the rows up to every 500th, so that any prefix can be compared. Nobody knows the
    level of numbers before the first label: those rows, which would count for more than all others together, do not."""
    first = stream.delay + 1 if stream.numbers else 0
    count = numpy.arange(1, len(told) - first + 1)
    running = {name: numpy.cumsum(of[first:], dtype=float) / count for name, of in peers.losses(stream, told).items()}
    curve = {name: of[EVERY - 1 - first :: EVERY].tolist() for name, of in running.items()}
    return {name: float(of[-1]) for name, of in running.items()} | {"rows": len(told), "curve": curve}


def of_peer(run, stream, seconds):
    start = time.perf_counter()
    try:
        told = peers.silent(run, stream, seconds)
    except (ValueError, ArithmeticError) as error:  # its weights overflowed
        return {"failed": str(error)[:200]}
    if len(told) < len(stream):  # out of time
        told = told[: len(told) // EVERY * EVERY]
    if not len(told):
        return {"failed": f"less than {EVERY} rows in {seconds:g} s"}
    found = judged(stream, told)
    del found["curve"]
    if not all(numpy.isfinite(value) for value in found.values()):
        return {"failed": "its predictions overflowed"}
    return found | {"seconds": time.perf_counter() - start}


class Results:
    """What is known of one stream, in a file of its own; written after every method. Several processes may do so."""

    def __init__(self, folder, stream, digest):
        self.path, self.digest = folder / f"{stream.name}.json", digest
        size = {"rows": len(stream), "features": stream.rows.shape[1], "classes": len(stream.classes)}
        self.about = size | {"stream": stream.name, "delay": stream.delay, "digest": stream.digest}

    def read(self):
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        methods = known.get("methods", {}) if known.get("digest") == self.about["digest"] else {}
        return self.about | {"methods": methods}

    def add(self, name, result):
        with open(self.path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self.read()
            known["methods"][name] = result
            half = self.path.with_suffix(".tmp")  # an interruption here leaves the old results
            half.write_text(json.dumps(known))
            half.replace(self.path)

    def measure(self, name, run):
        old = self.read()["methods"].get(name)
        if old and old.get("program", self.digest) == self.digest:
            return
        new = run()
        self.add(name, new)
        shown = [*(measure.key for measure in fit_table.MEASURES), "ratio"]
        said = new.get("failed") or " ".join(f"{key} {new[key]:.4g}" for key in shown if key in new)
        if new.get("rows", self.about["rows"]) < self.about["rows"]:
            said += f", first {new['rows']} rows"
        print(f"{self.about['stream']:20} {name:44} {said}", flush=True)


def settings(stream, cells_tune):
    """{group: {name: options}} of what the default is compared with in hindsight."""
    strides = {}
    for stride in STRIDES:
        options = ["--advanced", f"batch={stride}"]
        strides[f"stride {stride}, replay"] = options
        strides[f"stride {stride}, no replay"] = [*options, "--advanced", "replay=0"]
    tune = "none" if stream.numbers else cells_tune
    cells = {
        f"cell {rate:g} {l2:g} {cells_tune}": ["--tune", tune, "--learning-rate", f"{rate:g}", "--l2", f"{l2:g}"]
        for rate in RATES
        for l2 in L2
    }
    return {"strides": strides, "cells": cells}


def measure(stream, results, program, wanted, arguments):
    if "default" in wanted:
        results.measure("default", lambda: program.default(stream))
    for group, of_group in settings(stream, arguments.cells_tune).items():
        for name, options in of_group.items() if group in wanted else ():
            results.measure(name, lambda options=options: program.fit(stream, options))
    for name, run in peers.methods(stream, wanted).items():
        results.measure(name, lambda run=run: of_peer(run, stream, arguments.seconds))
    if "cost" in wanted and stream.name in arguments.cost_streams.split(","):
        results.measure("cost", lambda: program.cost(stream, arguments.repeat))


def check(stream):
    """Vowpal Wabbit's driver writes what predict() says before learn(), row by row."""
    from peers import vowpal

    rows = min(len(stream), 2000)
    whole, by_row = vowpal.driver("", False)(stream, 0), vowpal.by_row(stream, "", rows)
    apart = float(numpy.abs(whole[:rows] - by_row).max())
    print(f"{stream.name}: Vowpal Wabbit's driver and predict() before learn() differ by {apart:.1e} at most")
    if apart > 1e-5:  # six digits are written
        sys.exit(1)


def chosen(text):
    names = text.split(",")
    known = sum(GROUPS.values(), [])
    wanted = set(known if text == "all" else sum((GROUPS.get(name, [name]) for name in names), []))
    if text != "none" and not wanted <= set(known):
        sys.exit(f"--only takes {', '.join(known)}, obolus, peers, all, none; got {text}")
    return wanted


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/release/obolus")
    parser.add_argument("--data", help="a folder with files NAME.csv, .svm or .vw, perhaps .gz, to take instead")
    parser.add_argument("--out", default="runs/fit-vs-peers", type=Path)
    parser.add_argument("--confirm", action="store_true", help="the streams that were set aside")
    parser.add_argument("--streams", help="instead: these")
    parser.add_argument("--only", default="all", type=chosen)
    parser.add_argument("--rows", default=50_000, type=int, help="of each stream, at most")
    parser.add_argument(
        "--seconds", default=30.0, type=float, help="of a processor, after which a peer stops, at a prefix"
    )
    parser.add_argument("--cells-tune", default="none", help="what the 18 cells tune: none, or temperature")
    parser.add_argument("--repeat", default=3, type=int, help="times, of which the least counts")
    parser.add_argument("--cost-streams", default="sea,rbf,led,elec,walk,reuters,spam-assassin,20news,fashion-mnist")
    parser.add_argument("--options", default="", help="more for every `obolus fit`, such as '--threads 1'")
    parser.add_argument(
        "--check", action="store_true", help="only: are Vowpal Wabbit's predictions made before it learns?"
    )
    return parser.parse_args()


def main():
    arguments = parsed()
    program = Program(arguments.program, arguments.options.split())
    wanted = arguments.only
    if not program.digest and wanted & set(GROUPS["obolus"]):
        print(f"no {arguments.program}: its columns stay empty", file=sys.stderr)
        wanted = wanted - set(GROUPS["obolus"])
    folder = arguments.out / "results"
    folder.mkdir(parents=True, exist_ok=True)
    group = fit_streams.CONFIRM if arguments.confirm else fit_streams.DEVELOPMENT
    for name in arguments.streams.split(",") if arguments.streams else group:
        stream = fit_streams.make(name, arguments.program, arguments.data, arguments.out / "streams", arguments.rows)
        if stream is None:
            print(f"{name}: no data; left out", file=sys.stderr)
        elif arguments.check:
            check(stream)
        else:
            measure(stream, Results(folder, stream, program.digest), program, wanted, arguments)
    if not arguments.check:
        there = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
        groups = {"Development": fit_streams.DEVELOPMENT, "Set aside": fit_streams.CONFIRM}
        known = {title: [there[name] for name in names if name in there] for title, names in groups.items()}
        text = fit_table.write(known, arguments.cells_tune)
        (arguments.out / "table.md").write_text(text)
        print(text)


if __name__ == "__main__":
    main()
