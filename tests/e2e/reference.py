"""A slow, independent reference for F²OBO, F²OBO-SL, AF²OBO and SF²OBO on `quadratic_file` streams.

Written from the paper (P) and from the documented formats of configs and traces; not one line of the
C++ program was read. Plain lists, standard library only, sums by
math.fsum (correctly rounded), so a disagreement beyond rounding is a disagreement about the algorithm.

    rows = trajectory(stream, config)

`stream` is the parsed stream.json, `config` the parsed config.toml (nested dicts); `rows` holds one
dict a round with the fields of trace.jsonl (all but `seconds`). Other optimisers and the options that
came later are in methods_reference.py, to which `trajectory` hands them over.
"""

import math

# --------------------------------------------------------------------------------------------------
# Vectors and matrices (lists, and lists of rows)
# --------------------------------------------------------------------------------------------------


def dot(u, v):
    return math.fsum(a * b for a, b in zip(u, v, strict=True))


def norm(u):
    return math.sqrt(dot(u, u))


def plus(u, scale, v):
    """u + scale · v"""
    return [a + scale * b for a, b in zip(u, v, strict=True)]


def minus(u, v):
    return plus(u, -1.0, v)


def times(matrix, v):
    return [dot(row, v) for row in matrix]


def transposed_times(matrix, v):
    return [dot(column, v) for column in zip(*matrix, strict=True)]


def cholesky(matrix):
    """Lower L with L L' = matrix; ValueError when the matrix is not positive definite."""
    n = len(matrix)
    lower = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i][j] - dot(lower[i][:j], lower[j][:j])
            if i != j:
                lower[i][j] = rest / lower[j][j]
            elif rest > 0.0:
                lower[i][i] = math.sqrt(rest)
            else:
                raise ValueError("matrix is not positive definite")
    return lower


def solve_positive_definite(matrix, right):
    """matrix⁻¹ right by Cholesky and two triangular solves."""
    lower = cholesky(matrix)
    n = len(right)
    half = [0.0] * n
    for i in range(n):
        half[i] = (right[i] - dot(lower[i][:i], half[:i])) / lower[i][i]
    solution = [0.0] * n
    for i in reversed(range(n)):
        above = math.fsum(lower[k][i] * solution[k] for k in range(i + 1, n))
        solution[i] = (half[i] - above) / lower[i][i]
    return solution


# --------------------------------------------------------------------------------------------------
# One round of a quadratic_file stream
#   g = ½ y'Ay − y'(Bx + b),   f = ½ w |y − c|² + s Σ sin(y_j) + ½ r |x − e|²     
# --------------------------------------------------------------------------------------------------


class Round:
    def __init__(self, data):
        self.A, self.B, self.b = data["A"], data["B"], data["b"]
        self.w, self.c, self.s = data["w"], data["c"], data["s"]
        self.r, self.e = data["r"], data["e"]

    def _pull(self, x):
        """Bx + b"""
        return plus(times(self.B, x), 1.0, self.b)

    def f(self, x, y):
        from_c, from_e = minus(y, self.c), minus(x, self.e)
        waves = math.fsum(math.sin(a) for a in y)
        return 0.5 * self.w * dot(from_c, from_c) + self.s * waves + 0.5 * self.r * dot(from_e, from_e)

    def g(self, x, y):
        return 0.5 * dot(y, times(self.A, y)) - dot(y, self._pull(x))

    def f_x(self, x, y):
        return [self.r * a for a in minus(x, self.e)]

    def f_y(self, x, y):
        return [self.w * (a - c) + self.s * math.cos(a) for a, c in zip(y, self.c, strict=True)]

    def g_x(self, x, y):
        return [-a for a in transposed_times(self.B, y)]

    def g_y(self, x, y):
        return minus(times(self.A, y), self._pull(x))

    def g_yy(self, x, y, v):
        """The product g_yy v"""
        return times(self.A, v)

    def g_xy(self, x, y, v):
        """The product g_xy v, of the size of x"""
        return [-a for a in transposed_times(self.B, v)]

    def inner_solution(self, x):
        """y*(x) = argmin_y g(x, y) = A⁻¹(Bx + b)"""
        return solve_positive_definite(self.A, self._pull(x))

    def hypergradient(self, x):
        """P eq. (hypergrad): ∇F = f_x − g_xy v with g_yy v = f_y at y*(x). Here g_yy = A, g_xy v = −B'v."""
        y = self.inner_solution(x)
        v = solve_positive_definite(self.A, self.f_y(x, y))
        return minus(self.f_x(x, y), self.g_xy(x, y, v))

    def outer_value(self, x):
        """F(x) = f(x, y*(x))"""
        return self.f(x, self.inner_solution(x))


class Counted:
    """A round whose calls are counted; a difference g_x(y) − g_x(z) is two calls."""

    KINDS = ("grad_f", "grad_g", "hvp", "cross", "values")

    def __init__(self, round_, counts):
        self._round, self._counts = round_, counts

    def f_x(self, x, y):
        self._counts["grad_f"] += 1
        return self._round.f_x(x, y)

    def f_y(self, x, y):
        self._counts["grad_f"] += 1
        return self._round.f_y(x, y)

    def g_x(self, x, y):
        self._counts["grad_g"] += 1
        return self._round.g_x(x, y)

    def g_y(self, x, y):
        self._counts["grad_g"] += 1
        return self._round.g_y(x, y)

    def g_yy(self, x, y, v):
        self._counts["hvp"] += 1
        return self._round.g_yy(x, y, v)

    def g_xy(self, x, y, v):
        self._counts["cross"] += 1
        return self._round.g_xy(x, y, v)

    def f(self, x, y):
        self._counts["values"] += 1
        return self._round.f(x, y)

    def g(self, x, y):
        self._counts["values"] += 1
        return self._round.g(x, y)


# --------------------------------------------------------------------------------------------------
# Projections
# --------------------------------------------------------------------------------------------------


def per_coordinate(value, dimension):
    """A number stands for every coordinate; an array is taken as it is."""
    if isinstance(value, (list, tuple)):
        if len(value) != dimension:
            raise ValueError(f"expected {dimension} numbers, got {len(value)}")
        return [float(a) for a in value]
    return [float(value)] * dimension


def project_box(v, lower, upper):
    return [min(max(a, low), high) for a, low, high in zip(v, lower, upper, strict=True)]


def project_l2_ball(v, radius):
    length = norm(v)
    return list(v) if length <= radius else [a * (radius / length) for a in v]


def project_simplex(v, total=1.0):
    """Sorted descending, the threshold is the last (Σ_{i≤k} v_i − total)/k that stays below v_k."""
    ordered = sorted(v, reverse=True)
    threshold = ordered[0] - total
    for k in range(2, len(ordered) + 1):
        candidate = (math.fsum(ordered[:k]) - total) / k
        if ordered[k - 1] > candidate:
            threshold = candidate
    return [max(a - threshold, 0.0) for a in v]


def project_l1_ball(v, radius):
    """Inside: itself. Outside: |v| onto the simplex of size radius, the signs put back."""
    if math.fsum(abs(a) for a in v) <= radius:
        return list(v)
    sizes = project_simplex([abs(a) for a in v], radius)
    return [math.copysign(size, a) for size, a in zip(sizes, v, strict=True)]


def projection(domain, dimension):
    """The function Proj_X for a [domain] section; an empty section is the whole space."""
    name = domain.get("set", "all")
    if name == "all":
        return list
    if name == "box":
        lower = per_coordinate(domain["lower"], dimension)
        upper = per_coordinate(domain["upper"], dimension)
        return lambda v: project_box(v, lower, upper)
    if name == "l2_ball":
        return lambda v: project_l2_ball(v, domain["radius"])
    if name == "l1_ball":
        return lambda v: project_l1_ball(v, domain["radius"])
    if name == "simplex":
        return project_simplex
    if name == "nonnegative":
        return lambda v: [max(a, 0.0) for a in v]
    raise ValueError(f"unknown set {name}")


def gradient_mapping(project, x, direction, gamma):
    """P §2: G_X(x, d, γ) = (x − argmin_{u∈X} <d,u> + |u − x|²/(2γ))/γ = (x − Proj_X(x − γd))/γ."""
    arrival = project(plus(x, -gamma, direction))
    return [a / gamma for a in minus(x, arrival)]


# --------------------------------------------------------------------------------------------------
# Inner updates. Each takes the state (y, z, w) that the last round left and returns
# (y_{t+1}, z_{t+1}, w_{t+1}, loop iterations). w = λ(y − z) is used by warm_start = "dual" only.
# --------------------------------------------------------------------------------------------------


def penalised_gradient(oracle, x, y, multiplier):
    """∇_y L_t = ∇_y f_t + λ_t ∇_y g_t, P eq. (L_t)."""
    return plus(oracle.f_y(x, y), multiplier, oracle.g_y(x, y))


def begin_round(warm_start, y, z, w, multiplier):
    """How y meets a new round (z always carries over)."""
    if warm_start == "separate":
        return y
    if warm_start == "tied":
        return list(z)
    if warm_start == "dual":
        return plus(z, 1.0 / multiplier, w)
    raise ValueError(f"unknown warm_start {warm_start}")


def f2obo_plain_steps(oracle, x, y, z, alpha, beta, multiplier, steps):
    """Algorithm 1, lines 4–7."""
    for _ in range(steps):
        z = plus(z, -alpha, oracle.g_y(x, z))  # line 5
        y = plus(y, -beta, penalised_gradient(oracle, x, y, multiplier))  # line 6
    return y, z


def f2obo_dual_steps(oracle, x, z, w, alpha, beta, multiplier, steps):
    """The same steps in (z, w), w = λ(y − z) (`dual`), with a = λβ in place of α.

    λ(y⁺ − z⁺) = λ(y − z) − λβ(f_y(y) + λ g_y(y)) + λα g_y(z)
               = w − a f_y(y) − λ(a g_y(y) − α g_y(z)).
    """
    a = multiplier * beta
    for _ in range(steps):
        y = plus(z, 1.0 / multiplier, w)
        outer, inner_y, inner_z = oracle.f_y(x, y), oracle.g_y(x, y), oracle.g_y(x, z)
        drift = plus([a * p for p in inner_y], -alpha, inner_z)
        w = plus(plus(w, -a, outer), -multiplier, drift)
        z = plus(z, -alpha, inner_z)
    return z, w


def f2obo_update(oracle, x, y, z, w, options, multiplier, beta):
    """Algorithm 1, lines 3–8; F²OBO-SL is K_t ≡ 1; without noise Algorithm 3 is Algorithm 1."""
    steps = 1 if options["name"] == "f2obo_sl" else options["inner_steps"]
    warm_start = options.get("warm_start", "separate")
    alpha = options["alpha"]
    if warm_start == "dual":
        z, w = f2obo_dual_steps(oracle, x, z, w, alpha, beta, multiplier, steps)
        return plus(z, 1.0 / multiplier, w), z, w, steps
    y = begin_round(warm_start, y, z, w, multiplier)
    y, z = f2obo_plain_steps(oracle, x, y, z, alpha, beta, multiplier, steps)
    return y, z, w, steps


def descend_to_tolerance(gradient, start, step, tolerance, cap):
    """while |∇| > δ: step, at most `cap` steps; n steps cost n + 1 gradients."""
    point, slope, taken = start, gradient(start), 0
    while norm(slope) > tolerance and taken < cap:
        point = plus(point, -step, slope)
        slope = gradient(point)
        taken += 1
    return point, taken


def af2obo_update(oracle, x, y, z, w, options, multiplier, beta):
    """Algorithm 2, lines 3–9."""
    y = begin_round(options.get("warm_start", "separate"), y, z, w, multiplier)
    cap = options["max_inner"]
    z, z_steps = descend_to_tolerance(
        lambda p: oracle.g_y(x, p), z, options["alpha"], options["delta_z"], cap
    )  # lines 4–6
    y, y_steps = descend_to_tolerance(
        lambda p: penalised_gradient(oracle, x, p, multiplier), y, beta, options["delta_y"], cap
    )  # lines 7–9
    w = [multiplier * a for a in minus(y, z)]
    return y, z, w, z_steps + y_steps


UPDATES = {"f2obo": f2obo_update, "f2obo_sl": f2obo_update, "sf2obo": f2obo_update, "af2obo": af2obo_update}

# What this file knows of them, as numbers; with a schedule or another option the run is handed over.
OPTIONS = {"name", "alpha", "beta_rule", "L_g1", "gamma", "lambda1", "tau", "warm_start", "inner_steps",
           "delta_y", "delta_z", "max_inner", "samples"}  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Schedules
# --------------------------------------------------------------------------------------------------


def multiplier_at(options, t):
    """λ_{t+1} = (1 + 1/t)^τ λ_t telescopes to λ_1 t^τ (Algorithm 1 line 11 with Theorem 1's Λ)."""
    return options["lambda1"] * t ** options["tau"]


def beta_at(options, multiplier):
    """β_t = α/λ_t, or in theory mode 1/(2 λ_t L_g1)."""
    rule = options.get("beta_rule", "alpha/lambda")
    if rule == "alpha/lambda":
        return options["alpha"] / multiplier
    if rule == "theory":
        return 1.0 / (2.0 * multiplier * options["L_g1"])
    raise ValueError(f"unknown beta_rule {rule}")


# --------------------------------------------------------------------------------------------------
# The run: commit (x_t, y_t) → reveal → measure → update
# --------------------------------------------------------------------------------------------------


def outer_direction(oracle, x, y, z, multiplier):
    """Algorithm 1 line 9 = Algorithm 2 line 10: f_x(y) + λ(g_x(y) − g_x(z))."""
    difference = minus(oracle.g_x(x, y), oracle.g_x(x, z))
    return plus(oracle.f_x(x, y), multiplier, difference)


def measures(round_, project, x, y, direction, gamma, regret_gamma):
    """What a row says of the committed (x_t, y_t) and of the direction d_t that the round gave."""
    exact = round_.hypergradient(x)
    mapping = gradient_mapping(project, x, exact, regret_gamma)
    own = gradient_mapping(project, x, direction, gamma)
    return {
        "f": round_.f(x, y),
        "g": round_.g(x, y),
        "regret_increment": dot(mapping, mapping),
        "own_mapping": dot(own, own),
        "hypergradient_error": norm(minus(direction, exact)),
        "x": list(x),
        "y": list(y),
    }


def is_handed_over(options):
    known = options["name"] in UPDATES and OPTIONS.issuperset(options)
    return not known or any(isinstance(value, dict) for value in options.values())


def trajectory(stream, config):
    """Every row of the trace that the config gives on the stream."""
    options = config["optimiser"]
    if is_handed_over(options):
        import methods_reference  # which imports this file

        return methods_reference.trajectory(stream, config)
    d1, d2 = stream["dims"]["x"], stream["dims"]["y"]
    rounds = [Round(data) for data in stream["rounds"]]
    project = projection(config.get("domain", {}), d1)
    gamma = options["gamma"]
    regret_gamma = config.get("metrics", {}).get("gamma", gamma)  # default γ of round 1
    update = UPDATES[options["name"]]

    start = config.get("start", {})
    x = project(per_coordinate(start.get("x", 0.0), d1))
    y = per_coordinate(start.get("y", 0.0), d2)
    z, w = list(y), [0.0] * d2  # z_1 = y_1; w_1 = λ(y_1 − z_1) = 0

    counts = dict.fromkeys(Counted.KINDS, 0)
    increments, rows = [], []
    for t in range(1, config["problem"]["rounds"] + 1):
        round_ = rounds[(t - 1) % len(rounds)]  # rounds repeat cyclically
        oracle = Counted(round_, counts)
        multiplier = multiplier_at(options, t)
        committed_x, committed_y = x, y

        y, z, w, steps = update(oracle, x, y, z, w, options, multiplier, beta_at(options, multiplier))
        direction = outer_direction(oracle, x, y, z, multiplier)

        row = measures(round_, project, committed_x, committed_y, direction, gamma, regret_gamma)
        increments.append(row["regret_increment"])
        row |= {
            "t": t,
            "regret": math.fsum(increments),  # P eq. (reg_F), cumulative after round t
            "residual_y": norm(penalised_gradient(round_, committed_x, y, multiplier)),
            "residual_z": norm(round_.g_y(committed_x, z)),
            "lambda": multiplier,
            "inner_steps": steps,
        }
        rows.append(row | counts)
        x = project(plus(committed_x, -gamma, direction))  # Algorithm 1 line 10, Algorithm 2 line 11
    return rows
