"""Several optimisers on one problem: the tables of `obolus compare`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from obolus import _native
from obolus._described import section
from obolus._watch import bar, deferred_interrupt
from obolus.metrics import Metrics, options_of
from obolus.optimisers import Optimiser
from obolus.problems import BuiltIn
from obolus.runs import PathLike, Run, flags_of, run, start_section
from obolus.session import domain_section
from obolus.sets import Set


@dataclass
class Comparison:
    """Several runs, and their tables as text.

    >>> import obolus
    >>> c = obolus.compare([obolus.F2obo()], obolus.problems.Quadratic(), rounds=20, seeds=[7])
    >>> c.runs[0].label, c.runs[0].seed
    ('f2obo', 7)
    """

    runs: list[Run]
    text: str = ""
    config: str = ""
    folder: str | None = None

    def to_frame(self, library: str | None = None) -> Any:
        """All rounds of all runs, one below the other, with columns `label` and `seed`."""
        from obolus.looking import frame_of, stacked

        return frame_of(stacked(self.runs), library)

    def _repr_html_(self) -> str:
        from obolus.looking import html_of

        return html_of(self.runs)

    def __repr__(self) -> str:
        return self.text


def compare(
    optimisers: Sequence[Optimiser] | Mapping[str, Optimiser],
    problem: Any,
    *,
    rounds: int = 1000,
    seeds: Sequence[int] = (1, 2, 3),
    x0: ArrayLike | None = None,
    y0: ArrayLike | None = None,
    domain: Set | None = None,
    metrics: Metrics | Mapping[str, Any] | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Several optimisers on one problem, over seeds; a mapping gives them labels.

    A built-in problem runs on all cores, into a folder if `out` is given, and has the tables of `obolus compare`; an
    option given as a list is a grid there. A problem of your own runs one optimiser after the other, each into a folder
    of its own in `out`; with it the seed is that of the optimiser's draws. The γ of the regret is 0.01 unless `metrics`
    has another: where x is not confined the regret does not depend on it.

    >>> import obolus
    >>> c = obolus.compare([obolus.F2obo(), obolus.Aobo()], obolus.problems.Quadratic(), rounds=20, seeds=[1])
    >>> [r.label for r in c.runs]
    ['f2obo', 'aobo']
    """
    named = labelled(optimisers)
    measured = {"gamma": 0.01, **options_of(metrics)}
    if not isinstance(problem, BuiltIn):
        runs = [
            run(
                optimiser, problem, rounds=rounds, x0=x0, y0=y0, domain=domain, seed=seed, metrics=measured,
                out=None if out is None else Path(out) / f"{label}-{seed}", resume=resume, force=force,
                progress=progress,
            )
            for label, optimiser in named.items()
            for seed in seeds
        ]  # fmt: skip
        for one, label in zip(runs, (label for label in named for _ in seeds)):
            one.label = label
        return Comparison(runs, table_of(runs), folder=None if out is None else os.fspath(out))
    text = section("compare", {"seeds": list(seeds), "horizons": [rounds]}) + problem.problem_section(seed=None)
    text += start_section(x0, y0) + section("metrics", measured) + domain_section(domain)
    for label, optimiser in named.items():
        text += section("[optimiser]", {"label": label, "name": optimiser.name, **optimiser.options})
    return compare_text(text, os.getcwd(), out, resume, force, threads, progress)


def compare_config(
    config: PathLike,
    *,
    out: PathLike | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Runs the comparison of a config file, as `obolus compare CONFIG.toml` does.

    >>> text = "[compare]\\nseeds = [4]\\n[problem]\\nname = 'quadratic'\\nrounds = 20\\n[metrics]\\nregret = false\\n"
    >>> _ = Path("two.toml").write_text(text + "[[optimiser]]\\nname = 'f2obo'\\n[[optimiser]]\\nname = 'fixed'\\n")
    >>> [r.label for r in compare_config("two.toml").runs]
    ['f2obo', 'fixed']
    """
    path = Path(config)
    text = path.read_text(encoding="utf-8")
    return compare_text(text, str(path.resolve().parent), out, resume, force, threads, progress)


def labelled(optimisers: Sequence[Optimiser] | Mapping[str, Optimiser]) -> dict[str, Optimiser]:
    """By their names, or by their options where two have one name."""
    if isinstance(optimisers, Mapping):
        return dict(optimisers)
    named: dict[str, Optimiser] = {}
    for optimiser in optimisers:
        label = optimiser.name if optimiser.name not in named else repr(optimiser)
        if label in named:
            raise ValueError(f"optimisers: got {label} twice, expected each once")
        named[label] = optimiser
    return named


def compare_text(
    text: str, folder: str, out: PathLike | None, resume: bool, force: bool, threads: int | None, progress: bool | None
) -> Comparison:
    flags = flags_of(out, resume, force, threads or os.cpu_count() or 1)
    with bar(progress, "jobs") as advance, deferred_interrupt() as pending:
        made = _native.compare(text, folder, flags, advance, pending)
    if pending:
        raise KeyboardInterrupt("stopped" + (f"; resume=True with out={os.fspath(out)!r} goes on" if out else ""))
    cells = [cell for cell in map(json.loads, made["cells"]) if "optimiser" in cell]
    order = {name: place for place, name in enumerate(made["order"])}  # of the config; threads end in any
    cells.sort(key=lambda cell: order[cell["stream"], cell["optimiser"], cell["setting"], cell["seed"]])
    runs = [run_of_cell(cell) for cell in cells]
    return Comparison(runs, made["text"], made["config"], None if out is None else os.fspath(out))


def run_of_cell(cell: dict[str, Any]) -> Run:
    """A run of a comparison: a choice of its rounds, in `summary` what else its line of cells.jsonl says."""
    curve = cell["curve"]
    columns = {**curve, **curve.get("evaluation", {})}
    columns.pop("evaluation", None)
    label = ", ".join(text for text in (cell["optimiser"], cell["setting"]) if text)
    summary = {key: value for key, value in cell.items() if key not in ("curve", "evaluations", "profiles")}
    floats = {
        name: np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
        for name, values in columns.items()
    }
    return Run(label, floats, summary, seed=int(cell["seed"]))


def table_of(runs: Sequence[Run]) -> str:
    """Means over the seeds after the last round."""
    rows = [("optimiser", "finished", "f", "regret")]
    for label in dict.fromkeys(run.label for run in runs):
        own = [run for run in runs if run.label == label]
        done = [run for run in own if run.status == "finished"]
        f = mean_text([run.columns["f"][-1] for run in done])
        regret = mean_text([run.regret for run in done if run.regret is not None])
        rows.append((label, f"{len(done)} of {len(own)}", f, regret))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, "", "Mean ± standard deviation over the seeds, after the last round.", ""])


def mean_text(values: Sequence[float]) -> str:
    if not values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.2g}" if len(values) > 1 else ""
    return f"{np.mean(values):.4g}{spread}"
