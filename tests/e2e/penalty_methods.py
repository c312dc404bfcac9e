"""The penalty methods: F²OBO, F²OBO-SL, AF²OBO, SF²OBO with `order`, `inner_solver` and `lambda_rule`,
and their relatives F²SA (Kwon et al. 2023), BOME (Liu et al. 2022) and PBGD (Shen and Chen 2023).

Order p keeps a copy y_j for every j of a stencil, y_j near the minimiser of g + (j/λ) f, and takes
d = Σ_j a_j (j f_x(x, y_j) + λ g_x(x, y_j)): a difference formula for d/ds of ∇_x at s = 0, with bias
O(λ^−p). p = 1 is the paper's, with y_0 = z and y_1 = y.
"""

import math

from method import INNER, PenaltyMethod
from reference import dot, minus, norm, plus

STENCILS = {
    1: {0: -1.0, 1: 1.0},
    2: {-1: -1.0 / 2.0, 1: 1.0 / 2.0},
    3: {-1: -1.0 / 3.0, 0: -1.0 / 2.0, 1: 1.0, 2: -1.0 / 6.0},
    4: {-2: 1.0 / 12.0, -1: -2.0 / 3.0, 1: 2.0 / 3.0, 2: -1.0 / 12.0},
    5: {-2: 1.0 / 20.0, -1: -1.0 / 2.0, 0: -1.0 / 3.0, 1: 1.0, 2: -1.0 / 4.0, 3: 1.0 / 30.0},
}
PENALTY = {"alpha": 0.1, "beta_rule": "alpha/lambda", "beta": 0.01, "lambda1": 5.0, "L_g1": None}
PAIR = PENALTY | INNER | {"warm_start": "separate"}
STENCIL = PAIR | {"order": 1, "inner_solver": "gd", "lambda_rule": "power", "balance": 1.0}
PLAIN = INNER | {"order": 1, "inner_solver": "gd", "lambda_rule": "power"}
SAMPLES = {"samples": "round", "batch": 256, "outer_batch": 256}


def beta_at(options, t, multiplier):
    """β_t = α_t/λ_t, or 1/(2 λ_t L_g1), or a schedule of its own."""
    if options["beta_rule"] == "alpha/lambda":
        return options.at("alpha", t) / multiplier
    if options["beta_rule"] == "theory":
        return 1.0 / (2.0 * multiplier * (options["L_g1"] or 1.0 / options.at("alpha", 1)))
    return options.at("beta", t)


# --------------------------------------------------------------------------------------------------
# One copy down to a tolerance: gradient, start, step, tolerance, cap ↦ point, steps, last norm
# --------------------------------------------------------------------------------------------------


def descend(gradient, start, step, tolerance, cap):
    """while |∇| > δ: step; n steps cost n + 1 gradients."""
    point, slope, taken = start, gradient(start), 0
    while norm(slope) > tolerance and taken < cap:
        point = plus(point, -step, slope)
        slope = gradient(point)
        taken += 1
    return point, taken, norm(slope)


def descend_nesterov(gradient, start, step, tolerance, cap):
    """The same at the extrapolated point, which is the result; the momentum restarts when it points uphill."""
    point = previous = start
    i = taken = 0
    while True:
        ahead = plus(point, i / (i + 3.0), minus(point, previous))
        slope = gradient(ahead)
        if norm(slope) <= tolerance or taken == cap:
            return ahead, taken, norm(slope)
        previous, point = point, plus(ahead, -step, slope)
        taken += 1
        i = 0 if dot(slope, minus(point, previous)) > 0.0 else i + 1


class Backtracking:
    """One step size a for all copies, kept from round to round: halved while refused, times 1.25 after a step.

    A step along −n with arrival gradient m is refused when |m − n| > |n| (a L > 1 along it); every trial
    costs one gradient of each copy. Below 1e-12 α_1 nothing is refused.
    """

    def __init__(self, first_step):
        self.size, self._least = first_step, 1e-12 * first_step

    def step(self, gradients, points, slopes):
        """One accepted step of all copies at once: dicts by copy."""
        while True:
            trial = {j: plus(points[j], -self.size, slopes[j]) for j in points}
            arrival = {j: gradients[j](trial[j]) for j in points}
            accepted = all(norm(minus(arrival[j], slopes[j])) <= norm(slopes[j]) for j in points)
            if accepted or self.size <= self._least:
                self.size *= 1.25
                return trial, arrival
            self.size *= 0.5

    def descend(self, gradient, start, tolerance, cap):
        """One copy until |∇| ≤ δ."""
        points, taken = {0: start}, 0
        slopes = {0: gradient(start)}
        while norm(slopes[0]) > tolerance and taken < cap:
            points, slopes = self.step({0: gradient}, points, slopes)
            taken += 1
        return points[0], taken, norm(slopes[0])


# --------------------------------------------------------------------------------------------------
# The stencil
# --------------------------------------------------------------------------------------------------


def centre_of(copies):
    if 0 in copies:
        return copies[0]
    return [0.5 * (a + b) for a, b in zip(copies[1], copies[-1], strict=True)]


def drawn_in(copies, ratio):
    """c + ratio (y_j − c)"""
    centre = centre_of(copies)
    return {j: plus(centre, ratio, minus(y, centre)) for j, y in copies.items()}


class F2obo(PenaltyMethod):
    DEFAULTS = STENCIL | {"tau": 1.0, "inner_steps": 5}

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.order = options["order"]
        self.copies = {j: list(y) for j in STENCILS[self.order]}
        self.velocities = {j: [0.0] * d2 for j in self.copies}
        self.next_multiplier = options["lambda1"]
        self.backtracking = Backtracking(options.at("alpha", 1))

    def step(self, rounds, t, x):
        oracle = rounds(t)
        last, self.multiplier = self.multiplier, self.next_multiplier
        self.meet_round(last)
        self.draw_round(oracle, t)
        self.move_copies(oracle, t, x)
        self.draw_outer(oracle, t)
        direction = self.direction(oracle, x)
        self.y, self.z = self.copies[1], self.centre()
        self.next_multiplier = self.multiplier_after(oracle, t, x)
        return direction

    def centre(self):
        return centre_of(self.copies)

    def meet_round(self, last_multiplier):
        """tied: every copy at the centre c; dual: λ(y_j − c) carries over instead of y_j. Momenta follow."""
        if self.options["warm_start"] == "tied":
            self.copies, self.velocities = drawn_in(self.copies, 0.0), drawn_in(self.velocities, 0.0)
        elif self.options["warm_start"] == "dual" and last_multiplier > 0.0:
            ratio = last_multiplier / self.multiplier
            self.copies, self.velocities = drawn_in(self.copies, ratio), drawn_in(self.velocities, ratio)

    def gradient(self, oracle, x, j):
        """y ↦ g_y for j = 0, j f_y + λ g_y else"""
        if j == 0:
            return lambda y: oracle.g_y(x, y)
        return lambda y: plus([j * a for a in oracle.f_y(x, y)], self.multiplier, oracle.g_y(x, y))

    def normalised_gradient(self, oracle, x, j):
        """y ↦ g_y for j = 0, (j/λ) f_y + g_y else"""
        raw, scale = self.gradient(oracle, x, j), 1.0 if j == 0 else self.multiplier
        return lambda y: [a / scale for a in raw(y)]

    def is_heavy(self):
        return self.options["inner_momentum"] != 0.0 or self.options["inner_weight_decay"] != 0.0

    def heavy_step(self, t, j, slope):
        """m ← μm + N_j + wy; y ← y − sm with s = α for j = 0, βλ else, `slope` the first two's sum"""
        self.velocities[j] = plus(slope, self.options["inner_momentum"], self.velocities[j])
        size = self.step_size(t, j) * (1.0 if j == 0 else self.multiplier)
        self.copies[j] = plus(self.copies[j], -size, self.velocities[j])

    def heavy_slope(self, oracle, x, j):
        return self.decayed(self.copies[j], self.normalised_gradient(oracle, x, j)(self.copies[j]))

    def step_size(self, t, j):
        return self.options.at("alpha", t) if j == 0 else beta_at(self.options, t, self.multiplier)

    def direction(self, oracle, x):
        """Σ_j a_j j f_x(x, y_j) + λ Σ_j a_j g_x(x, y_j): what cancels is summed before λ multiplies it."""
        outer = inner = [0.0] * self.d1
        for j, weight in STENCILS[self.order].items():
            if j != 0:
                outer = plus(outer, weight * j, oracle.f_x(x, self.copies[j]))
            inner = plus(inner, weight, oracle.g_x(x, self.copies[j]))
        return plus(outer, self.multiplier, inner)

    def move_copies(self, oracle, t, x):
        """K steps of every copy."""
        self.steps = self.steps_y = self.steps_z = self.options.count("inner_steps", t)
        if self.options["inner_solver"] == "backtracking":
            return self.move_copies_backtracking(oracle, t, x)
        if self.is_heavy():
            for _ in range(self.steps):
                self.draw_inner(oracle, t)
                for j in self.copies:
                    self.heavy_step(t, j, self.heavy_slope(oracle, x, j))
            return None
        nesterov = self.options["inner_solver"] == "nesterov"
        previous = self.copies
        for k in range(self.steps):
            self.draw_inner(oracle, t)
            momentum = k / (k + 3.0) if nesterov else 0.0
            ahead = {j: plus(y, momentum, minus(y, previous[j])) for j, y in self.copies.items()}
            previous = self.copies
            self.copies = {j: plus(p, -self.step_size(t, j), self.gradient(oracle, x, j)(p)) for j, p in ahead.items()}

    def move_copies_backtracking(self, oracle, t, x):
        """A step begins with the gradients its predecessor arrived at, or with new ones on a new sample."""
        gradients = {j: self.normalised_gradient(oracle, x, j) for j in self.copies}
        slopes = None
        for _ in range(self.steps):
            if self.draw_inner(oracle, t) or slopes is None:
                slopes = {j: gradients[j](y) for j, y in self.copies.items()}
            self.copies, slopes = self.backtracking.step(gradients, self.copies, slopes)

    def multiplier_after(self, oracle, t, x):
        """λ_1 t^τ, or kept below it where the inner error E outweighs the bias: (cW/E)^{1/(p+1)}."""
        most = self.options["lambda1"] * (t + 1) ** self.options["tau"]
        if self.options["lambda_rule"] == "power":
            return most
        if 0 in self.copies:
            residual, spread = norm(oracle.g_y(x, self.copies[0])), norm(minus(self.copies[1], self.copies[0]))
        else:
            residual = norm(self.normalised_gradient(oracle, x, 1)(self.copies[1]))
            spread = 0.5 * norm(minus(self.copies[1], self.copies[-1]))
        error = self.options.at("alpha", t) * residual
        weight = self.options["balance"] * self.multiplier * spread
        target = math.inf if error == 0.0 else (weight / error) ** (1.0 / (self.order + 1))
        return min(max(target, self.options["lambda1"]), most)

    def draw_round(self, oracle, t):
        pass

    def draw_inner(self, oracle, t):
        """Whether there is a new sample for this step."""
        return False

    def draw_outer(self, oracle, t):
        pass


class F2oboSl(F2obo):
    DEFAULTS = PAIR | {"tau": 1.0 / 3.0}
    FIXED = PLAIN | {"inner_steps": 1}


class Af2obo(F2obo):
    DEFAULTS = STENCIL | {"tau": 0.5, "delta_y": 0.01, "delta_z": 1e-4, "max_inner": 10000}

    def move_copies(self, oracle, t, x):
        """One loop after the other, y_0's first."""
        self.steps_y = self.steps_z = 0
        self.capped = False
        for j in sorted(self.copies, key=lambda j: (j != 0, j)):
            tolerance = self.options.at("delta_z" if j == 0 else "delta_y", t)
            self.copies[j], taken, size = self.loop(oracle, t, x, j, tolerance)
            self.capped |= size > tolerance
            if j == 0:
                self.steps_z = taken
            else:
                self.steps_y += taken
        self.steps = self.steps_y + self.steps_z

    def loop(self, oracle, t, x, j, tolerance):
        cap, start = self.options["max_inner"], self.copies[j]
        if self.is_heavy():
            return self.heavy_loop(oracle, t, x, j, tolerance, cap)
        if self.options["inner_solver"] == "backtracking":
            scale = 1.0 if j == 0 else self.multiplier
            gradient = self.normalised_gradient(oracle, x, j)
            point, taken, size = self.backtracking.descend(gradient, start, tolerance / scale, cap)
            return point, taken, size * scale
        solver = descend_nesterov if self.options["inner_solver"] == "nesterov" else descend
        return solver(self.gradient(oracle, x, j), start, self.step_size(t, j), tolerance, cap)


    def heavy_loop(self, oracle, t, x, j, tolerance, cap):
        scale, taken = 1.0 if j == 0 else self.multiplier, 0
        slope = self.heavy_slope(oracle, x, j)
        while scale * norm(slope) > tolerance and taken < cap:
            self.heavy_step(t, j, slope)
            slope = self.heavy_slope(oracle, x, j)
            taken += 1
        return self.copies[j], taken, scale * norm(slope)


class Sf2obo(F2obo):
    DEFAULTS = STENCIL | SAMPLES | {"tau": 1.0 / 6.0, "inner_steps": 5}

    def draw_round(self, oracle, t):
        if self.options["samples"] == "round":
            oracle.draw(self.options.count("batch", t))

    def draw_inner(self, oracle, t):
        fresh = self.options["samples"] == "fresh"
        if fresh:
            oracle.draw(self.options.count("batch", t))
        return fresh

    def draw_outer(self, oracle, t):
        if self.options["samples"] == "fresh":
            oracle.draw(self.options.count("outer_batch", t))


# --------------------------------------------------------------------------------------------------
# Relatives
# --------------------------------------------------------------------------------------------------


class F2sa(Sf2obo):
    """SF²OBO's round with λ_{t+1} = λ_t + δ_t."""

    DEFAULTS = PAIR | SAMPLES | {"increment": {"scale": 1.0, "power": -2.0 / 3.0}, "inner_steps": 1}
    FIXED = PLAIN

    def multiplier_after(self, oracle, t, x):
        return self.multiplier + self.options.at("increment", t)


class Bome(PenaltyMethod):
    DEFAULTS = {"alpha": 0.1, "inner_steps": 5, "y_step": None, "eta": 0.5}

    def step(self, rounds, t, x):
        """All at (x_t, y_t): q = g(x, y) − g(x, ŷ), ŷ after K steps from y, taken as a constant."""
        oracle, y, steps = rounds(t), self.y, self.options.count("inner_steps", t)
        self.z = y
        for _ in range(steps):
            self.z = plus(self.z, -self.options.at("alpha", t), oracle.g_y(x, self.z))
        q_x, q_y = minus(oracle.g_x(x, y), oracle.g_x(x, self.z)), oracle.g_y(x, y)
        f_x, f_y = oracle.f_x(x, y), oracle.f_y(x, y)
        size = dot(q_x, q_x) + dot(q_y, q_y)
        excess = self.options["eta"] * size - dot(f_x, q_x) - dot(f_y, q_y)
        self.multiplier = max(excess / size, 0.0) if size > 0.0 else 0.0
        self.y = plus(y, -joint_step(self.options, t), plus(f_y, self.multiplier, q_y))
        self.steps, self.steps_y, self.steps_z = steps, 1, steps
        return plus(f_x, self.multiplier, q_x)


class Pbgd(PenaltyMethod):
    DEFAULTS = {"alpha": 0.1, "inner_steps": 5, "y_step": None, "lambda1": 10.0, "tau": 0.0}

    def step(self, rounds, t, x):
        """A joint step of (x, y) on f + λ(g − g(x, ŷ)); ŷ = z carries over."""
        oracle, y, steps = rounds(t), self.y, self.options.count("inner_steps", t)
        self.multiplier = self.options["lambda1"] * t ** self.options["tau"]
        for _ in range(steps):
            self.z = plus(self.z, -self.options.at("alpha", t), oracle.g_y(x, self.z))
        penalised = plus(oracle.f_y(x, y), self.multiplier, oracle.g_y(x, y))
        self.y = plus(y, -joint_step(self.options, t), penalised)
        self.steps, self.steps_y, self.steps_z = steps, 1, steps
        difference = minus(oracle.g_x(x, y), oracle.g_x(x, self.z))
        return plus(oracle.f_x(x, y), self.multiplier, difference)


def joint_step(options, t):
    """y_step, unset: γ_t"""
    step = options.at("y_step", t)
    return options.at("gamma", t) if step is None else step
