"""The options of `tune`, for torch and JAX alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

WarmStart: TypeAlias = Literal["dual", "tied"]


@dataclass(frozen=True)
class Options:
    """Each is explained at `tune`.

    >>> Options(order=3)
    Traceback (most recent call last):
    ValueError: order: got 3, expected 1 or 2
    """

    step: float = 0.05
    order: int = 2
    warm_start: WarmStart = "tied"
    memory: float = 20.0
    shift: float = 0.01
    warmup: int = 5
    every: int = 1

    def __post_init__(self) -> None:
        _require("step", self.step, self.step >= 0, "0 or more")
        _require("order", self.order, self.order in (1, 2), "1 or 2")
        _require("warm_start", self.warm_start, self.warm_start in ("dual", "tied"), "'dual' or 'tied'")
        _require("memory", self.memory, self.memory >= 1, "1 or more rounds")
        _require("shift", self.shift, 0 < self.shift < 1, "a number between 0 and 1")
        _require("warmup", self.warmup, self.warmup >= 0, "0 or more rounds")
        _require("every", self.every, self.every >= 1, "1 or more rounds")

    def dual_step(self, curvature: float) -> tuple[float, float]:
        """The factors (c, s) of w ← c w − s P (g_yy w + f_y), where P holds the inner step sizes.

        `curvature` is that of P g_yy along w. Above 1 in size it shortens the step, so that w cannot overshoot; below
        0, which networks have, its growth along w is taken out.
        """
        s = 1 / max(1.0, abs(curvature))
        return 1 - 1 / self.memory + s * min(curvature, 0.0), s


def endless(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches again and again; an iterator, which has one end, is an error there.

    >>> stream = endless([1, 2])
    >>> [next(stream) for _ in range(3)]
    [1, 2, 1]
    """
    while True:
        count = 0
        for batch in batches:
            count += 1
            yield batch
        if count == 0:
            raise ValueError("validation: got no more batches, expected as many as of train, or a list to go round")


def _require(name: str, got: object, holds: bool, expected: str) -> None:
    if not holds:
        raise ValueError(f"{name}: got {got!r}, expected {expected}")
