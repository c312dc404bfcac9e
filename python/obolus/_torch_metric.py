"""The step sizes P that a torch optimiser gives each parameter, as far as its state tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# Entries that hardly train would get steps without limit; this share of the mean size bounds them.
FLOOR = 0.1


def step_sizes(optimiser: torch.optim.Optimizer) -> Callable[[Tensor], Tensor]:
    """p -> the size of a step per unit of gradient, of p's shape or a single number.

    For the Adam family, RMSprop and Adagrad it is lr/√(mean square gradient), for others lr.

    >>> p = torch.nn.Parameter(torch.ones(2))
    >>> step_sizes(torch.optim.SGD([p], lr=0.5))(p)
    tensor(0.5000)
    """
    groups = {id(p): group for group in optimiser.param_groups for p in group["params"]}

    def sizes(p: Tensor) -> Tensor:
        group = groups[id(p)]
        rate = torch.as_tensor(group["lr"], dtype=p.dtype, device=p.device)
        square = _mean_square(optimiser.state.get(p, {}), group)
        if square is None:
            return rate
        root = square.sqrt()
        return rate / (root + FLOOR * root.mean() + float(group.get("eps", 1e-8)))

    return sizes


def _mean_square(state: dict[str, Any], group: dict[str, Any]) -> Tensor | None:
    if "exp_avg_sq" in state:
        _, decay = group["betas"]
        corrected: Tensor = state["exp_avg_sq"] / (1 - float(decay) ** float(state["step"]))
        return corrected
    for name in ("square_avg", "sum"):
        if name in state:
            square: Tensor = state[name]
            return square
    return None
