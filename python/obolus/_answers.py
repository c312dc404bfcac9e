"""What `obolus serve` answers, as `Client` returns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

Model = TypeVar("Model", bound="ServedModel")


@dataclass(frozen=True)
class Prediction:
    """What a model says of a row.

    >>> import obolus
    >>> obolus.Prediction("yes", {"no": 0.2, "yes": 0.8}).value
    'yes'

    Attributes:
        value: a class, or a number; None before anything was learnt
        probabilities: by class; None where numbers are predicted
        id: the row's, as text, if it has one
    """

    value: str | float | None
    probabilities: dict[str, float] | None = None
    id: str | None = None


@dataclass(frozen=True)
class Feedback:
    """What became of labels that were told later.

    >>> import obolus
    >>> obolus.Feedback(learnt=2, unknown=["7"]).unknown
    ['7']

    Attributes:
        learnt: how many rows
        unknown: the ids that the server does not keep, or no longer; their labels were not learnt
    """

    learnt: int
    unknown: list[str]


@dataclass(frozen=True)
class ServedModel:
    """A model as its server describes it. `models()` fills the first four attributes, `model()` all of them.

    >>> import obolus
    >>> obolus.ServedModel("run", "classes", rows=100, learns=True).rows
    100

    Attributes:
        name, label: its own, and the column of its labels
        task: "classes" or "numbers"
        rows, rounds: learnt so far
        learns: False for a model file, which only predicts
        features, classes, columns: that occurred so far; columns are "numeric" and "categorical" ones
        hyperparameters: dicts with name, value, tuned
        metrics: "all" and "window", by name
        alarms, kept: of the drift detectors; rows that wait for feedback
        journal: its bytes and rows since the last checkpoint
    """

    name: str
    task: str
    rows: int
    learns: bool
    rounds: int = 0
    features: int = 0
    classes: list[str] = field(default_factory=list)
    label: str = ""
    columns: dict[str, list[str]] = field(default_factory=dict)
    hyperparameters: list[dict[str, Any]] = field(default_factory=list)
    metrics: dict[str, dict[str, float | None]] = field(default_factory=dict)
    alarms: int = 0
    kept: int = 0
    journal: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls: type[Model], answer: Mapping[str, Any]) -> Model:
        """Later servers may say more."""
        return cls(**{one.name: answer[one.name] for one in fields(cls) if one.name in answer})


def prediction_of(answer: Mapping[str, Any]) -> Prediction:
    return Prediction(answer["prediction"], answer.get("probabilities"), answer.get("id"))
