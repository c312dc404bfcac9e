"""Small streams of rows as files, for the tests of `obolus fit`."""

import math
import random


def _scores(weights, features):
    return [sum(w[name] * value for name, value in features) for w in weights]


def linear_rows(seed, rows, classes, features=20, filled=6):
    """(class, [(index from 1, value), …]): the class is that of the largest of random linear scores."""
    rng = random.Random(seed)
    weights = [[rng.gauss(0, 1) for _ in range(features + 1)] for _ in range(classes)]
    result = []
    for _ in range(rows):
        row = [(i, round(rng.gauss(0, 1), 3)) for i in sorted(rng.sample(range(1, features + 1), filled))]
        scores = _scores(weights, row)
        result.append((scores.index(max(scores)), row))
    return result


def svmlight(seed, rows, classes=2, **shape):
    return "".join(
        f"{label} " + " ".join(f"{i}:{v}" for i, v in row) + "\n"
        for label, row in linear_rows(seed, rows, classes, **shape)
    )


def table(seed, rows, classes):
    """A header and lists of cells: two numbers, a category with missing values, a class.

    Classes come one after the other."""
    rng = random.Random(seed)
    result = []
    for t in range(rows):
        known = min(classes, 2 + t * classes // rows)
        label = rng.randrange(known)
        width = round(rng.gauss(label, 0.7), 3) if rng.random() > 0.05 else "NA"
        colour = rng.choice(["red", "blue", "", f"shade{label}"])
        result.append([width, round(rng.gauss(5 - 2 * label, 3), 3), colour, f"kind {label}"])
    return ["width", "height", "colour", "kind"], result


def csv(header, rows, delimiter=","):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in [header, *rows])


def numbers(seed, rows):
    """CSV whose label is a number."""
    rng = random.Random(seed)
    cells = []
    for _ in range(rows):
        x, y, zone = rng.uniform(-2, 2), rng.uniform(0, 100), rng.choice("abc")
        price = 3 * x - 0.05 * y + {"a": 0, "b": 2, "c": -1}[zone] + rng.gauss(0, 0.1)
        cells.append([f"{x:.4f}", f"{y:.3f}", zone, f"{price:.4f}"])
    return csv(["x", "y", "zone", "price"], cells)


def vowpal_wabbit(seed, rows, namespaces=6, tags=True):
    """Labels -1 and 1. Namespaces come one after the other."""
    rng = random.Random(seed)
    lines = []
    for t in range(rows):
        known = 1 + t * namespaces // rows
        words = [[rng.randrange(30) for _ in range(3)] for _ in range(known)]
        score = sum(math.sin(7 * w + 3 * n) for n, list_ in enumerate(words) for w in list_)
        spaces = " ".join(f"|space{n} size:{len(w)} " + " ".join(f"w{x}" for x in w) for n, w in enumerate(words))
        tag = f"'row{t} " if tags else ""
        lines.append(f"{1 if score > 0 else -1} {tag}{spaces}\n")
    return "".join(lines)
