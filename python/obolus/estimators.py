"""Linear models of a stream whose hyperparameters follow the stream: `obolus fit` as scikit-learn's estimators, and as
river's."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from sklearn.base import ClassifierMixin, RegressorMixin
except ImportError as error:
    raise ImportError("the estimators need scikit-learn: pip install scikit-learn") from error
from sklearn.utils.multiclass import check_classification_targets

from obolus._labels import array_of, from_texts, labels_of, merged, text_of, texts_of
from obolus._one_row import OneRowAtATime
from obolus._rows import require_floats

Classifier = TypeVar("Classifier", bound="StreamClassifier")
Regressor = TypeVar("Regressor", bound="StreamRegressor")


class StreamClassifier(ClassifierMixin, OneRowAtATime):  # type: ignore[misc]
    """A linear classifier of a stream whose learning rate, L2 and weights of earlier rows follow the stream.

    Rows are learnt in their order, each after it was predicted; there is nothing to set. Arrays, SciPy's sparse
    matrices, data frames with numbers and categories, and dicts. Classes may appear at any time.

    >>> import numpy as np, obolus
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)); y = np.where(X[:, 0] > X[:, 1], "up", "down")
    >>> m = obolus.StreamClassifier().fit(X[:400], y[:400])
    >>> m.score(X[400:], y[400:]) > 0.9
    True
    >>> sorted(m.hyperparameters_)
    ['l2', 'rate', 'recent', 'replay', 'temperature']

    Options (None: the default of `obolus fit`, whose `--help` describes them):
        tune: what to tune, separated by commas, or "none"
        learning_rate, l2: where they start, or their fixed values
        judge: "balanced": all classes count equally in judging the hyperparameters
        hold_out: one row in so many judges and is not learnt
        delay: rows between a row and its label
        hash_bits: hash features into 2^N rows of weights
        scale: "none": numeric columns are not standardised
        passes: how often `fit` goes over the rows
        random_state: determines which rows are replayed
        advanced: {key: value} of `obolus fit --advanced`
    """

    _task = "classes"
    _multiclass = True  # what river asks its models

    def __init__(
        self,
        *,
        tune: str | None = None,
        learning_rate: float | None = None,
        l2: float | None = None,
        judge: str | None = None,
        hold_out: int | None = None,
        delay: int | None = None,
        hash_bits: int | None = None,
        scale: str | None = None,
        passes: int = 1,
        random_state: Any = None,
        advanced: Mapping[str, Any] | None = None,
    ) -> None:
        self.tune = tune
        self.learning_rate = learning_rate
        self.l2 = l2
        self.judge = judge
        self.hold_out = hold_out
        self.delay = delay
        self.hash_bits = hash_bits
        self.scale = scale
        self.passes = passes
        self.random_state = random_state
        self.advanced = advanced

    def partial_fit(self: Classifier, X: Any, y: Any, classes: ArrayLike | None = None,
                    sample_weight: ArrayLike | None = None) -> Classifier:  # fmt: skip
        """Goes on with further rows. New classes may appear at any time; `classes` announces them."""
        self._go_on(X, y, sample_weight, classes)
        return self

    def predict_then_learn(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> NDArray[np.float64]:
        """Goes on with further rows and returns the probabilities of each from before it was learnt, as
        `obolus fit --predictions` writes them: one column per class of `classes_`, 0 for classes not known yet.

        That is not `predict_proba` of the row in all digits: the row itself counts for the scale of its columns."""
        found = self._go_on(X, y, sample_weight, judge=True)
        columns = self._columns()
        out = np.zeros((sum(map(len, found)), len(self.classes_)))
        for part, first in zip(found, np.cumsum([0, *map(len, found)])):
            out[first : first + len(part), columns[: part.shape[1]]] = part
        return out

    def _labels(self, y: Any, rows: int, first: bool, classes: ArrayLike | None = None) -> Any:
        y = labels_of(self, y, rows)
        if y.dtype.kind not in "biuU":  # of these it says nothing, and takes longer than to learn a row
            check_classification_targets(y)
        found, codes = np.unique(y, return_inverse=True)
        known = None if first else self.classes_
        if classes is not None:
            known = merged(known, np.asarray(classes))
        self._know_classes(merged(known, found))
        return codes.astype(np.int64), [self._texts[label] for label in found.tolist()], None

    def _know_classes(self, classes: NDArray[Any]) -> None:
        self._texts: dict[Hashable, str] = texts_of(classes.tolist())
        self.classes_ = classes

    def _learnt(self) -> None:
        labels = {text: label for label, text in self._texts.items()}
        self._order = [labels[text] for text in self.stream_.classes]  # the learner's

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities, one column per class of `classes_`."""
        found = self._predictions(X)
        out = np.zeros((len(found), len(self.classes_)))
        out[:, self._columns()[: found.shape[1]]] = found
        out[out.sum(axis=1) == 0] = 1 / len(self.classes_)  # announced, but none of them learnt
        return out

    def _columns(self) -> list[int]:
        """Of the learner's classes, the places in `classes_`."""
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        return [place[label] for label in self._order]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        found = self.predict_proba(X)
        best: NDArray[Any] = self.classes_[found.argmax(axis=1)]
        return best

    def _know(self) -> None:
        super()._know()
        self._know_classes(from_texts(self.stream_.classes))
        self._learnt()

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable, w: float = 1.0) -> None:
        """Learns one row, a dict of features."""
        self.predict_then_learn_one(x, y, w)

    def predict_then_learn_one(self, x: Mapping[Hashable, Any], y: Hashable, w: float = 1.0) -> dict[Hashable, float]:
        """Learns one row and returns the probabilities of the classes known before."""
        y = y.item() if isinstance(y, np.generic) else y
        texts = self._texts if hasattr(self, "stream_") else {}
        is_new = y not in texts
        text = text_of(y) if is_new else texts[y]
        if is_new and text in texts.values():
            raise ValueError(f"y: got the label {y!r}, which is one of the classes before to the learner")
        if not texts:
            self._order = []
        found = dict(zip(self._order, self._learn_row(x, text, w)))
        if is_new:
            self._know_classes(array_of([*texts, y]))
        if len(self._order) < len(self._texts) and y not in self._order:
            self._order.append(y)
        return found

    def predict_proba_one(self, x: Mapping[Hashable, Any]) -> dict[Hashable, float]:
        """Probabilities by class; empty before the first label."""
        if not hasattr(self, "stream_"):
            return {}
        found = dict(zip(self._order, self.stream_.one(dict(x), "", 1.0, False)))
        return found if len(found) == len(self._texts) else {**found, **{k: 0.0 for k in self._texts if k not in found}}

    def predict_one(self, x: Mapping[Hashable, Any]) -> Hashable | None:
        found = self.predict_proba_one(x)
        return max(found, key=found.__getitem__) if found else None

    def predict_proba_many(self, X: Any) -> Any:
        """A pandas DataFrame for a pandas DataFrame, or else an array."""
        found = self.predict_proba(X)
        if type(X).__module__.partition(".")[0] != "pandas":
            return found
        import pandas

        return pandas.DataFrame(found, index=X.index, columns=self.classes_)


class StreamRegressor(RegressorMixin, OneRowAtATime):  # type: ignore[misc]
    """A linear regression of a stream whose learning rate, L2 and weights of earlier rows follow the stream.

    Predictions stay in the range of the labels seen and half of it on either side (`range="any"`: they need not), and
    are a weighted mean of the model, the last label and the mean label (`blend="none"`: the model alone).

    >>> import numpy as np, obolus
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)); y = X @ [1.0, -2.0, 0.5]
    >>> obolus.StreamRegressor().fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9
    True

    The other options are those of StreamClassifier.
    """

    _task = "numbers"

    def __init__(
        self,
        *,
        tune: str | None = None,
        learning_rate: float | None = None,
        l2: float | None = None,
        range: str | None = None,
        blend: str | None = None,
        hold_out: int | None = None,
        delay: int | None = None,
        hash_bits: int | None = None,
        scale: str | None = None,
        passes: int = 1,
        random_state: Any = None,
        advanced: Mapping[str, Any] | None = None,
    ) -> None:
        self.tune = tune
        self.learning_rate = learning_rate
        self.l2 = l2
        self.range = range
        self.blend = blend
        self.hold_out = hold_out
        self.delay = delay
        self.hash_bits = hash_bits
        self.scale = scale
        self.passes = passes
        self.random_state = random_state
        self.advanced = advanced

    def _labels(self, y: Any, rows: int, first: bool, classes: ArrayLike | None = None) -> Any:
        numbers = np.ascontiguousarray(labels_of(self, y, rows, numeric=True), np.float64)
        require_floats(numbers, "y")
        return None, [], numbers

    def partial_fit(self: Regressor, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Regressor:
        """Goes on with further rows."""
        self._go_on(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        return self._predictions(X)[:, 0]

    def predict_then_learn(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> NDArray[np.float64]:
        """Goes on with further rows and returns the prediction of each from before it was learnt, as
        `obolus fit --predictions` writes them.

        That is not `predict` of the row in all digits: the row itself counts for the scale of its columns."""
        return np.concatenate(self._go_on(X, y, sample_weight, judge=True))[:, 0]

    def learn_one(self, x: Mapping[Hashable, Any], y: float, w: float = 1.0) -> None:
        """Learns one row, a dict of features."""
        self.predict_then_learn_one(x, y, w)

    def predict_then_learn_one(self, x: Mapping[Hashable, Any], y: float, w: float = 1.0) -> float:
        """Learns one row and returns the prediction from before."""
        return float(self._learn_row(x, repr(float(y)), w))

    def predict_one(self, x: Mapping[Hashable, Any]) -> float:
        """The number; 0 before the first label."""
        return float(self.stream_.one(dict(x), "", 1.0, False)) if hasattr(self, "stream_") else 0.0


def _register(bases: Sequence[tuple[str, type]]) -> None:
    """River's metrics and pipelines ask what a model is, by river's own classes."""
    try:
        import river.base
    except ImportError:
        return
    for name, estimator in bases:
        getattr(river.base, name).register(estimator)


_register([("MiniBatchClassifier", StreamClassifier), ("MiniBatchRegressor", StreamRegressor)])
