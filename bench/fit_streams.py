"""The streams of fit_vs_peers.py: one file each for `obolus fit`, and the same rows as the peers want them.

A stream comes from `obolus data rows` (docs/streams.md, docs/data.md) or from fit_generated.py, unless a folder holds a
file NAME.csv, NAME.svm or NAME.vw, perhaps with .gz.

The streams of CONFIRM were set aside before anything was chosen: they are run once, at the end.
"""

import csv
import gzip
import hashlib
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import fit_generated
import numpy
from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class Spec:
    """`rows` is what `obolus data rows` is asked for, or a function that gives CSV; empty: only from a file."""

    rows: object = ""
    task: str = "classes"
    delay: int = 0  # rows between a row and its label


# 20 Newsgroups has 18,846 rows: its labels change half-way.
GENERATED = "--rows 20000 --seed 3"
SHIFTS = "--set drift_rows=[5000,10000,15000]"
PICTURES = "--rows 20000 --phases 5"
STREAMS = {
    "sea": Spec(f"sea {GENERATED} {SHIFTS}"),
    "hyperplane": Spec(f"hyperplane {GENERATED} --set drifting=5 --set magnitude=0.001"),
    "rbf": Spec(f"rbf {GENERATED} --set classes=5 --set speed=0.0001"),
    "led": Spec(f"led {GENERATED} {SHIFTS} --set drifting=4"),
    "agrawal": Spec(f"agrawal {GENERATED} {SHIFTS} --set concepts=[1,7,8,9]"),
    "abrupt": Spec("hyperplane --rows 20000 --seed 5 --set features=20 --set drift_rows=[7000,14000]"),
    "gradual": Spec("sea --rows 20000 --seed 5 --set drift_rows=[5000,15000] --set drift_width=4000"),
    "noisy": Spec("hyperplane --rows 20000 --seed 6 --noise 0.2 --noise-from 10000"),
    "delayed": Spec("hyperplane --rows 20000 --seed 7 --set drifting=5 --set magnitude=0.001", delay=100),
    "sticky": Spec(fit_generated.sticky),
    "runs": Spec(fit_generated.runs),
    "cycle": Spec(fit_generated.cycle),
    "persistent": Spec(fit_generated.persistent),
    "phishing": Spec(fit_generated.phishing),
    "elec": Spec(),
    "outdoor": Spec(),
    "squares": Spec(),
    "spam-assassin": Spec("spam-assassin"),
    "reuters": Spec("reuters"),
    "imdb": Spec("imdb --rows 20000"),
    "20news": Spec("20news"),
    "20news-noise": Spec("20news --noise 0.3 --noise-from 9423"),
    "20news-swap": Spec("20news --swap 9423"),
    "fashion-mnist": Spec(f"fashion-mnist {PICTURES}"),
    "fashion-mnist-noise": Spec(f"fashion-mnist {PICTURES} --noise 0.3 --noise-from 10000"),
    "fashion-mnist-swap": Spec(f"fashion-mnist {PICTURES} --swap 10000"),
    "trump": Spec(fit_generated.trump, "numbers"),
    "chick-weights": Spec(fit_generated.chick_weights, "numbers"),
    "water-flow": Spec(fit_generated.water_flow, "numbers"),
    "stocks": Spec(fit_generated.stocks, "numbers"),
    "diabetes": Spec(fit_generated.diabetes, "numbers"),
    "friedman": Spec(fit_generated.friedman, "numbers"),
    "walk": Spec(fit_generated.walk, "numbers"),
}
CONFIRM = ("imdb", "20news-noise", "fashion-mnist-swap", "agrawal", "phishing", "persistent")
DEVELOPMENT = tuple(name for name in STREAMS if name not in CONFIRM)
FORMATS = ("csv", "svm", "vw")


class Lines:
    """The rows of a file as text, the label of each apart."""

    def __init__(self, path):
        self.format = path.suffix[1:]
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            self.header = file.readline() if self.format == "csv" else ""
            rows = [line.rstrip("\r\n") for line in file]
        self.last = self.format == "csv"
        cut = [row.rpartition(",") if self.last else row.partition(" ") for row in rows]
        self.labels = [parts[2 if self.last else 0] for parts in cut]
        self.rest = [parts[0 if self.last else 2] for parts in cut]


def in_order(labels):
    """Numbers by value, anything else by name."""
    try:
        return sorted(set(labels), key=float)
    except ValueError:
        return sorted(set(labels))


class Stream:
    """`path` is obolus's file; `rows` (sparse), `scaled` and `target` (classes 0, 1, …, or numbers) are the peers'."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        spec = STREAMS[name]
        self.numbers, self.delay = spec.task == "numbers", spec.delay
        lines = Lines(path)
        self.classes = [] if self.numbers else in_order(lines.labels)
        number = {c: i for i, c in enumerate(self.classes)}
        self.target = numpy.array([float(label) if self.numbers else number[label] for label in lines.labels])
        self.rest, self.header = lines.rest, lines.header
        self.digest = hashlib.sha256(path.read_bytes() + f"{spec.task} {spec.delay}".encode()).hexdigest()[:16]

    def __len__(self):
        return len(self.target)

    @cached_property
    def rows(self):
        read = {".csv": self.read_csv, ".svm": self.read_svm, ".vw": self.read_vw}[self.path.suffix]
        columns, start, column, value = {}, [0], [], []
        for features in read():
            for key, number in features.items():
                if number != 0:
                    column.append(columns.setdefault(key, len(columns)))
                    value.append(number)
            start.append(len(column))
        return csr_matrix((value, column, start), shape=(len(self), len(columns)))

    # As `obolus fit` reads them (docs/rows.md): a category is a feature of value 1, what comes twice in a row adds up.
    def read_csv(self):
        names = next(csv.reader([self.header]))
        table = list(csv.reader(self.rest))
        numeric = [all(is_number(row[j]) for row in table[:1000]) for j in range(len(names) - 1)]
        for row in table:
            yield {
                (name if number else (name, text)): float(text) if number else 1.0
                for name, number, text in zip(names, numeric, row, strict=False)
            }

    def read_svm(self):
        for row in self.rest:
            yield {
                int(key): float(value) for key, _, value in (word.partition(":") for word in row.split("#")[0].split())
            }

    def read_vw(self):
        for row in self.rest:
            features = {}
            for part in row[row.index("|") + 1 :].split("|"):
                space, *words = (part if part[:1] != " " else "_" + part).split()
                space, _, scale = space.partition(":")
                for word in words:
                    name, _, value = word.partition(":")
                    features[space, name] = features.get((space, name), 0.0) + float(scale or 1) * float(value or 1)
            yield features

    @cached_property
    def dense(self):
        """Of numbers rather than of words: those that peers had better scale."""
        return self.rows.nnz > 0.2 * self.rows.shape[0] * self.rows.shape[1]

    @cached_property
    def scaled(self):
        """Each column standardised as the stream comes: by the mean and deviation of the rows up to this one."""
        columns = self.rows.tocsc()
        count, found = numpy.arange(1, len(self) + 1), numpy.empty(columns.shape, numpy.float32)
        for j in range(columns.shape[1]):
            column = columns[:, [j]].toarray()[:, 0]
            column -= column[0]  # else squares cancel
            mean = numpy.cumsum(column) / count
            variance = numpy.cumsum(column**2) / count - mean**2
            usual = numpy.sqrt(numpy.maximum(variance, 0))
            found[:, j] = numpy.divide(column - mean, usual, out=numpy.zeros(len(self)), where=usual > 1e-9)
        return found


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def form_of(text):
    """By the first line, as rows have no name when they come through a pipe."""
    line = text.partition("\n")[0]
    return "vw" if "|" in line else "csv" if "," in line else "svm"


def given(name, data):
    """The content of the file of that name in the folder `data`; None if there is none."""
    names = [f"{name}.{form}{packed}" for form in FORMATS for packed in ("", ".gz")] if data else []
    path = next((Path(data) / name for name in names if (Path(data) / name).exists()), None)
    return path and (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def written_by(program, arguments):
    done = subprocess.run([program, "data", "rows", *arguments.split()], capture_output=True)
    if done.returncode:
        print(f"obolus data rows {arguments}: {done.stderr.decode().strip()}", file=sys.stderr)
        return b""
    return done.stdout


def make(name, program, data, folder, limit):
    """The stream of that name, cut to `limit` rows; None where its data are not here. A given file is read each
    time: it may have changed. What was generated is kept: remove it after a change of the generators."""
    folder.mkdir(parents=True, exist_ok=True)
    content, made = given(name, data), STREAMS[name].rows
    old = next((p for p in (folder / f"{name}.{limit}.{form}" for form in FORMATS) if p.exists()), None)
    if content is None and old:
        return Stream(name, old)
    if content is None and not made:
        return None
    if content is None:
        content = made() if callable(made) else written_by(program, made)
    rows = content if isinstance(content, str) else content.decode("utf-8", errors="surrogateescape")
    if not rows:
        return None
    form = form_of(rows)
    path = folder / f"{name}.{limit}.{form}"
    lines = rows.split("\n")[: limit + (form == "csv")]
    path.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8", errors="surrogateescape")
    return Stream(name, path)
