"""PyTorch: `problem` makes an Obolus problem of two plain functions, `tune` tunes a network while it trains.

    tuner = obolus.torch.tune(model, loss, hyperparameters={"weight_decay": 1e-3}, optimiser=optimiser)
    for batch in stream:
        report = tuner.step(batch)
"""

from __future__ import annotations

from obolus._hyperparameters import bounded, free, positive, weights
from obolus._torch_problem import Problem, problem
from obolus._torch_tune import Report, Tuner, tune

__all__ = ["Problem", "Report", "Tuner", "bounded", "free", "positive", "problem", "tune", "weights"]
