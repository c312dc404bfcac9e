"""Rows as `obolus serve` takes them: one JSON object per line."""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from obolus._rows import as_frame


def dicts_of(rows: Any) -> list[Mapping[Any, Any]]:
    """One dict, several, or a data frame."""
    if isinstance(rows, Mapping):
        return [rows]
    frame = as_frame(rows)
    if frame is not None:
        names = [str(name) for name in frame.columns]
        columns = [frame.get_column(name).to_list() for name in frame.columns]
        return [dict(zip(names, values)) for values in zip(*columns)]
    if hasattr(rows, "columns") and hasattr(rows, "to_numpy"):
        raise ImportError("data frames need the package narwhals: pip install 'obolus-opt[frames]'")
    if isinstance(rows, (str, bytes, np.ndarray)) or not isinstance(rows, Iterable):
        raise TypeError(f"rows: got {type(rows).__name__}, expected a dict, several of them or a data frame")
    found = list(rows)
    for i, row in enumerate(found):
        if not isinstance(row, Mapping):
            raise TypeError(f"rows: got {type(row).__name__} as row {i + 1}, expected a dict")
    return found


def with_labels(rows: Sequence[Mapping[Any, Any]], labels: Any, key: str) -> list[Mapping[Any, Any]]:
    if len(rows) != len(labels):
        raise ValueError(f"labels: got {len(labels)}, expected one for each of {len(rows)} rows")
    for i, row in enumerate(rows):
        if key in row:
            raise ValueError(f"labels: got a second label of row {i + 1}, which has one under {key!r}")
    return [{**row, key: label} for row, label in zip(rows, labels)]


def plain(value: Any) -> Any:
    """The same in Python's own types: missing values are None, and what JSON does not have is its text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if type(value).__name__ == "NAType" or value != value:
        return None
    if isinstance(value, (np.bool_, np.number)) and not isinstance(value, np.timedelta64):
        value = value.item()
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, numbers.Real) or type(value).__name__ == "Decimal":
        value = float(value)
        if value in (float("inf"), -float("inf")):
            raise ValueError(f"got {value}, expected finite numbers")
        return value
    return str(value)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain).encode


def line_of(row: Mapping[Any, Any], number: int) -> bytes:
    try:
        text = _encode(row)
    except (TypeError, ValueError):  # NaN, or keys that are no texts: rare, so that most rows are not looked through
        try:
            text = _encode(plain(row))
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None
    return text.encode() + b"\n"


def chunks(rows: Sequence[Mapping[Any, Any]], most_rows: int, most_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Numbers of rows, and their lines. A row beyond the bytes is on its own: the server says what it thinks of it."""
    lines: list[bytes] = []
    size = 0
    for number, row in enumerate(rows, 1):
        line = line_of(row, number)
        if lines and (len(lines) == most_rows or size + len(line) > most_bytes):
            yield len(lines), b"".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield len(lines), b"".join(lines)
