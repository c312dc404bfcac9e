"""`obolus.torch.tune` beside plain training, fixed hyperparameters and Optuna, on two drifting streams.

    python3 bench/tune_torch.py [--seeds 1 2 3 4 5] [--only NAME]
    python3 bench/tune_torch.py --memory          # resident memory, each case in a process of its own

pictures    12 × 12 pictures of ten drifting classes from four sources and a few trusted ones; two of the sources flip
            most labels, and which ones changes. Tuned: a loss weight for each source and the label smoothing, judged by
            the trusted pictures before they are trained on. Inner optimiser: SGD with momentum. Score: % errors.
regression  80 features and a linear model; the coefficients drift, half of them vanish, and the noise jumps between
            0.3 and 8, so that the best weight decay changes by orders of magnitude. Tuned: a weight decay for each
            half, judged by each batch before it is trained on. Inner optimiser: Adam. Score: mean squared error of
            the prediction, without the noise.

Every method sees the same batches. The score is measured on fresh data before each round's training and averaged over
all rounds. "best fixed" is the best of the grid by this very score on the same stream, known only afterwards. Optuna
(TPE) gets tune's number of gradients: a quarter for the final run with the best trial, the others for trials on the
first quarter of the stream, compared by the validation loss. tune's cost counts its two gradients with respect to the
hyperparameters as whole ones. The streams, the grids and `step` of tune were chosen on seeds 101 to 103. Seeds 1 to
5 were run twice, the second time after a change of rounding in `tune`: with the same scores, and nothing was chosen in
between. Needs torch, NumPy and Optuna.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import obolus.torch

ROUNDS = 800
PHASE = 200
TRIALS = 12  # of ROUNDS / 4 each: with the final run four gradients a round, as tune has


@dataclass
class Round:
    train: Any
    judge: Any
    test: tuple[Tensor, Tensor]


@dataclass
class Task:
    """A stream with a model, its losses, and what there is to tune."""

    rounds: list[Round]
    model: Callable[[], tuple[nn.Module, torch.optim.Optimizer]]
    loss: Callable[..., Tensor]
    score: Callable[[nn.Module, tuple[Tensor, Tensor]], float]
    hyperparameters: dict[str, Any]
    grid: list[dict[str, Any]]
    suggest: Callable[[Any], dict[str, Any]]
    step: float  # of tune


def pictures(seed: int) -> Task:
    rng = np.random.default_rng(seed)
    classes, side, sources, each, trusted = 10, 12, 4, 8, 6
    blur = np.exp(-0.5 * (np.subtract.outer(np.arange(side), np.arange(side)) / 1.5) ** 2)
    ends = np.stack([[blur @ rng.normal(size=(side, side)) @ blur for _ in range(classes)] for _ in range(2)])
    ends /= ends.std(axis=(2, 3), keepdims=True)

    def draw(t: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        labels = rng.integers(classes, size=count)
        angle = np.pi * t / ROUNDS
        pictures = np.cos(angle) * ends[0, labels] + np.sin(angle) * ends[1, labels]
        return (0.5 * (pictures + 1.5 * rng.normal(size=pictures.shape))).reshape(count, -1).astype(np.float32), labels

    rounds = []
    for t in range(ROUNDS):
        if t % PHASE == 0:
            bad = rng.permutation(sources)[:2]
        seen, labels = draw(t, sources * each + trusted)
        source = np.repeat(np.arange(sources + 1), [each] * sources + [trusted])
        flipped = np.isin(source, bad) & (rng.random(len(labels)) < 0.8)
        labels = np.where(flipped, (labels + 1) % classes, labels)
        train = tuple(map(torch.as_tensor, (seen, labels, source)))
        judge = tuple(part[-trusted:] for part in train)
        test = draw(t, 100)
        rounds.append(Round(train, judge, (torch.as_tensor(test[0]), torch.as_tensor(test[1]))))

    def model() -> tuple[nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Linear(side * side, 64), nn.ReLU(), nn.Linear(64, classes))
        return network, torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9)

    def loss(network: nn.Module, batch: Any, h: Any = None) -> Tensor:
        seen, labels, source = batch
        scores = F.log_softmax(network(seen), 1)
        hit = -scores.gather(1, labels[:, None])[:, 0]
        if h is None:
            return hit.mean()
        smooth = (1 - h["smoothing"]) * hit - h["smoothing"] * scores.mean(1)
        weight = h["source"][source]
        return (weight * smooth).sum() / weight.sum().detach()

    def score(network: nn.Module, test: tuple[Tensor, Tensor]) -> float:
        return 100 * float((network(test[0]).argmax(1) != test[1]).float().mean())

    def suggest(trial: Any) -> dict[str, Any]:
        weights = [trial.suggest_float(f"source {i}", 0.03, 30, log=True) for i in range(sources + 1)]
        return {"source": weights, "smoothing": trial.suggest_float("smoothing", 0, 0.6)}

    start = {"source": obolus.torch.weights(sources + 1), "smoothing": obolus.torch.bounded(0.1, 0, 0.6)}
    grid = [{"source": [1, 1, 1, 1, w], "smoothing": s} for w in (1, 10, 30) for s in (0.0, 0.1, 0.3)]
    return Task(rounds, model, loss, score, start, grid, suggest, step=0.1)


def regression(seed: int) -> Task:
    rng = np.random.default_rng(seed)
    features, batch = 80, 16
    ends = rng.normal(size=(2, features))
    turn = 0.5 * np.pi / ROUNDS
    rounds = []
    for t in range(ROUNDS):
        if t % PHASE == 0:
            noise = (0.3, 8.0)[(t // PHASE) % 2]
        truth = 0.3 * (np.cos(turn * t) * ends[0] + np.sin(turn * t) * ends[1])
        truth[: features // 2] *= (t // PHASE) < 2
        seen = rng.normal(size=(batch + 64, features)).astype(np.float32)
        clean = (seen @ truth).astype(np.float32)[:, None]
        noisy = clean + noise * rng.normal(size=clean.shape).astype(np.float32)
        train = (torch.as_tensor(seen[:batch]), torch.as_tensor(noisy[:batch]))
        rounds.append(Round(train, None, (torch.as_tensor(seen[batch:]), torch.as_tensor(clean[batch:]))))

    def model() -> tuple[nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(seed)
        network = nn.Linear(features, 1)
        return network, torch.optim.Adam(network.parameters(), lr=3e-2)

    def loss(network: nn.Module, batch: Any, h: Any = None) -> Tensor:
        error = F.mse_loss(network(batch[0]), batch[1])
        if h is None:
            return error
        return error + (h["decay"] * network.weight.square().view(2, -1).sum(1)).sum()

    def score(network: nn.Module, test: tuple[Tensor, Tensor]) -> float:
        return float(F.mse_loss(network(test[0]), test[1]))

    def suggest(trial: Any) -> dict[str, Any]:
        return {"decay": [trial.suggest_float(f"decay {i}", 1e-4, 3, log=True) for i in range(2)]}

    grid = [{"decay": [decay, decay]} for decay in (1e-4, 1e-3, 1e-2, 1e-1, 3e-1, 1.0)]
    start = {"decay": obolus.torch.positive([1e-2, 1e-2], 1e-4, 3)}
    return Task(rounds, model, loss, score, start, grid, suggest, step=0.05)


def fixed(task: Task, values: dict[str, Any], rounds: int = ROUNDS) -> tuple[float, float, int]:
    """Score, mean validation loss and gradients of training with these hyperparameters."""
    network, optimiser = task.model()
    h = {name: torch.as_tensor(value, dtype=torch.float32) for name, value in values.items()}
    scores, judged = [], []
    for r in task.rounds[:rounds]:
        with torch.no_grad():
            scores.append(task.score(network, r.test))
            judged.append(float(task.loss(network, r.train if r.judge is None else r.judge)))
        optimiser.zero_grad()
        task.loss(network, r.train, h).backward()
        optimiser.step()
    return float(np.mean(scores)), float(np.mean(judged)), rounds


def plain(task: Task) -> tuple[float, int]:
    score, _, cost = fixed(task, {n: getattr(v, "value", v) for n, v in task.hyperparameters.items()})
    return score, cost


def best_fixed(task: Task) -> tuple[float, int]:
    runs = [fixed(task, values) for values in task.grid]
    return min(score for score, _, _ in runs), sum(cost for _, _, cost in runs)


def by_optuna(task: Task, seed: int) -> tuple[float, int]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: fixed(task, task.suggest(trial), ROUNDS // 4)[1], n_trials=TRIALS)
    score, _, cost = fixed(task, task.suggest(optuna.trial.FixedTrial(study.best_params)))
    return score, cost + TRIALS * (ROUNDS // 4)


def tuned(task: Task) -> tuple[float, int]:
    network, optimiser = task.model()
    tuner = obolus.torch.tune(
        network, task.loss, hyperparameters=task.hyperparameters, optimiser=optimiser, step=task.step
    )
    scores = []
    for r in task.rounds:
        with torch.no_grad():
            scores.append(task.score(network, r.test))
        tuner.step(r.train, r.judge)
    return float(np.mean(scores)), tuner.gradients


def memory_of(optimiser: str, warm_start: str | None, layers: int, width: int) -> int:
    """The peak of the resident memory, in bytes, over ten training steps of a perceptron; None: trained plainly."""
    torch.set_num_threads(1)
    network = nn.Sequential(*[nn.Linear(width, width) for _ in range(layers)])
    made = {"SGD": torch.optim.SGD, "momentum": torch.optim.SGD, "Adam": torch.optim.Adam}[optimiser]
    stepper = made(network.parameters(), lr=1e-6, **({"momentum": 0.9} if optimiser == "momentum" else {}))

    def loss(network: nn.Module, batch: Tensor, h: Any = None) -> Tensor:
        return (1.0 if h is None else h["scale"]) * F.mse_loss(network(batch), batch)

    start = {"scale": 1.0}
    tuner = obolus.torch.tune(network, loss, hyperparameters=start, optimiser=stepper, warm_start=warm_start or "tied")
    for batch in torch.randn(10, 32, width):
        if warm_start:
            tuner.step(batch)
        else:
            stepper.zero_grad()
            loss(network, batch, {"scale": torch.tensor(1.0)}).backward()
            stepper.step()
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory() -> None:
    """What a network's layers add to the peak with layers of one neuron, which loads the same libraries."""

    def measure(*case: Any) -> int:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            return pool.submit(memory_of, *case).result()

    print("| layers | inner optimiser | plain, MB | tied, MB | ratio | dual, MB | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for layers, width in ((4, 1500), (16, 750)):
        for optimiser in ("SGD", "momentum", "Adam"):
            plainly, *others = (
                measure(optimiser, way, layers, width) - measure(optimiser, way, layers, 1)
                for way in (None, "tied", "dual")
            )
            cells = " | ".join(f"{peak / 1e6:.0f} | {peak / plainly:.2f}" for peak in others)
            print(f"| {layers} of {width} × {width} | {optimiser} | {plainly / 1e6:.0f} | {cells} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--only", choices=["pictures", "regression"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    if arguments.memory:
        return memory()
    torch.set_num_threads(arguments.threads)
    methods: dict[str, Callable[[Task, int], tuple[float, int]]] = {
        "plain training": lambda task, seed: plain(task),
        "best fixed of a grid, in hindsight": lambda task, seed: best_fixed(task),
        "Optuna, equal cost": by_optuna,
        "`obolus.torch.tune`": lambda task, seed: tuned(task),
    }
    print("| stream | method | score, mean ± deviation | gradients a round | seconds |")
    print("|---|---|---|---|---|")
    for make in (pictures, regression):
        if arguments.only not in (None, make.__name__):
            continue
        tasks = {seed: make(seed) for seed in arguments.seeds}
        for name, method in methods.items():
            start = time.perf_counter()
            scores, costs = zip(*(method(task, seed) for seed, task in tasks.items()), strict=True)
            seconds = (time.perf_counter() - start) / len(tasks)
            spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
            cost = np.mean(costs) / ROUNDS
            print(f"| {make.__name__} | {name} | {np.mean(scores):.2f} ± {spread:.2f} | {cost:.1f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
