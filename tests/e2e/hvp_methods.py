"""The methods that use products with g_yy and g_xy: g_yy v = f_y, ∇F = f_x − g_xy v.

FSOBO, AOBO and WOBO (Jia, Wang, Chen 2026), SOBOW (Lin et al. 2023), OAGD (Tarzanagh et al. 2024), OBBO and
SOBBO (Bohne et al. 2024). SOGD and ZO-SOGD are in momentum_methods.py.
"""

from method import INNER, Method
from reference import dot, minus, norm, plus, project_l2_ball
from sampling import CentralDifferences

# --------------------------------------------------------------------------------------------------
# The linear system g_yy v = f_y
# --------------------------------------------------------------------------------------------------


def conjugate_gradients(product, right, v, residual, steps):
    """At most `steps` iterations, fewer once |r| ≤ 1e-15 |right|."""
    least = 1e-15 * norm(right)
    search, size = residual, dot(residual, residual)
    for _ in range(steps):
        if norm(residual) <= least:
            break
        image = product(search)
        length = size / dot(search, image)
        v = plus(v, length, search)
        residual = plus(residual, -length, image)
        before, size = size, dot(residual, residual)
        search = plus(residual, size / before, search)
    return v


def system_descent(product, right, v, step, steps):
    """v ← v − η(g_yy v − f_y)"""
    for _ in range(steps):
        v = plus(v, -step, minus(product(v), right))
    return v


def neumann(product, right, smoothness, steps):
    """(1/L) Σ_{k≤Q} (I − g_yy/L)^k f_y: Q products for Q + 1 terms."""
    term = total = [a / smoothness for a in right]
    for _ in range(steps):
        term = plus(term, -1.0 / smoothness, product(term))
        total = plus(total, 1.0, term)
    return total


def hypergradient(oracle, x, y, v):
    return minus(oracle.f_x(x, y), oracle.g_xy(x, y, v))


class WarmSystem(Method):
    """A method that carries v over from round to round; v_1 = 0."""

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.v = [0.0] * d2

    def system_step(self, t):
        step = self.options.at("v_step", t)
        return self.options.at("alpha", t) if step is None else step

    def within_radius(self, v):
        radius = self.options["radius"]
        return v if radius is None else project_l2_ball(v, radius)

    def solve(self, oracle, t, x):
        """Q steps from v_{t−1} at the new y; CG pays one product for the first residual."""
        right, steps = oracle.f_y(x, self.y), self.options.count("system_steps", t)

        def product(v):
            return self.decayed(v, oracle.g_yy(x, self.y, v))

        if self.options["system_solver"] == "cg":
            v = conjugate_gradients(product, right, self.v, minus(right, product(self.v)), steps)
        else:
            v = system_descent(product, right, self.v, self.system_step(t), steps)
        self.v = self.within_radius(v)


SYSTEM = INNER | {"v_step": None, "radius": None}
SOLVER = SYSTEM | {"system_steps": 5, "system_solver": "cg"}


# --------------------------------------------------------------------------------------------------
# One oracle call of each kind a round, or as many as a tolerance asks for
# --------------------------------------------------------------------------------------------------


class Fsobo(WarmSystem):
    DEFAULTS = {"alpha": 0.1} | SYSTEM

    def step(self, rounds, t, x):
        oracle = self.seen(rounds(t))
        self.descend(oracle, x, self.options.at("alpha", t))
        right = oracle.f_y(x, self.y)
        v = system_descent(
            lambda v: self.decayed(v, oracle.g_yy(x, self.y, v)), right, self.v, self.system_step(t), 1
        )
        self.v = self.within_radius(v)
        self.took(1)
        return hypergradient(oracle, x, self.y, self.v)

    def seen(self, oracle):
        return oracle


class FsoboFd(Fsobo):
    def seen(self, oracle):
        return CentralDifferences(oracle)


class Aobo(WarmSystem):
    DEFAULTS = {"alpha": 0.1, "delta": 0.1, "max_inner": 10000} | SOLVER

    def step(self, rounds, t, x):
        oracle = self.seen(rounds(t))
        alpha, tolerance, cap = self.options.at("alpha", t), self.options.at("delta", t), self.options["max_inner"]
        steps = 0
        slope = self.decayed(self.y, oracle.g_y(x, self.y))
        while norm(slope) > tolerance and steps < cap:
            self.velocity = plus(slope, self.options["inner_momentum"], self.velocity)
            self.y = plus(self.y, -alpha, self.velocity)
            slope = self.decayed(self.y, oracle.g_y(x, self.y))
            steps += 1
        self.capped = steps == cap and norm(slope) > tolerance
        self.solve(oracle, t, x)
        self.took(steps)
        return hypergradient(oracle, x, self.y, self.v)

    def seen(self, oracle):
        return oracle


class AoboFd(Aobo):
    def seen(self, oracle):
        return CentralDifferences(oracle)


# --------------------------------------------------------------------------------------------------
# Windows
# --------------------------------------------------------------------------------------------------


def divided_by(options, stored):
    """The number of weights in W: the window's places, or the rounds there have been."""
    return options["window"] if options["normalise"] == "window" else stored


def discounted_mean(estimates, decay, window):
    """(1/W) Σ_i decay^i h_i, newest first, W = Σ_{i<w} decay^i whatever the number there is."""
    total = [0.0] * len(estimates[0])
    for i, estimate in enumerate(estimates):
        total = plus(total, decay**i, estimate)
    return [a / sum(decay**i for i in range(window)) for a in total]


class Sobow(WarmSystem):
    DEFAULTS = {"alpha": 0.1, "window": 1, "decay": 0.9} | SOLVER

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.stored = []  # newest first

    def step(self, rounds, t, x):
        oracle = rounds(t)
        self.descend(oracle, x, self.options.at("alpha", t))
        self.solve(oracle, t, x)
        self.took(1)
        self.stored = [hypergradient(oracle, x, self.y, self.v), *self.stored][: self.options["window"]]
        return discounted_mean(self.stored, self.options["decay"], self.options["window"])


class Oagd(Method):
    DEFAULTS = INNER | {"alpha": 0.1, "inner_steps": 5, "inner_on": "round", "window": 5, "decay": 1.0,
                "normalise": "window", "system_steps": 5, "system_solver": "cg", "L_g1": None}  # fmt: skip

    def step(self, rounds, t, x):
        """K steps on g_t, or one on each g of the window, the oldest first; then the functions of the last w rounds,
        all at the current point."""
        alpha, stored = self.options.at("alpha", t), min(self.options["window"], t)
        window = self.options["inner_on"] == "window"
        on = range(t - stored + 1, t + 1) if window else [t] * self.options.count("inner_steps", t)
        for s in on:
            self.descend(rounds(s), x, alpha)
        self.took(len(on))
        estimates = [self.estimate(rounds(t - i), t, x) for i in range(stored)]
        return discounted_mean(estimates, self.options["decay"], divided_by(self.options, stored))

    def estimate(self, oracle, t, x):
        right, steps = oracle.f_y(x, self.y), self.options.count("system_steps", t)

        def product(v):
            return self.decayed(v, oracle.g_yy(x, self.y, v))

        if self.options["system_solver"] == "cg":
            v = conjugate_gradients(product, right, [0.0] * self.d2, right, steps)  # v = 0: r = f_y for nothing
        else:
            v = neumann(product, right, self.options["L_g1"] or 1.0 / self.options.at("alpha", 1), steps)
        return hypergradient(oracle, x, self.y, v)


class Wobo(WarmSystem):
    DEFAULTS = {"alpha": 0.1, "inner_steps": 1, "window": 5, "normalise": "window", "tolerance": None,
                "max_outer": 1000} | SOLVER  # fmt: skip

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.pairs = {}  # round → its (y, v, momentum of y)

    def step(self, rounds, t, x):
        """One outer step. Every round of the window has a pair (y, v), which a new round inherits."""
        steps, alpha = self.options.count("inner_steps", t), self.options.at("alpha", t)
        stored, estimates, latest = min(self.options["window"], t), [], (self.y, self.v, self.velocity)
        for s in range(t - stored + 1, t + 1):
            self.y, self.v, self.velocity = self.pairs[s] if s < t else latest
            for _ in range(steps):
                self.descend(rounds(s), x, alpha)
            self.solve(rounds(s), t, x)
            self.pairs[s] = self.y, self.v, self.velocity
            estimates.append(hypergradient(rounds(s), x, self.y, self.v))
        self.took(steps * stored)
        return discounted_mean(estimates[::-1], 1.0, divided_by(self.options, stored))


# --------------------------------------------------------------------------------------------------
# Through the inner steps
# --------------------------------------------------------------------------------------------------


def reverse_through_steps(oracle, x, path, alpha, momentum, decay):
    """d/dx of f(x, ω^K(x)), in reverse mode, with ω^0 and m^0 constant and
    m^{k+1} = μm^k + g_y(x, ω^k) + wω^k, ω^{k+1} = ω^k − αm^{k+1}; `kick` is the derivative in m."""
    slope, total = oracle.f_y(x, path[-1]), oracle.f_x(x, path[-1])
    kick = [0.0] * len(slope)
    for k in reversed(range(len(path) - 1)):
        kick = [momentum * q - alpha * p for q, p in zip(kick, slope, strict=True)]
        total = plus(total, 1.0, oracle.g_xy(x, path[k], kick))
        if k > 0:
            slope = plus(plus(slope, 1.0, oracle.g_yy(x, path[k], kick)), decay, kick)
    return total


class Obbo(Method):
    DEFAULTS = INNER | {"alpha": 0.1, "inner_steps": 5, "window": 1}
    ALIASES = {"geometry": "outer_step"}

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.stored = []  # newest first

    def step(self, rounds, t, x):
        oracle, alpha, steps = rounds(t), self.options.at("alpha", t), self.options.count("inner_steps", t)
        self.draw_round(oracle, t)
        path = [self.y]
        for _ in range(steps):
            self.draw_inner(oracle, t)
            self.descend(oracle, x, alpha)
            path.append(self.y)
        self.took(steps)
        self.draw_outer(oracle, t)
        self.stored = [self.estimate(oracle, t, x, path, alpha), *self.stored][: self.options["window"]]
        return discounted_mean(self.stored, 1.0, len(self.stored))

    def estimate(self, oracle, t, x, path, alpha):
        return reverse_through_steps(
            oracle, x, path, alpha, self.options["inner_momentum"], self.options["inner_weight_decay"]
        )

    def draw_round(self, oracle, t):
        pass

    def draw_inner(self, oracle, t):
        pass

    def draw_outer(self, oracle, t):
        pass


class Sobbo(Obbo):
    DEFAULTS = INNER | {"alpha": 0.1, "inner_steps": 5, "window": 50, "estimator": "itd", "system_steps": 10,
                        "L_g1": None, "samples": "round", "batch": 256, "outer_batch": 256}  # fmt: skip

    def draw_round(self, oracle, t):
        if self.options["samples"] == "round":
            oracle.draw(self.options.count("batch", t))

    def draw_inner(self, oracle, t):
        if self.options["samples"] == "fresh":
            oracle.draw(self.options.count("batch", t))

    def draw_outer(self, oracle, t):
        if self.options["samples"] == "fresh":
            oracle.draw(self.options.count("outer_batch", t))

    def estimate(self, oracle, t, x, path, alpha):
        """itd, or a Neumann series cut at random: m̃ uniform on 0..m−1, (m/L) Π_{j≤m̃} (I − H_j/L) f_y."""
        if self.options["estimator"] == "itd":
            return super().estimate(oracle, t, x, path, alpha)
        most = self.options.count("system_steps", t)
        smoothness = self.options["L_g1"] or 1.0 / self.options.at("alpha", 1)
        outer, v = oracle.f_x(x, self.y), [most / smoothness * a for a in oracle.f_y(x, self.y)]
        for _ in range(self.rng.randrange(most)):
            self.draw_outer(oracle, t)  # every H_j its own
            v = plus(v, -1.0 / smoothness, self.decayed(v, oracle.g_yy(x, self.y, v)))
        return minus(outer, oracle.g_xy(x, self.y, v))
