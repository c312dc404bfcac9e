"""`obolus fit` with its defaults beside 18 fixed settings, scikit-learn, Vowpal Wabbit and river, on fourteen streams.

    python3 bench/fit_vs_peers.py [--program PATH] [--data DIR] [--out DIR] [--streams a,b] [--only LIST] [--rows N]

One pass over each stream; every row is judged before it is learnt. Log-loss is natural, of probabilities of at least
1e-15. Needs scikit-learn, vowpalwabbit and river (pip install -r bench/requirements.txt). What was measured stays in
DIR/results and is not measured again: another run continues where this one ended. A new program or a changed stream
makes its own numbers void. DIR/table.md is the result.

Of several variants or cells of a side the best counts, for log-loss and accuracy each, chosen afterwards: that favours
the peers and the fixed settings, not the default.

--only takes default, cells, decay, cost, sklearn, vw, river; obolus is the first four and peers the others; none writes
the table only.
"""

import os

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # before NumPy: threads that wait for each other cost scikit-learn tenfold
    os.environ.setdefault(variable, "1")

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fit_peers
import fit_streams
import fit_table
import numpy

RATES = (0.02, 0.06, 0.2, 0.6, 2.0, 6.0)
L2 = (0.0, 1e-4, 1e-2)
DECAYED = ["--tune", "none", "--decay", "--learning-rate", "3", "--l2", "0"]
FIXED = [
    "--tune",
    "none",
    "--learning-rate",
    "0.2",
    "--l2",
    "1e-4",
]  # the cell that the default's time is compared with
GROUPS = {"obolus": ["default", "cells", "decay", "cost"], "peers": ["sklearn", "vw", "river"]}
EVERY = 500  # rows between two points of a curve
LEAST = 1e-15


class Program:
    """`obolus fit` on streams."""

    def __init__(self, path, more):
        self.path, self.more = path, more
        there = path and Path(path).exists()
        self.digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16] if there else None

    def call(self, stream, options, folder):
        call = [self.path, "fit", str(stream.path), "--classes=" + ",".join(stream.classes), "--out", f"{folder}/run"]
        return [*call, "--metrics", f"{folder}/metrics.json", "--seed", "1", "-q", *self.more, *options]

    def fit(self, stream, options):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = subprocess.run(self.call(stream, options, folder), capture_output=True, encoding="utf-8")
            seconds = time.perf_counter() - start
            if done.returncode != 0:
                sys.exit(f"{' '.join(done.args)}\n{done.stderr}")
            summary = json.loads(Path(f"{folder}/metrics.json").read_text())
        result = {name: summary["prequential"][name] for name in ("log_loss", "accuracy")}
        tuned = {"tuned": summary.get("hyperparameters")}
        return result | {"rows": summary["rows"], "seconds": seconds, "program": self.digest} | tuned

    def cost(self, stream, repeat):
        """Times of the default and of one fixed cell, in turns; the least of each."""
        times = [[self.fit(stream, options)["seconds"] for options in ([], FIXED)] for _ in range(repeat)]
        tuned, fixed = (min(column) for column in zip(*times, strict=True))
        return {"tuned": tuned, "fixed": fixed, "ratio": tuned / fixed, "program": self.digest}


def of_peer(run, stream, seconds):
    """Sums over the rows so far stand at every 500th row, so that any prefix can be compared."""
    start = time.perf_counter()
    try:
        probability, right = fit_peers.silent(run, stream, seconds)
    except ValueError as error:  # scikit-learn's weights overflowed
        return {"failed": str(error)[:200]}
    if len(right) < len(stream):  # out of time
        kept = len(right) // EVERY * EVERY
        probability, right = probability[:kept], right[:kept]
    if not len(right):
        return {"failed": f"less than {EVERY} rows in {seconds:g} s"}
    loss = -numpy.log(numpy.clip(numpy.nan_to_num(probability), LEAST, 1))
    curves = {"loss": loss, "right": right.astype(float)}
    return {
        "log_loss": float(loss.mean()),
        "accuracy": float(right.mean()),
        "rows": len(right),
        "seconds": time.perf_counter() - start,
        "curve": {name: numpy.cumsum(of)[EVERY - 1 :: EVERY].round(4).tolist() for name, of in curves.items()},
    }


class Results:
    """What is known of one stream, in a file of its own; written after every method."""

    def __init__(self, folder, stream, digest):
        self.path = folder / f"{stream.name}.json"
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}
        if self.known.get("digest") != stream.digest:
            self.known = {"digest": stream.digest, "methods": {}}
        self.known |= {"rows": len(stream), "classes": len(stream.classes), "stream": stream.name}
        self.digest = digest

    def measure(self, name, run):
        old = self.known["methods"].get(name)
        if old and old.get("program", self.digest) == self.digest:
            return old
        new = self.known["methods"][name] = run()
        half = self.path.with_suffix(".tmp")  # an interruption here leaves the old results
        half.write_text(json.dumps(self.known))
        half.replace(self.path)
        said = new.get("failed") or " ".join(f"{k} {new[k]:.4f}" for k in ("log_loss", "accuracy", "ratio") if k in new)
        print(f"{self.known['stream']:20} {name:34} {said}", flush=True)
        return new


def obolus_methods(program, arguments):
    found = {"default": {"default": []}, "decay": {"decay": DECAYED}, "cells": {}}
    for rate in RATES:
        for l2 in L2:
            options = ["--tune", arguments.cells_tune, "--learning-rate", f"{rate:g}", "--l2", f"{l2:g}"]
            found["cells"][f"cell {rate:g} {l2:g} {arguments.cells_tune}"] = options
    return found


def measure(stream, results, program, wanted, arguments):
    results.known["features"] = stream.rows.shape[1]
    for group, of_group in obolus_methods(program, arguments).items():
        for name, options in of_group.items() if group in wanted else ():
            results.measure(name, lambda options=options: program.fit(stream, options))
    if any(name in wanted for name in GROUPS["peers"]):
        for name, run in fit_peers.methods(stream).items():
            if name.replace("-", " ").split()[0] in wanted:
                results.measure(name, lambda run=run: of_peer(run, stream, arguments.seconds))
    if "default" in wanted:  # where a peer was too slow to see all rows, the default sees no more either
        for rows in {r["rows"] for r in results.known["methods"].values() if r.get("rows", len(stream)) < len(stream)}:
            results.measure(f"default-first {rows}", lambda rows=rows: program.fit(stream, ["--rows", str(rows)]))


def check(stream):
    """Vowpal Wabbit's driver writes what predict() says before learn(), row by row."""
    rows = min(len(stream), 2000)
    whole, by_row = fit_peers.vowpal_wabbit("")(stream, 0), fit_peers.vw_rows(stream, "", rows)
    apart = float(numpy.abs(whole[0][:rows] - by_row[0]).max())
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
    parser.add_argument(
        "--data", help="a folder with files NAME.csv, .svm or .vw to take instead of `obolus data rows`"
    )
    parser.add_argument("--out", default="runs/fit-vs-peers", type=Path)
    parser.add_argument("--streams", default=",".join(fit_streams.STREAMS))
    parser.add_argument("--only", default="all", type=chosen)
    parser.add_argument("--rows", default=20_000, type=int, help="of each stream, at most")
    parser.add_argument(
        "--seconds",
        default=180.0,
        type=float,
        help="of a processor, after which scikit-learn and river stop, at a prefix",
    )
    parser.add_argument("--cells-tune", default="none", help="what the 18 cells tune: none, or temperature")
    parser.add_argument("--repeat", default=3, type=int, help="times, of which the least counts")
    parser.add_argument("--cost-streams", default="sea,rbf,reuters,20news,fashion-mnist")
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
    known = []
    for name in arguments.streams.split(","):
        stream = fit_streams.make(name, arguments.program, arguments.data, arguments.out / "streams", arguments.rows)
        if arguments.check:
            check(stream)
            continue
        results = Results(folder, stream, program.digest)
        measure(stream, results, program, wanted, arguments)
        if "cost" in wanted and name in arguments.cost_streams.split(","):
            results.measure("cost", lambda stream=stream: program.cost(stream, arguments.repeat))
        known.append(results.known)
    if known:
        text = fit_table.write(known, arguments.cells_tune)
        (arguments.out / "table.md").write_text(text)
        print(text)


if __name__ == "__main__":
    main()
