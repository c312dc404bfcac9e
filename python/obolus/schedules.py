"""Numbers that depend on the round, for the options that are a "number or schedule"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

Schedule = TypedDict(
    "Schedule",
    {
        "scale": float,
        "power": float,
        "log": bool,
        "least": float,
        "most": float,
        "at": Sequence[int],
        "values": Sequence[float],
        "factor": float,
        "from": int,
        "warmup": int,
        "cosine": int,
        "floor": float,
    },
    total=False,
)
Schedule.__doc__ = """A number that depends on the round: scale · t^power (· ln t if log), in [least, most].

`at` are rounds from which the scale is one of `values`, or `factor` times what it was. Before round `from` it is 0;
over `warmup` rounds it rises; with `cosine` = N it falls until round N, to `floor` of itself. It is a plain dict, so
one written with braces does as well.

>>> import obolus
>>> obolus.F2obo(gamma=obolus.Schedule(scale=0.01, power=-0.5))
F2obo(gamma={'scale': 0.01, 'power': -0.5})
"""
