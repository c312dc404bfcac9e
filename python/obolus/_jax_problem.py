"""An Obolus problem from two plain JAX functions: flat NumPy arrays outside, pytrees inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

from obolus._batches import Batches, Source

Array: TypeAlias = NDArray[Any]
Loss: TypeAlias = Callable[[Any, Any, Any], Any]


def problem(f: Loss, g: Loss, x: Any, y: Any, batches: Source = None) -> Problem:
    """The problem with outer loss f(x, y, batch) and inner loss g(x, y, batch), both traced by `jax.jit`.

    `x` and `y` are pytrees of starting values; f and g get the same shape back. `batches` is a callable t -> (outer
    batch, inner batch), a sequence of such pairs, or an iterable, which is read once and forwards. f gets the first of
    a pair, g the second. Without it, both get the round t. The numbers are float64 if x and y are, which JAX allows
    once `jax_enable_x64` is set, and float32 otherwise.

    >>> def f(x, y, t): return 0.5 * jnp.sum((y - 1) ** 2)
    >>> def g(x, y, t): return 0.5 * jnp.sum(y**2) - jnp.sum(x * y)
    >>> p = problem(f, g, jnp.zeros(2), jnp.zeros(2))
    >>> p.reveal(1)
    >>> p.inner_gradient_x(p.x0, np.array([3.0, 4.0], dtype=p.dtype))
    array([-3., -4.], dtype=float32)
    """
    return Problem(f, g, x, y, batches)


class Problem:
    """What `problem` returns: Obolus's oracle protocol over flat NumPy arrays.

    >>> p = problem(lambda x, y, t: y.sum(), lambda x, y, t: (x * y).sum(), jnp.ones(2), jnp.ones(2))
    >>> isinstance(p, Problem), p.dims(), p.y0
    (True, (2, 2), array([1., 1.], dtype=float32))
    """

    def __init__(self, f: Loss, g: Loss, x: Any, y: Any, batches: Source) -> None:
        flat_x, self._tree_x = _flat("x", x)
        flat_y, self._tree_y = _flat("y", y)
        self._batches = Batches(batches)
        self.dtype = np.dtype(np.result_type(flat_x, flat_y))
        self.x0 = flat_x.astype(self.dtype)
        self.y0 = flat_y.astype(self.dtype)

        def outer(x: Any, y: Any, batch: Any) -> Any:
            return _scalar("f", f(self._tree_x(x), self._tree_y(y), batch))

        def inner(x: Any, y: Any, batch: Any) -> Any:
            return _scalar("g", g(self._tree_x(x), self._tree_y(y), batch))

        def slope(x: Any, y: Any, batch: Any, v: Any) -> Any:
            return jnp.vdot(jax.grad(inner, 1)(x, y, batch), v)

        self._outer = jax.jit(outer)
        self._inner = jax.jit(inner)
        self._outer_x = jax.jit(jax.grad(outer, 0))
        self._outer_y = jax.jit(jax.grad(outer, 1))
        self._inner_x = jax.jit(jax.grad(inner, 0))
        self._inner_y = jax.jit(jax.grad(inner, 1))
        self._yy = jax.jit(jax.grad(slope, 1))
        self._xy = jax.jit(jax.grad(slope, 0))

    def dims(self) -> tuple[int, int]:
        return self.x0.size, self.y0.size

    def reveal(self, t: int) -> None:
        self._batches.reveal(t)

    def unflatten_x(self, x: Array) -> Any:
        """x in the shape of its starting value."""
        return self._tree_x(self._checked("x", x, self.x0))

    def unflatten_y(self, y: Array) -> Any:
        """y in the shape of its starting value."""
        return self._tree_y(self._checked("y", y, self.y0))

    def outer_value(self, x: Array, y: Array) -> float:
        return float(self._outer(*self._point(x, y), self._batches.outer))

    def inner_value(self, x: Array, y: Array) -> float:
        return float(self._inner(*self._point(x, y), self._batches.inner))

    def outer_gradient_x(self, x: Array, y: Array) -> Array:
        return np.asarray(self._outer_x(*self._point(x, y), self._batches.outer))

    def outer_gradient_y(self, x: Array, y: Array) -> Array:
        return np.asarray(self._outer_y(*self._point(x, y), self._batches.outer))

    def inner_gradient_x(self, x: Array, y: Array) -> Array:
        return np.asarray(self._inner_x(*self._point(x, y), self._batches.inner))

    def inner_gradient_y(self, x: Array, y: Array) -> Array:
        return np.asarray(self._inner_y(*self._point(x, y), self._batches.inner))

    def inner_hvp_yy(self, x: Array, y: Array, v: Array) -> Array:
        """g_yy v."""
        return np.asarray(self._yy(*self._point(x, y), self._batches.inner, self._checked("v", v, self.y0)))

    def inner_hvp_xy(self, x: Array, y: Array, v: Array) -> Array:
        """g_xy v, the gradient in x of g_y · v."""
        return np.asarray(self._xy(*self._point(x, y), self._batches.inner, self._checked("v", v, self.y0)))

    def _point(self, x: Array, y: Array) -> tuple[Array, Array]:
        return self._checked("x", x, self.x0), self._checked("y", y, self.y0)

    def _checked(self, name: str, array: Array, like: Array) -> Array:
        if array.shape != like.shape:
            raise ValueError(f"{name}: got an array of shape {array.shape}, expected ({like.size},)")
        return array.astype(self.dtype, copy=False)


def _flat(name: str, start: Any) -> tuple[Array, Callable[[Any], Any]]:
    flat, tree = ravel_pytree(start)
    if flat.size == 0:
        raise ValueError(f"{name}: got no numbers, expected at least one")
    if flat.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{name}: got numbers of type {flat.dtype}, expected float32 or float64")
    return np.asarray(flat), tree


def _scalar(name: str, loss: Any) -> Any:
    if jnp.size(loss) == 1:
        return jnp.reshape(loss, ())
    raise TypeError(f"{name}: got an array of shape {jnp.shape(loss)}, expected one number")
