"""What every optimiser of the reference shares: options with defaults and schedules, and its interface.

A method holds the state that a round leaves (y, and what else it needs) and knows one verb,

    direction = method.step(rounds, t, x)

`rounds(s)` is the counted oracle of round s ≤ t; the run loop takes the outer step with the direction.
"""

import math

from reference import norm, penalised_gradient, plus

INNER = {"inner_momentum": 0.0, "inner_weight_decay": 0.0}


def schedule(value, t):
    """A number, or a table: clamp(scale t^power (ln t) · warm-up · cosine, least, most), and 0 before `from`."""
    if not isinstance(value, dict):
        return float(value)
    first = value.get("from", 1)
    if t < first:
        return 0.0
    size = scale_at(value, t) * t ** value.get("power", 0.0)
    if value.get("log", False):
        size *= math.log(t)
    if "warmup" in value:
        size *= min(1.0, (t - first + 1) / value["warmup"])
    if "cosine" in value:
        floor, done = value.get("floor", 0.0), min(t / value["cosine"], 1.0)
        size *= floor + (1.0 - floor) * 0.5 * (1.0 + math.cos(math.pi * done))
    return min(max(size, value.get("least", -math.inf)), value.get("most", math.inf))


def scale_at(value, t):
    """The scale, or the value of the last round of `at` that has come, or its factors so far."""
    passed = sum(1 for round_ in value.get("at", []) if round_ <= t)
    if passed == 0:
        return value["scale"]
    return value["values"][passed - 1] if "values" in value else value["scale"] * value["factor"] ** passed


class Options:
    """An [optimiser] section with the defaults of its method.

    `aliases` are other names of options; `fixed` is what another method has as an option and this one has not.
    """

    def __init__(self, given, defaults, aliases, fixed):
        renamed = {aliases.get(name, name): value for name, value in given.items()}
        unknown = set(renamed) - set(defaults) - {"name"}
        if unknown:
            raise ValueError(f"{given['name']} has no option {sorted(unknown)}")
        self._values, self._defaults = fixed | defaults | renamed, defaults

    def defaults(self):
        """Those that are set."""
        return {name: value for name, value in self._defaults.items() if value is not None}

    def __getitem__(self, name):
        return self._values[name]

    def at(self, name, t):
        """The schedule `name` in round t, None when it is unset."""
        value = self._values[name]
        return None if value is None else schedule(value, t)

    def count(self, name, t):
        """A schedule of whole numbers: rounded up, at least 1."""
        return max(1, math.ceil(self.at(name, t)))


class Method:
    """A method without a penalty: λ = 0, and both residuals are |g_y(x_t, y_{t+1})|."""

    DEFAULTS = {"alpha": 0.1}
    ALIASES = {}
    FIXED = INNER

    def __init__(self, options, d1, d2, y, rng):
        self.options, self.d1, self.d2, self.rng = options, d1, d2, rng
        self.y = self.z = list(y)
        self.velocity = [0.0] * d2
        self.multiplier = 0.0
        self.steps = self.steps_y = self.steps_z = 0
        self.capped = False

    def step(self, rounds, t, x):
        raise NotImplementedError

    def decayed(self, y, slope):
        """∇(φ + w|y|²/2) where slope is ∇φ"""
        return plus(slope, self.options["inner_weight_decay"], y)

    def descend(self, oracle, x, alpha):
        """m ← μm + g_y + wy; y ← y − αm"""
        slope = self.decayed(self.y, oracle.g_y(x, self.y))
        self.velocity = plus(slope, self.options["inner_momentum"], self.velocity)
        self.y = plus(self.y, -alpha, self.velocity)

    def took(self, steps):
        """The round's inner steps were y's; there is no z."""
        self.steps = self.steps_y = steps

    def residuals(self, round_, x):
        size = norm(round_.g_y(x, self.y))
        return size, size


class PenaltyMethod(Method):
    """A method with λ: |f_y + λ g_y| at y and |g_y| at z, as the round left them."""

    def residuals(self, round_, x):
        return norm(penalised_gradient(round_, x, self.y, self.multiplier)), norm(round_.g_y(x, self.z))
