"""Rows as estimators get them, as the native learner takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Table(NamedTuple):
    """Numeric columns side by side, and all columns in their order: (name,), or (name, codes, texts) of categories."""

    numbers: NDArray[np.float64]
    columns: list[tuple[Any, ...]]

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, rows: slice) -> Table:
        cut = [c if len(c) == 1 else (c[0], c[1][rows], c[2]) for c in self.columns]
        return Table(self.numbers[rows], cut)


class Sparse(NamedTuple):
    """Rows in CSR form."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, rows: slice) -> Sparse:
        first, last, _ = rows.indices(len(self))
        a, b = self.starts[first], self.starts[last]
        return Sparse(self.starts[first : last + 1] - a, self.indices[a:b], self.values[a:b])


Rows = Table | Sparse
FLOAT_MAX = float(np.finfo(np.float32).max)


def require_floats(values: NDArray[np.float64], what: str) -> None:
    """The learner's numbers are of 32 bits. NaN may pass."""
    too_large = np.abs(values) > FLOAT_MAX
    if too_large.any():
        raise ValueError(f"{what}: got {values[too_large][0]}, expected finite numbers of at most {FLOAT_MAX:.8g}")


def table_of_array(array: NDArray[Any], names: Sequence[str] | None) -> Table:
    """Without names, columns are called 1, 2, … as those of a CSV without a header are."""
    names = [str(i + 1) for i in range(array.shape[1])] if names is None else names
    return Table(np.ascontiguousarray(array, np.float64), [(str(name),) for name in names])


def sparse_of(matrix: Any) -> Sparse:
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:  # an index twice in a row adds up
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return Sparse(
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int64),
        np.ascontiguousarray(matrix.data, np.float64),
    )


def sparse_of_table(rows: Table) -> Sparse:
    """Of a missing number there is no index."""
    from scipy.sparse import csr_matrix

    if rows.numbers.shape[1] < len(rows.columns):
        raise ValueError("X: got columns of categories, expected numbers only, since the first rows were sparse")
    return sparse_of(csr_matrix(np.nan_to_num(rows.numbers, nan=0.0, posinf=np.inf, neginf=-np.inf)))


def table_of_sparse(rows: Sparse, columns: int, names: Sequence[str] | None) -> Table:
    from scipy.sparse import csr_matrix

    dense = csr_matrix((rows.values, rows.indices, rows.starts), shape=(len(rows), columns)).toarray()
    return table_of_array(dense, names)


def as_frame(X: Any) -> Any:
    """A data frame of any library through narwhals, or None."""
    if isinstance(X, np.ndarray) or not (hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")):
        return None
    try:
        import narwhals as nw
    except ImportError as error:
        if hasattr(X, "to_numpy"):
            return None  # as an array, if all of it is numbers
        raise ImportError("data frames need the package narwhals: pip install 'obolus-opt[frames]'") from error
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    if not hasattr(X, "__arrow_c_stream__"):
        return None
    for backend in ("polars", "pyarrow", "pandas"):
        try:
            return nw.DataFrame.from_arrow(X, backend=backend)
        except ImportError:
            continue
    raise ImportError(f"a {type(X).__name__} needs one of polars, pyarrow and pandas to be read through")


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value


def _numbers_of(series: Any) -> NDArray[np.float64] | None:
    """None: the column has texts, or other things."""
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        if not series.null_count() and not series.dtype.is_decimal():
            return np.asarray(series.to_numpy(), np.float64)
        return np.array([np.nan if _is_missing(v) else float(v) for v in series.to_list()], np.float64)
    if str(series.dtype) == "Object":  # pandas': of any kind
        values = [np.nan if v is None or type(v).__name__ == "NAType" else v for v in series.to_list()]
        if all(isinstance(v, (bool, int, float, np.number, np.bool_)) for v in values):
            return np.array(values, np.float64)
    return None


def table_of_frame(frame: Any) -> Table:
    """Numbers and truth values are numeric columns, everything else is categories by its text."""
    numbers: list[NDArray[np.float64]] = []
    columns: list[tuple[Any, ...]] = []
    for name in frame.columns:
        series = frame.get_column(name)
        numeric = _numbers_of(series)
        if numeric is not None:
            numbers.append(numeric)
            columns.append((str(name),))
            continue
        texts: dict[str, int] = {}
        values = (None if _is_missing(v) else str(v) for v in series.to_list())
        codes = [-1 if v is None else texts.setdefault(v, len(texts)) for v in values]
        columns.append((str(name), np.array(codes, np.int64), list(texts)))
    side_by_side = np.column_stack(numbers) if numbers else np.empty((len(frame), 0))
    return Table(np.ascontiguousarray(side_by_side, np.float64), columns)
