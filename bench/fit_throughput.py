"""Rows a second of `obolus fit` beside Vowpal Wabbit and scikit-learn on text of 20 classes, and the memory it takes.

    python3 bench/fit_throughput.py [--program PATH] [--data DIR] [--out DIR] [--times N] [--repeat N] [--memory-rows N]

The rows are 20 Newsgroups as TF-IDF, over and over to 113,076 rows (--times 6). Each side reads the format it reads
fastest, of the same content: obolus and scikit-learn svmlight, Vowpal Wabbit its own text. Each runs in a process of
its own, in turns; the least time counts. Needs what bench/requirements.txt lists.

- obolus fit with its defaults, with one L2 for all features (`--tune rate,l2,replay,temperature`), with `--tune none`,
  and with `--tune none --steps 1 --replay 0`, which learns each row once as the peers do. Seconds are those of the
  whole process.
- Vowpal Wabbit: its driver over the file (a workspace with -d), from text, and from the cache that a first pass wrote.
- scikit-learn: load_svmlight_file on pieces of 1,000 rows, partial_fit on each; and partial_fit alone, the pieces being
  in memory.

Vowpal Wabbit predicts every row anyway; scikit-learn is spared it. A peer's seconds are those of the work, without the
start of Python. Peak memory is that of the whole process. --memory-rows 10000000 is long, and says what obolus holds
after 10 million generated rows beside what it holds after 100,000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from itertools import islice
from pathlib import Path

import fit_streams

PIECE = 1_000  # rows of one partial_fit
TIMES = 6  # 20 Newsgroups has 18,846 rows
FEATURES = 130_107  # told to scikit-learn beforehand
CLASSES = 20
GENERATED = "rbf,seed=3,classes=5,speed=0.0001"  # whose memory is measured
SIDES = {
    "obolus fit": [],
    "obolus fit, one L2": ["--tune", "rate,l2,replay,temperature"],
    "obolus fit --tune none": ["--tune", "none"],
    "obolus fit --tune none, one step": ["--tune", "none", "--steps", "1", "--replay", "0"],
}
PEERS = {
    "Vowpal Wabbit": "vw",
    "Vowpal Wabbit, from its cache": "vw_cache",
    "scikit-learn": "sklearn",
    "scikit-learn, rows in memory": "sklearn_memory",
}
VW = "--oaa 20 --loss_function logistic --probabilities -b 22 --quiet"


def pieces(path):
    """1,000 lines at a time."""
    from sklearn.datasets import load_svmlight_file

    with open(path, "rb") as file:
        while lines := list(islice(file, PIECE)):
            text = BytesIO(b"".join(lines))
            rows, labels = load_svmlight_file(text, n_features=FEATURES, dtype="float32", zero_based=False)
            # The loader of 1.9 gives 64-bit indices, which partial_fit refuses.
            rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")
            yield rows, labels


def learn(batches):
    from sklearn.linear_model import SGDClassifier

    model, classes = SGDClassifier(loss="log_loss", random_state=1), range(1, CLASSES + 1)
    count = 0
    for rows, labels in batches:
        model.partial_fit(rows, labels, list(classes))
        count += len(labels)
    return count


def sklearn(svm, vw):
    return lambda: learn(pieces(svm))


def sklearn_memory(svm, vw):
    ready = list(pieces(svm))
    return lambda: learn(ready)


def driver(options):
    from vowpalwabbit import Workspace

    model = Workspace(f"{VW} {options}")
    count = int(model.get_weighted_examples())
    model.finish()
    return count


def vw(svm, vw):
    return lambda: driver(f"-d {vw}")


def vw_cache(svm, vw):
    cache = Path(f"{vw}.cache")
    if not cache.exists():
        driver(f"-d {vw} --cache_file {cache}")
    return lambda: driver(f"-d {vw} --cache_file {cache}")


def in_child(name, svm, vw):
    """What a peer's process does: prepares, works, and says how long the work took."""
    work = globals()[name](svm, vw)
    start = time.perf_counter()
    count = work()
    print(json.dumps({"seconds": time.perf_counter() - start, "rows": count}))


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


def peer(name, svm, vw):
    text, _, memory = run([sys.executable, __file__, "--child", name, str(svm), str(vw)])
    told = json.loads(text.splitlines()[-1])
    return told["rows"], told["seconds"], memory


def obolus(program, options, data):
    with tempfile.TemporaryDirectory() as folder:
        metrics = Path(folder) / "metrics.json"
        call = [
            program,
            "fit",
            *data,
            "--out",
            f"{folder}/run",
            "--metrics",
            str(metrics),
            "--seed",
            "1",
            "-q",
            *options,
        ]
        _, seconds, memory = run(call)
        return json.loads(metrics.read_text())["rows"], seconds, memory


def files(arguments):
    """20 Newsgroups over and over, once as svmlight and once as Vowpal Wabbit's text."""
    folder = arguments.out / "streams"
    once = fit_streams.make("20news", arguments.program, arguments.data, folder, 10**9)
    svm, vw = (folder / f"20news.{once.digest}.times{arguments.times}.{form}" for form in ("svm", "vw"))
    for path, source in ((svm, once.path), (vw, once.vw_path)):
        if not path.exists():
            path.write_bytes(source.read_bytes() * arguments.times)
    return svm, vw


def throughput(arguments):
    svm, vw = files(arguments)
    classes = "--classes=" + ",".join(str(c) for c in range(1, CLASSES + 1))
    sides = {name: lambda name=name: peer(name, svm, vw) for name in PEERS.values()}
    sides = {title: sides[name] for title, name in PEERS.items()}
    if Path(arguments.program).exists():
        for title, options in SIDES.items():
            options = [*options, classes, *arguments.options.split()]
            sides[title] = lambda options=options: obolus(arguments.program, options, [str(svm)])
    measured = {title: [] for title in sides}
    for _ in range(arguments.repeat):
        for title, side in sides.items():
            measured[title].append(side())
            print(f"{title}: {measured[title][-1][1]:.2f} s", file=sys.stderr)
    print(f"{svm.stat().st_size / 1e6:.0f} MB of svmlight, {vw.stat().st_size / 1e6:.0f} MB of Vowpal Wabbit's text\n")
    print("| | rows | seconds | rows a second | peak memory, MiB |\n|---|---|---|---|---|")
    for title, runs in measured.items():
        rows, seconds, memory = min(runs, key=lambda r: r[1])
        print(f"| {title} | {rows:,} | {seconds:.2f} | {rows / seconds:,.0f} | {memory:,.0f} |")


def memory(arguments):
    print("\n| generated rows | seconds | rows a second | peak memory, MiB |\n|---|---|---|---|")
    for rows in (100_000, arguments.memory_rows):
        count, seconds, held = obolus(
            arguments.program, arguments.options.split(), ["--generate", GENERATED, "--rows", str(rows)]
        )
        print(f"| {count:,} | {seconds:.1f} | {count / seconds:,.0f} | {held:,.0f} |", flush=True)


def main():
    if sys.argv[1:2] == ["--child"]:
        return in_child(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/release/obolus")
    parser.add_argument("--data", help="a folder with 20news.svm, to take instead of `obolus data rows`")
    parser.add_argument("--out", default="runs/fit-vs-peers", type=Path)
    parser.add_argument("--times", default=TIMES, type=int, help="how often the 18,846 rows come")
    parser.add_argument("--repeat", default=3, type=int)
    parser.add_argument("--options", default="", help="more for every `obolus fit`, such as '--threads 1'")
    parser.add_argument("--memory-rows", default=0, type=int)
    arguments = parser.parse_args()
    throughput(arguments)
    if arguments.memory_rows:
        memory(arguments)


if __name__ == "__main__":
    main()
