"""The methods of bilevel_peers.py: each has reveal(t), step(), x, and `spent`, the gradients it has taken.

A gradient of f or of g at one point, by x, y or both at once, is one; a product with second derivatives is two, g_yy v
and g_xy v of one backward pass together. `sizes` are (inner, outer) step sizes; all keep x within the stream's bounds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boat_torch
import jax
import jax.numpy as jnp
import numpy as np
import torch
import torchopt
from bilevel_problems import JAX, ROWS, TORCH, WINDOW, InNumPy, Stream, start_of
from torch import Tensor, nn

import obolus
import obolus.jax
import obolus.torch

Sizes = tuple[float, float]


class Backwards(torch.autograd.Function):
    """The identity; counts the backward passes through it, those of backward passes as well."""

    count = 0

    @staticmethod
    def forward(a: Tensor) -> Tensor:
        return a.view_as(a)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        Backwards.count += 1
        return Backwards.apply(slope)


# ---- Ours ------------------------------------------------------------------------------------------------------------


class Ours:
    """An Obolus session on the stream's losses; their gradients by `way`."""

    def __init__(self, stream: Stream, sizes: Sizes, name: str, way: str = "torch", **options: Any) -> None:
        bounds = obolus.Box(lower=stream.low, upper=stream.high)
        optimiser = getattr(obolus, name)(alpha=sizes[0], gamma=sizes[1], **options)
        self.problem = {"torch": in_torch, "JAX": in_jax, "NumPy": InNumPy}[way](stream)
        self.session = obolus.Session(optimiser, self.problem, stream.x0, stream.y0, domain=bounds)
        self.step = self.session.step

    def reveal(self, t: int) -> None:
        self.problem.reveal(t)

    @property
    def x(self) -> np.ndarray:
        return self.session.x

    @property
    def spent(self) -> int:
        counts = self.session.counts
        return sum(counts[n] for n in ("f_x", "f_y", "g_x", "g_y")) + 2 * (counts["hvp_yy"] + counts["hvp_xy"])


def starts(t: int) -> tuple[int, int]:
    return start_of(t), start_of(t)


def in_torch(stream: Stream) -> obolus.torch.Problem:
    return obolus.torch.problem(
        *stream.losses(TORCH), torch.from_numpy(stream.x0), torch.from_numpy(stream.y0), starts
    )


def in_jax(stream: Stream) -> obolus.jax.Problem:
    return obolus.jax.problem(*stream.losses(JAX), stream.x0, stream.y0, starts)


# ---- Torch peers -----------------------------------------------------------------------------------------------------


class Values(nn.Module):
    """Parameters, and nothing to compute: losses take them as they are."""

    def __init__(self, start: np.ndarray) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.from_numpy(start.copy()))

    def forward(self) -> Tensor:
        return self.values


class TorchPeer:
    """What the peers in torch share. The gradients of a step are counted by `counted`, in a step of another object."""

    def __init__(self, stream: Stream, sizes: Sizes, cost: int, seen: Callable[[Any], Any] = lambda a: a) -> None:
        self.stream, self.sizes, self.cost, self.spent = stream, sizes, cost, 0
        self.f, self.g = stream.losses(TORCH, seen)
        self.outer, self.inner = Values(stream.x0), Values(stream.y0)
        self.outer_optimiser = torch.optim.SGD(self.outer.parameters(), lr=sizes[1])

    def reveal(self, t: int) -> None:
        self.start = start_of(t)

    @property
    def x(self) -> np.ndarray:
        return self.outer.values.detach().numpy().copy()

    def step(self) -> None:
        self.update()
        with torch.no_grad():
            self.outer.values.clamp_(self.stream.low, self.stream.high)
        self.spent += self.cost

    def update(self) -> None:
        raise NotImplementedError


def counted(kind: Callable[..., TorchPeer], stream: Stream, sizes: Sizes, *rest: Any) -> int:
    """Backward passes of a step after the first."""
    peer = kind(stream, sizes, 0, Backwards.apply, *rest)
    peer.reveal(1)
    peer.step()
    Backwards.count = 0
    peer.step()
    return Backwards.count


def boat_lower(feed: dict[str, Any], outer: nn.Module, inner: nn.Module, **given: Any) -> Tensor:
    return feed["peer"].g(outer(), inner(**given), feed["start"])


def boat_upper(feed: dict[str, Any], outer: nn.Module, inner: nn.Module, **given: Any) -> Tensor:
    return feed["peer"].f(outer(), inner(**given), feed["start"])


class Boat(TorchPeer):
    """boat-torch; its log of losses, which is written anew in every step, is off."""

    def __init__(
        self, stream: Stream, sizes: Sizes, cost: int, seen: Callable[[Any], Any], choice: dict[str, Any]
    ) -> None:
        super().__init__(stream, sizes, cost, seen)
        lower = torch.optim.SGD(self.inner.parameters(), lr=sizes[0])
        config = {
            "lower_level_model": self.inner,
            "upper_level_model": self.outer,
            "lower_level_var": list(self.inner.parameters()),
            "upper_level_var": list(self.outer.parameters()),
            "lower_level_opt": lower,
            "upper_level_opt": self.outer_optimiser,
            "device": "cpu",
            "return_grad": False,
            "accumulate_grad": False,
            "copy_last_param": True,
            "fo_ol_batch_input": False,
            "loss_log_path": os.devnull,
            "GDA": {"alpha_init": 0.0, "alpha_decay": 0.9},
            "RGT": {"truncate_iter": 0},
            "CG": {"k": 3, "tolerance": 1e-10},
            "MESO": {"eta": sizes[0], "gamma_1": 0.01, "c0": 0.2, "y_hat_lr": sizes[0]},
            "PGDO": {
                "y_hat_lr": sizes[0],
                "gamma_init": 10.0,
                "gamma_max": 10.0,
                "gamma_argmax_step": 1,
                "update_y_ahead": False,
                "penalty": "difference",
            },
            **choice,
        }
        names = {"lower_level_loss": "boat_lower", "upper_level_loss": "boat_upper"}
        losses = {level: {"function": f"{__name__}.{name}", "params": {}} for level, name in names.items()}
        self.solver = boat_torch.Problem(config, losses)
        self.solver.build_ll_solver().build_ul_solver()
        self.solver.save_losses = lambda **_: None
        self.iteration = 0

    def update(self) -> None:
        feed = {"peer": self, "start": self.start}
        self.solver.run_iter(feed, feed, self.iteration)
        self.iteration += 1


FIRST_ORDER = {"gm_op": None, "na_op": None}
BOAT = {
    "PGDO, 3 inner steps": {"fo_op": "PGDO", "lower_iters": 3, **FIRST_ORDER},
    "MESO": {"fo_op": "MESO", "lower_iters": 1, **FIRST_ORDER},
    "NGD + CG, 2 steps and 3": {"fo_op": None, "gm_op": ["NGD"], "na_op": ["CG"], "lower_iters": 2},
    "NGD + RAD, 3 steps": {"fo_op": None, "gm_op": ["NGD"], "na_op": ["RAD"], "lower_iters": 3},
}


class Implicit(TorchPeer):
    """torchopt's implicit differentiation: two steps of y, three of conjugate gradients."""

    def __init__(self, stream: Stream, sizes: Sizes, cost: int, seen: Callable[[Any], Any]) -> None:
        super().__init__(stream, sizes, cost, seen)
        slope = torch.func.grad(self.g, 1)

        @torchopt.diff.implicit.custom_root(
            lambda y, x, start: slope(x, y, start), argnums=1, solve=torchopt.linear_solve.solve_cg(maxiter=3)
        )
        def solution(y: Tensor, x: Tensor, start: int) -> Tensor:
            for _ in range(2):
                y = y - sizes[0] * slope(x, y, start)
            return y

        self.solution = solution

    def update(self) -> None:
        y = self.solution(self.inner.values.detach(), self.outer.values, self.start)
        self.outer_optimiser.zero_grad()
        self.f(self.outer.values, y, self.start).backward()
        self.outer_optimiser.step()
        self.inner.values.data.copy_(y.detach())


class Unrolled(TorchPeer):
    """torchopt's differentiable SGD: three steps of y, and back through them."""

    def __init__(self, stream: Stream, sizes: Sizes, cost: int, seen: Callable[[Any], Any]) -> None:
        super().__init__(stream, sizes, cost, seen)
        self.inner_optimiser = torchopt.MetaSGD(self.inner, lr=sizes[0])

    def update(self) -> None:
        for _ in range(3):
            self.inner_optimiser.step(self.g(self.outer.values, self.inner(), self.start))
        self.outer_optimiser.zero_grad()
        self.f(self.outer.values, self.inner(), self.start).backward()
        self.outer_optimiser.step()
        torchopt.stop_gradient(self.inner)
        torchopt.stop_gradient(self.inner_optimiser)


# ---- benchmark_bilevel -----------------------------------------------------------------------------------------------


class BenchmarkBilevel:
    """A solver of a checkout of benchmark_bilevel, loaded by benchopt; its samplers answer with the round's rows.

    `constant`: the step sizes stay as they are, and F2SA's multiplier is 10; otherwise both go as the solver has it.
    """

    folder: Path | None = None
    compiled: dict[tuple[int, str], Any] = {}

    def __init__(self, stream: Stream, sizes: Sizes, name: str, constant: bool) -> None:
        key = (id(stream), name)
        if key not in self.compiled:
            self.compiled[key] = (stream, *self._made(stream, name))
        _, solver, self.jitted = self.compiled[key]
        self.cost = {"SOBA": 4, "F2SA": 3 * 3 + 3}[name]
        self.spent = 0
        self.carry = solver.init()
        rates = self.carry["state_lr"]
        inner, outer = sizes
        if name == "F2SA":
            self.carry["lmbda"] = jnp.asarray(10.0 if constant else 1.0)
            rates["constants"] = jnp.array(
                [inner / 10, inner, outer, 0.0] if constant else [inner, inner, outer, solver.delta_lmbda]
            )
        else:
            rates["constants"] = jnp.array([inner, outer])
        if constant:
            rates["exponents"] = jnp.zeros_like(rates["exponents"])

    def _made(self, stream: Stream, name: str) -> tuple[Any, Any]:
        from benchopt.benchmark import Benchmark

        classes = {solver.name: solver for solver in Benchmark(self.folder).get_solvers()}
        options = {"n_inner_steps": 3} if name == "F2SA" else {}
        solver = classes[name].get_instance(batch_size=WINDOW, eval_freq=1, **options)
        f, g = stream.losses(JAX)
        solver.set_objective(
            lambda y, x, start=0, batch_size=WINDOW: g(x, y, start),
            lambda y, x, start=0, batch_size=WINDOW: f(x, y, start),
            ROWS,
            ROWS,
            jnp.asarray(stream.y0),
            jnp.asarray(stream.x0),
        )
        step = solver.get_step(*[lambda start: (start, start, 1.0, start)] * 2)

        def one(carry: Any, start: Any) -> Any:
            carry, _ = step({**carry, "state_inner_sampler": start, "state_outer_sampler": start}, None)
            return {**carry, "outer_var": jnp.clip(carry["outer_var"], stream.low, stream.high)}

        return solver, jax.jit(one)

    def reveal(self, t: int) -> None:
        self.start = start_of(t)

    def step(self) -> None:
        self.carry = jax.block_until_ready(self.jitted(self.carry, self.start))
        self.spent += self.cost

    @property
    def x(self) -> np.ndarray:
        return np.asarray(self.carry["outer_var"])


def quietly(call: Callable[[], Any]) -> Any:
    """benchmark_bilevel prints its seed."""
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        return call()
    finally:
        sys.stdout = out
