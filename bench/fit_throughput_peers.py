"""What a peer's process does for fit_throughput.py: `fit_throughput_peers.py NAME FILES` says how long the work took.

Each function prepares, and gives the work, which gives the number of rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import csv
import json
import sys
import time
from io import BytesIO
from itertools import islice
from pathlib import Path

PIECE = 1_000  # rows of one partial_fit or learn_many
FEATURES = 130_107  # told to scikit-learn beforehand
CLASSES = 20
VW = "--oaa 20 --loss_function logistic --probabilities -b 22 --quiet"
VW_DENSE = "--loss_function logistic --quiet"


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

    model = Workspace(options)
    count = int(model.get_weighted_examples())
    model.finish()
    return count


def cached(options, path):
    call = f"{options} -d {path} --cache_file {path}.cache"
    if not Path(f"{path}.cache").exists():
        driver(call)
    return lambda: driver(call)


def vw(svm, vw):
    return lambda: driver(f"{VW} -d {vw}")


def vw_cache(svm, vw):
    return cached(VW, vw)


def vw_dense(table, vw):
    return lambda: driver(f"{VW_DENSE} -d {vw}")


def vw_dense_cache(table, vw):
    return cached(VW_DENSE, vw)


def river_rows(model, path):
    """Read by hand: river.stream.iter_csv takes longer."""
    count = 0
    with open(path, newline="") as file:
        rows = csv.reader(file)
        *names, _ = next(rows)
        for *numbers, label in rows:
            row = dict(zip(names, map(float, numbers), strict=True))
            model.predict_proba_one(row)
            model.learn_one(row, label == "1")
            count += 1
    return count


def river_raw(table, vw):
    from river import linear_model

    return lambda: river_rows(linear_model.LogisticRegression(), table)


def river_scaled(table, vw):
    from river import linear_model, preprocessing

    return lambda: river_rows(preprocessing.StandardScaler() | linear_model.LogisticRegression(), table)


def river_alma(table, vw):
    from river import linear_model

    return lambda: river_rows(linear_model.ALMAClassifier(), table)


def river_many(table, vw):
    import pandas
    from river import linear_model

    def work():
        model, count = linear_model.LogisticRegression(), 0
        for piece in pandas.read_csv(table, chunksize=PIECE):
            labels = piece.pop(piece.columns[-1]) == 1
            model.predict_proba_many(piece)
            model.learn_many(piece, labels)
            count += len(labels)
        return count

    return work


def main(name, *files):
    work = globals()[name](*files)
    start = time.perf_counter()
    count = work()
    print(json.dumps({"seconds": time.perf_counter() - start, "rows": count}))


if __name__ == "__main__":
    main(*sys.argv[1:])
