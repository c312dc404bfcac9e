"""What StreamClassifier and StreamRegressor share: rows in, the native learner, files and pickles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from obolus import _native
from obolus._described import section
from obolus._rows import Rows, Sparse, Table, as_frame, sparse_of, sparse_of_table, table_of_array, table_of_frame
from obolus._rows import require_floats, table_of_sparse

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        pass

    def with_callbacks(method: Any) -> Any:
        return method


Self = TypeVar("Self", bound="StreamEstimator")
PARTS = 64  # points of the path of hyperparameters in one pass
MAX_PATH = 512
NOT_FIT_OPTIONS = ("passes", "random_state", "advanced")


class StreamEstimator(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    stream_: Any  # a _native.Stream; which of its calls rows go to, and with what, depends on their kind
    _task: str
    # How the model knows its features: by index, as sparse rows have them, or else by column; by the columns' names in
    # whatever order, or as scikit-learn wants them.
    _sparse = False
    _by_name = False

    tune: str | None
    passes: int
    random_state: Any
    advanced: Mapping[str, Any] | None

    # --- learning

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self: Self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learns the rows in their order, from the beginning: each is predicted, then learnt. `passes` times over.

        The model is then that of `obolus fit` on these rows. partial_fit and learn_one go on as if there had been no
        end."""
        self._by_name = False
        rows = self._read(X, reset=True)
        labels, weights = self._labels(y, len(rows), first=True), self._weights(sample_weight, len(rows))
        self._begin(labels[1])
        self.stream_.set_label_name(self._label_name(y, rows))
        parts = list(self._parts(len(rows)))
        known = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        context = self._callback_context(len(parts) * self.passes, known)
        for number in range(len(parts) * self.passes):
            task = context.subcontext(task_name="rows") if context else None
            if task:
                task.call_on_fit_task_begin(estimator=self, **known)
            self._learn(rows, labels, weights, parts[number % len(parts)])
            if task and task.call_on_fit_task_end(estimator=self, reconstruction_attributes=dict, **known):
                break
        self.stream_.end()
        if context:
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes=dict, **known)
        return self

    def _go_on(self, X: Any, y: Any, sample_weight: ArrayLike | None, classes: ArrayLike | None = None,
               in_turn: bool = False, judge: bool = False) -> list[Any]:  # fmt: skip
        first = self._check_trainable()
        rows = self._read(X, reset=first)
        weights = self._weights(sample_weight, len(rows))
        labels = self._labels(y, len(rows), first=first, classes=classes)
        if first:
            self._begin(labels[1])
            if not in_turn:  # as row by row, whose labels have no name
                self.stream_.set_label_name(self._label_name(y, rows))
        return [self._learn(rows, labels, weights, part, in_turn, judge) for part in self._parts(len(rows))]

    def _check_trainable(self) -> bool:
        """True: nothing has been learnt yet."""
        if not hasattr(self, "stream_"):
            return True
        if self.stream_.is_model:
            raise ValueError("got a model from a file, which has what predictions need; expected a pickled estimator, "
                             "which has what training goes on from")  # fmt: skip
        return False

    def _begin(self, classes: list[str]) -> None:
        seed = 1
        if isinstance(self.random_state, (int, np.integer)):
            seed = int(self.random_state)
        elif self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        advanced = dict(self.advanced or {})
        for key in ("classes", "task"):
            if key in advanced:
                raise ValueError(f"advanced: got {key!r}, which the estimator determines")
        given = {k: v for k, v in self.get_params(deep=False).items() if k not in NOT_FIT_OPTIONS}
        options = {"task": self._task, "seed": seed, **given, **advanced}
        if self.tune is not None and "class-" in self.tune:  # class-shift and class-scale: the classes are fixed
            options["classes"] = ",".join(classes)
        self.stream_ = _native.Stream(section("fit", options))
        self.path_: list[dict[str, float]] = []

    def _label_name(self, y: Any, rows: Rows) -> str:
        """Which column of a file has the labels, so that `obolus predict` can leave it out: a series has a name, and a
        table without names has its label behind its columns, as `obolus fit` reads it."""
        name = getattr(y, "name", None)
        if isinstance(name, str):
            return name
        named = isinstance(rows, Sparse) or hasattr(self, "feature_names_in_")
        return "" if named else str(self.n_features_in_ + 1)

    @staticmethod
    def _parts(rows: int) -> Iterator[slice]:
        size = max(256, -(-rows // PARTS))
        for first in range(0, rows, size):
            yield slice(first, min(rows, first + size))

    def _learn(self, rows: Rows, labels: Any, weights: Any, part: slice, in_turn: bool = False,
               judge: bool = False) -> NDArray[np.float64] | None:  # fmt: skip
        codes, texts, targets = labels
        cut = [None if a is None else np.ascontiguousarray(a[part]) for a in (codes, targets, weights)]
        given = (*rows.part(part), cut[0], texts, cut[1], cut[2])
        if isinstance(rows, Sparse):
            found = self.stream_.sparse(*given, learn=True, judge=judge)
        else:
            found = self.stream_.table(*given, learn=True, judge=judge, in_turn=in_turn)
        self._learnt()
        self.path_.append({"rows": self.stream_.rows, **self.stream_.hyperparameters})
        if len(self.path_) > MAX_PATH:  # an endless stream's does not grow without end
            del self.path_[: MAX_PATH // 2 : 2]
        return None if found is None else np.asarray(found)

    def _learnt(self) -> None:
        """After rows were learnt."""

    def _callback_context(self, steps: int, known: dict[str, Any]) -> Any:
        if not hasattr(self, "_skl_callbacks") and not hasattr(self, "_parent_callback_ctx"):
            return None
        context = self._init_callback_context(max_subtasks=steps)
        context.call_on_fit_task_begin(estimator=self, **known)
        return context

    # --- rows

    def _read(self, X: Any, reset: bool) -> Rows:
        frame = as_frame(X)
        if frame is not None:
            rows: Rows = self._of_frame(frame, reset)
        elif self._by_name and not reset:
            rows = self._by_position(X)
        else:
            is_sparse = hasattr(X, "tocsr")
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32],
                              ensure_all_finite=True if is_sparse else "allow-nan")  # fmt: skip
            names = getattr(self, "feature_names_in_", None)
            rows = sparse_of(X) if is_sparse else table_of_array(X, names)
        if reset:
            self._sparse = isinstance(rows, Sparse)
        require_floats(rows.values if isinstance(rows, Sparse) else rows.numbers, "X")
        return self._as_learnt(rows)

    def _of_frame(self, frame: Any, reset: bool) -> Table:
        if not self._by_name:
            validate_data(self, frame.to_native(), reset=reset, skip_check_array=True)
        for size, what in zip((len(frame), len(frame.columns)), ("sample", "feature")):
            if size == 0:
                raise ValueError(f"Found array with 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is required "
                                 f"by {type(self).__name__}.")  # fmt: skip
        return table_of_frame(frame)

    def _by_position(self, X: Any) -> Rows:
        """Numbers without names, of a model that knows its columns by name."""
        from sklearn.utils import check_array

        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan",
                        estimator=self)  # fmt: skip
        if hasattr(X, "tocsr"):
            return sparse_of(X)
        names = self.stream_.groups
        if not self._sparse and (len(names) != X.shape[1] or self.stream_.category_columns):
            raise ValueError(f"X: got {X.shape[1]} columns without names, expected a data frame with the columns "
                             f"{', '.join(names[:8])}{', …' if len(names) > 8 else ''}")  # fmt: skip
        return table_of_array(X, names)

    def _as_learnt(self, rows: Rows) -> Rows:
        """A model knows features by column or by index, as its first rows had them: others are turned into that."""
        if self._sparse and isinstance(rows, Table):
            return sparse_of_table(rows)
        if not self._sparse and isinstance(rows, Sparse):
            if self._by_name:
                raise ValueError("X: got sparse rows, expected a data frame: the model knows its columns by name")
            return table_of_sparse(rows, self.n_features_in_, getattr(self, "feature_names_in_", None))
        return rows

    def _weights(self, sample_weight: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, np.empty((rows, 1)), dtype=np.float64, ensure_non_negative=True)
        require_floats(weights, "sample_weight")
        return np.ascontiguousarray(weights)

    def _labels(self, y: Any, rows: int, first: bool, classes: ArrayLike | None = None) -> Any:
        """Codes and their texts, or numbers."""
        raise NotImplementedError

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        call = self.stream_.sparse if isinstance(rows, Sparse) else self.stream_.table
        found: NDArray[np.float64] = call(*rows, None, [], None, None, learn=False, judge=True)
        return found

    # --- what it has learnt

    @property
    def hyperparameters_(self) -> dict[str, float]:
        """As they stand; `path_` has them over the rows."""
        check_is_fitted(self)
        return dict(self.stream_.hyperparameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as `obolus fit --model` does: `load` reads it, and `obolus predict`.

        Rows that wait for a full round are learnt for it, as at the end of `obolus fit`; the estimator itself stays as
        it is."""
        check_is_fitted(self)
        self.stream_.write(os.fspath(path))

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """A model that `save` or `obolus fit` wrote, for predictions. To train it further, pickle it instead.

        Classes are whole numbers, numbers or truth values where all of them look like it, or else texts. Columns of
        data frames are found by name; the indices of sparse rows are those of the svmlight file."""
        stream = _native.Stream.from_model(Path(path).read_bytes(), os.fspath(path))
        options = stream.options
        if options.pop("task") != cls._task:
            raise ValueError(f"{path}: got a model of the other task, expected one of {cls._task}")
        options.pop("classes", None)
        params = {"random_state": options.pop("seed", None)}
        params |= {key: options.pop(key) for key in list(options) if key in cls._get_param_names()}
        self = cls(**params, advanced=options or None)
        self.stream_ = stream
        self._know()
        return self

    def _know(self) -> None:
        """What predictions need, of a model from a file."""
        self.path_ = []
        stream = self.stream_
        self._sparse = not stream.numeric_columns and not stream.category_columns
        self._by_name = not self._sparse
        if self._by_name:
            self.n_features_in_ = len(stream.groups)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "stream_" in state:  # the model as in a file, and what training goes on from
            stream = state["stream_"]
            state["stream_"] = (stream.model(), None if stream.is_model else stream.state(), stream.is_ended)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "stream_" in state:
            model, training, ended = state["stream_"]
            stream = state["stream_"] = _native.Stream.from_model(model, "pickle")
            if training is not None:
                stream.restore(training, model if ended else None)
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
