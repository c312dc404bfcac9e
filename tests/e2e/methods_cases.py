"""The combinations on which the program and methods_reference.py must agree.

Three families: every method with its own options on every set; every outer step on every set that
allows it, with methods in turn; and the penalty family by order, warm start, inner solver and λ rule.
Then one longer run a method, and one with defaults only. Dimensions, starts, γ and the rest are drawn
by a seeded generator.

Nothing here may hang on the last bit. CG has Q < d2 − 1 and a stream that moves, so that its residual
stays far from 1e-15 |f_y|; adaptive loops, backtracking and BOME's quotient get moving streams, too.
ZO-SOGD has d1 = d2 = 1: the sphere is {−1, 1} there, and the estimators do not see the sign.
"""

import itertools
import random

import cases
from cases import Case
from streams import drifting_stream, inner_smoothness, joint_smoothness

SETS = cases.SETS
SETS_WITH_LOGARITHM = ["simplex", "nonnegative", "positive_box"]
DIMENSIONS = [(1, 1), (2, 3), (3, 2), (4, 4), (1, 4), (5, 1)]
LARGE_DIMENSIONS = [(2, 5), (3, 6), (1, 7), (4, 5)]  # for CG with Q ≤ 3
LENGTHS = [13, 50, 7]  # rounds repeat, with remainder, or outlast the run
ROUNDS, LONG_ROUNDS = 40, 300

# An option that says "α" times a number here is made from the stream's stable step below.
CG = {"system_solver": "cg"}
GD = {"system_solver": "gd"}
FALLING_GAMMA = {"gamma": {"scale": 0.1, "power": -1.0 / 3.0}}
FALLING_ALPHA = {"alpha": ("α", {"scale": 1.0, "power": -0.1, "least": 0.5})}
VARIANTS = {
    "fsobo": [{}, {"v_step": ("α", 0.5)}, {"radius": 0.3}, FALLING_GAMMA | FALLING_ALPHA],
    "aobo": [
        {"system_steps": 3, "delta": 0.4},
        CG | {"system_steps": 2, "delta": 0.01, "radius": 0.4},
        CG | {"system_steps": {"scale": 1.0, "power": 0.5, "most": 3.0}, "max_inner": 3, "delta": 1e-3},
        GD | {"delta": {"scale": 0.5, "power": -0.5}},
        GD | {"system_steps": 2, "v_step": ("α", 0.7), "radius": 0.5, "delta": 1e-4, "max_inner": 25},
    ],
    "sobow": [
        {"system_steps": 3},
        CG | {"system_steps": 1, "window": 3},
        CG | {"system_steps": 2, "window": 7, "decay": 0.5, "radius": 0.5},
        GD | {"window": 3, "decay": 1.0},
        GD | {"window": 7, "system_steps": 3, "v_step": ("α", 0.5)},
    ],
    "oagd": [
        {"system_steps": 3},
        CG | {"system_steps": 2, "window": 1, "inner_steps": 1},
        CG | {"system_steps": 1, "window": 7, "decay": 0.5, "inner_steps": {"scale": 1.0, "power": 0.4}},
        {"system_solver": "neumann", "window": 3, "decay": 0.9, "L_g1": ("L", 0.8)},
        {"system_solver": "neumann", "system_steps": 3, "window": 7, "L_g1": ("L", 1.0), "inner_steps": 2},
        CG | {"system_steps": 2, "window": 3, "normalise": "stored", "decay": 0.5},
        {"system_solver": "neumann", "window": 5, "decay": 0.9, "L_g1": ("L", 1.0), "inner_on": "window",
         "normalise": "stored"},
    ],
    "obbo": [
        {},
        {"inner_steps": 1, "window": 3},
        {"inner_steps": 3, "window": 7},
        {"inner_steps": {"scale": 2.0, "log": True, "most": 6.0}, "window": 2} | FALLING_ALPHA,
    ],
    "sobbo": [
        {},
        {"window": 3, "samples": "fresh", "inner_steps": 3},
        {"window": 1, "samples": "round", "inner_steps": 1, "batch": 4},
        {"estimator": "neumann", "system_steps": 1, "window": 7, "L_g1": ("L", 1.0)},  # m̃ = 0 always
        {"estimator": "neumann", "system_steps": 1, "samples": "fresh", "L_g1": ("L", 0.7), "inner_steps": 2},
        {"window": 5, "samples": "given", "inner_steps": 2},
    ],
    "sogd": [
        {},
        {"momentum": 0.5, "v_step": ("α", 0.5)},
        {"momentum_x": 0.99, "momentum_y": 0.7, "momentum_v": {"scale": 1.0, "power": -0.1}, "radius": 0.4},
        {"momentum": {"scale": 1.0, "power": -0.2, "least": 0.4}, "y_step": ("α", 0.8)} | FALLING_GAMMA,
        {"alpha": ("α", 0.6), "x_step": 0.03, "gamma": None},
        {"momentum": 0.7, "samples": "given"},
    ],
    "zo_sogd": [
        {},
        {"directions": 4, "smoothing": 0.05, "smoothing_v": 0.03, "momentum": 0.8},
        {"smoothing": 0.2, "smoothing_v": 0.1, "radius": 0.3, "momentum_x": 0.5},
        {"directions": 2, "smoothing": 0.1, "smoothing_v": 0.05, "samples": "given"},
    ],
    "f2sa": [
        {},
        {"inner_steps": 3, "increment": 0.5, "warm_start": "tied"},
        {"inner_steps": 2, "increment": {"scale": 2.0, "power": -0.5}, "warm_start": "dual", "samples": "fresh"},
        {"beta_rule": "schedule", "beta": ("α", {"scale": 0.08, "power": -0.5}), "lambda1": 8.0},
        {"inner_steps": 2, "lambda1": 8.0, "samples": "given"},
    ],
    "f3sa": [
        {},
        {"momentum": 0.99, "increment": 0.2, "lambda1": 8.0},
        {"momentum": {"scale": 1.0, "power": -0.05}, "beta_rule": "schedule", "beta": ("α", 0.06)},
        {"momentum": 0.95, "lambda1": 8.0, "samples": "given"},
    ],
    "bome": [
        {},
        {"inner_steps": 2, "eta": 0.9, "y_step": ("α", 0.5)},
        {"inner_steps": 10, "eta": 0.2, "y_step": ("α", {"scale": 0.4, "power": -0.1})},
    ],
    "pbgd": [
        {"lambda1": 5.0, "gamma": 0.02},
        {"y_step": ("α", 0.08), "gamma": 0.02},
        {"y_step": ("α", {"scale": 0.1, "power": -0.3}), "lambda1": 8.0, "tau": 0.25, "inner_steps": 2,
         "gamma": 0.02},
    ],
    "fsobo_fd": [{}, {"v_step": ("α", 0.5), "radius": 0.3}],
    "aobo_fd": [{"system_steps": 3}, GD | {"delta": 0.01, "system_steps": 3}],
    "wobo": [  # the repeated outer steps are in tests/optimisers/wobo_test.cpp: here the run loop takes the step
        {"system_steps": 3},
        CG | {"system_steps": 2, "window": 3, "inner_steps": 2, "normalise": "stored", "radius": 0.5},
        GD | {"window": 7, "system_steps": 3, "v_step": ("α", 0.5)},
        GD | {"window": 2, "system_steps": 1, "inner_steps": {"scale": 1.0, "power": 0.4}},
    ],
}  # fmt: skip
NO_ALPHA = ("sogd", "zo_sogd")
ORDERS = [1, 2, 3, 4, 5]
REACH = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3}  # the largest |j| of the stencil
PENALTY_ALGORITHMS = ["f2obo", "af2obo", "sf2obo"]


# --------------------------------------------------------------------------------------------------
# Sections
# --------------------------------------------------------------------------------------------------


def domain(name, d1):
    if name == "positive_box":
        return {"set": "box", "lower": 0.05, "upper": [0.6 + 0.1 * i for i in range(d1)]}
    return cases.domain(name, d1)


def positive_start(rng, d1):
    """x_1 > 0, as logarithms need, also after the projection onto the simplex."""
    return rng.choice([{"x": 0.3}, {"x": [0.2 + 0.1 * i for i in range(d1)], "y": 0.4}])


def stable_step(stream):
    """Below 1/(|A| + |j| L_f1/λ) with L_f1 ≤ w + |s| < 1.9 and λ ≥ 5|j|: every inner step contracts."""
    return round(0.9 / (inner_smoothness(stream) + 0.38), 4)


def in_units(value, stream):
    """("α", 0.5) is half the stable step, ("L", 1.0) the bound of |A|; a table has its bounds scaled, too."""
    if not isinstance(value, tuple):
        return value
    unit = stable_step(stream) if value[0] == "α" else round(inner_smoothness(stream), 3)
    if isinstance(value[1], dict):
        return {k: v * unit if k in ("scale", "least", "most") else v for k, v in value[1].items()}
    return value[1] * unit


def optimiser(rng, name, variant, stream):
    options = {"name": name, "gamma": rng.choice([0.05, 0.1, 0.02])}
    step = "y_step" if name in NO_ALPHA and "alpha" not in variant else "alpha"
    options |= {step: stable_step(stream)}
    if name in NO_ALPHA:
        options["v_step"] = stable_step(stream)
    options |= {key: in_units(value, stream) for key, value in variant.items()}
    return {key: value for key, value in options.items() if value is not None}


def dimensions(rng, name, variant):
    if name == "zo_sogd":
        return 1, 1
    uses_cg = name in ("aobo", "sobow", "oagd", "aobo_fd", "wobo") and variant.get("system_solver", "cg") == "cg"
    return rng.choice(LARGE_DIMENSIONS if uses_cg else DIMENSIONS)


def config_of(rng, optimiser_section, domain_section, start, rounds=ROUNDS):
    config = {
        "problem": {"name": "quadratic_file", "path": "stream.json", "rounds": rounds},
        "start": start,
        "optimiser": optimiser_section,
        "domain": domain_section,
        "log": {"vectors": True},
    }
    if rng.random() < 0.75:  # else the regret's γ is the optimiser's of round 1
        config["metrics"] = {"gamma": rng.choice([0.05, 0.3, 0.01])}
    return config


# --------------------------------------------------------------------------------------------------
# The families
# --------------------------------------------------------------------------------------------------


def method_cases():
    """Every variant on every set."""
    for place, (name, variants) in enumerate(VARIANTS.items()):
        for number, variant in enumerate(variants):
            for turn, set_name in enumerate(SETS):
                seed = 100_000 + 1000 * place + 10 * number + turn
                rng = random.Random(seed)
                d1, d2 = dimensions(rng, name, variant)
                stream = drifting_stream(seed, d1, d2, rng.choice(LENGTHS))
                section = optimiser(rng, name, variant, stream)
                config = config_of(rng, section, domain(set_name, d1), cases.start(rng, d1, d2))
                yield Case(f"{name} variant {number} {set_name} d1={d1} d2={d2}", stream, config)


def outer_options(rng, name):
    options = {"outer_step": name}
    if name != "euclidean" and rng.random() < 0.5:
        options |= {"outer_decay": 0.8, "outer_epsilon": 1e-3}
    if name == "log_adam" and rng.random() < 0.5:
        options["outer_decay2"] = 0.95
    if name == "euclidean" or rng.random() < 0.5:
        options["shrinkage"] = rng.choice([0.1, 0.02])
    return options


def outer_cases():
    """Every outer step on every set that allows it, three times, the methods in turn."""
    pairs = [(step, name) for step in ("euclidean", "diagonal") for name in SETS]
    pairs += [(step, name) for step in ("entropy", "log_adam") for name in SETS_WITH_LOGARITHM]
    names = itertools.cycle([*VARIANTS, *PENALTY_ALGORITHMS, "f2obo_sl"])
    for index, (step, set_name) in enumerate(pairs * 3):
        rng, name = random.Random(200_000 + index), next(names)
        variant = VARIANTS.get(name, [{"lambda1": 8.0, "tau": 0.5}])[0]
        d1, d2 = (1, 1) if name == "zo_sogd" else rng.choice(LARGE_DIMENSIONS + [(5, 5)])
        stream = drifting_stream(200_000 + index, d1, d2, rng.choice(LENGTHS))
        section = optimiser(rng, name, variant, stream) | {"gamma": rng.choice([0.05, 0.02])}
        outer = outer_options(rng, step)
        if name in ("obbo", "sobbo"):
            outer["geometry"] = outer.pop("outer_step")
        start = positive_start(rng, d1) if step in ("entropy", "log_adam") else cases.start(rng, d1, d2)
        config = config_of(rng, section | outer, domain(set_name, d1), start)
        yield Case(f"{name} {step} {set_name} d1={d1} d2={d2} #{index}", stream, config)


def penalty_section(rng, algorithm, order, warm_start, stream):
    options = {
        "name": algorithm,
        "alpha": stable_step(stream),
        "gamma": rng.choice([0.05, 0.1, 0.02]),
        "lambda1": 8.0 * REACH[order],  # g − |j|f/λ stays convex
        "tau": rng.choice([1.0, 0.5, 1.0 / 3.0, 0.0]),
        "order": order,
        "warm_start": warm_start,
    }
    if algorithm == "af2obo":
        tolerance, cap = rng.choice([(1e-2, 200), (2.0, 4), (1e-4, 25)])
        options |= {"delta_y": tolerance, "delta_z": tolerance / 4.0, "max_inner": cap}
        if tolerance > 1.0:  # d is off by δ-sized errors: x must not run away with them
            options |= {"gamma": 0.02, "tau": 0.25}
        if rng.random() < 0.3:
            options["delta_y"] = {"scale": tolerance, "power": -0.5}
    else:
        options["inner_steps"] = rng.choice([5, 1, 3])
    if algorithm == "sf2obo":
        options["samples"] = rng.choice(["round", "fresh"])
    return options


def penalty_case(index, algorithm, order, warm_start, changes):
    rng = random.Random(300_000 + index)
    d1, d2 = rng.choice(DIMENSIONS)
    stream = drifting_stream(300_000 + index, d1, d2, rng.choice(LENGTHS))
    section = penalty_section(rng, algorithm, order, warm_start, stream)
    section |= {key: in_units(value, stream) for key, value in changes(rng).items()}
    if section.get("beta_rule") == "theory":
        section["L_g1"] = round(joint_smoothness(stream), 3)
    set_name = rng.choice(SETS)
    config = config_of(rng, section, domain(set_name, d1), cases.start(rng, d1, d2))
    told = " ".join(str(section.get(key, "-")) for key in ("inner_solver", "lambda_rule", "beta_rule"))
    return Case(f"{algorithm} order {order} {warm_start} {told} {set_name} d1={d1} d2={d2} #{index}", stream, config)


def some_beta(rng):
    if rng.random() < 0.7:
        return {}
    return {"beta_rule": "theory", "gamma": 0.01, "tau": 0.0}  # y slower than z: λ(y − z) must not run away


def some_backtracking(rng):
    """First steps that are refused, and such as may grow."""
    return {"inner_solver": "backtracking", "alpha": ("α", rng.choice([5.0, 0.2]))}


def penalty_cases():
    families = [
        (cases.WARM_STARTS, some_beta),
        (cases.WARM_STARTS[:2], lambda rng: {"inner_solver": "nesterov"}),
        (cases.WARM_STARTS[1:], some_backtracking),
        (cases.WARM_STARTS[::2], lambda rng: {"lambda_rule": "balance", "balance": rng.choice([1.0, 100.0, 1e4]),
                                              "tau": rng.choice([1.0, 0.5])}),
        (["dual"], lambda rng: {"inner_solver": "backtracking", "lambda_rule": "balance", "balance": 1e3, "tau": 0.75}),
    ]  # fmt: skip
    number = itertools.count()
    for warm_starts, changes in families:
        for algorithm, order, warm_start in itertools.product(PENALTY_ALGORITHMS, ORDERS, warm_starts):
            yield penalty_case(next(number), algorithm, order, warm_start, changes)


HEAVY = {"inner_momentum": 0.5, "inner_weight_decay": 0.2, "outer_momentum": 0.4, "outer_weight_decay": 0.1}
SHAPES = [
    {},
    {"alpha": ("α", {"scale": 1.0, "warmup": 5, "at": [12, 25], "factor": 0.5}),
     "gamma": {"scale": 0.02, "from": 6, "warmup": 4, "at": [20, 30], "values": [0.01, 0.005]}},
    {"alpha": ("α", {"scale": 1.0, "cosine": 30, "floor": 0.2}), "gamma": {"scale": 0.02, "cosine": 35}},
]  # fmt: skip


def heavy_cases():
    """Momentum, weight decay and shaped schedules, of every method whose inner steps may have them."""
    light = ("sogd", "zo_sogd", "f3sa", "bome", "pbgd")
    names = [name for name in [*VARIANTS, *PENALTY_ALGORITHMS, "f2obo_sl"] if name not in light]
    for index, (name, shape) in enumerate(itertools.product(names, SHAPES)):
        rng = random.Random(600_000 + index)
        d1, d2 = rng.choice(LARGE_DIMENSIONS)
        stream = drifting_stream(600_000 + index, d1, d2, rng.choice(LENGTHS))
        variant = VARIANTS.get(name, [{"lambda1": 8.0, "tau": 0.25}])[0]
        section = optimiser(rng, name, variant | shape, stream) | HEAVY
        if not shape:
            section["gamma"] = 0.02
        if name in (*PENALTY_ALGORITHMS, "f2obo_sl", "f2sa"):
            section["warm_start"] = cases.WARM_STARTS[index % 3]
        if name in PENALTY_ALGORITHMS:
            section["order"] = 1 + index % 2
        set_name = rng.choice(SETS)
        config = config_of(rng, section, domain(set_name, d1), cases.start(rng, d1, d2))
        config["metrics"] = {"gamma": 0.05}  # γ_1 may be 0
        yield Case(f"{name} heavy {set_name} d1={d1} d2={d2} #{index}", stream, config)


LONG_PENALTY = {
    "f2obo": {"order": 3, "inner_solver": "nesterov", "lambda1": 16.0, "tau": 0.5},
    "af2obo": {"order": 2, "inner_solver": "backtracking", "lambda1": 8.0, "delta_y": 0.05, "delta_z": 0.01},
    "sf2obo": {"order": 4, "lambda_rule": "balance", "balance": 100.0, "lambda1": 16.0, "tau": 0.75},
}


def long_runs():
    """300 rounds of every method: windows full, λ grown, the rounds repeated some thirty times."""
    for place, name in enumerate([*VARIANTS, *LONG_PENALTY]):
        rng = random.Random(400_000 + place)
        d1, d2 = (1, 1) if name == "zo_sogd" else (3, 5)
        stream = drifting_stream(400_000 + place, d1, d2, 11)
        variant = LONG_PENALTY.get(name) or VARIANTS[name][-1]
        section = optimiser(rng, name, variant, stream)
        if "x_step" not in section:
            section["gamma"] = 0.02
        box = {"set": "box", "lower": -1.0, "upper": [1.0, 0.5, 0.25][:d1]}
        config = config_of(rng, section, box, {"x": 0.1, "y": 0.0}, LONG_ROUNDS)
        yield Case(f"{name} long run", stream, config)


def default_cases():
    """Nothing but the name: the defaults themselves. CG's Q = 5 wants d2 > 6."""
    for place, name in enumerate([*VARIANTS, *PENALTY_ALGORITHMS, "f2obo_sl"]):
        d1, d2 = (1, 1) if name == "zo_sogd" else (2, 8)
        stream = drifting_stream(500_000 + place, d1, d2, 13)
        config = config_of(random.Random(place), {"name": name}, {"set": "all"}, {"x": 0.2, "y": -0.5})
        yield Case(f"{name} by default", stream, config)


def all_cases():
    yield from default_cases()
    yield from method_cases()
    yield from outer_cases()
    yield from penalty_cases()
    yield from heavy_cases()
    yield from long_runs()
