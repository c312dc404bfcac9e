"""Streams that `obolus data rows` does not make, as CSV with the label last: rows whose neighbours resemble each other,
and the small data sets inside the packages of river and scikit-learn."""

import math
from itertools import islice

import numpy

ROWS = 20_000


def table(names, rows):
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n"


def of_dicts(pairs):
    """(features, label) as river gives them."""
    pairs = list(pairs)
    names = list(pairs[0][0])
    rows = ([*(features[name] for name in names), label] for features, label in pairs)
    return table([*(f"x{name}" if isinstance(name, int) else name for name in names), "label"], rows)


def chain(random, rows, classes, stay):
    """Labels that persist: each is the last one with probability `stay`, else one of the others."""
    moves = numpy.where(random.random(rows) < stay, 0, random.integers(1, classes, rows))
    return numpy.cumsum(moves) % classes


def clouds(random, labels, features, apart, memory, speed):
    """A cloud of deviation 1 around the centre of each row's class. Centres are `apart` and walk by `speed` a row; the
    deviations of neighbouring rows correlate by `memory`."""
    centres = random.normal(0, apart, (labels.max() + 1, features))
    deviation, rows = numpy.zeros(features), []
    for label in labels:
        centres += random.normal(0, speed, centres.shape)
        deviation = memory * deviation + math.sqrt(1 - memory**2) * random.normal(size=features)
        rows.append([*(centres[label] + deviation).round(5).tolist(), label])
    return table([*(f"x{j}" for j in range(features)), "label"], rows)


def sticky():
    """Two classes that persist, and columns that say little more than the neighbours do."""
    random = numpy.random.default_rng(1)
    return clouds(random, chain(random, ROWS, 2, 0.95), features=5, apart=0.5, memory=0.9, speed=0.002)


def runs():
    """Twenty classes in runs of ten rows."""
    random = numpy.random.default_rng(2)
    return clouds(random, chain(random, ROWS, 20, 0.9), features=10, apart=1.0, memory=0.8, speed=0.002)


def cycle():
    """0 1 2 3 4 0 1 2 3 4 …"""
    random = numpy.random.default_rng(3)
    return clouds(random, numpy.arange(ROWS) % 5, features=4, apart=1.0, memory=0.0, speed=0.005)


def persistent():
    random = numpy.random.default_rng(4)
    return clouds(random, chain(random, ROWS, 4, 0.85), features=8, apart=0.7, memory=0.5, speed=0.003)


def phishing():
    from river import datasets

    return of_dicts((features, int(label)) for features, label in datasets.Phishing())


def trump():
    from river import datasets

    return of_dicts(datasets.TrumpApproval())


def chick_weights():
    from river import datasets

    return of_dicts(datasets.ChickWeights())


def stocks():
    from river import datasets

    return of_dicts(datasets.SP500Stocks())


def water_flow():
    """The next hour's flow from the hour of the day, this hour's, the one before and the same hour of yesterday."""
    from river import datasets

    series = [(features["Time"], flow) for features, flow in datasets.WaterFlow()]
    rows = []
    for i in range(24, len(series)):
        hour = 2 * math.pi * series[i][0].hour / 24
        before = [series[i - k][1] for k in (1, 2, 24)]
        rows.append([round(math.sin(hour), 5), round(math.cos(hour), 5), *before, series[i][1]])
    return table(["sin", "cos", "last", "before", "yesterday", "flow"], rows)


def diabetes():
    from sklearn.datasets import load_diabetes

    found = load_diabetes(scaled=False)
    return table([*found.feature_names, "label"], numpy.column_stack([found.data, found.target]).tolist())


def friedman():
    from river.datasets import synth

    return of_dicts(islice(synth.FriedmanDrift("gra", position=(7_000, 14_000), seed=5), ROWS))


def walk():
    """A linear target whose weights walk and whose error persists."""
    random = numpy.random.default_rng(6)
    rows, weights, error = [], random.normal(0, 10, 10), 0.0
    for x in random.normal(size=(ROWS, 10)):
        weights += random.normal(0, 0.05, 10)
        error = 0.9 * error + random.normal(0, 2)
        rows.append([*x.round(5).tolist(), round(float(100 + x @ weights + error), 4)])
    return table([*(f"x{j}" for j in range(10)), "label"], rows)
