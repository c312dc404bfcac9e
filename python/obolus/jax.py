"""JAX: `problem` makes an Obolus problem of two plain functions, `tune` tunes a model while it trains.

    tuner = obolus.jax.tune(params, loss, hyperparameters={"weight_decay": 1e-3}, learning_rate=0.1)
    for batch in stream:
        report = tuner.step(batch)
"""

from __future__ import annotations

from obolus._hyperparameters import bounded, free, positive, weights
from obolus._jax_problem import Problem, problem
from obolus._jax_tune import Report, Tuner, tune

__all__ = ["Problem", "Report", "Tuner", "bounded", "free", "positive", "problem", "tune", "weights"]
