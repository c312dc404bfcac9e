"""Obolus's optimisers as a solver of benchmark_bilevel (https://github.com/benchopt/benchmark_bilevel).

Copy this file into the benchmark's `solvers/`; then, say,

    benchopt run . -d simulated -s "Obolus[optimiser=[F2oboSl,Fsobo],step_size=0.1]" -s SOBA

A round has one batch of g's samples and one of f's, every batch once per epoch; f and g are the benchmark's own JAX
functions. `step_size` is α, `step_size`/`outer_ratio` γ; `options` holds any others of the optimiser.
"""

from functools import partial

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion

import obolus.jax


class Batches:
    """The first samples of round t's batches, of f and of g; a new order in every epoch."""

    def __init__(self, samples, batch, seed):
        self.sizes = tuple(min(batch, n) if batch != "full" else n for n in samples)
        self.counts = tuple(-(-n // size) for n, size in zip(samples, self.sizes))
        self.seed = seed
        self.orders = [(-1, None), (-1, None)]  # (epoch, its order)

    def __call__(self, t):
        return tuple(self.start(which, t - 1) for which in range(2))

    def start(self, which, position):
        epoch, place = divmod(position, self.counts[which])
        if self.orders[which][0] != epoch:
            order = np.random.default_rng((self.seed, which, epoch)).permutation(self.counts[which])
            self.orders[which] = (epoch, order)
        return int(self.orders[which][1][place]) * self.sizes[which]


class Solver(BaseSolver):
    """Online bilevel optimisers with gradients alone (F²OBO and its relatives), and those they are compared with."""

    name = "Obolus"
    requirements = ["pip::obolus-opt", "pip::jax"]
    sampling_strategy = "callback"
    stopping_criterion = SufficientProgressCriterion(patience=12_800, strategy="callback")

    parameters = {
        "optimiser": ["F2oboSl"],
        "step_size": [0.1],
        "outer_ratio": [1.0],
        "batch_size": [64],
        "eval_freq": [128],
        "random_state": [1],
        "options": [None],
    }

    @staticmethod
    def get_next(stop_val):
        return stop_val + 1

    def set_objective(self, f_inner, f_outer, n_inner_samples, n_outer_samples, inner_var0, outer_var0):
        batches = Batches((n_outer_samples, n_inner_samples), self.batch_size, self.random_state)
        f = partial(f_outer, batch_size=batches.sizes[0])
        g = partial(f_inner, batch_size=batches.sizes[1])
        self.problem = obolus.jax.problem(
            lambda x, y, start: f(y, x, start=start),
            lambda x, y, start: g(y, x, start=start),
            outer_var0,
            inner_var0,
            batches,
        )
        self.made = getattr(obolus, self.optimiser)(
            **{"alpha": self.step_size, "gamma": self.step_size / self.outer_ratio, **(self.options or {})}
        )
        session = self.session()
        self.problem.reveal(1)
        session.step()  # compiles, outside the benchmark's clock

    def session(self):
        return obolus.Session(self.made, self.problem, self.problem.x0, self.problem.y0, seed=self.random_state)

    def run(self, callback):
        self.running = self.session()
        while callback():
            for _ in range(self.eval_freq):
                self.problem.reveal(self.running.t + 1)
                self.running.step()

    def get_result(self):
        return {
            "inner_var": self.problem.unflatten_y(self.running.y),
            "outer_var": self.problem.unflatten_x(self.running.x),
        }
