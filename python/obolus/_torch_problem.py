"""An Obolus problem from two plain torch functions: flat NumPy arrays outside, tensors of any shape inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor, nn

from obolus._batches import Batches, Source

Array: TypeAlias = NDArray[Any]
Loss: TypeAlias = Callable[[Any, Any, Any], Tensor]


def problem(f: Loss, g: Loss, x: Any, y: Any, batches: Source = None, dtype: DTypeLike | None = None) -> Problem:
    """The problem with outer loss f(x, y, batch) and inner loss g(x, y, batch).

    `x` and `y` are starting values: a tensor, or a dict, list or tuple of them, nested as you like; f and g get the
    same shape back. `y` may be an nn.Module: f and g then get a stand-in that is called as the module is, and whose
    `parameters()` and `named_parameters()` are the current ones. Its buffers are the module's own.

    `batches` is a callable t -> (outer batch, inner batch), a sequence of such pairs, or an iterable, which is read
    once and forwards. f gets the first of a pair, g the second. Without it, both get the round t. The numbers are
    those of the tensors, float32 or float64; `dtype` chooses another.

    >>> def f(x, y, t): return 0.5 * ((y - 1) ** 2).sum()
    >>> def g(x, y, t): return 0.5 * (y**2).sum() - (x * y).sum()
    >>> p = problem(f, g, torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64))
    >>> p.reveal(1)
    >>> p.inner_gradient_x(p.x0, np.array([3.0, 4.0]))
    array([-3., -4.])
    """
    return Problem(f, g, x, y, batches, dtype)


class Problem:
    """What `problem` returns: Obolus's oracle protocol over flat NumPy arrays.

    >>> p = problem(lambda x, y, t: y.sum(), lambda x, y, t: (x * y).sum(), torch.ones(2), torch.ones(2))
    >>> isinstance(p, Problem), p.dims(), p.unflatten_y(p.y0)
    (True, (2, 2), tensor([1., 1.]))
    """

    def __init__(self, f: Loss, g: Loss, x: Any, y: Any, batches: Source, dtype: DTypeLike | None) -> None:
        self._f = f
        self._g = g
        self._module = y if isinstance(y, nn.Module) else None
        inner = dict(y.named_parameters()) if isinstance(y, nn.Module) else y
        self._x = _Layout("x", x)
        self._y = _Layout("y", inner)
        self._batches = Batches(batches)
        self.dtype = _dtype(dtype, self._x.tensors + self._y.tensors)
        self._torch_dtype = torch.float64 if self.dtype == np.float64 else torch.float32
        self.x0 = self._x.flat(self._torch_dtype)
        self.y0 = self._y.flat(self._torch_dtype)

    def dims(self) -> tuple[int, int]:
        return self._x.size, self._y.size

    def reveal(self, t: int) -> None:
        self._batches.reveal(t)

    def unflatten_x(self, x: Array) -> Any:
        """x in the shape of its starting value."""
        return self._x.tree(self._tensor(x, self._x))

    def unflatten_y(self, y: Array) -> Any:
        """y in the shape of its starting value; for a module the dict of its parameters."""
        return self._y.tree(self._tensor(y, self._y))

    def outer_value(self, x: Array, y: Array) -> float:
        with torch.no_grad():
            return float(self._outer(self._tensor(x, self._x), self._tensor(y, self._y)))

    def inner_value(self, x: Array, y: Array) -> float:
        with torch.no_grad():
            return float(self._inner(self._tensor(x, self._x), self._tensor(y, self._y)))

    def outer_gradient_x(self, x: Array, y: Array) -> Array:
        leaf = self._leaf(x, self._x)
        return _gradient(self._outer(leaf, self._tensor(y, self._y)), leaf)

    def outer_gradient_y(self, x: Array, y: Array) -> Array:
        leaf = self._leaf(y, self._y)
        return _gradient(self._outer(self._tensor(x, self._x), leaf), leaf)

    def inner_gradient_x(self, x: Array, y: Array) -> Array:
        leaf = self._leaf(x, self._x)
        return _gradient(self._inner(leaf, self._tensor(y, self._y)), leaf)

    def inner_gradient_y(self, x: Array, y: Array) -> Array:
        leaf = self._leaf(y, self._y)
        return _gradient(self._inner(self._tensor(x, self._x), leaf), leaf)

    def inner_hvp_yy(self, x: Array, y: Array, v: Array) -> Array:
        """g_yy v."""
        leaf = self._leaf(y, self._y)
        return _gradient(self._slope(self._tensor(x, self._x), leaf, v), leaf)

    def inner_hvp_xy(self, x: Array, y: Array, v: Array) -> Array:
        """g_xy v, the gradient in x of g_y · v."""
        leaf = self._leaf(x, self._x)
        return _gradient(self._slope(leaf, self._leaf(y, self._y), v), leaf)

    def _slope(self, x: Tensor, y: Tensor, v: Array) -> Tensor:
        loss = self._inner(x, y)
        if not loss.requires_grad:
            return loss
        (gradient,) = torch.autograd.grad(loss, y, create_graph=True, allow_unused=True)
        return loss.detach() if gradient is None else torch.dot(gradient, self._tensor(v, self._y))

    def _outer(self, x: Tensor, y: Tensor) -> Tensor:
        return _scalar("f", self._f(self._x.tree(x), self._inner_tree(y), self._batches.outer))

    def _inner(self, x: Tensor, y: Tensor) -> Tensor:
        return _scalar("g", self._g(self._x.tree(x), self._inner_tree(y), self._batches.inner))

    def _inner_tree(self, y: Tensor) -> Any:
        tree = self._y.tree(y)
        return tree if self._module is None else _StandIn(self._module, tree)

    def _leaf(self, array: Array, layout: _Layout) -> Tensor:
        return self._tensor(array, layout).detach().requires_grad_(True)

    def _tensor(self, array: Array, layout: _Layout) -> Tensor:
        if array.shape != (layout.size,):
            raise ValueError(f"{layout.name}: got an array of shape {array.shape}, expected ({layout.size},)")
        # torch warns of read-only memory, although nothing here writes to it.
        source = array if array.flags.writeable else array.copy()
        return torch.from_numpy(source).to(dtype=self._torch_dtype, device=layout.device)


class _Layout:
    """How the tensors of a nested structure lie in one flat vector."""

    def __init__(self, name: str, start: Any) -> None:
        self.name = name
        self._start = start
        self.tensors = list(_leaves(name, start))
        if not self.tensors:
            raise ValueError(f"{name}: got no tensors, expected at least one")
        self.size = sum(tensor.numel() for tensor in self.tensors)
        self.device = self.tensors[0].device

    def flat(self, dtype: torch.dtype) -> Array:
        whole = torch.cat([tensor.detach().reshape(-1).to(dtype) for tensor in self.tensors])
        return np.asarray(whole.cpu().numpy())

    def tree(self, flat: Tensor) -> Any:
        pieces = iter(torch.split(flat, [tensor.numel() for tensor in self.tensors]))
        return _rebuilt(self._start, pieces)


class _StandIn:
    """Called as the module is, with parameters of its own."""

    def __init__(self, module: nn.Module, parameters: dict[str, Tensor]) -> None:
        self._module = module
        self._parameters = parameters

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return torch.func.functional_call(self._module, self._parameters, args, kwargs)

    def parameters(self) -> Iterator[Tensor]:
        return iter(self._parameters.values())

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        return iter(self._parameters.items())


def _leaves(name: str, node: Any) -> Iterator[Tensor]:
    if isinstance(node, Tensor):
        if not node.is_floating_point():
            raise TypeError(f"{name}: got a tensor of {node.dtype}, expected float32 or float64")
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _leaves(name, value)
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from _leaves(name, value)
    else:
        raise TypeError(f"{name}: got {type(node).__name__}, expected tensors in dicts, lists or tuples")


def _rebuilt(node: Any, pieces: Iterator[Tensor]) -> Any:
    if isinstance(node, Tensor):
        return next(pieces).view(node.shape)
    if isinstance(node, dict):
        return {key: _rebuilt(value, pieces) for key, value in node.items()}
    inside = [_rebuilt(value, pieces) for value in node]
    return inside if isinstance(node, list) else tuple(inside)


def _dtype(wanted: DTypeLike | None, tensors: list[Tensor]) -> np.dtype[Any]:
    if wanted is None:
        return np.dtype(np.float64 if any(tensor.dtype == torch.float64 for tensor in tensors) else np.float32)
    dtype = np.dtype(wanted)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"dtype: got {dtype}, expected float32 or float64")
    return dtype


def _gradient(loss: Tensor, leaf: Tensor) -> Array:
    gradient = torch.autograd.grad(loss, leaf, allow_unused=True)[0] if loss.requires_grad else None
    return np.asarray((torch.zeros_like(leaf) if gradient is None else gradient).detach().cpu().numpy())


def _scalar(name: str, loss: Any) -> Tensor:
    if isinstance(loss, Tensor) and loss.numel() == 1:
        return loss.reshape(())
    shape = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
    raise TypeError(f"{name}: got {shape}, expected a tensor with one number")
