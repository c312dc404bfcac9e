"""Whole runs: the loop, the metrics and the folders of `obolus run`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obolus import _native
from obolus._described import section, toml_value
from obolus._watch import about, bar, deferred_interrupt
from obolus.metrics import Metrics, metrics_section
from obolus.optimisers import Optimiser
from obolus.problems import BuiltIn
from obolus.session import common_problem, dtype_of, optimiser_and_domain, start_list
from obolus.sets import Set

PathLike = str | os.PathLike[str]
Columns = dict[str, NDArray[np.float64]]
Callback = Callable[[dict[str, Any]], bool | None]


@dataclass
class Run:
    """What a run measured. `columns` has one number per round and metric (`obolus list metrics`), NaN where none was
    taken; `x` and `y` are what the next round would commit; `summary` is that of `obolus run`.

    >>> import obolus
    >>> r = obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=20)
    >>> r.status, r.rounds, r.regret is not None
    ('finished', 20, True)
    """

    label: str
    columns: Columns
    summary: dict[str, Any]
    config: str = ""
    x: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    y: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    seed: int = 1
    folder: str | None = None

    @property
    def status(self) -> str:
        """finished, stopped or diverged."""
        return str(self.summary["status"])

    @property
    def rounds(self) -> int:
        """How many rounds it has done."""
        return int(self.summary["rounds"])

    @property
    def regret(self) -> float | None:
        """The regret after the last round, if it was measured."""
        found = self.columns.get("regret")
        return None if found is None or not len(found) else float(found[-1])

    def to_frame(self, library: str | None = None) -> Any:
        """The columns as a data frame of `library` (pandas, polars or pyarrow): unless given, of the one that is
        imported, or else installed."""
        from obolus.looking import frame_of

        return frame_of(self.columns, library)

    def _repr_html_(self) -> str:
        from obolus.looking import html_of

        return html_of([self])

    def __repr__(self) -> str:
        regret = "" if self.regret is None else f", regret {self.regret:.4g}"
        return f"<Run of {self.label}: {self.status} after {self.rounds} rounds{regret}>"


def run(
    optimiser: Optimiser,
    problem: Any,
    *,
    rounds: int = 1000,
    x0: ArrayLike | None = None,
    y0: ArrayLike | None = None,
    domain: Set | None = None,
    seed: int | None = None,
    metrics: Metrics | Mapping[str, Any] | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int = 1,
    every: int = 1,
    callback: Callback | None = None,
    progress: bool | None = None,
) -> Run:
    """Runs an optimiser on a problem: commit, reveal, measure, update, in every round.

    The same config and seed give the same bits as `obolus run`. `metrics` is an `obolus.Metrics` or a dict of its
    options; unless told, a problem of your own is not asked for what the regret and the variation need. `out` is a
    folder to write, as the command line's; `resume` goes on from one that was stopped, with the numbers of its rounds
    in `columns`, too. `every` keeps one round in so many. `callback` gets a dict of the numbers of each round that is
    kept and may return False to stop. Ctrl-C ends the round, saves to `out`, if given, and raises KeyboardInterrupt; a
    second one does not wait for the round. `seed` is the problem's own, or 1, unless given.

    >>> import obolus
    >>> r = obolus.run(obolus.F2obo(gamma=0.1), obolus.problems.Quadratic(dim_x=2, dim_y=3), rounds=50)
    >>> r.status, len(r.columns["f"])
    ('finished', 50)
    """
    text = start_section(x0, y0) + optimiser_and_domain(optimiser, domain)
    text += metrics_section(metrics, own=not isinstance(problem, BuiltIn)) + section("log", {"every": every})
    if isinstance(problem, BuiltIn):
        text = problem.problem_section(rounds=rounds, **({} if seed is None else {"seed": seed})) + text
    else:
        text = common_problem(problem, 1 if seed is None else seed, rounds, dtype_of(problem, x0, y0)) + text
    held = None if isinstance(problem, BuiltIn) else problem
    flags = flags_of(out, resume, force, threads)
    return run_text(text, os.getcwd(), [], held, flags, optimiser.name, every, callback, progress)


def run_config(
    config: PathLike,
    *,
    overrides: Mapping[str, Any] | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int = 1,
    every: int = 1,
    callback: Callback | None = None,
    progress: bool | None = None,
) -> Run:
    """Runs a config file, as `obolus run CONFIG.toml` does. `overrides` are {"section.key": value}, as its `--set`.

    >>> _ = Path("first.toml").write_text("[problem]\\nname = 'quadratic'\\n[optimiser]\\nname = 'f2obo'\\n")
    >>> run_config("first.toml", overrides={"problem.rounds": 30}).rounds
    30
    """
    path = Path(config)
    text = path.read_text(encoding="utf-8")
    settings = [f"{key}={toml_value(value)}" for key, value in (overrides or {}).items()]
    flags = flags_of(out, resume, force, threads)
    return run_text(text, str(path.resolve().parent), settings, None, flags, path.stem, every, callback, progress)


def read_run(folder: PathLike) -> Run:
    """What a run's folder holds, of the command line or of Python, finished or not; x and y stay in its checkpoint.

    >>> import obolus
    >>> r = obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=20, out="runs/first", force=True)
    >>> bool((read_run("runs/first").columns["f"] == r.columns["f"]).all())
    True
    """
    folder = Path(folder)
    config = (folder / "config.toml").read_text(encoding="utf-8")
    columns = columns_of_trace(folder)
    done = folder / "summary.json"
    last = int(columns["t"][-1]) if len(columns["t"]) else 0
    summary = json.loads(done.read_text(encoding="utf-8")) if done.exists() else {"status": "stopped", "rounds": last}
    seed = next(int(line.split()[2]) for line in config.splitlines() if line.startswith("seed = "))
    return Run(folder.name, columns, summary, config, seed=seed, folder=os.fspath(folder))


def columns_of_trace(folder: Path) -> Columns:
    """The rounds of a folder's trace; NaN where a round has no such number."""
    rows = []
    with (folder / "trace.jsonl").open(encoding="utf-8") as trace:
        for line in trace:
            if line.endswith("\n"):  # a program that was killed leaves a part of one
                row = json.loads(line)
                row.update(row.pop("evaluation", {}))
                rows.append({name: value for name, value in row.items() if not isinstance(value, list)})
    names = dict.fromkeys(["t", *(name for row in rows for name in row)])
    return {name: np.array([row.get(name, np.nan) for row in rows], dtype=np.float64) for name in names}


def joined(first: Columns, then: Columns) -> Columns:
    """Columns of earlier rounds before those of later ones."""
    if not len(then["t"]):
        return first
    before = first["t"] < then["t"][0]
    absent = np.full(int(before.sum()), np.nan), np.full(len(then["t"]), np.nan)
    return {
        name: np.concatenate([first[name][before] if name in first else absent[0], then.get(name, absent[1])])
        for name in dict.fromkeys([*first, *then])
    }


def flags_of(out: PathLike | None, resume: bool, force: bool, threads: int) -> dict[str, Any]:
    if resume and out is None:
        raise ValueError("resume: got no folder, expected the one to go on from as out=...")
    directory = "" if out is None else os.fspath(out)
    return {"directory": directory, "resume": resume, "force": force, "threads": threads, "about": about()}


def run_text(
    text: str, folder: str, settings: list[str], held: Any, flags: dict[str, Any], label: str, every: int,
    callback: Callback | None, progress: bool | None,
) -> Run:  # fmt: skip
    out = Path(flags["directory"]) if flags["directory"] else None
    earlier = columns_of_trace(out) if out and flags["resume"] and (out / "trace.jsonl").exists() else None
    with bar(progress, "rounds") as advance, deferred_interrupt() as pending:
        made = _native.run(text, folder, settings, held, flags, every, callback, advance, pending)
    summary = json.loads(made["summary"])
    if pending:
        saved = f" and saved; resume=True with out={str(out)!r} goes on" if out else ""
        raise KeyboardInterrupt(f"stopped after round {summary['rounds']} of {summary['horizon']}{saved}")
    columns = joined(earlier, made["columns"]) if earlier else made["columns"]
    return Run(
        label, columns, summary, made["config"], made["x"], made["y"], made["seed"], None if out is None else str(out)
    )


def start_section(x0: ArrayLike | None, y0: ArrayLike | None) -> str:
    return section("start", {"x": start_list(x0, "x0"), "y": start_list(y0, "y0")})
