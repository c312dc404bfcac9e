"""Ours beside boat-torch, torchopt and benchmark_bilevel's F2SA and SOBA, on two drifting bilevel streams.

    pip install -r bench/requirements-bilevel.txt
    git clone https://github.com/benchopt/benchmark_bilevel
    python3 bench/bilevel_peers.py --benchmark-bilevel benchmark_bilevel

The streams stand in bilevel_problems.py, the methods in bilevel_methods.py. Everybody sees the same rounds and starts
at the same x and y, in double precision on one thread, and takes steps as long as it has spent less than BUDGET
gradients a round (bilevel_methods.py says what counts as one). At every fifth round, outside the clock, the exact
hypergradient ∇F_t at the committed x_t: `regret` is the mean of |∇F_t(x_t)|², the bilevel local regret per round, and
`F` the mean of F_t(x_t). Step sizes are the best of twenty pairs by regret on seeds 101 and 102, for every method; a
star marks a pair at the edge of the grid. The figures are those of seeds 11 to 15. Streams, bounds and methods were
settled on seeds 1 to 3 and those that choose; after that, 11 to 15 were run once.

Ours are F²OBO in two forms and FSOBO with default options but constant λ = 10, on the same torch losses as the torch
peers; and again, at the step sizes found, on the JAX losses that F2SA and SOBA have, and on gradients in NumPy.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from bilevel_methods import BOAT, BenchmarkBilevel, Boat, Implicit, Ours, Unrolled, counted, quietly  # noqa: E402
from bilevel_problems import NUMPY, ROUNDS, Cleaning, Ridge, Stream, start_of  # noqa: E402

import obolus  # noqa: E402

BUDGET, EVERY = 12, 5
CHOOSE, REPORT = (101, 102), (11, 12, 13, 14, 15)
LAMBDA = {"lambda1": 10.0, "tau": 0.0}

Make = Callable[[Stream, tuple[float, float]], Any]


class Still:
    """x stays at its start."""

    def __init__(self, stream: Stream, sizes: tuple[float, float]) -> None:
        self.x, self.spent = stream.x0, 0

    def reveal(self, t: int) -> None:
        pass

    def step(self) -> None:
        self.spent += BUDGET


def torch_peer(kind: Any, *rest: Any) -> Make:
    costs: dict[str, int] = {}

    def make(stream: Stream, sizes: tuple[float, float]) -> Any:
        if stream.name not in costs:
            costs[stream.name] = counted(kind, stream, sizes, *rest)
        return kind(stream, sizes, costs[stream.name], lambda a: a, *rest)

    return make


def methods(bilevel: bool) -> dict[str, tuple[Make, tuple[float, float]]]:
    """By name: how to make one, and by how much its step sizes differ from the grid's.

    PGDO divides its loss by its multiplier, 10; MESO's by (k + 1)^¼/5, which is about 1.
    """
    plain = (1.0, 1.0)
    table: dict[str, tuple[Make, tuple[float, float]]] = {
        "x held still": (Still, plain),
        "**Obolus** F²OBO, 3 inner steps": (partial(Ours, name="F2obo", inner_steps=3, **LAMBDA), plain),
        "**Obolus** F²OBO-SL": (partial(Ours, name="F2oboSl", **LAMBDA), plain),
        "**Obolus** FSOBO": (partial(Ours, name="Fsobo"), plain),
    }
    for name, choice in BOAT.items():
        table[f"boat-torch {name}"] = (torch_peer(Boat, choice), (1.0, 10.0 if "PGDO" in name else 1.0))
    table["torchopt implicit, 2 steps and 3"] = (torch_peer(Implicit), plain)
    table["torchopt unrolled, 3 steps"] = (torch_peer(Unrolled), plain)
    for name in ("SOBA", "F2SA") if bilevel else ():
        for constant in (True, False):
            label = f"benchmark_bilevel {name}, {'constant' if constant else 'its decreasing'} steps"
            # Decreasing as a/t^½ or a/t^(4/7): after a third of the rounds a tenth is left.
            table[label] = (partial(BenchmarkBilevel, name=name, constant=constant), plain if constant else (3.0, 10.0))
    return table


def run(make: Make, stream: Stream, sizes: tuple[float, float]) -> tuple[float, float, float, float]:
    """Regret and F, both per round, gradients per round and seconds; infinite if it diverges."""
    lost = (np.inf, np.inf, np.nan, np.nan)
    regret, values, seconds, y = [], [], 0.0, stream.y0
    f = stream.losses(NUMPY)[0]
    try:
        once = make(stream, sizes)  # compiles; JAX does so for the second step again
        for t in (1, 2):
            once.reveal(t)
            once.step()
        method = make(stream, sizes)
        for t in range(1, ROUNDS + 1):
            x = np.asarray(method.x)
            if not np.all(np.isfinite(x)):
                return lost
            if t % EVERY == 0:
                y = stream.solution(x, y, start_of(t))
                values.append(float(f(x, y, start_of(t))))
                regret.append(float(np.sum(stream.hypergradient(x, y, start_of(t)) ** 2)))
            begin = time.perf_counter()
            method.reveal(t)
            while method.spent < BUDGET * t:
                method.step()
            seconds += time.perf_counter() - begin
    except (ArithmeticError, obolus.DivergedError, obolus.ProblemError):
        return lost
    return float(np.mean(regret)), float(np.mean(values)), method.spent / ROUNDS, seconds


def chosen(make: Make, streams: list[Stream], scale: tuple[float, float]) -> tuple[tuple[float, float], bool]:
    """The step sizes of least regret, and whether they are at the edge of the grid."""
    inner, outer = streams[0].inner_steps, streams[0].outer_steps
    pairs = list(product(inner, outer))
    scores = [
        np.mean([run(make, stream, (a * scale[0], b * scale[1]))[0] for stream in streams]) for a, b in pairs
    ]
    a, b = pairs[int(np.argmin(scores))]
    edge = a in (inner[0], inner[-1]) or b in (outer[0], outer[-1])
    return (a * scale[0], b * scale[1]), edge


def line(name: str, make: Make, streams: list[Stream], sizes: tuple[float, float], edge: bool) -> None:
    rows = np.array([run(make, stream, sizes) for stream in streams])
    (regret, value, gradients, seconds), spread = rows.mean(0), rows[:, 0].std(ddof=1)
    each = 1e6 * seconds / (gradients * ROUNDS)
    steps = f"{sizes[0]:g}, {sizes[1]:g}{'*' if edge else ''}" if sizes[1] else "–"
    print(
        f"| {name} | {steps} | {1e3 * regret:.3f} ± {1e3 * spread:.3f} | "
        f"{value:.4f} | {gradients:.1f} | {seconds:.2f} | {each:.0f} |",
        flush=True,
    )


def table(kind: type[Stream], bilevel: bool) -> None:
    print(f"\n### {kind.name}\n")
    print("| method | inner, outer step | 1000 × regret | F | gradients a round | seconds | µs per gradient |")
    print("|---|---|---:|---:|---:|---:|---:|")
    choose, report = [kind(seed) for seed in CHOOSE], [kind(seed) for seed in REPORT]
    again: list[tuple[str, Make, tuple[float, float], bool]] = []
    for name, (make, scale) in methods(bilevel).items():
        if make is Still:
            line(name, make, report, (0.0, 0.0), False)
            continue
        sizes, edge = quietly(lambda make=make, scale=scale: chosen(make, choose, scale))
        line(name, make, report, sizes, edge)
        if name.endswith("F²OBO-SL"):
            again = [(f"{name}, {way}", partial(make, way=way), sizes, edge) for way in ("JAX", "NumPy")]
    for name, make, sizes, edge in again:
        line(name, make, report, sizes, edge)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmark-bilevel", type=Path, metavar="DIR", help="a checkout; it is not on PyPI")
    parser.add_argument("--only", choices=["cleaning", "ridge"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    BenchmarkBilevel.folder = arguments.benchmark_bilevel
    names = ("boat-torch", "torchopt", "benchopt", "torch", "jax", "numpy")
    print(", ".join(f"{name} {version(name)}" for name in names))
    if not arguments.benchmark_bilevel:
        print("F2SA and SOBA are left out: give --benchmark-bilevel DIR, a checkout of benchmark_bilevel")
    for kind in (Cleaning, Ridge):
        if arguments.only in (None, kind.name):
            table(kind, bool(arguments.benchmark_bilevel))


if __name__ == "__main__":
    main()
