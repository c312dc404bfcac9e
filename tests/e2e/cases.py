"""The combinations on which the program and the reference must agree.

Every algorithm × set × warm start × β rule once (126 combinations), with dimensions, starts, τ, γ
and tolerances drawn by a seeded generator so that they meet in many ways; then a few longer runs.
"""

import itertools
import random
from dataclasses import dataclass

from streams import drifting_stream, inner_smoothness, joint_smoothness

ALGORITHMS = ["f2obo", "f2obo_sl", "af2obo", "sf2obo"]
SETS = ["all", "box", "box_per_coordinate", "l2_ball", "l1_ball", "simplex", "nonnegative"]
WARM_STARTS = ["separate", "tied", "dual"]
BETA_RULES = ["alpha/lambda", "theory"]
DIMENSIONS = [(1, 1), (2, 3), (3, 2), (4, 4), (1, 4), (5, 1), (6, 3)]
LENGTHS = [13, 1, 50, 7]  # 40 rounds: with remainder, static, longer than the run, with remainder
ROUNDS = 40


@dataclass
class Case:
    name: str
    stream: dict
    config: dict


def domain(name, d1):
    """A [domain] section; the sets are small enough for the projections to bite."""
    if name == "box":
        return {"set": "box", "lower": -0.3, "upper": 0.25}
    if name == "box_per_coordinate":
        lower = [-0.4 + 0.1 * i for i in range(d1)]
        return {"set": "box", "lower": lower, "upper": [low + 0.2 + 0.1 * i for i, low in enumerate(lower)]}
    if name in ("l2_ball", "l1_ball"):
        return {"set": name, "radius": 0.4}
    return {"set": name}


def start(rng, d1, d2):
    """Default, numbers or arrays; some of the starts lie outside the set and are projected."""
    return rng.choice(
        [
            {},
            {"x": 0.2, "y": -0.5},
            {"x": [1.5 - 0.9 * i for i in range(d1)], "y": [0.3 * (-1) ** j for j in range(d2)]},
            {"x": -0.7},
        ]
    )


def optimiser(rng, algorithm, warm_start, beta_rule, stream):
    """An [optimiser] section whose inner steps are stable on the stream."""
    options = {
        "name": algorithm,
        # Below 1/(|A| + L_f1/λ) with L_f1 ≤ w + |s| < 1.9 and λ ≥ 5: both inner steps contract.
        "alpha": round(0.9 / (inner_smoothness(stream) + 0.38), 4),
        "beta_rule": beta_rule,
        "gamma": rng.choice([0.05, 0.1, 0.02]),
        "lambda1": rng.choice([5.0, 8.0]),
        "tau": rng.choice([1.0, 0.5, 1.0 / 3.0, 0.75, 0.0]),
    }
    if warm_start != "separate" or rng.random() < 0.5:  # separate is also the default
        options["warm_start"] = warm_start
    if beta_rule == "theory":
        options["L_g1"] = round(joint_smoothness(stream), 3)
    if algorithm == "sf2obo":
        options["samples"] = rng.choice(["round", "fresh"])
    if algorithm in ("f2obo", "sf2obo"):
        options["inner_steps"] = rng.choice([5, 1, 3, 10])
    if algorithm == "af2obo":
        tolerance, cap = rng.choice([(1e-3, 200), (0.5, 4), (1e-6, 25)])
        options |= {"delta_y": tolerance, "delta_z": tolerance / 4.0, "max_inner": cap}
    return options


def combination(index, algorithm, set_name, warm_start, beta_rule):
    rng = random.Random(500 + index)
    d1, d2 = rng.choice(DIMENSIONS)
    stream = drifting_stream(1000 + index, d1, d2, rng.choice(LENGTHS))
    config = {
        "problem": {"name": "quadratic_file", "path": "stream.json", "rounds": ROUNDS},
        "start": start(rng, d1, d2),
        "optimiser": optimiser(rng, algorithm, warm_start, beta_rule, stream),
        "domain": domain(set_name, d1),
        "log": {"vectors": True},
    }
    if beta_rule == "theory" and set_name in ("all", "nonnegative"):
        # z takes longer steps than y (α > λβ), so d holds λ(y − z) of size λ and x runs away where no
        # bound stops it, as it should; a small γ and a slowly growing λ keep these cases comparable.
        config["optimiser"] |= {"gamma": 0.01, "tau": rng.choice([0.0, 0.25])}
    if rng.random() < 0.75:  # else the regret's γ is the optimiser's
        config["metrics"] = {"gamma": rng.choice([0.05, 0.3, 0.01])}
    if set_name == "all" and rng.random() < 0.5:  # the whole space is also the default
        del config["domain"]
    name = f"{algorithm} {set_name} {warm_start} {beta_rule} d1={d1} d2={d2} #{index}"
    return Case(name, stream, config)


def long_run(algorithm, warm_start):
    """600 rounds: λ grows to 3,000 at τ = 1, the rounds repeat some fifty times."""
    stream = drifting_stream(7, 3, 4, 11)
    options = optimiser(random.Random(0), algorithm, warm_start, "alpha/lambda", stream)
    options |= {"gamma": 0.05, "lambda1": 5.0, "tau": 1.0}
    if algorithm == "af2obo":
        options |= {"delta_y": 1e-2, "delta_z": 1e-4, "max_inner": 200}
    config = {
        "problem": {"name": "quadratic_file", "path": "stream.json", "rounds": 600},
        "start": {"x": 0.1, "y": 0.0},
        "optimiser": options,
        "domain": {"set": "box", "lower": -1.0, "upper": [1.0, 0.5, 0.25]},  # a number and an array
        "metrics": {"gamma": 0.05},
        "log": {"vectors": True},
    }
    return Case(f"{algorithm} {warm_start} long run", stream, config)


def all_cases():
    product = itertools.product(ALGORITHMS, SETS, WARM_STARTS, BETA_RULES)
    yield from (combination(index, *choice) for index, choice in enumerate(product))
    yield from itertools.starmap(long_run, itertools.product(ALGORITHMS, WARM_STARTS))
