"""The two streams of bilevel_peers.py: their losses in torch, JAX and NumPy, and exact hypergradients.

cleaning    Softmax regression, 4 classes, 9 features and a constant. Rows come from 8 groups; in 3 of them most labels
            are wrong, and which ones changes every PHASE rounds. x_i is the weight of group i, through a sigmoid; g is
            the weighted cross-entropy of the training rows with a small l2 penalty, f that of clean rows.
ridge       60 features, of which 20 matter; which ones changes every PHASE rounds. x_i is the logarithm of feature
            i's l2 penalty; g is half the mean squared error of the training rows with the penalties, f that of other
            rows.

To f comes hold/2 |x − x_1|², so that no weight or penalty is best at infinity. Round t has the latest WINDOW rows of
each kind; STEP new ones come with each round. F_t(x) = f_t(x, y*_t(x)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from scipy.special import logsumexp

ROUNDS, PHASE, STEP, WINDOW = 200, 50, 4, 128
ROWS = STEP * (ROUNDS - 1) + WINDOW


def start_of(t: int) -> int:
    """The first row of round t's window."""
    return STEP * (t - 1)


@dataclass
class Backend:
    """What a loss needs of a library of arrays."""

    array: Callable[[np.ndarray], Any]
    cut: Callable[[Any, int], Any]
    exp: Callable[[Any], Any]
    logsumexp: Callable[[Any], Any]  # along the last axis


NUMPY = Backend(np.asarray, lambda a, s: a[s : s + WINDOW], np.exp, lambda a: logsumexp(a, axis=1))
TORCH = Backend(torch.from_numpy, lambda a, s: a[s : s + WINDOW], torch.exp, lambda a: torch.logsumexp(a, 1))
JAX = Backend(
    jnp.asarray,
    lambda a, s: jax.lax.dynamic_slice_in_dim(a, s, WINDOW),
    jnp.exp,
    lambda a: jax.scipy.special.logsumexp(a, axis=1),
)


class Stream:
    """Rows of g and of f with their targets; `seen` is put on predictions, to count gradients by."""

    name: str
    x0: np.ndarray
    y0: np.ndarray
    low: float
    high: float
    hold: float
    # Step sizes to choose from: of the inner level, and of x along the hypergradient.
    inner_steps: tuple[float, ...]
    outer_steps: tuple[float, ...]

    def losses(self, backend: Backend, seen: Callable[[Any], Any] = lambda a: a) -> tuple[Any, Any]:
        """f(x, y, start) and g(x, y, start), y flat."""
        raise NotImplementedError

    def outer_gradient_x(self, x: np.ndarray) -> np.ndarray:
        return self.hold * (x - self.x0)

    def gradients(self, x: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f_y, g_x and g_y, in closed form."""
        raise NotImplementedError

    def second(self, x: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        """g_yy and g_xy."""
        raise NotImplementedError

    def solution(self, x: np.ndarray, y: np.ndarray, start: int) -> np.ndarray:
        """y*(x), by Newton's method from y, halved where it overshoots, to rounding."""
        g = self.losses(NUMPY)[1]
        for _ in range(100):
            slope = self.gradients(x, y, start)[2]
            move = np.linalg.solve(self.second(x, y, start)[0], slope)
            if np.linalg.norm(move) <= 1e-8 * (1 + np.linalg.norm(y)):
                return y - move  # Newton squares the error
            while g(x, y - move, start) > g(x, y, start) - 0.1 * slope @ move:
                move = 0.5 * move
            y = y - move
        raise ArithmeticError("Newton's method did not converge")

    def hypergradient(self, x: np.ndarray, y: np.ndarray, start: int) -> np.ndarray:
        """∇F at x, where y = y*(x); coordinates that the bounds hold back are 0."""
        yy, xy = self.second(x, y, start)
        d = self.outer_gradient_x(x) - xy @ np.linalg.solve(yy, self.gradients(x, y, start)[0])
        return np.where(((x <= self.low) & (d > 0)) | ((x >= self.high) & (d < 0)), 0.0, d)


def phase_of_rows() -> np.ndarray:
    """In which phase each row arrives; the first WINDOW rows are there in round 1."""
    return np.maximum(0, np.arange(ROWS) - WINDOW) // STEP // PHASE


class Cleaning(Stream):
    name = "cleaning"
    groups, classes, features, penalty = 8, 4, 10, 0.01
    low, high, hold = -6.0, 6.0, 2e-3
    inner_steps, outer_steps = (1.0, 2.0, 4.0, 8.0), (32.0, 64.0, 128.0, 256.0, 512.0)

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        ends = rng.normal(size=(2, self.classes, self.features - 1))
        turn = 0.5 * np.pi * np.arange(ROWS)[:, None] / ROWS

        def draw() -> tuple[np.ndarray, np.ndarray]:
            labels = rng.integers(self.classes, size=ROWS)
            rows = np.cos(turn) * ends[0, labels] + np.sin(turn) * ends[1, labels] + rng.normal(size=(ROWS, 9))
            return np.hstack([rows, np.ones((ROWS, 1))]), labels

        (self.a, labels), (self.b, clean) = draw(), draw()
        bad = np.array([rng.permutation(self.groups) < 3 for _ in range(1 + ROUNDS // PHASE)])
        group = rng.integers(self.groups, size=ROWS)
        wrong = bad[phase_of_rows(), group] & (rng.random(ROWS) < 0.9)
        self.label_a = np.eye(self.classes)[np.where(wrong, (labels + 1) % self.classes, labels)]
        self.label_b = np.eye(self.classes)[clean]
        self.member = np.eye(self.groups)[group]
        self.x0, self.y0 = np.zeros(self.groups), np.zeros(self.features * self.classes)

    def losses(self, backend: Backend, seen: Callable[[Any], Any] = lambda a: a) -> tuple[Any, Any]:
        a, b, label_a, label_b, member = map(backend.array, (self.a, self.b, self.label_a, self.label_b, self.member))
        x0 = backend.array(self.x0)
        cut = backend.cut

        def each(rows: Any, labels: Any, y: Any, start: int) -> Any:
            logits = seen(cut(rows, start) @ y.reshape(self.features, self.classes))
            return backend.logsumexp(logits) - (logits * cut(labels, start)).sum(1)

        def f(x: Any, y: Any, start: int) -> Any:
            return each(b, label_b, y, start).mean() + 0.5 * self.hold * ((x - x0) ** 2).sum()

        def g(x: Any, y: Any, start: int) -> Any:
            weight = cut(member, start) @ (1 / (1 + backend.exp(-x)))
            return (weight * each(a, label_a, y, start)).mean() + 0.5 * self.penalty * (y * y).sum()

        return f, g

    def _parts(self, rows: np.ndarray, labels: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, ...]:
        """Rows, their labels, logits and probabilities."""
        a, label = NUMPY.cut(rows, start), NUMPY.cut(labels, start)
        logits = a @ y.reshape(self.features, self.classes)
        return a, label, logits, np.exp(logits - logsumexp(logits, axis=1)[:, None])

    def _weights(self, x: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        """By row, and their derivatives by x."""
        member, s = NUMPY.cut(self.member, start), 1 / (1 + np.exp(-x))
        return member @ s, member * (s * (1 - s))

    def gradients(self, x: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        b, clean, _, q = self._parts(self.b, self.label_b, y, start)
        a, label, _, p = self._parts(self.a, self.label_a, y, start)
        weight, slope = self._weights(x, start)
        g_y = (a.T @ (weight[:, None] * (p - label))).ravel() / WINDOW + self.penalty * y
        return (b.T @ (q - clean)).ravel() / WINDOW, -slope.T @ np.log((p * label).sum(1)) / WINDOW, g_y

    def second(self, x: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        a, label, _, p = self._parts(self.a, self.label_a, y, start)
        weight, slope = self._weights(x, start)
        d, c = self.features, self.classes
        inner = weight[:, None, None] * (np.eye(c) * p[:, :, None] - p[:, :, None] * p[:, None, :])
        half = (a[:, :, None, None] * inner[:, None]).reshape(WINDOW, -1)  # row × (feature, class, class)
        yy = (a.T @ half).reshape(d, d, c, c).transpose(1, 2, 0, 3).reshape(d * c, d * c) / WINDOW
        by_row = (a[:, :, None] * (p - label)[:, None, :]).reshape(WINDOW, -1)
        return yy + self.penalty * np.eye(d * c), slope.T @ by_row / WINDOW


class Ridge(Stream):
    name = "ridge"
    features, useful, noise = 60, 20, 3.0
    low, high, hold = -4.0, 1.0, 1e-2
    inner_steps, outer_steps = (0.1, 0.2, 0.4, 0.6), (1.0, 2.0, 4.0, 8.0, 16.0)

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        size = rng.normal(size=self.features)
        chosen = np.array([rng.permutation(self.features) < self.useful for _ in range(1 + ROUNDS // PHASE)])
        truth = size * chosen[phase_of_rows()]

        def draw() -> tuple[np.ndarray, np.ndarray]:
            rows = rng.normal(size=(ROWS, self.features))
            return rows, (rows * truth).sum(1) + self.noise * rng.normal(size=ROWS)

        (self.a, self.r), (self.b, self.c) = draw(), draw()
        self.x0, self.y0 = np.full(self.features, -2.0), np.zeros(self.features)

    def losses(self, backend: Backend, seen: Callable[[Any], Any] = lambda a: a) -> tuple[Any, Any]:
        a, r, b, c, x0 = map(backend.array, (self.a, self.r, self.b, self.c, self.x0))
        cut = backend.cut

        def f(x: Any, y: Any, start: int) -> Any:
            error = seen(cut(b, start) @ y) - cut(c, start)
            return 0.5 * (error**2).mean() + 0.5 * self.hold * ((x - x0) ** 2).sum()

        def g(x: Any, y: Any, start: int) -> Any:
            return 0.5 * ((seen(cut(a, start) @ y) - cut(r, start)) ** 2).mean() + 0.5 * (backend.exp(x) * y * y).sum()

        return f, g

    def gradients(self, x: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a, r, b, c = (NUMPY.cut(m, start) for m in (self.a, self.r, self.b, self.c))
        penalty = np.exp(x) * y
        return b.T @ (b @ y - c) / WINDOW, 0.5 * penalty * y, a.T @ (a @ y - r) / WINDOW + penalty

    def second(self, x: np.ndarray, y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        a = NUMPY.cut(self.a, start)
        return a.T @ a / WINDOW + np.diag(np.exp(x)), np.diag(np.exp(x) * y)


class InNumPy:
    """A stream as an Obolus problem in closed form."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.f, self.g = stream.losses(NUMPY)
        self.outer_gradient_x = lambda x, y: stream.outer_gradient_x(x)
        self.outer_gradient_y = lambda x, y: stream.gradients(x, y, self.start)[0]
        self.inner_gradient_x = lambda x, y: stream.gradients(x, y, self.start)[1]
        self.inner_gradient_y = lambda x, y: stream.gradients(x, y, self.start)[2]
        self.outer_value = lambda x, y: self.f(x, y, self.start)
        self.inner_value = lambda x, y: self.g(x, y, self.start)

    def dims(self) -> tuple[int, int]:
        return self.stream.x0.size, self.stream.y0.size

    def reveal(self, t: int) -> None:
        self.start = start_of(t)
