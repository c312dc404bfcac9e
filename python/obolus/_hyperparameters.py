"""Hyperparameters with their domains, and the step that moves them: Adam in coordinates that suit the domain.

`positive` ones move in logarithms, `weights` too, with their geometric mean brought back to 1; `bounded` ones move in
units of their range, `free` ones in units of their scale. One step changes a coordinate by about `step` of its units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["positive", "bounded", "free", "weights"]


@dataclass(frozen=True)
class Hyperparameter:
    """A starting value and its domain; made by `positive`, `bounded`, `free` or `weights`."""

    value: Array
    kind: Kind
    low: float
    high: float
    scale: float = 1.0


def positive(value: ArrayLike, low: float | None = None, high: float | None = None) -> Hyperparameter:
    """Positive numbers that move by factors. Without bounds they stay within a factor 10,000 of the start.

    >>> positive(1e-3).low
    1e-07
    """
    start = _array(value)
    if not np.all(start > 0):
        raise ValueError(f"positive: got {start.tolist()}, expected numbers above 0")
    low = float(start.min()) / 1e4 if low is None else low
    high = float(start.max()) * 1e4 if high is None else high
    if not 0 < low < high:
        raise ValueError(f"positive: got low = {low} and high = {high}, expected 0 < low < high")
    return _inside(Hyperparameter(start, "positive", low, high))


def bounded(value: ArrayLike, low: float, high: float) -> Hyperparameter:
    """Numbers between low and high, both included.

    >>> bounded(0.1, 0.0, 0.5).scale
    0.5
    """
    if not low < high:
        raise ValueError(f"bounded: got low = {low} and high = {high}, expected low < high")
    return _inside(Hyperparameter(_array(value), "bounded", low, high, high - low))


def free(value: ArrayLike, scale: float = 1.0) -> Hyperparameter:
    """Numbers without bounds; `scale` is the size of a change that matters.

    >>> free([0.0, 1.0]).high
    inf
    """
    if not scale > 0:
        raise ValueError(f"free: got scale = {scale}, expected a number above 0")
    return Hyperparameter(_array(value), "free", -np.inf, np.inf, scale)


def weights(count: int, spread: float = 30.0) -> Hyperparameter:
    """`count` positive weights, 1 at the start, that move relative to each other, within a factor `spread` of 1.

    >>> weights(3).value.tolist()
    [1.0, 1.0, 1.0]
    """
    if count < 2:
        raise ValueError(f"weights: got count = {count}, expected at least 2: one weight relative to itself is 1")
    if not spread > 1:
        raise ValueError(f"weights: got spread = {spread}, expected a number above 1")
    return Hyperparameter(np.ones(count), "weights", 1 / spread, spread)


class OuterStep:
    """The values of all hyperparameters, and Adam on their coordinates.

    A coordinate whose gradient is exactly 0 stays where it is, with its averages: a batch that did not contain a class
    or a row says nothing about its weight.

    >>> outer = OuterStep({"weight_decay": 1e-3}, step=0.1)
    >>> outer.move({"weight_decay": np.array(5.0)})
    >>> round(float(outer.values["weight_decay"]) / 1e-3, 4)  # exp(-0.1)
    0.9048
    """

    def __init__(
        self, hyperparameters: Mapping[str, Any], step: float, decay: float = 0.9, decay2: float = 0.99
    ) -> None:
        if not hyperparameters:
            raise ValueError("hyperparameters: got none, expected at least one, such as {'weight_decay': 1e-3}")
        if not step >= 0:
            raise ValueError(f"step: got {step}, expected 0 or more")
        self.step = step
        self._decay = decay
        self._decay2 = decay2
        self._domains = {name: _domain(name, given) for name, given in hyperparameters.items()}
        self.values = {name: domain.value.copy() for name, domain in self._domains.items()}
        self._averages = {name: np.zeros((3, *value.shape)) for name, value in self.values.items()}

    def move(self, gradients: Mapping[str, Array]) -> None:
        """One step against the gradients with respect to the values themselves."""
        for name, domain in self._domains.items():
            self.values[name] = self._moved(domain, self.values[name], gradients[name], self._averages[name])

    def state(self) -> dict[str, Any]:
        """Plain lists: what `load_state` needs to continue with the same bits."""
        return {
            "values": {name: value.tolist() for name, value in self.values.items()},
            "averages": {name: average.tolist() for name, average in self._averages.items()},
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        got, expected = sorted(state["values"]), sorted(self.values)
        if got != expected:
            raise ValueError(f"load_state: got hyperparameters {got}, expected {expected}")
        for name, value in self.values.items():
            stored = np.array(state["values"][name], dtype=np.float64)
            if stored.shape != value.shape:
                raise ValueError(f"load_state: got {name} of shape {stored.shape}, expected {value.shape}")
            self.values[name] = stored
            self._averages[name] = np.array(state["averages"][name], dtype=np.float64)

    def _moved(self, domain: Hyperparameter, value: Array, gradient: Array, averages: Array) -> Array:
        logarithmic = domain.kind in ("positive", "weights")
        q = gradient * (value if logarithmic else domain.scale)
        told = q != 0
        mean, square, count = averages
        mean += told * (1 - self._decay) * (q - mean)
        square += told * (1 - self._decay2) * (q * q - square)
        count += told
        rounds = np.maximum(count, 1.0)
        size = np.sqrt(square / (1 - self._decay2**rounds)) + np.finfo(np.float64).tiny
        move = -self.step * told * (mean / (1 - self._decay**rounds)) / size
        if not logarithmic:
            return np.asarray(np.clip(value + domain.scale * move, domain.low, domain.high))
        u = np.log(value) + move
        if domain.kind == "weights":
            u = u - u.mean()
        return np.asarray(np.clip(np.exp(u), domain.low, domain.high))


class Path:
    """Values by round, thinned: above `limit` entries every second one goes, and later ones are kept as rarely."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._stride = 1
        self.entries: list[dict[str, Any]] = []

    def add(self, t: int, values: Mapping[str, Array]) -> None:
        if t % self._stride:
            return
        self.entries.append({"round": t, **{name: value.tolist() for name, value in values.items()}})
        if len(self.entries) > self._limit:
            self._stride *= 2
            self.entries = [entry for entry in self.entries if entry["round"] % self._stride == 0]

    def state(self) -> dict[str, Any]:
        return {"stride": self._stride, "entries": list(self.entries)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._stride = state["stride"]
        self.entries = list(state["entries"])


def _array(value: ArrayLike) -> Array:
    array = np.array(value, dtype=np.float64)
    if array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError(f"hyperparameter: got {array.tolist()}, expected one or more finite numbers")
    return array


def _inside(given: Hyperparameter) -> Hyperparameter:
    if np.all((given.value >= given.low) & (given.value <= given.high)):
        return given
    raise ValueError(
        f"{given.kind}: got a start of {given.value.tolist()}, expected numbers from {given.low} to {given.high}"
    )


def _domain(name: str, given: Hyperparameter | float | Sequence[float] | Array) -> Hyperparameter:
    if isinstance(given, Hyperparameter):
        return given
    try:
        return positive(given)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"hyperparameter '{name}': got {given!r}, expected a positive number or numbers, or one of positive, "
            "bounded, free, weights"
        ) from error
