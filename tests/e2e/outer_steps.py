"""The outer steps: how x moves along −d, in which geometry (`outer_step`), with `shrinkage`.

    move = OuterStep(options, domain, d1)
    x = move(x, direction, gamma, t)      # once a round: diagonal and log_adam remember

The weighted projection of the diagonal step finds its multiplier θ by bisection, which halves down to
neighbouring doubles: slow, and the same for every set.
"""

import math

from reference import per_coordinate, plus, projection

DEFAULTS = {"outer_step": "euclidean", "outer_decay": 0.9, "outer_decay2": 0.999, "outer_epsilon": 1e-8,
            "shrinkage": 0.0, "outer_momentum": 0.0, "outer_weight_decay": 0.0}  # fmt: skip


def decreasing_root(function, low, high):
    """The θ in [low, high] at which a decreasing function passes 0."""
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if function(middle) > 0.0:
            low = middle
        else:
            high = middle


def weighted_l2_ball(u, weights, radius):
    """p_i = h_i u_i/(h_i + θ); θ ≤ |hu|/radius since |p| ≤ |hu|/θ."""

    def at(theta):
        return [h * a / (h + theta) for a, h in zip(u, weights, strict=True)]

    def length(point):
        return math.sqrt(math.fsum(a * a for a in point))

    if length(u) <= radius:
        return list(u)
    most = length([h * a for a, h in zip(u, weights, strict=True)]) / radius
    return at(decreasing_root(lambda theta: length(at(theta)) - radius, 0.0, most))


def weighted_simplex(u, weights, total=1.0):
    """p_i = max(u_i − θ/h_i, 0), θ of any sign: at the lower end one p_i is `total`, at the upper all are 0."""

    def at(theta):
        return [max(a - theta / h, 0.0) for a, h in zip(u, weights, strict=True)]

    low = max(h * (a - total) for a, h in zip(u, weights, strict=True))
    high = max(h * a for a, h in zip(u, weights, strict=True))
    return at(decreasing_root(lambda theta: math.fsum(at(theta)) - total, low, high))


def weighted_l1_ball(u, weights, radius):
    """Outside: soft thresholds θ/h_i, that is the weighted simplex of size `radius` on |u|."""
    if math.fsum(abs(a) for a in u) <= radius:
        return list(u)
    sizes = weighted_simplex([abs(a) for a in u], weights, radius)
    return [math.copysign(size, a) for size, a in zip(sizes, u, strict=True)]


def weighted_projection(domain, dimension):
    """(u, h) ↦ argmin over p in X of Σ h_i (p_i − u_i)²."""
    name = domain.get("set", "all")
    if name == "l2_ball":
        return lambda u, weights: weighted_l2_ball(u, weights, domain["radius"])
    if name == "l1_ball":
        return lambda u, weights: weighted_l1_ball(u, weights, domain["radius"])
    if name == "simplex":
        return weighted_simplex
    plain = projection(domain, dimension)  # the coordinates do not meet: the weights do not matter
    return lambda u, weights: plain(u)


def shrunk(u, shrinkage):
    """u − ρ(u − mean(u))"""
    mean = math.fsum(u) / len(u)
    return [a - shrinkage * (a - mean) for a in u]


def averaged(old, decay, new):
    return [decay * a + (1.0 - decay) * b for a, b in zip(old, new, strict=True)]


class OuterStep:
    SETS_WITH_LOGARITHM = ("simplex", "nonnegative", "box")

    def __init__(self, options, domain, d1):
        self._options, self._domain, self._d1 = options, domain, d1
        self._project = projection(domain, d1)
        self._project_weighted = weighted_projection(domain, d1)
        self._move = getattr(self, "_" + options["outer_step"])
        self._first, self._second = [0.0] * d1, [0.0] * d1  # moving averages of d and d²
        self._velocity, self._rests = [0.0] * d1, 0
        if options["outer_step"] in ("entropy", "log_adam"):
            self._check_positive()

    def __call__(self, x, direction, gamma, t):
        """A round with γ = 0 is none."""
        if gamma == 0.0:
            self._rests += 1
            return x
        return self._move(x, direction, gamma, t - self._rests)

    def _check_positive(self):
        name = self._domain.get("set", "all")
        if name not in self.SETS_WITH_LOGARITHM:
            raise ValueError(f"no logarithms on {name}")
        if name == "box" and min(per_coordinate(self._domain["lower"], self._d1)) < 0.0:
            raise ValueError("logarithms need lower ≥ 0")

    def _euclidean(self, x, direction, gamma, t):
        """Along m ← μm + d + wx"""
        slope = plus(direction, self._options["outer_weight_decay"], x)
        self._velocity = plus(slope, self._options["outer_momentum"], self._velocity)
        return self._project(shrunk(plus(x, -gamma, self._velocity), self._options["shrinkage"]))

    def _diagonal(self, x, direction, gamma, t):
        self._second = averaged(self._second, self._options["outer_decay"], [a * a for a in direction])
        weights = [math.sqrt(s) + self._options["outer_epsilon"] for s in self._second]
        u = plus(x, -gamma, [a / h for a, h in zip(direction, weights, strict=True)])
        return self._project_weighted(shrunk(u, self._options["shrinkage"]), weights)

    def _entropy(self, x, direction, gamma, t):
        return self._from_logarithms(plus([math.log(a) for a in x], -gamma, direction))

    def _log_adam(self, x, direction, gamma, t):
        """Adam on ln x, whose gradient is q = x d."""
        first, second = self._options["outer_decay"], self._options["outer_decay2"]
        slope = [a * b for a, b in zip(x, direction, strict=True)]
        self._first = averaged(self._first, first, slope)
        self._second = averaged(self._second, second, [q * q for q in slope])
        step = [
            m / (1.0 - first**t) / (math.sqrt(s / (1.0 - second**t)) + self._options["outer_epsilon"])
            for m, s in zip(self._first, self._second, strict=True)
        ]
        return self._from_logarithms(plus([math.log(a) for a in x], -gamma, step))

    def _from_logarithms(self, u):
        u = shrunk(u, self._options["shrinkage"])
        if self._domain["set"] != "simplex":
            return self._project([math.exp(a) for a in u])
        most = max(u)
        sizes = [math.exp(a - most) for a in u]
        total = math.fsum(sizes)
        return [a / total for a in sizes]
