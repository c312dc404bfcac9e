"""The peers of `obolus fit`: scikit-learn, Vowpal Wabbit and river, judged on every row before they learn it.

A method is a name and a function from a Stream to the probability of every row's class and whether the likeliest one
was right. All are told the classes beforehand. Where a method says nothing yet, as scikit-learn before its first batch,
classes are alike likely.
"""

import tempfile
import time
import warnings
from pathlib import Path

import numpy

BATCH = 32  # rows that scikit-learn is judged on, then learns; what a round of obolus fit has

# Vowpal Wabbit's defaults are -l 0.5 and --l2 0; its l2 is a penalty an example, as obolus's is.
VW_RATES = (0.05, 0.15, 0.5, 1.5, 5.0, 15.0)
VW_L2 = (0.0, 1e-6, 1e-5)  # 1e-4 and 1e-3 had more log-loss on all of four streams tried
# Its 18 bits hold a quarter million weights, and text with 20 classes has over two million: no peer should lose by
# collisions.
VW_BITS = 24


def judged(probabilities, target):
    rows = numpy.arange(len(target))
    return probabilities[rows, target], probabilities.argmax(axis=1) == target


def sklearn_sgd(scaled):
    def run(stream, seconds):
        from sklearn.linear_model import SGDClassifier
        from sklearn.preprocessing import StandardScaler

        model, scaler = SGDClassifier(loss="log_loss", random_state=1), StandardScaler()
        classes = numpy.arange(len(stream.classes))
        told = numpy.full((len(stream), len(classes)), 1 / len(classes))
        stop, end = time.process_time() + seconds, len(stream)
        for first in range(0, len(stream), BATCH):
            if time.process_time() > stop:
                end = first
                break
            batch = slice(first, first + BATCH)
            rows = stream.rows[batch].toarray() if stream.dense else stream.rows[batch]
            if scaled:  # knows the batch's features, not its labels
                rows = scaler.partial_fit(rows).transform(rows)
            if first:
                told[batch] = model.predict_proba(rows)
            model.partial_fit(rows, stream.target[batch], classes)
        return judged(told[:end], stream.target[:end])

    return run


def vowpal_wabbit(options):
    """Runs the driver over the file, and reads the predictions it writes. These are made before the row is learnt: they
    are those of predict() followed by learn(), row by row (`fit_vs_peers.py --check` compares). learn() itself returns
    nothing in 9.11. For two classes it writes the margin, since --link logistic would be written with six digits after
    the point, and 1e-7 as 0."""

    def run(stream, seconds):
        from vowpalwabbit import Workspace

        count = len(stream.classes)
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "predictions"
            # -d makes the workspace read the file to its end before it is handed over.
            call = f"{vw_task(count)} {options} -b {VW_BITS} -d {stream.vw_path} -p {told} --quiet"
            Workspace(call).finish()
            # A row's tag stands after its numbers.
            words = [line.split()[: 1 if count == 2 else count] for line in told.read_text().splitlines()]
        if count == 2:
            margins = numpy.array(words, float)
            # Both from the margin: 1 - p loses what is small.
            probabilities = 1 / (1 + numpy.exp(numpy.clip(margins, -700, 700) * [[1, -1]]))
        else:
            probabilities = numpy.array([[word.partition(":")[2] for word in line] for line in words], float)
            # All scores so low that their sum is 0.
            probabilities[~numpy.isfinite(probabilities).all(axis=1)] = 1 / count
        return judged(probabilities, stream.target)

    return run


def vw_task(count):
    return "--loss_function logistic" + ("" if count == 2 else f" --oaa {count} --probabilities")


def vw_rows(stream, options, rows):
    """The same by predict() and learn(): slow, to check the other with."""
    from vowpalwabbit import Workspace

    count = len(stream.classes)
    model = Workspace(f"{vw_task(count)} {options} -b {VW_BITS} --quiet" + (" --link logistic" if count == 2 else ""))
    told = []
    with open(stream.vw_path, encoding="utf-8", errors="surrogateescape") as file:
        for _, line in zip(range(rows), file, strict=False):
            p = model.predict(line[line.index("|") :])  # no label to look at
            told.append([1 - p, p] if count == 2 else p)
            model.learn(line)
    model.finish()
    return judged(numpy.array(told), stream.target[:rows])


def river_model(kind, scaled, count):
    from river import linear_model, multiclass, preprocessing

    if kind == "logistic":
        model = linear_model.LogisticRegression()
    elif kind == "one-vs-rest":
        model = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
        for c in range(count):  # it would learn of a class by its first row
            model.classifiers[c] = model.classifier.clone()
    else:
        model = linear_model.SoftmaxRegression()
        for c in range(count):
            model.weights[c]  # noqa: B018 (a defaultdict: looking makes it)
    return preprocessing.StandardScaler() | model if scaled else model


def river(kind, scaled):
    def run(stream, seconds):
        count = len(stream.classes)
        model = river_model(kind, scaled, count)
        of_class, right = [], []
        matrix, stop = stream.rows, time.process_time() + seconds
        everything = range(matrix.shape[1])
        for i, target in enumerate(stream.target.tolist()):
            if time.process_time() > stop:
                break
            if stream.dense:
                row = dict(zip(everything, matrix[i].toarray()[0].tolist(), strict=True))
            else:
                part = slice(matrix.indptr[i], matrix.indptr[i + 1])
                row = dict(zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True))
            target = bool(target) if kind == "logistic" else target
            told = model.predict_proba_one(row)
            of_class.append(told.get(target, 1 / count))
            right.append(max(told, key=told.get, default=0) == target)
            model.learn_one(row, target)
        return numpy.array(of_class), numpy.array(right)

    return run


def methods(stream):
    """{name: function}; the part before the first blank is the column it competes for."""
    scaling = {"raw": False, "scaled": True} if stream.dense else {"raw": False}
    found = {f"sklearn {how}": sklearn_sgd(scaled) for how, scaled in scaling.items()}
    found["vw-default"] = vowpal_wabbit("")
    for rate in VW_RATES:
        for l2 in VW_L2:
            found[f"vw-best -l {rate:g} --l2 {l2:g}"] = vowpal_wabbit(f"-l {rate:g} --l2 {l2:g}")
    kinds = ["logistic"] if len(stream.classes) == 2 else ["one-vs-rest", "softmax"]
    found |= {f"river {kind} {how}": river(kind, scaled) for kind in kinds for how, scaled in scaling.items()}
    return found


def silent(run, *arguments):
    """A peer that overflows says so in its probabilities."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run(*arguments)
