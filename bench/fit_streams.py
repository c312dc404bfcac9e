"""The streams of fit_vs_peers.py: one file each for `obolus fit`, and the same rows as the peers want them.

All come from `obolus data rows` (docs/streams.md, docs/data.md), unless a folder holds a file NAME.csv, NAME.svm or
NAME.vw.
"""

import csv
import hashlib
import subprocess
from functools import cached_property
from pathlib import Path

import numpy
from scipy.sparse import csr_matrix

# What `obolus data rows` is asked for. 20 Newsgroups has 18,846 rows: its labels change half-way.
GENERATED = "--rows 20000 --seed 3"
SHIFTS = "--set drift_rows=[5000,10000,15000]"
PICTURES = "--rows 20000 --phases 5"
STREAMS = {
    "sea": f"sea {GENERATED} {SHIFTS}",
    "hyperplane": f"hyperplane {GENERATED} --set drifting=5 --set magnitude=0.001",
    "rbf": f"rbf {GENERATED} --set classes=5 --set speed=0.0001",
    "led": f"led {GENERATED} {SHIFTS} --set drifting=4",
    "agrawal": f"agrawal {GENERATED} {SHIFTS} --set concepts=[1,7,8,9]",
    "spam-assassin": "spam-assassin",
    "reuters": "reuters",
    "imdb": "imdb",
    "20news": "20news",
    "20news-noise": "20news --noise 0.3 --noise-from 9423",
    "20news-swap": "20news --swap 9423",
    "fashion-mnist": f"fashion-mnist {PICTURES}",
    "fashion-mnist-noise": f"fashion-mnist {PICTURES} --noise 0.3 --noise-from 10000",
    "fashion-mnist-swap": f"fashion-mnist {PICTURES} --swap 10000",
}
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
    """`path` is obolus's file, `vw_path` Vowpal Wabbit's; `rows` (sparse) and `target` (0, 1, …) everyone else's."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        lines = Lines(path)
        self.classes = in_order(lines.labels)
        number = {c: i for i, c in enumerate(self.classes)}
        self.target = numpy.array([number[label] for label in lines.labels])
        self.rest, self.header = lines.rest, lines.header
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]

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
    def vw_path(self):
        """The same rows for Vowpal Wabbit: classes are 1, 2, …, or -1 and 1 when there are two. Text that is its own
        stays, but for the label."""
        labels = ["-1", "1"] if len(self.classes) == 2 else [str(i + 1) for i in range(len(self.classes))]
        path = self.path.with_suffix(".peer.vw")
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for i, rest in enumerate(self.rest):
                if self.path.suffix != ".vw":
                    row = self.rows[i]
                    rest = "|f " + " ".join(f"{c}:{v:.9g}" for c, v in zip(row.indices, row.data, strict=True))
                file.write(f"{labels[self.target[i]]} {rest}\n")
        return path


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


def make(name, program, data, folder, limit):
    """The stream of that name, cut to `limit` rows. A given file is read each time: it may have changed. What
    `obolus data rows` wrote is kept: remove it after a change of STREAMS or of the generators."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = [folder / f"{name}.{limit}.{form}" for form in FORMATS]
    given = [Path(data) / f"{name}.{form}" for form in FORMATS] if data else []
    found = next((path for path in given if path.exists()), None)
    if found:
        rows = found.read_bytes()
    elif old := next((path for path in kept if path.exists()), None):
        return Stream(name, old)
    else:
        call = [program, "data", "rows", *STREAMS[name].split()]
        rows = subprocess.run(call, stdout=subprocess.PIPE, check=True).stdout
    rows = rows.decode("utf-8", errors="surrogateescape")
    form = form_of(rows)
    path = folder / f"{name}.{limit}.{form}"
    lines = rows.split("\n")[: limit + (form == "csv")]
    path.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8", errors="surrogateescape")
    return Stream(name, path)
