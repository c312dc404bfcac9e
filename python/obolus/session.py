"""An optimiser at work on a problem, one round at a time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obolus import _native
from obolus._described import section
from obolus.optimisers import Optimiser
from obolus.problems import BuiltIn
from obolus.sets import Set

Floats = NDArray[Any]


class Step(NamedTuple):
    """What a round's update did.

    >>> import obolus
    >>> p = obolus.problems.Quadratic()
    >>> p.reveal(1)
    >>> obolus.Session(obolus.F2obo(inner_steps=3), p).step().steps_y
    3
    """

    penalty: float  # λ_t
    gamma: float  # γ_t
    inner_iterations: int
    steps_y: int
    steps_z: int
    capped: bool  # an adaptive loop ended at its limit, not at its tolerance
    indefinite: bool  # conjugate gradients met negative curvature


class Session:
    """An optimiser at work on a problem.

    `problem` is a built-in one (`obolus.problems`) or any object with the methods of docs/python.md. In every round
    reveal the problem's round t, then call `step()`, which moves the hyperparameters `x` and the model `y`:

    >>> import numpy as np, obolus
    >>> p = obolus.problems.Quadratic(dim_x=2, dim_y=3)
    >>> s = obolus.Session(obolus.F2obo(gamma=0.1), p)
    >>> for t in range(1, 101):
    ...     p.reveal(t)
    ...     step = s.step()
    >>> s.t, s.x.shape, s.y.shape
    (100, (2,), (3,))

    `x0` and `y0` are where it starts, a number each for all coordinates or an array: the problem's own start, 0 for
    most, unless given. `domain` confines x. Numbers are float64, or float32 if the problem's `dtype` says so, or where
    it says nothing if x0 and y0 are. `seed` is that of a stochastic optimiser's draws: the problem's own, or 1, unless
    given. `rounds` is the horizon T that some presets ask for.

    Other threads go on while a built-in problem's step runs; the session itself and its problem are for one thread at a
    time.
    """

    def __init__(
        self,
        optimiser: Optimiser,
        problem: Any,
        x0: ArrayLike | None = None,
        y0: ArrayLike | None = None,
        *,
        domain: Set | None = None,
        seed: int | None = None,
        rounds: int = 1000,
    ) -> None:
        self.problem = problem
        held = problem.native if isinstance(problem, BuiltIn) else problem
        dtype = dtype_of(held, x0, y0)
        own_seed = problem.options.get("seed", 1) if isinstance(problem, BuiltIn) else 1
        text = common_problem(problem, own_seed if seed is None else seed, rounds, dtype) + optimiser_and_domain(
            optimiser, domain
        )
        text += section("start", {"x": start_list(x0, "x0"), "y": start_list(y0, "y0")})
        text += section("metrics", {"regret": False, "variation": False, "bound": False})
        self._native = _native.Session(text, held)

    def step(self) -> Step:
        """One round's update. Raises DivergedError when a number stops being finite, ProblemError for a problem's
        mistake."""
        return tuple.__new__(Step, self._native.step())  # Step(*…) would take another tenth of a microsecond

    @property
    def t(self) -> int:
        """How many rounds it has done."""
        return int(self._native.t)

    @property
    def x(self) -> Floats:
        """The hyperparameters, committed for the next round."""
        return self._native.x

    @property
    def y(self) -> Floats:
        """The model, committed for the next round."""
        return self._native.y

    @property
    def z(self) -> Floats:
        """The plain inner copy of a penalty method; y for a method without one."""
        return self._native.z

    @property
    def direction(self) -> Floats:
        """The last round's outer direction."""
        return self._native.direction

    @property
    def counts(self) -> dict[str, int]:
        """Gradients (f_x, f_y, g_x, g_y), products, values and samples asked for so far."""
        return self._native.counts

    @property
    def config(self) -> str:
        """The complete configuration, as TOML."""
        return self._native.config

    def state(self) -> bytes:
        """Everything that changes; `restore` goes on from it to the same bits. The problem is not part of it."""
        return self._native.save()

    def restore(self, state: bytes) -> None:
        self._native.restore(state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `state()` to a file, whole or not at all."""
        write_atomically(path, self.state())

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes on from a file that `save` wrote."""
        self.restore(Path(path).read_bytes())

    def __repr__(self) -> str:
        return f"<Session of {type(self.problem).__name__}, {self.t} rounds>"


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    path = Path(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def dtype_of(problem: Any, *starts: ArrayLike | None) -> np.dtype[Any]:
    """The scalar of a problem: its own, or that of the starts."""
    own = getattr(problem, "dtype", None)
    given = [own] if own is not None else [getattr(v, "dtype", None) for v in starts if v is not None]
    return np.dtype(np.float32 if given and all(d is not None and d == np.float32 for d in given) else np.float64)


def common_problem(problem: Any, seed: int, rounds: int, dtype: np.dtype[Any]) -> str:
    """[problem] of a problem that is there already."""
    name = problem.name if isinstance(problem, BuiltIn) else type(problem).__name__
    return section(
        "problem",
        {"name": name, "seed": seed, "rounds": rounds, "precision": "float" if dtype == np.float32 else "double"},
    )


def start_list(start: ArrayLike | None, name: str) -> Any:
    """A start as a config has it."""
    if start is None:
        return None
    array = np.asarray(start, dtype=np.float64)
    if array.ndim > 1:
        raise ValueError(f"{name}: got shape {array.shape}, expected a number or one dimension")
    return array.tolist()


def optimiser_and_domain(optimiser: Optimiser, domain: Set | None) -> str:
    if not isinstance(optimiser, Optimiser):
        raise TypeError(f"optimiser: got {optimiser!r}, expected one of obolus's optimisers, such as obolus.F2obo()")
    return section("optimiser", {"name": optimiser.name, **optimiser.options}) + domain_section(domain)


def domain_section(domain: Set | None) -> str:
    if domain is None:
        return ""
    if not isinstance(domain, Set):
        raise TypeError(f"domain: got {domain!r}, expected one of obolus's sets, such as obolus.Box(lower=0, upper=1)")
    return section("domain", {"set": domain.name, **domain.options})
