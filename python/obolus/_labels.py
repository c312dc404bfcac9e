"""Labels as Python has them, and as the native learner does: texts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from obolus import _native


def labels_of(estimator: Any, y: Any, rows: int, numeric: bool = False) -> NDArray[Any]:
    """One per row, from an array, a list or a column of any data frame library."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if not isinstance(y, np.ndarray) and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = column_or_1d(y, warn=True)
    if numeric:
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=estimator)
    elif y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity.")
    if len(y) != rows:
        check_consistent_length(np.empty((rows, 1)), y)
    return np.asarray(y)


def _kind(labels: NDArray[Any]) -> str:
    if labels.dtype.kind == "O":
        kinds = {_kind(np.asarray(label)) if np.ndim(label) == 0 else "other" for label in labels.tolist()}
        return kinds.pop() if len(kinds) == 1 else "mixed"
    return {"b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers", "U": "texts"}.get(
        labels.dtype.kind, "other"
    )


def merged(known: NDArray[Any] | None, found: NDArray[Any]) -> NDArray[Any]:
    """The different labels of both, sorted. Their kind must be one."""
    if known is None or len(known) == 0:
        return np.unique(found)
    if _kind(known) != _kind(found):
        raise ValueError(f"y: got {_kind(found)}, expected {_kind(known)} like the labels before")
    return np.unique(np.concatenate([known, found]))


def array_of(labels: Iterable[Hashable]) -> NDArray[Any]:
    """Of single labels, sorted where they can be."""
    given = list(labels)
    array = np.array(given) if len({type(label) for label in given}) == 1 else np.array([], object)
    if array.ndim != 1 or array.dtype.kind not in "biufU" or len(array) != len(given):
        array = np.empty(len(given), object)
        for i, label in enumerate(sorted(given, key=str)):  # a tuple is one label too
            array[i] = label
        return array
    return np.sort(array)


def text_of(label: Hashable) -> str:
    """What a label is called in a model: numbers are the same class if they are equal."""
    text = str(label)
    if not text:
        raise ValueError("y: got an empty text, expected a label")
    return str(_native.class_text(text))


def texts_of(classes: Sequence[Hashable]) -> dict[Hashable, str]:
    """By label; two of them must not be one class to the learner."""
    texts = {label: text_of(label) for label in classes}
    if len(set(texts.values())) < len(texts):
        first: dict[str, Hashable] = {}
        for label, text in texts.items():
            if first.setdefault(text, label) != label:
                raise ValueError(f"y: got the labels {first[text]!r} and {label!r}, which are one class to the learner")
    return texts


def from_texts(texts: Sequence[str]) -> NDArray[Any]:
    """Labels of a model's classes: whole numbers, numbers or truth values where all of them look like it, or texts."""
    if texts and set(texts) <= {"True", "False"}:
        return np.sort(np.array([text == "True" for text in texts]))
    for number in (int, float):
        try:
            values = [number(text) for text in texts]
        except ValueError:
            continue
        if all(math.isfinite(v) and text_of(v) == text for v, text in zip(values, texts)):
            return np.sort(np.array(values))
    return np.sort(np.array(texts, dtype=str))
