"""Is a problem what it says? Gradients, products and differences against their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from obolus import _native
from obolus.problems import BuiltIn
from obolus.session import dtype_of

import numpy as np


class Finding(NamedTuple):
    """One property, at the place where it fared worst.

    >>> import obolus
    >>> print(obolus.Finding("f_x against differences of f", True, 0.0, 1e-9, "round 1"))
    ok    f_x against differences of f: error 0, allowed 1e-09, at round 1
    """

    what: str
    ok: bool
    error: float
    tolerance: float
    where: str

    def __str__(self) -> str:
        verdict = "ok   " if self.ok else "WRONG"
        return f"{verdict} {self.what}: error {self.error:.2g}, allowed {self.tolerance:.2g}, at {self.where}"


class Findings(list[Finding]):
    """What a check found; true if all is well.

    >>> import obolus
    >>> found = obolus.check(obolus.problems.Quadratic())
    >>> [finding.what for finding in found if not finding.ok]
    []
    """

    @property
    def ok(self) -> bool:
        return all(finding.ok for finding in self)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


def check(
    problem: Any,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    radius: float = 1.0,
    rounds: Sequence[int] = (1, 2, 3),
) -> Findings:
    """Checks a problem around (x, y), 0 unless given: every gradient and product against differences, that rounds can
    be revealed again, the inner problem's curvature, and what else it offers.

    >>> import obolus
    >>> obolus.check(obolus.problems.Quadratic()).ok
    True
    """
    held = problem.native if isinstance(problem, BuiltIn) else problem
    single = dtype_of(held, x, y) == np.float32
    found = [Finding(*one) for one in _native.check(held, single, x, y, radius, list(rounds))]
    if any(getattr(held, name, None) is None for name in ("inner_hvp_yy", "inner_hvp_xy")):
        # Products by differences are symmetric up to their own error, of which that check knows nothing.
        found = [one for one in found if one.what != "g_yy is symmetric"]
    return Findings(found)
