"""Runs to look at: data frames, plots, the picture of a notebook, and the report of the command line."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from obolus.comparisons import Comparison
    from obolus.runs import Run

FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame_of(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """A data frame of the library named, else of the first that is imported, else of the first that is installed."""
    if library is not None and library not in FRAMES:
        raise ValueError(f"library: got {library!r}, expected one of {', '.join(FRAMES)}")
    for name in [library] if library else sorted(FRAMES, key=lambda name: name not in sys.modules):
        if library or find_spec(name):
            return getattr(import_module(name), FRAMES[name])(dict(columns))
    raise ImportError("to_frame: needs pandas, polars or pyarrow; `columns` has the same numbers as NumPy arrays")


def stacked(runs: Sequence[Run]) -> dict[str, Any]:
    """The columns of several runs, one below the other; NaN where a run has no such column."""
    names = list(dict.fromkeys(name for run in runs for name in run.columns))
    lengths = [len(run.columns["t"]) for run in runs]
    absent = [np.full(n, np.nan) for n in lengths]
    found: dict[str, Any] = {
        "label": [run.label for run, n in zip(runs, lengths) for _ in range(n)],
        "seed": [run.seed for run, n in zip(runs, lengths) for _ in range(n)],
    }
    for name in names:
        found[name] = np.concatenate([run.columns.get(name, none) for run, none in zip(runs, absent)])
    return found


def runs_of(what: Run | Comparison | Sequence[Run]) -> list[Run]:
    if hasattr(what, "columns"):
        return [what]  # type: ignore[list-item]
    return list(getattr(what, "runs", what))  # type: ignore[arg-type]


def plot(what: Run | Comparison | Sequence[Run], column: str | None = None, *, ax: Any = None, **options: Any) -> Any:
    """Draws a column over the rounds with matplotlib: the regret where it was measured, else f. Runs of one label share
    a colour. Returns the axes.

    >>> import obolus, matplotlib; matplotlib.use("Agg")
    >>> r = obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=20)
    >>> obolus.plot(r).get_ylabel()
    'regret'
    """
    import matplotlib.pyplot as plt

    runs = runs_of(what)
    if column is None:
        column = "regret" if all("regret" in run.columns for run in runs) else "f"
    if ax is None:
        _, ax = plt.subplots()
    colours: dict[str, str] = {}
    for run in runs:
        if column not in run.columns:
            raise ValueError(f"column: got {column!r}, expected one of {', '.join(run.columns)}")
        label = run.label if run.label not in colours else None
        colour = colours.setdefault(run.label, f"C{len(colours) % 10}")
        there = np.isfinite(run.columns[column])
        ax.plot(run.columns["t"][there], run.columns[column][there], **{"color": colour, "label": label, **options})
    ax.set_xlabel("round t")
    ax.set_ylabel(column)
    if len(colours) > 1:
        ax.legend()
    return ax


def html_of(runs: Sequence[Run]) -> str:
    """A table of the runs' last numbers, below a chart if matplotlib is there."""
    picture = chart(runs) if find_spec("matplotlib") else ""
    names = [n for n in ("f", "g", "regret", "grad_f", "grad_g", "hvp", "seconds") if any(n in r.columns for r in runs)]
    head = "".join(f"<th>{name}</th>" for name in ["", "seed", "status", "rounds", *names])
    rows = []
    for run in runs:
        last = [f"{run.columns[n][-1]:.5g}" if n in run.columns and len(run.columns[n]) else "" for n in names]
        rounds = int(run.columns["t"][-1]) if len(run.columns["t"]) else 0
        cells = [html.escape(run.label), str(run.seed), run.status, str(rounds), *last]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"{picture}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def chart(runs: Sequence[Run]) -> str:
    import io

    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    FigureCanvasSVG(figure)
    plot(runs, ax=figure.subplots())
    text = io.StringIO()
    figure.savefig(text, format="svg")
    return text.getvalue().partition("<svg")[1] + text.getvalue().partition("<svg")[2]


def program() -> str:
    """The command line program that came with the package."""
    beside = Path(sysconfig.get_path("scripts")) / "obolus"
    found = str(beside) if beside.exists() else shutil.which("obolus")
    if not found:
        raise FileNotFoundError("the program `obolus` is neither beside this Python nor on the PATH")
    return found


def report(*folders: str | os.PathLike[str], out: str | os.PathLike[str] = "report.html") -> Path:
    """Writes the one-file HTML report of folders that runs, comparisons or fits wrote (`out=` of theirs).

    >>> import obolus
    >>> _ = obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=20, out="runs/first")
    >>> obolus.report("runs/first").name
    'report.html'
    """
    if not folders:
        raise ValueError("report: got no folder, expected those that runs wrote with out=...")
    command = [program(), "report", *(os.fspath(folder) for folder in folders), "--out", os.fspath(out)]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr.strip())
    return Path(out)
