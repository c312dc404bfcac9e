"""Ours beside scikit-learn on 20 Newsgroups: the same numbers, and how long each takes.

    make bench && python3 bench/vectorise_vs_sklearn.py ARCHIVE [--program PATH] [--threads N] [--repeat N] [--no-check]

ARCHIVE is 20news-bydate.tar.gz. Needs scikit-learn (Debian: python3-sklearn). Times are the least of several, taken in
turns. From memory: documents are there (str for scikit-learn, bytes in Latin-1 for ours), rows of train and test come
out. From the archive: unpacking is part of it, and for ours also the digest that verifies the documents.
"""

import argparse
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

import numpy
import sklearn
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

VARIANTS = {
    "tfidf": lambda: TfidfVectorizer(),
    "counts": lambda: CountVectorizer(),
    "english": lambda: TfidfVectorizer(stop_words="english", max_features=10_000),
    "hashing": lambda: HashingVectorizer(n_features=2**18),
    "hashed_tfidf": lambda: make_pipeline(HashingVectorizer(n_features=2**18, norm=None), TfidfTransformer()),
}


def documents(archive):
    """(train, test) as lists of str, class by class and by name."""
    found = []
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                found.append((member.name, tar.extractfile(member).read().decode("latin-1")))
    found.sort()
    return tuple([text for name, text in found if part in name] for part in ("-train/", "-test/"))


def vectorise(train, test):
    counter, weights = CountVectorizer(), TfidfTransformer()
    weights.fit_transform(counter.fit_transform(train))
    weights.transform(counter.transform(test))


class Ours:
    def __init__(self, program, archive, threads):
        self.process = subprocess.Popen(
            [program, archive, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def rows(stem, columns):
    start = numpy.fromfile(f"{stem}.start", numpy.int64)
    column = numpy.fromfile(f"{stem}.column", numpy.int32)
    value = numpy.fromfile(f"{stem}.value", numpy.float32)
    return csr_matrix((value.astype(numpy.float64), column, start), shape=(len(start) - 1, columns))


def ties(train, mine, theirs):
    """Which terms NumPy's unstable sort keeps at the limit of max_features is chance: is it only those?"""
    different = sorted(set(mine) ^ set(theirs))
    totals = numpy.asarray(CountVectorizer(vocabulary=different).fit_transform(train).sum(axis=0)).ravel()
    return f"{len(different) // 2} terms differ, of frequencies {totals.min()} to {totals.max()} (ties at the limit); "


def check(ours, name, train, test, folder):
    ours.ask(f"write {name} {folder / name}")
    model = VARIANTS[name]()
    expected = [model.fit_transform(train), model.transform(test)]
    told = f"{name}: {expected[0].shape[1]:,} columns; "
    mine = (folder / f"{name}.terms").read_text(encoding="utf-8").split("\n")[:-1]
    if mine:
        theirs = list(model.get_feature_names_out())
        told += "same vocabulary; " if mine == theirs else ties(train, mine, theirs)
        if mine != theirs:  # then the rows are compared on our terms
            model = TfidfVectorizer(vocabulary=mine)
            expected = [model.fit_transform(train), model.transform(test)]
    for part, matrix in zip(("train", "test"), expected, strict=True):
        got = rows(folder / f"{name}.{part}", matrix.shape[1])
        told += f"{part}: {got.nnz:,} entries (theirs {matrix.nnz:,}), "
        told += f"largest difference {abs(got - matrix).max():.2g}; "
    print(told.rstrip("; "), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive")
    parser.add_argument("--program", default="build/bench/bench/vectorise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--no-check", action="store_true")
    arguments = parser.parse_args()
    ours = Ours(arguments.program, arguments.archive, arguments.threads)
    train, test = documents(arguments.archive)
    print(f"scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}; {len(train):,} + {len(test):,} documents")
    if not arguments.no_check:
        with tempfile.TemporaryDirectory() as folder:
            for name in VARIANTS:
                check(ours, name, train, test, Path(folder))
    jobs = {"memory": lambda: vectorise(train, test), "archive": lambda: vectorise(*documents(arguments.archive))}
    best = {name: [float("inf")] * 2 for name in jobs}
    for _ in range(arguments.repeat):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times = time.perf_counter() - start, ours.ask(name)
            best[name] = [min(pair) for pair in zip(best[name], times, strict=True)]
    for name, (theirs, mine) in best.items():
        print(f"from {name:8} scikit-learn {theirs:.3f} s, ours {mine:.3f} s: {theirs / mine:.1f} times as fast")


if __name__ == "__main__":
    main()
