"""What every optimiser of the reference shares: options with defaults and schedules, and its interface.

A method holds the state that a round leaves (y, and what else it needs) and knows one verb,

    direction = method.step(rounds, t, x)

`rounds(s)` is the counted oracle of round s ≤ t; the run loop takes the outer step with the direction.
"""

import math

from reference import norm, penalised_gradient


def schedule(value, t):
    """A number, or the table {scale, power, log, least, most}: clamp(scale t^power (ln t), least, most)."""
    if not isinstance(value, dict):
        return float(value)
    size = value["scale"] * t ** value.get("power", 0.0)
    if value.get("log", False):
        size *= math.log(t)
    return min(max(size, value.get("least", -math.inf)), value.get("most", math.inf))


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
    FIXED = {}

    def __init__(self, options, d1, d2, y, rng):
        self.options, self.d1, self.d2, self.rng = options, d1, d2, rng
        self.y = self.z = list(y)
        self.multiplier = 0.0
        self.steps = self.steps_y = self.steps_z = 0
        self.capped = False

    def step(self, rounds, t, x):
        raise NotImplementedError

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
