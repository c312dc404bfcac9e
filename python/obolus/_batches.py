"""The batches of a problem: what f and g are given in round t."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

Pair: TypeAlias = tuple[Any, Any]
Source: TypeAlias = Callable[[int], Pair] | Sequence[Pair] | Iterable[Pair] | None


class Batches:
    """Hands out the pair (outer batch, inner batch) of round t, counted from 1.

    A callable or a sequence can be asked for any round, in any order. Another iterable is read once, forwards: it keeps
    the current pair only. Without a source both batches are t itself.

    >>> batches = Batches([("a", "b"), ("c", "d")])
    >>> batches.reveal(2)
    >>> batches.outer, batches.inner
    ('c', 'd')
    """

    def __init__(self, source: Source = None) -> None:
        self._source = source
        self._round = 0
        self._pair: Pair | None = None
        self._iterator: Iterator[Pair] | None = None
        if source is None or callable(source) or isinstance(source, Sequence):
            return
        if not isinstance(source, Iterable):
            raise TypeError(f"batches: got {type(source).__name__}, expected a callable, a sequence or an iterable")
        self._iterator = iter(source)

    @property
    def outer(self) -> Any:
        return self._current()[0]

    @property
    def inner(self) -> Any:
        return self._current()[1]

    def reveal(self, t: int) -> None:
        if t < 1:
            raise ValueError(f"reveal: got round {t}, expected 1 or later")
        if t == self._round:
            return
        self._pair = self._checked(self._find(t), t)
        self._round = t

    def _current(self) -> Pair:
        if self._pair is None:
            raise RuntimeError("no round is revealed: call reveal(t) before values and gradients")
        return self._pair

    def _find(self, t: int) -> Any:
        source = self._source
        if source is None:
            return t, t
        if self._iterator is not None:
            return self._forward(t, self._iterator)
        if callable(source):
            return source(t)
        assert isinstance(source, Sequence)
        if t > len(source):
            raise IndexError(f"reveal: got round {t}, expected at most {len(source)}, the number of batches")
        return source[t - 1]

    def _forward(self, t: int, iterator: Iterator[Pair]) -> Any:
        if t < self._round:
            raise RuntimeError(
                f"reveal: got round {t} after round {self._round}, expected a later one: these batches come from an "
                "iterator and cannot be replayed; pass a sequence or a callable t -> (outer, inner)"
            )
        while self._round < t:
            try:
                pair = next(iterator)
            except StopIteration:
                raise IndexError(f"reveal: got round {t}, but the batches ended after round {self._round}") from None
            self._pair = self._checked(pair, self._round + 1)
            self._round += 1
        return self._pair

    @staticmethod
    def _checked(pair: Any, t: int) -> Pair:
        if isinstance(pair, (tuple, list)) and len(pair) == 2:
            return pair[0], pair[1]
        size = f" of {len(pair)}" if isinstance(pair, (tuple, list)) else ""
        raise TypeError(f"batches: round {t} gave {type(pair).__name__}{size}, expected (outer batch, inner batch)")
