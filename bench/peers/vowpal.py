"""Vowpal Wabbit: its default, the best of a grid, and the learners that need no rate.

Its driver runs over a file and writes predictions. These are made before the row is learnt: they are those of predict()
followed by learn(), row by row (`fit_vs_peers.py --check` compares). Where labels are late, each row stands twice
in the file: without its label, to be predicted, and with it where it is known.
"""

import tempfile
from functools import lru_cache
from pathlib import Path

import numpy
from vowpalwabbit import Workspace

# Its defaults are -l 0.5 and --l2 0; its l2 is a penalty an example, as obolus's is.
RATES = (0.05, 0.15, 0.5, 1.5, 5.0, 15.0, 50.0, 100.0)
L2 = (0.0, 1e-6, 1e-5)  # 1e-4 and 1e-3 had more log-loss on all of four streams tried
OTHERS = ("--coin", "--freegrad", "--pistol", "--ftrl")
# Its 18 bits hold a quarter million weights, and text with 20 classes has over two million: no peer should lose by
# collisions.
BITS = 24


@lru_cache(maxsize=2)
def text(stream, scaled=False):
    """The rows for Vowpal Wabbit: classes are 1, 2, …, or -1 and 1 when there are two. Text that is its own stays, but
    for the label."""
    path = stream.path.with_suffix(".scaled.peer.vw" if scaled else ".peer.vw")
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for i in range(len(stream)):
            if stream.delay:
                file.write(f"{features(stream, i, scaled)}\n")
            if i >= stream.delay:
                known = i - stream.delay
                file.write(f"{label(stream, known)} {features(stream, known, scaled)}\n")
    return path


def features(stream, i, scaled):
    if stream.path.suffix == ".vw":
        return stream.rest[i]
    if scaled:
        pairs = enumerate(stream.scaled[i].tolist())
    else:
        row = slice(stream.rows.indptr[i], stream.rows.indptr[i + 1])
        pairs = zip(stream.rows.indices[row].tolist(), stream.rows.data[row].tolist(), strict=True)
    return "|f " + " ".join(f"{c}:{v:.9g}" for c, v in pairs)


def label(stream, i):
    target = stream.target[i]
    if stream.numbers:
        return repr(float(target))
    return str(2 * target - 1 if len(stream.classes) == 2 else target + 1)


def task(stream):
    if stream.numbers:
        return "--loss_function squared"
    count = len(stream.classes)
    return "--loss_function logistic" + ("" if count == 2 else f" --oaa {count} --probabilities")


def driver(options, scaled):
    """For two classes it writes the margin, since --link logistic would be written with six digits after the point, and
    1e-7 as 0."""

    def run(stream, seconds):
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "predictions"
            # -d makes the workspace read the file to its end before it is handed over.
            Workspace(f"{task(stream)} {options} -b {BITS} -d {text(stream, scaled)} -p {told} --quiet").finish()
            lines = told.read_text().splitlines()
        return read(stream, late(lines, stream.delay))

    return run


def late(lines, delay):
    """Those of the rows without a label: from row `delay` on, every other one."""
    return lines[:delay] + lines[delay::2] if delay else lines


def read(stream, lines):
    count = len(stream.classes)
    # A row's tag stands after its numbers.
    words = [line.split()[: count if count > 2 else 1] for line in lines]
    if stream.numbers:
        return numpy.array(words, float)[:, 0]
    if count == 2:
        # Both from the margin: 1 - p loses what is small.
        return 1 / (1 + numpy.exp(numpy.clip(numpy.array(words, float), -700, 700) * [[1, -1]]))
    probabilities = numpy.array([[word.partition(":")[2] for word in line] for line in words], float)
    # All scores so low that their sum is 0.
    probabilities[~numpy.isfinite(probabilities).all(axis=1)] = 1 / count
    return probabilities


def by_row(stream, options, rows):
    """The same by predict() and learn(): slow, to check the other with."""
    count = len(stream.classes)
    link = " --link logistic" if count == 2 else ""
    model, told = Workspace(f"{task(stream)} {options} -b {BITS} --quiet{link}"), []
    with open(text(stream), encoding="utf-8", errors="surrogateescape") as file:
        for _, line in zip(range(rows), file, strict=False):
            p = model.predict(line[line.index("|") :])  # no label to look at
            told.append([1 - p, p] if count == 2 else p)
            model.learn(line)
    model.finish()
    return numpy.array(told)


def methods(stream):
    found = {}
    for how, scaled in ({"raw": False, "scaled": True} if stream.dense else {"raw": False}).items():
        found[f"vw-default {how}"] = driver("", scaled)
        for rate in RATES:
            for l2 in L2:
                found[f"vw-best -l {rate:g} --l2 {l2:g} {how}"] = driver(f"-l {rate:g} --l2 {l2:g}", scaled)
        found |= {f"vw-other {option} {how}": driver(option, scaled) for option in OTHERS}
    return found
