"""A slow, independent reference for every optimiser and option of the program on `quadratic_file` streams.

reference.py is the same for the paper's algorithms alone, typed a second time; where the two meet they
must agree (methods_reference_test.py). Not one line of the C++ program was read.

    rows = trajectory(stream, config)            # without noise
    rows = trajectory(stream, config, seed)      # with random.Random(seed) behind samples and draws

`stream` is the parsed stream.json, `config` the parsed config.toml; a row is a dict with the fields of
trace.jsonl (all but the distances and `seconds`).
"""

import math
import random

import outer_steps
from hvp_methods import Aobo, AoboFd, Fsobo, FsoboFd, Oagd, Obbo, Sobbo, Sobow, Wobo
from method import Options
from momentum_methods import F3sa, Sogd, ZoSogd
from penalty_methods import Af2obo, Bome, F2obo, F2oboSl, F2sa, Pbgd, Sf2obo
from reference import Counted, Round, measures, per_coordinate, projection
from sampling import Sampled

METHODS = {
    "f2obo": F2obo,
    "f2obo_sl": F2oboSl,
    "af2obo": Af2obo,
    "sf2obo": Sf2obo,
    "fsobo": Fsobo,
    "aobo": Aobo,
    "sobow": Sobow,
    "oagd": Oagd,
    "obbo": Obbo,
    "sobbo": Sobbo,
    "sogd": Sogd,
    "zo_sogd": ZoSogd,
    "f2sa": F2sa,
    "f3sa": F3sa,
    "bome": Bome,
    "pbgd": Pbgd,
    "fsobo_fd": FsoboFd,
    "aobo_fd": AoboFd,
    "wobo": Wobo,
}
SHARED = {"gamma": 0.01} | outer_steps.DEFAULTS
SINGLE_LOOP_GAMMA = {"gamma": {"scale": 0.01, "power": -1.0 / 3.0}}  # F²OBO-SL's default, Theorem 2


class CountedSamples(Counted):
    def draw(self, batch):
        self._round.draw(batch)


class Rounds:
    """rounds(t): the counted oracle of round t; rounds.exact(t): the round itself. Rounds repeat cyclically."""

    def __init__(self, stream, problem, rng):
        self._rounds = [Round(data) for data in stream["rounds"]]
        self._sampling = (stream["dims"]["x"], stream["dims"]["y"],
                          problem.get("noise", 0.0), problem.get("noise_cross", 0.0), rng)  # fmt: skip
        self.counts = dict.fromkeys(Counted.KINDS, 0)

    def exact(self, t):
        return self._rounds[(t - 1) % len(self._rounds)]

    def __call__(self, t):
        return CountedSamples(Sampled(self.exact(t), *self._sampling), self.counts)


def options_of(section):
    method = METHODS[section["name"]]
    shared = SHARED | (SINGLE_LOOP_GAMMA if section["name"] == "f2obo_sl" else {})
    return Options(section, shared | method.DEFAULTS, method.ALIASES, method.FIXED)


def trajectory(stream, config, seed=0):
    """Every row of the trace that the config gives on the stream."""
    d1, d2 = stream["dims"]["x"], stream["dims"]["y"]
    rng = random.Random(seed)
    options, domain, start = options_of(config["optimiser"]), config.get("domain", {}), config.get("start", {})
    project, move = projection(domain, d1), outer_steps.OuterStep(options, domain, d1)
    regret_gamma = config.get("metrics", {}).get("gamma", options.at("gamma", 1))
    rounds = Rounds(stream, config["problem"], rng)

    x = project(per_coordinate(start.get("x", 0.0), d1))
    y = per_coordinate(start.get("y", 0.0), d2)
    method = METHODS[config["optimiser"]["name"]](options, d1, d2, y, rng)

    increments, rows = [], []
    for t in range(1, config["problem"]["rounds"] + 1):
        committed, gamma = method.y, options.at("gamma", t)
        direction = method.step(rounds, t, x)
        row = measures(rounds.exact(t), project, x, committed, direction, gamma or regret_gamma, regret_gamma)
        if gamma == 0.0:
            row["own_mapping"] = 0.0  # no step
        increments.append(row["regret_increment"])
        row |= {"t": t, "regret": math.fsum(increments)}
        rows.append(row | account(method, rounds.exact(t), x) | rounds.counts)
        x = move(x, direction, gamma, t)
    return rows


def account(method, round_, x):
    """What a row says of the state that the update left."""
    residual_y, residual_z = method.residuals(round_, x)
    return {
        "residual_y": residual_y,
        "residual_z": residual_z,
        "lambda": method.multiplier,
        "inner_steps": method.steps,
        "inner_steps_y": method.steps_y,
        "inner_steps_z": method.steps_z,
        "capped": method.capped,
    }
