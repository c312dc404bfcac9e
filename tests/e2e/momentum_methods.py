"""SOGD and ZO-SOGD (Nazari et al. 2025) and F³SA (Kwon et al. 2023): STORM on every term.

STORM: h_t = D(u_t) + (1 − η)(h_{t−1} − D(u_{t−1})), both with the current functions and one sample, and
h_1 = D(u_1).
"""

from method import Method, PenaltyMethod
from penalty_methods import PENALTY, beta_at
from reference import minus, norm, plus, project_l2_ball


def storm(now, last, before, momentum):
    return plus(now, 1.0 - momentum, minus(last, before))


class Sogd(Method):
    DEFAULTS = {"y_step": 0.1, "v_step": 0.1, "momentum": 0.9, "momentum_x": None, "momentum_y": None,
                "momentum_v": None, "radius": None, "samples": "round", "batch": 256}  # fmt: skip
    ALIASES = {"alpha": "y_step", "x_step": "gamma"}

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.v = [0.0] * d2
        self.point = self.directions = None  # (x, y, v)_{t−1} and (d^x, d^y, d^v)_{t−1}

    def step(self, rounds, t, x):
        oracle = rounds(t)
        if self.options["samples"] == "round":
            oracle.draw(self.options.count("batch", t))
        terms = self.terms_of(oracle)
        point = (x, self.y, self.v)
        directions = terms(*point)
        if t > 1:
            directions = [
                storm(now, last, before, self.momentum(which, t))
                for which, now, last, before in zip("xyv", directions, self.directions, terms(*self.point), strict=True)
            ]
        self.point, self.directions = point, directions
        self.y = plus(self.y, -self.options.at("y_step", t), directions[1])
        v = plus(self.v, -self.options.at("v_step", t), directions[2])
        self.v = v if self.options["radius"] is None else project_l2_ball(v, self.options["radius"])
        self.took(1)
        return directions[0]

    def momentum(self, which, t):
        own = self.options.at("momentum_" + which, t)
        return self.options.at("momentum", t) if own is None else own

    def terms_of(self, oracle):
        """(x, y, v) ↦ D_x = f_x − g_xy v, D_y = g_y, D_v = g_yy v − f_y"""

        def terms(x, y, v):
            return [
                minus(oracle.f_x(x, y), oracle.g_xy(x, y, v)),
                oracle.g_y(x, y),
                minus(oracle.g_yy(x, y, v), oracle.f_y(x, y)),
            ]

        return terms


def on_sphere(rng, dimension):
    """Uniform on the unit sphere: a normal vector, scaled."""
    v = [rng.gauss(0.0, 1.0) for _ in range(dimension)]
    return [a / norm(v) for a in v]


def two_point(function, point, directions, smoothing):
    """d/(2bρ) Σ_i [φ(p + ρr_i) − φ(p − ρr_i)] r_i"""
    total = [0.0] * len(point)
    for r in directions:
        rise = function(plus(point, smoothing, r)) - function(plus(point, -smoothing, r))
        total = plus(total, rise, r)
    return [len(point) / (2.0 * len(directions) * smoothing) * a for a in total]


class ZoSogd(Sogd):
    DEFAULTS = Sogd.DEFAULTS | {"momentum": 0.99, "directions": 1, "smoothing": 0.005, "smoothing_v": 0.01}

    def terms_of(self, oracle):
        """SOGD's terms from values alone; the same r_i and q_i at both points of the round."""
        number, rho, rho_v = (self.options[name] for name in ("directions", "smoothing", "smoothing_v"))
        inner = [on_sphere(self.rng, self.d2) for _ in range(number)]
        outer = [on_sphere(self.rng, self.d1) for _ in range(number)]

        def slope_y(function, x, y):
            return two_point(lambda p: function(x, p), y, inner, rho)

        def slope_x(function, x, y):
            return two_point(lambda p: function(p, y), x, outer, rho)

        def along(slope, x, y, v):
            ahead, behind = slope(oracle.g, x, plus(y, rho_v, v)), slope(oracle.g, x, plus(y, -rho_v, v))
            return [a / (2.0 * rho_v) for a in minus(ahead, behind)]

        def terms(x, y, v):
            return [
                minus(slope_x(oracle.f, x, y), along(slope_x, x, y, v)),
                slope_y(oracle.g, x, y),
                minus(along(slope_y, x, y, v), slope_y(oracle.f, x, y)),
            ]

        return terms


class F3sa(PenaltyMethod):
    DEFAULTS = PENALTY | {"increment": {"scale": 1.0, "power": -2.0 / 3.0}, "momentum": 0.9, "samples": "round",
                          "batch": 256}  # fmt: skip

    def __init__(self, options, d1, d2, y, rng):
        super().__init__(options, d1, d2, y, rng)
        self.next_multiplier = options["lambda1"]
        self.points, self.terms = {}, {}  # where each term was evaluated last, and its h_{t−1}

    def step(self, rounds, t, x):
        oracle = rounds(t)
        if self.options["samples"] == "round":
            oracle.draw(self.options.count("batch", t))
        multiplier = self.multiplier = self.next_multiplier
        gradient_z = self.term("g_y at z", oracle.g_y, t, x, self.z)
        gradient_f = self.term("f_y at y", oracle.f_y, t, x, self.y)
        gradient_y = self.term("g_y at y", oracle.g_y, t, x, self.y)
        self.z = plus(self.z, -self.options.at("alpha", t), gradient_z)
        self.y = plus(self.y, -beta_at(self.options, t, multiplier), plus(gradient_f, multiplier, gradient_y))
        outer = self.term("f_x at y", oracle.f_x, t, x, self.y)
        inner_y = self.term("g_x at y", oracle.g_x, t, x, self.y)
        inner_z = self.term("g_x at z", oracle.g_x, t, x, self.z)
        self.steps = self.steps_y = self.steps_z = 1
        self.next_multiplier = multiplier + self.options.at("increment", t)
        return plus(outer, multiplier, minus(inner_y, inner_z))

    def term(self, name, gradient, t, x, point):
        now = gradient(x, point)
        if t > 1:
            before = gradient(*self.points[name])
            now = storm(now, self.terms[name], before, self.options.at("momentum", t))
        self.points[name], self.terms[name] = (x, point), now
        return now
