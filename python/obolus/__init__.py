"""Online bilevel optimisation with first-order gradients, and stream learners that tune themselves.

Three ways in:

- `Session`, `run`, `compare`: any of the optimisers on a built-in problem or on one of your own;
- `StreamClassifier`, `StreamRegressor`: linear models of a stream whose hyperparameters follow the stream;
- `obolus.torch.tune`, `obolus.jax.tune`: the hyperparameters of a network that you train already.

And `Client`, `AsyncClient` for models that `obolus serve` has: docs/serve.md.

docs/python.md has a start in five lines.
"""

from typing import TYPE_CHECKING

from obolus import metrics, problems
from obolus._native import ConfigError, DataError, DivergedError, ProblemError
from obolus._native import version as __version__
from obolus.checks import Finding, Findings, check
from obolus.comparisons import Comparison, compare, compare_config
from obolus.looking import plot, report
from obolus.metrics import Metrics
from obolus.optimisers import *  # noqa: F403
from obolus.optimisers import __all__ as _optimisers
from obolus.runs import Run, read_run, run, run_config
from obolus.schedules import Schedule
from obolus.session import Session, Step
from obolus.sets import *  # noqa: F403
from obolus.sets import __all__ as _sets

if TYPE_CHECKING:
    from obolus._client import AsyncClient, Client, Feedback, MaybeLearntError, Prediction, ServedModel, ServerError

_estimators = ["StreamClassifier", "StreamRegressor"]

__all__ = [
    "AsyncClient", "Client", "Comparison", "ConfigError", "DataError", "DivergedError", "Feedback", "Finding",
    "Findings", "MaybeLearntError", "Metrics", "Prediction", "ProblemError", "Run", "Schedule", "ServedModel",
    "ServerError", "Session", "Step", "check", "compare", "compare_config", "metrics", "plot", "problems", "read_run",
    "report", "run", "run_config", *_estimators, *_optimisers, *_sets,
]  # fmt: skip


def __getattr__(name: str) -> object:
    """The estimators need scikit-learn, which nothing else here does, and the clients what speaks HTTP."""
    if name in _estimators:
        from obolus import estimators

        return getattr(estimators, name)
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("obolus._client"), name)
    raise AttributeError(f"module 'obolus' has no attribute {name!r}")
