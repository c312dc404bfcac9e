"""Deterministic quadratic_file streams for the end-to-end tests.

    stream = drifting_stream(seed=3, d1=2, d2=3, length=13)

Every coefficient drifts from round to round: A, B, b, c and e swing with their own phases, w, s and
r change too, and s ≠ 0 makes F non-convex. A = μI + MM'/d2 is positive definite and symmetric to
the last bit. The same seed gives the same stream on every machine (random.Random is specified).
"""

import json
import math
import random
from pathlib import Path

STRONG_CONVEXITY = 0.6
SWING = 0.25  # size of the drift relative to the fixed part


def drifting_stream(seed, d1, d2, length, swing=SWING):
    """A stream of `length` rounds with outer dimension d1 and inner dimension d2."""
    rng = random.Random(seed)
    fields = {
        "M": _Swinging(rng, d2, d2, swing),
        "B": _Swinging(rng, d2, d1, swing),
        "b": _Swinging(rng, 1, d2, swing),
        "c": _Swinging(rng, 1, d2, swing),
        "e": _Swinging(rng, 1, d1, swing),
        "scalars": _Swinging(rng, 1, 3, swing),
    }
    rounds = [_round({name: field.at(t) for name, field in fields.items()}) for t in range(1, length + 1)]
    return {"dims": {"x": d1, "y": d2}, "rounds": rounds}


def static_stream(seed, d1, d2):
    """One round, repeated for ever."""
    return drifting_stream(seed, d1, d2, length=1, swing=0.0)


def write_stream(stream, path):
    Path(path).write_text(json.dumps(stream), encoding="utf-8")


def inner_smoothness(stream):
    """An upper bound of |A_t| over the stream: the largest absolute row sum."""
    return max(math.fsum(abs(a) for a in row) for data in stream["rounds"] for row in data["A"])


def joint_smoothness(stream):
    """An upper bound of L_g1, the Lipschitz constant of the joint gradient ∇g: |A| + |B|_F."""
    coupling = max(math.sqrt(math.fsum(a * a for row in data["B"] for a in row)) for data in stream["rounds"])
    return inner_smoothness(stream) + coupling


class _Swinging:
    """rows × columns numbers of the form p + swing · q · sin(ωt + φ)."""

    def __init__(self, rng, rows, columns, swing):
        self._fixed = [[rng.uniform(-1.0, 1.0) for _ in range(columns)] for _ in range(rows)]
        self._moving = [[swing * rng.uniform(-1.0, 1.0) for _ in range(columns)] for _ in range(rows)]
        self._pace, self._phase = rng.uniform(0.2, 1.5), rng.uniform(0.0, 2.0 * math.pi)

    def at(self, t):
        wave = math.sin(self._pace * t + self._phase)
        return [
            [p + q * wave for p, q in zip(fixed, moving, strict=True)]
            for fixed, moving in zip(self._fixed, self._moving, strict=True)
        ]


def _round(values):
    first, second, third = values["scalars"][0]
    return {
        "A": _positive_definite(values["M"]),
        "B": values["B"],
        "b": values["b"][0],
        "w": 0.8 + 0.4 * abs(first),
        "c": values["c"][0],
        "s": 0.3 + 0.2 * second,
        "r": 0.5 + 0.3 * abs(third),
        "e": values["e"][0],
    }


def _positive_definite(matrix):
    """μI + MM'/n, the lower triangle mirrored so that symmetry is exact."""
    n = len(matrix)
    result = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            product = math.fsum(a * b for a, b in zip(matrix[i], matrix[j], strict=True)) / n
            result[i][j] = result[j][i] = product + (STRONG_CONVEXITY if i == j else 0.0)
    return result
