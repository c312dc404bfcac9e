"""Rows a second of `obolus fit` beside Vowpal Wabbit, scikit-learn and river, on text and on columns, and its memory.

    python3 bench/fit_throughput.py [--program PATH] [--data DIR] [--out DIR] [--times N] [--dense-rows N] [--repeat N]
                                    [--memory-rows N]

Text is 20 Newsgroups as TF-IDF, 20 classes, over and over to 113,076 rows (--times 6); columns are `hyperplane` with 6,
20 and 60 numbers, two classes. Each side reads the format it reads fastest, of the same content: obolus svmlight and
CSV, scikit-learn svmlight, Vowpal Wabbit its own text, river CSV. Each runs in a process of its own, in turns; the
least time counts. Needs what bench/requirements.txt lists.

- obolus fit with its defaults, with one L2 for all features (`--tune rate,l2,replay,temperature`), with `--tune none`,
  and with one step a row and no replay, which learns each row once as the peers do. Seconds are those of the whole
  process.
- Vowpal Wabbit: its driver over the file (a workspace with -d), from text, and from the cache that a first pass wrote.
- scikit-learn: load_svmlight_file on pieces of 1,000 rows, partial_fit on each; and partial_fit alone, the pieces being
  in memory.
- river: a row predicted, then learnt, by logistic regression, by the same of standardised columns, and by ALMA; and
  1,000 rows at a time (learn_many), which makes one step of them all.

Vowpal Wabbit and river predict every row; scikit-learn is spared it. A peer's seconds are those of the work, without
the start of Python. Peak memory is that of the whole process. --memory-rows 10000000 is long, and says what obolus
holds after 10 million generated rows beside what it holds after 100,000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import fit_streams

TIMES = 6  # 20 Newsgroups has 18,846 rows
CLASSES = 20
THERE = Path(__file__).with_name("fit_throughput_peers.py")
COLUMNS = (6, 20, 60)
GENERATED = "rbf,seed=3,classes=5,speed=0.0001"  # whose memory is measured
ONCE = ["--tune", "none", "--advanced", "steps=1", "--advanced", "replay=0", "--advanced", "recent=0"]
SIDES = {
    "obolus fit": [],
    "obolus fit, one L2": ["--tune", "rate,l2,replay,temperature"],
    "obolus fit --tune none": ["--tune", "none"],
    "obolus fit --tune none, one step": ONCE,
}
TEXT_PEERS = {
    "Vowpal Wabbit": "vw",
    "Vowpal Wabbit, from its cache": "vw_cache",
    "scikit-learn": "sklearn",
    "scikit-learn, rows in memory": "sklearn_memory",
}
DENSE_PEERS = {
    "Vowpal Wabbit": "vw_dense",
    "Vowpal Wabbit, from its cache": "vw_dense_cache",
    "river, logistic": "river_raw",
    "river, standardised logistic": "river_scaled",
    "river, ALMA": "river_alma",
    "river, 1,000 rows at a time": "river_many",
}


# A process starts with the peak memory of the one it is started from: a small one stands between.
LAUNCH = """
import json, os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[2:])
_, status, used = os.wait4(child.pid, 0)
told = {"seconds": time.perf_counter() - start, "memory": used.ru_maxrss / 1024}
open(sys.argv[1], "w").write(json.dumps(told))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(call):
    """(output, seconds, peak MiB) of a process that must succeed."""
    with tempfile.NamedTemporaryFile("r") as told:
        launch = [sys.executable, "-S", "-c", LAUNCH, told.name, *map(str, call)]
        done = subprocess.run(launch, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, call))} ended with {done.returncode}")
        used = json.load(told)
    return done.stdout, used["seconds"], used["memory"]


def peer(name, files):
    text, _, memory = run([sys.executable, THERE, name, *files])
    told = json.loads(text.splitlines()[-1])
    return told["rows"], told["seconds"], memory


def obolus(program, options, data):
    with tempfile.TemporaryDirectory() as folder:
        metrics = Path(folder) / "metrics.json"
        call = [program, "fit", *data, "--out", f"{folder}/run", "--metrics", metrics, "--seed", "1", "-q", *options]
        _, seconds, memory = run(call)
        return json.loads(metrics.read_text())["rows"], seconds, memory


def text_files(arguments):
    """20 Newsgroups over and over, once as svmlight and once as Vowpal Wabbit's text."""
    from peers import vowpal

    folder = arguments.out / "streams"
    once = fit_streams.make("20news", arguments.program, arguments.data, folder, 10**9)
    if once is None:
        return None
    svm, vw = (folder / f"20news.{once.digest}.times{arguments.times}.{form}" for form in ("svm", "vw"))
    for path, source in ((svm, once.path), (vw, vowpal.text(once))):
        if not path.exists():
            path.write_bytes(source.read_bytes() * arguments.times)
    return svm, vw


def dense_files(arguments, columns):
    """The same rows as CSV and as Vowpal Wabbit's text."""
    name = f"hyperplane.{columns}.{arguments.dense_rows}"
    table, vw = (arguments.out / "streams" / f"{name}.{form}" for form in ("csv", "vw"))
    if not vw.exists():
        table.parent.mkdir(parents=True, exist_ok=True)
        drift = f"--set drifting={columns // 2} --set magnitude=0.001"
        wanted = f"hyperplane --rows {arguments.dense_rows} --seed 3 --set features={columns} {drift}"
        table.write_bytes(fit_streams.written_by(arguments.program, wanted))
        with open(table, newline="") as file, open(vw, "w") as out:
            for *numbers, label in islice(csv.reader(file), 1, None):
                row = " ".join(f"{j}:{number}" for j, number in enumerate(numbers))
                out.write(f"{1 if label == '1' else -1} |f {row}\n")
    return table, vw


def measured(arguments, title, ours, peers, files, classes):
    """Prints the table; {side: rows a second}."""
    sides = {side: lambda name=name: peer(name, files) for side, name in peers.items()}
    if Path(arguments.program).exists():
        for side, options in ours.items():
            options = [*options, "--classes=" + classes, *arguments.options.split()]
            sides[side] = lambda options=options: obolus(arguments.program, options, [files[0]])
    times = {side: [] for side in sides}
    for _ in range(arguments.repeat):
        for side, work in sides.items():
            times[side].append(work())
            print(f"{side}: {times[side][-1][1]:.2f} s", file=sys.stderr)
    sizes = " and ".join(f"{path.stat().st_size / 1e6:.0f} MB of {path.suffix[1:]}" for path in files)
    print(f"\n{title}: {sizes}\n")
    print("| | rows | seconds | rows a second | peak memory, MiB |\n|---|---|---|---|---|")
    speed = {}
    for side, runs in times.items():
        rows, seconds, memory = min(runs, key=lambda r: r[1])
        speed[side] = rows / seconds
        print(f"| {side} | {rows:,} | {seconds:.2f} | {speed[side]:,.0f} | {memory:,.0f} |")
    print(flush=True)
    return speed


def verdict(speed, rival, least, wanted):
    """Against the fastest of a rival's sides."""
    ours, theirs = speed.get("obolus fit"), [rows for side, rows in speed.items() if wanted(side)]
    if ours:
        ratio = ours / max(theirs)
        said = "holds" if ratio >= least else "**does not hold**"
        print(f"- {ratio:.2f} times the rows a second of {rival}, at least {least:g}: {said}.", flush=True)


def text(arguments):
    files = text_files(arguments)
    if files is None:
        return print("20news: no data; left out", file=sys.stderr)
    classes = ",".join(str(c) for c in range(1, CLASSES + 1))
    speed = measured(arguments, "Text, 20 classes", SIDES, TEXT_PEERS, files, classes)
    verdict(speed, "Vowpal Wabbit", 2, lambda side: side == "Vowpal Wabbit")
    verdict(speed, "Vowpal Wabbit, its cache too", 2, lambda side: side.startswith("Vowpal"))


def dense(arguments):
    ours = {side: options for side, options in SIDES.items() if side != "obolus fit, one L2"}
    for columns in COLUMNS:
        speed = measured(arguments, f"{columns} columns", ours, DENSE_PEERS, dense_files(arguments, columns), "0,1")
        by_row = [side for side in DENSE_PEERS if side.startswith("river") and "at a time" not in side]
        verdict(speed, "river's fastest, row by row", 1.5, lambda side, rows=by_row: side in rows)
        verdict(speed, "river's fastest, 1,000 rows at a time too", 1.5, lambda side: side.startswith("river"))
        verdict(speed, "Vowpal Wabbit", 1, lambda side: side == "Vowpal Wabbit")
        verdict(speed, "Vowpal Wabbit, its cache too", 1, lambda side: side.startswith("Vowpal"))


def memory(arguments):
    print("\n| generated rows | seconds | rows a second | peak memory, MiB |\n|---|---|---|---|")
    held = []
    for rows in (100_000, arguments.memory_rows):
        data = ["--generate", GENERATED, "--rows", str(rows)]
        count, seconds, most = obolus(arguments.program, arguments.options.split(), data)
        held.append(most)
        print(f"| {count:,} | {seconds:.1f} | {count / seconds:,.0f} | {most:,.0f} |", flush=True)
    flat = held[1] <= 1.1 * held[0]
    print(f"\n- Memory flat, to a tenth: {'holds' if flat else '**does not hold**'}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/release/obolus")
    parser.add_argument("--data", help="a folder with 20news.svm, to take instead of `obolus data rows`")
    parser.add_argument("--out", default="runs/fit-vs-peers", type=Path)
    parser.add_argument("--only", default="text,dense", help="text, dense, or both")
    parser.add_argument("--times", default=TIMES, type=int, help="how often the 18,846 rows of text come")
    parser.add_argument("--dense-rows", default=200_000, type=int)
    parser.add_argument("--repeat", default=3, type=int)
    parser.add_argument("--options", default="", help="more for every `obolus fit`, such as '--threads 1'")
    parser.add_argument("--memory-rows", default=0, type=int)
    arguments = parser.parse_args()
    if "text" in arguments.only.split(","):
        text(arguments)
    if "dense" in arguments.only.split(","):
        dense(arguments)
    if arguments.memory_rows:
        memory(arguments)


if __name__ == "__main__":
    main()
