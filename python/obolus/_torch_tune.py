"""Hyperparameters of a torch network, tuned while it trains, by gradients alone.

z are the model's parameters, g the training loss, f the validation loss, x the hyperparameters, P the inner step sizes,
which turn a gradient into the optimiser's step. w = λ(y − z) is the dual form of F²OBO's second copy y: the way from z
towards lower validation loss. Moving x moves z by −P g_yx, so that g_xy w is the hypergradient. A round, at order 2:

    d = λ/2 (g_x(z + w/λ) − g_x(z − w/λ)),   x moves along −d,   z by the optimiser, along g_y(z).

tied    w = −P f_y(z): one step ahead. Only g_x is needed at the shifted points.
dual    w is kept: w ← c w − s P (g_yy w + f_y(z)), with g_yy w from the same difference, and follows −g_yy⁻¹ f_y.

Data that judge and train must not meet themselves in d, or x would fit their noise. `tied` therefore asks how training
on the last batch should have differed: g in d is that of the last batch. The w of `dual` remembers batches that may
have trained the model since, so it needs validation batches that are never trained on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from obolus._hyperparameters import Array, OuterStep, Path
from obolus._torch_metric import step_sizes
from obolus._torch_passes import drawn_twice, shifted
from obolus._tune_options import Options, WarmStart, endless

TrainingLoss: TypeAlias = Callable[[Any, Any, Any], Tensor]
Gradients: TypeAlias = dict[str, Array]


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
    model: nn.Module,
    loss: TrainingLoss,
    validation_loss: Callable[[Any, Any], Tensor] | None = None,
    *,
    hyperparameters: Mapping[str, Any],
    optimiser: torch.optim.Optimizer | None = None,
    train: Iterable[Any] | None = None,
    validation: Iterable[Any] | None = None,
    step: float = 0.05,
    order: int = 2,
    warm_start: WarmStart = "tied",
    memory: float = 20.0,
    shift: float = 0.01,
    warmup: int = 5,
    every: int = 1,
    before_step: Callable[[], object] | None = None,
) -> Tuner:
    """A tuner of `hyperparameters` that trains `model` with `optimiser` (Adam unless given), one batch a step.

    `loss(model, batch, h)` is the training loss; h is a dict of tensors, one for each hyperparameter, which act through
    this loss only. `validation_loss(model, batch)` is what they are to lower; by default `loss(model, batch, None)`.
    A hyperparameter given as a number, or numbers, is positive and moves in logarithms; `positive`, `bounded`, `free`
    and `weights` say otherwise.

    `tuner.step(batch)` judges the model on the batch before training on it; `tuner.step(batch, validation_batch)`
    judges on another one. With `train` (and `validation`, which begins again at its end) all batches are gone through
    at once.

    `step`: size of a move of ln x (or of the range) per round. `order`: 2, central differences, or 1, forward ones.
    `warm_start`: "tied" looks one training step ahead; "dual" up to `memory` rounds, for validation batches that are
    never trained on. `shift`: |w|/λ relative to |z|, which fixes λ. `warmup`: rounds before hyperparameters move.
    `every`: tune in every n-th round, train in all. `before_step()` is called when gradients are there and the
    optimiser has not stepped, for clipping.

    Training is bit for bit that of a plain loop with the same hyperparameters. A tuned round costs four gradients: one
    of f, one of g to train, two of g at shifted points; of the last two `tied` needs only the part with respect to x.
    Beside the model stand two copies of its parameters during a step, and after it none (`dual`: one).

    >>> model = nn.Linear(3, 1)
    >>> def loss(model, batch, h=None):
    ...     error = ((model(batch[0]) - batch[1]) ** 2).mean()
    ...     return error if h is None else error + h["decay"] * model.weight.square().sum()
    >>> batches = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(40)]
    >>> tuner = tune(model, loss, hyperparameters={"decay": 1e-3}, train=batches)
    >>> tuner.round, tuner.hyperparameters["decay"] != 1e-3
    (40, True)
    """
    options = Options(step, order, warm_start, memory, shift, warmup, every)
    chosen = torch.optim.Adam(model.parameters()) if optimiser is None else optimiser
    tuner = Tuner(model, loss, validation_loss, hyperparameters, chosen, options, before_step)
    if train is not None:
        tuner.run(train, validation)
    elif validation is not None:
        raise ValueError("tune: got validation without train, expected both, or batches by tuner.step")
    return tuner


class Tuner:
    """Made by `tune`.

    >>> model = nn.Linear(2, 1)
    >>> def loss(model, batch, h): return (h or {"c": 1.0})["c"] * model(batch).square().mean()
    >>> tune(model, loss, hyperparameters={"c": 1.0}).run([torch.ones(4, 2)] * 10).round
    10
    """

    def __init__(
        self,
        model: nn.Module,
        loss: TrainingLoss,
        validation_loss: Callable[[Any, Any], Tensor] | None,
        hyperparameters: Mapping[str, Any],
        optimiser: torch.optim.Optimizer,
        options: Options,
        before_step: Callable[[], object] | None = None,
    ) -> None:
        if isinstance(optimiser, torch.optim.LBFGS):
            raise TypeError("optimiser: got LBFGS, expected one whose step() needs no closure")
        self.model = model
        self.optimiser = optimiser
        self.options = options
        self.round = 0
        self.gradients = 0
        self._loss = loss
        self._validation_loss = validation_loss
        self._before_step = before_step
        self._parameters = [p for group in optimiser.param_groups for p in group["params"] if p.requires_grad]
        if not self._parameters:
            raise ValueError("optimiser: got no trainable parameters, expected those of the model")
        self._w = [torch.zeros_like(p) for p in self._parameters] if options.warm_start == "dual" else []
        self._last: Any = None
        self._outer = OuterStep(hyperparameters, options.step)
        self._path = Path()

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
        h = self._tensors()
        self.optimiser.zero_grad(set_to_none=True)
        if t % self.options.every == 0:
            judged, d = self._tuned(batch, validation_batch, h, t)
        trained = self._backward(self._training_loss(batch, h, t), [*h.values(), *self._parameters])
        if t == 1:
            self._check_reach(h)
        if d is not None and t > self.options.warmup:
            self._outer.move(d)
        if self._before_step is not None:
            self._before_step()
        self.optimiser.step()
        self.round = t
        self._last = batch
        self._path.add(t, self._outer.values)
        return Report(t, trained, judged, d, self.hyperparameters)

    def state(self) -> dict[str, Any]:
        """All that changes, the model's and the optimiser's state included; `torch.save` takes it.

        As with torch's own `state_dict`, the tensors are the live ones.
        """
        return {
            "round": self.round,
            "gradients": self.gradients,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "w": self._w,
            "last": self._last,
            "outer": self._outer.state(),
            "path": self._path.state(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continues where `state()` was taken, with the same bits."""
        got, expected = [tuple(w.shape) for w in state["w"]], [tuple(w.shape) for w in self._w]
        if got != expected:
            raise ValueError(f"load_state: got w of shapes {got}, expected {expected}")
        self._outer.load_state(state["outer"])
        self._path.load_state(state["path"])
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        for w, stored in zip(self._w, state["w"], strict=True):
            w.copy_(stored)
        self.round = state["round"]
        self.gradients = state["gradients"]
        self._last = state["last"]

    def _tuned(self, batch: Any, validation_batch: Any, h: dict[str, Tensor], t: int) -> tuple[float, Gradients | None]:
        """Judges, and renews w; returns f and d. The model and .grad are then as they were."""
        tied = self.options.warm_start == "tied"
        judge = batch if validation_batch is None else validation_batch
        if not tied:
            d, along = self._differences(batch, h, t)
            judged = self._judged(judge, t)
            self._descend(self._taken(), along)
        else:
            judged = self._judged(judge, t)
            self._w = self._taken()
            sizes = step_sizes(self.optimiser)
            for w, p in zip(self._w, self._parameters, strict=True):
                w.mul_(-sizes(p))
            d = None if self._last is None else self._differences(self._last, h, t)[0]
            self._w = []
        self.optimiser.zero_grad(set_to_none=True)
        return judged, d

    def _differences(self, batch: Any, h: dict[str, Tensor], t: int) -> tuple[Gradients | None, float]:
        """d = g_xy w, and w · g_yy w; leaves g_yy w in .grad if w is kept."""
        size = _norm(self._w)
        if size == 0:
            return None, 0.0
        nu = self.options.shift * max(_norm(self._parameters), size) / size  # 1/λ
        tied = self.options.warm_start == "tied"
        other = -nu if self.options.order == 2 else 0.0
        inputs = list(h.values()) if tied else [*h.values(), *self._parameters]
        with drawn_twice(self.model) as again, shifted(self._parameters, self._w) as shift:
            shift(nu)
            self._backward(self._training_loss(batch, h, t), inputs)
            for tensor in inputs:
                if tensor.grad is not None:
                    tensor.grad.neg_()
            again()
            shift(other)
            self._backward(self._training_loss(batch, h, t), inputs)
        for tensor in inputs:
            if tensor.grad is not None:
                tensor.grad.div_(other - nu)
        d = {name: _numbers(tensor) for name, tensor in h.items()}
        for name, value in d.items():
            if not np.all(np.isfinite(value)):
                raise FloatingPointError(f"round {t}: the gradient with respect to '{name}' is {value.tolist()}")
        for tensor in h.values():
            tensor.grad = None
        along = 0.0 if tied else sum(_dot(w, p.grad) for w, p in zip(self._w, self._parameters, strict=True))
        return d, along

    def _descend(self, u: list[Tensor], along: float) -> None:
        """w ← c w − s P u with u = g_yy w + f_y; `along` is w · g_yy w."""
        sizes = step_sizes(self.optimiser)
        norm = sum(float((w * w / sizes(p)).sum()) for w, p in zip(self._w, self._parameters, strict=True))
        keep, s = self.options.dual_step(along / norm if norm > 0 else 0.0)
        for w, buffer, p in zip(self._w, u, self._parameters, strict=True):
            w.mul_(keep).sub_(buffer.mul_(sizes(p)), alpha=s)

    def _judged(self, batch: Any, t: int) -> float:
        """f at z, in evaluation mode, as the model would serve; adds f_y to .grad."""
        modes = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        try:
            if self._validation_loss is not None:
                loss = self._validation_loss(self.model, batch)
            else:
                loss = self._default_judge(batch)
            return self._backward(_checked("validation", loss, t), self._parameters)
        finally:
            for module, training in modes:
                module.training = training

    def _default_judge(self, batch: Any) -> Tensor:
        try:
            return self._loss(self.model, batch, None)
        except TypeError as error:
            raise TypeError(
                f"loss(model, batch, None): {error}; without a validation_loss the loss judges too, and then gets None "
                "for the hyperparameters"
            ) from error

    def _training_loss(self, batch: Any, h: dict[str, Tensor], t: int) -> Tensor:
        return _checked("training", self._loss(self.model, batch, h), t)

    def _backward(self, loss: Tensor, inputs: list[Tensor]) -> float:
        torch.autograd.backward(loss, inputs=inputs)
        self.gradients += 1
        return float(loss.detach())

    def _taken(self) -> list[Tensor]:
        """The gradients, moved out of .grad."""
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in self._parameters]
        for p in self._parameters:
            p.grad = None
        return gradients

    def _tensors(self) -> dict[str, Tensor]:
        like = self._parameters[0]
        return {
            name: torch.tensor(value, dtype=like.dtype, device=like.device, requires_grad=True)
            for name, value in self._outer.values.items()
        }

    def _check_reach(self, h: dict[str, Tensor]) -> None:
        for name, tensor in h.items():
            if tensor.grad is None:
                raise ValueError(f"hyperparameter '{name}': got no gradient, expected the loss to use h['{name}']")


def _numbers(tensor: Tensor) -> Array:
    if tensor.grad is None:
        return np.zeros(tuple(tensor.shape))
    return np.asarray(tensor.grad.cpu().double().numpy())


def _dot(w: Tensor, gradient: Tensor | None) -> float:
    return 0.0 if gradient is None else float(torch.dot(w.reshape(-1), gradient.reshape(-1)))


def _norm(tensors: Iterable[Tensor]) -> float:
    return math.hypot(*(float(torch.linalg.vector_norm(tensor.detach())) for tensor in tensors))


def _checked(name: str, loss: Any, t: int) -> Tensor:
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        shape = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
        raise TypeError(f"{name} loss: got {shape}, expected a tensor with one number")
    if not bool(torch.isfinite(loss.detach()).all()):
        raise FloatingPointError(f"round {t}: the {name} loss is {float(loss.detach())}, expected a finite number")
    return loss
