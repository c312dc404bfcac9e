"""What runs measure: the options of a config's [metrics], and the columns of a run.

>>> import obolus
>>> obolus.Metrics(regret=False, evaluate_every=10)
Metrics(regret=False, evaluate_every=10)
>>> print(obolus.metrics.COLUMNS["own_mapping"])
|G_X(x_t, d_t, γ_t)|², as the optimiser sees it
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obolus import _native
from obolus._described import Described, make_classes, section

__all__ = ["COLUMNS", "Metrics"]

_section = [
    ("metrics", "What is measured of a run", "", options)
    for name, _, _, options in _native.list_sections()
    if name == "[metrics]"
]
Metrics: Any = make_classes(Described, _section, [], __name__)["Metrics"]
COLUMNS: dict[str, str] = {name: title for name, title, _, _ in _native.list_metrics()}


def options_of(metrics: Any) -> dict[str, Any]:
    """Those that were given."""
    if metrics is None:
        return {}
    if isinstance(metrics, Described):
        return dict(metrics.options)
    if isinstance(metrics, Mapping):
        return dict(Metrics(**metrics).options)
    raise TypeError(f"metrics: got {metrics!r}, expected obolus.Metrics(...) or a dict of its options")


def metrics_section(metrics: Any, own: bool) -> str:
    """[metrics]; of somebody's own problem the regret and the variation, which take many calls, only if asked for."""
    return section("metrics", {**({"regret": False, "variation": False} if own else {}), **options_of(metrics)})
