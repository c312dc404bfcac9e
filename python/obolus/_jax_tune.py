"""Hyperparameters of a JAX model, tuned while it trains, by gradients alone: the twin of `obolus.torch.tune`.

The equations stand in `_torch_tune.py`. Parameters, w and gradients are flat vectors here; a round is two jitted
functions, one that judges and finds the hypergradient, one that trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from obolus._hyperparameters import Array, OuterStep, Path
from obolus._tune_options import Options, WarmStart, endless

Gradients: TypeAlias = dict[str, Array]
FLOOR = 0.1  # as in _torch_metric.py


@dataclass(frozen=True)
class Report:
    """What a round saw; `hyperparameters` are those after it.

    `validation_loss` is None in rounds that only train, `hypergradient` also while w is 0.

    >>> Report(1, 0.7, None, None, {"decay": 1e-3}).validation_loss is None
    True
    """

    round: int
    training_loss: float
    validation_loss: float | None
    hypergradient: Gradients | None
    hyperparameters: dict[str, Any]


def tune(
    params: Any,
    loss: Callable[[Any, Any, Any], Any],
    validation_loss: Callable[[Any, Any], Any] | None = None,
    *,
    hyperparameters: Mapping[str, Any],
    learning_rate: float,
    optimiser: Any = None,
    train: Iterable[Any] | None = None,
    validation: Iterable[Any] | None = None,
    step: float = 0.05,
    order: int = 2,
    warm_start: WarmStart = "tied",
    memory: float = 20.0,
    shift: float = 0.01,
    warmup: int = 5,
    every: int = 1,
) -> Tuner:
    """A tuner of `hyperparameters` that trains `params`, a pytree, one batch a step; `tuner.params` are the current.

    `loss(params, batch, h)` is the training loss; h is a dict of arrays. `validation_loss(params, batch)` is what the
    hyperparameters are to lower; by default `loss(params, batch, None)`. `optimiser` has optax's two functions,
    `init(params)` and `update(gradients, state, params) -> (updates, state)`; without one it is gradient descent with
    `learning_rate`. With one, `learning_rate` should be its own. The rest is as for `obolus.torch.tune`.

    >>> def loss(params, batch, h=None):
    ...     error = jnp.mean((batch[0] @ params - batch[1]) ** 2)
    ...     return error if h is None else error + h["decay"] * jnp.sum(params**2)
    >>> rng = np.random.default_rng(0)
    >>> batches = [(rng.normal(size=(8, 3)), rng.normal(size=8)) for _ in range(40)]
    >>> tuner = tune(jnp.ones(3), loss, hyperparameters={"decay": 1e-3}, learning_rate=0.1, train=batches)
    >>> tuner.round, tuner.hyperparameters["decay"] > 1e-3
    (40, True)
    """
    if not learning_rate > 0:
        raise ValueError(f"learning_rate: got {learning_rate}, expected a number above 0")
    options = Options(step, order, warm_start, memory, shift, warmup, every)
    tuner = Tuner(params, loss, validation_loss, hyperparameters, learning_rate, optimiser, options)
    if train is not None:
        tuner.run(train, validation)
    elif validation is not None:
        raise ValueError("tune: got validation without train, expected both, or batches by tuner.step")
    return tuner


class Tuner:
    """Made by `tune`.

    >>> def loss(params, batch, h): return (1.0 if h is None else h["scale"]) * jnp.sum((params - batch) ** 2)
    >>> tuner = tune(jnp.ones(3), loss, hyperparameters={"scale": 1.0}, learning_rate=0.1)
    >>> tuner.run([jnp.zeros(3)] * 10).round, len(tuner.path)
    (10, 10)
    """

    def __init__(
        self,
        params: Any,
        loss: Callable[[Any, Any, Any], Any],
        validation_loss: Callable[[Any, Any], Any] | None,
        hyperparameters: Mapping[str, Any],
        learning_rate: float,
        optimiser: Any,
        options: Options,
    ) -> None:
        self.params = params
        self.options = options
        self.round = 0
        self.gradients = 0
        self._optimiser = _Descent(learning_rate) if optimiser is None else optimiser
        self._optimiser_state = self._optimiser.init(params)
        self._rate = learning_rate
        self._w = jnp.zeros_like(ravel_pytree(params)[0])
        self._last: Any = None
        self._outer = OuterStep(hyperparameters, options.step)
        self._path = Path()

        def judge(params: Any, batch: Any) -> Any:
            return loss(params, batch, None) if validation_loss is None else validation_loss(params, batch)

        def differences(params: Any, w: Any, batch: Any, h: Any) -> Any:
            z, tree = ravel_pytree(params)
            nu = options.shift * jnp.maximum(jnp.linalg.norm(z) / jnp.linalg.norm(w), 1.0)  # 1/λ
            other = -nu if options.order == 2 else 0.0 * nu
            slope = jax.grad(lambda z, h: loss(tree(z), batch, h), (0, 1) if options.warm_start == "dual" else (1,))
            ahead, behind = slope(z + nu * w, h), slope(z + other * w, h)
            return jax.tree.map(lambda a, b: (a - b) / (nu - other), ahead, behind)

        def trained(params: Any, state: Any, batch: Any, h: Any) -> Any:
            value, gradient = jax.value_and_grad(loss)(params, batch, h)
            updates, state = self._optimiser.update(gradient, state, params)
            return value, jax.tree.map(lambda p, u: p + u, params, updates), state

        self._judge = jax.jit(jax.value_and_grad(judge))
        self._differences = jax.jit(differences)
        self._trained = jax.jit(trained)

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The current values: a float, or an array of the shape given at the start."""
        return {n: value.copy() if value.ndim else float(value) for n, value in self._outer.values.items()}

    @property
    def path(self) -> list[dict[str, Any]]:
        """Hyperparameters after each round, {"round": t, name: value}; thinned beyond a thousand."""
        return self._path.entries

    def run(self, train: Iterable[Any], validation: Iterable[Any] | None = None) -> Tuner:
        """A step for each batch of `train`."""
        judges = None if validation is None else endless(validation)
        for batch in train:
            self.step(batch, None if judges is None else next(judges))
        return self

    def step(self, batch: Any, validation_batch: Any = None) -> Report:
        """Judges the model on the validation batch, or on `batch` before training on it, moves x and trains."""
        t = self.round + 1
        judged: float | None = None
        d: Gradients | None = None
        h = {name: jnp.asarray(value, dtype=self._w.dtype) for name, value in self._outer.values.items()}
        if t % self.options.every == 0:
            judged, d = self._tuned(batch, validation_batch, h, t)
        value, params, state = self._trained(self.params, self._optimiser_state, batch, h)
        self.gradients += 1
        trained = _finite("training loss", float(value), t)
        if d is not None and t > self.options.warmup:
            self._outer.move(d)
        self.params, self._optimiser_state = params, state
        self.round = t
        self._last = batch
        self._path.add(t, self._outer.values)
        return Report(t, trained, judged, d, self.hyperparameters)

    def state(self) -> dict[str, Any]:
        """All that changes: what `load_state` needs to continue with the same bits."""
        return {
            "round": self.round,
            "gradients": self.gradients,
            "params": self.params,
            "optimiser": self._optimiser_state,
            "w": self._w,
            "last": self._last,
            "outer": self._outer.state(),
            "path": self._path.state(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continues where `state()` was taken, with the same bits."""
        if state["w"].shape != self._w.shape:
            raise ValueError(f"load_state: got w of shape {state['w'].shape}, expected {self._w.shape}")
        self._outer.load_state(state["outer"])
        self._path.load_state(state["path"])
        self.params = state["params"]
        self._optimiser_state = state["optimiser"]
        self._w = state["w"]
        self._last = state["last"]
        self.round = state["round"]
        self.gradients = state["gradients"]

    def _tuned(self, batch: Any, validation_batch: Any, h: dict[str, Any], t: int) -> tuple[float, Gradients | None]:
        value, tree = self._judge(self.params, batch if validation_batch is None else validation_batch)
        self.gradients += 1
        judged = _finite("validation loss", float(value), t)
        f_y = ravel_pytree(tree)[0]
        sizes = _step_sizes(self._optimiser_state, self._rate, self._w.size)
        if self.options.warm_start == "tied":
            w = -sizes * f_y
            if self._last is None or not bool(jnp.any(w)):
                return judged, None
            return judged, self._slopes(w, self._last, h, t)[-1]
        if not bool(jnp.any(self._w)):
            self._w = -sizes * f_y
            return judged, None
        product, d = self._slopes(self._w, batch, h, t)
        curvature = float(jnp.vdot(self._w, product) / jnp.sum(self._w**2 / sizes))
        keep, s = self.options.dual_step(curvature)
        self._w = keep * self._w - s * sizes * (product + f_y)
        return judged, d

    def _slopes(self, w: Any, batch: Any, h: dict[str, Any], t: int) -> Any:
        """(g_yy w, if w is kept, and) g_xy w, as NumPy arrays by name."""
        *products, slopes = self._differences(self.params, w, batch, h)
        self.gradients += 2
        d = {name: np.asarray(slope, dtype=np.float64) for name, slope in slopes.items()}
        for name, value in d.items():
            if not np.all(np.isfinite(value)):
                raise FloatingPointError(f"round {t}: the gradient with respect to '{name}' is {value.tolist()}")
        return *products, d


class _Descent:
    """Gradient descent, in optax's two functions."""

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def init(self, params: Any) -> tuple[()]:
        return ()

    def update(self, gradients: Any, state: Any, params: Any) -> tuple[Any, Any]:
        return jax.tree.map(lambda g: -self._rate * g, gradients), state


def _step_sizes(state: Any, rate: float, size: int) -> Any:
    """The step per unit of gradient: rate/√nu where the state has optax's mean square nu, else the rate."""
    nodes = jax.tree.leaves(state, is_leaf=lambda node: hasattr(node, "nu"))
    squares = [ravel_pytree(node.nu)[0] for node in nodes if hasattr(node, "nu")]
    root = jnp.sqrt(squares[0]) if squares else None
    if root is None or root.size != size or not bool(jnp.any(root)):
        return jnp.asarray(rate)
    return rate / (root + FLOOR * root.mean() + 1e-8)


def _finite(name: str, value: float, t: int) -> float:
    if not np.isfinite(value):
        raise FloatingPointError(f"round {t}: the {name} is {value}, expected a finite number")
    return value
