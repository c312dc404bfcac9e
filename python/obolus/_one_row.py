"""One row at a time, a dict of features, as river has it."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

from numpy.typing import ArrayLike, NDArray

from obolus._stream_estimator import StreamEstimator

Self = TypeVar("Self", bound="OneRowAtATime")


class OneRowAtATime(StreamEstimator):
    """Values that are numbers or truth values are numeric columns, None and NaN are missing, anything else is a
    category by its text. Rows may differ in their columns."""

    _supervised = True  # what river asks its models

    def predict(self, X: Any) -> NDArray[Any]:
        raise NotImplementedError

    def learn_many(self: Self, X: Any, y: Any, w: ArrayLike | None = None) -> Self:
        """As `learn_one` on one row of a data frame after the other, to the same bits."""
        if not hasattr(self, "stream_"):
            self._by_name = True
        self._go_on(X, y, w, in_turn=True)
        return self

    def _learn_row(self, x: Mapping[Hashable, Any], text: str, w: float) -> Any:
        if self._check_trainable():
            self._by_name = True
            self._begin([])
        elif self._sparse:
            raise ValueError("got a dict, expected sparse rows like those before")
        return self.stream_.one(dict(x), text, w, True)

    def predict_many(self, X: Any) -> Any:
        """A pandas Series for a pandas DataFrame, or else an array."""
        found = self.predict(X)
        if type(X).__module__.partition(".")[0] != "pandas":
            return found
        import pandas

        return pandas.Series(found, index=X.index)

    def clone(self: Self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """A new one with the same parameters, or a copy, as river's own models give."""
        if include_attributes:
            other = copy.deepcopy(self)
            other.set_params(**(new_params or {}))
            return other
        return type(self)(**copy.deepcopy({**self.get_params(deep=False), **(new_params or {})}))

    def _get_params(self) -> dict[str, Any]:
        return dict(self.get_params(deep=False))
