"""The reference itself against the paper: hand computation, limits, identities, brute force.

Needs no program.   python3 tests/e2e/reference_test.py
"""

import copy
import itertools
import math
import random
import unittest
from fractions import Fraction

import cases
import reference
import streams
from reference import Round, trajectory


def plain_config(**optimiser):
    options = {"name": "f2obo", "alpha": 0.3, "gamma": 0.05, "lambda1": 10.0, "tau": 0.0, "inner_steps": 5}
    return {"problem": {"rounds": 20}, "start": {}, "optimiser": options | optimiser}


def random_point(rng, dimension, size=1.0):
    return [rng.uniform(-size, size) for _ in range(dimension)]


class OracleTest(unittest.TestCase):
    """Gradients against central differences: error h²/6·f''' + 2ε|f|/h ≈ 1e-10 at h = 1e-5."""

    STEP = 1e-5

    def difference(self, function, point, i):
        ahead, behind = list(point), list(point)
        ahead[i] += self.STEP
        behind[i] -= self.STEP
        return (function(ahead) - function(behind)) / (2.0 * self.STEP)

    def assert_gradient(self, gradient, function, point):
        for i, value in enumerate(gradient):
            self.assertAlmostEqual(value, self.difference(function, point, i), delta=1e-8)

    def test_partial_gradients(self):
        rng = random.Random(1)
        for d1, d2 in cases.DIMENSIONS:
            for data in streams.drifting_stream(d1 + 10 * d2, d1, d2, 3)["rounds"]:
                r, x, y = Round(data), random_point(rng, d1), random_point(rng, d2)
                self.assert_gradient(r.f_x(x, y), lambda u: r.f(u, y), x)
                self.assert_gradient(r.f_y(x, y), lambda u: r.f(x, u), y)
                self.assert_gradient(r.g_x(x, y), lambda u: r.g(u, y), x)
                self.assert_gradient(r.g_y(x, y), lambda u: r.g(x, u), y)

    def test_hypergradient_is_the_gradient_of_F(self):
        rng = random.Random(2)
        for d1, d2 in cases.DIMENSIONS:
            for data in streams.drifting_stream(d1 + 10 * d2, d1, d2, 3)["rounds"]:
                r, x = Round(data), random_point(rng, d1)
                self.assert_gradient(r.hypergradient(x), r.outer_value, x)

    def test_inner_solution_has_no_gradient(self):
        rng = random.Random(3)
        for d1, d2 in cases.DIMENSIONS:
            r = Round(streams.drifting_stream(9, d1, d2, 1)["rounds"][0])
            x = random_point(rng, d1)
            self.assertLess(reference.norm(r.g_y(x, r.inner_solution(x))), 1e-13)

    def test_cholesky_refuses_what_is_not_positive_definite(self):
        for matrix in ([[0.0]], [[-1.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]):
            with self.assertRaises(ValueError):
                reference.cholesky(matrix)


class StreamTest(unittest.TestCase):
    def test_streams_are_reproducible_and_drift(self):
        one, other = (streams.drifting_stream(4, 2, 3, 5) for _ in range(2))
        self.assertEqual(one, other)
        for before, after in itertools.pairwise(one["rounds"]):
            for key in "A B b w c s r e".split():
                self.assertNotEqual(before[key], after[key], key)

    def test_every_A_is_symmetric_and_strongly_convex(self):
        for d1, d2 in cases.DIMENSIONS:
            for data in streams.drifting_stream(6, d1, d2, 20)["rounds"]:
                matrix = data["A"]
                self.assertEqual(matrix, [list(column) for column in zip(*matrix)])
                slack = streams.STRONG_CONVEXITY - 1e-9
                reference.cholesky([[a - (slack if i == j else 0.0) for j, a in enumerate(row)]
                                    for i, row in enumerate(matrix)])  # fmt: skip
                self.assertNotEqual(data["s"], 0.0)


class ProjectionTest(unittest.TestCase):
    """p = Proj_X(v) exactly when p ∈ X and <v − p, u − p> ≤ 0 for all u ∈ X, that is when
    h_X(v − p) ≤ <v − p, p> with h_X the support function of X."""

    def domains(self, d1):
        return [cases.domain(name, d1) for name in cases.SETS]

    @staticmethod
    def feasible(domain, p, slack=1e-12):
        name = domain["set"]
        if name == "box":
            lower, upper = (reference.per_coordinate(domain[k], len(p)) for k in ("lower", "upper"))
            return all(low - slack <= a <= high + slack for low, a, high in zip(lower, p, upper))
        if name == "l2_ball":
            return reference.norm(p) <= domain["radius"] + slack
        if name == "l1_ball":
            return sum(map(abs, p)) <= domain["radius"] + slack
        if name == "simplex":
            return min(p) >= -slack and abs(sum(p) - 1.0) <= slack
        return name == "all" or min(p) >= -slack

    @staticmethod
    def support(domain, n):
        """sup of <n, u> over the set"""
        name = domain["set"]
        if name == "box":
            lower, upper = (reference.per_coordinate(domain[k], len(n)) for k in ("lower", "upper"))
            return sum(max(low * a, high * a) for low, a, high in zip(lower, n, upper))
        if name == "l2_ball":
            return domain["radius"] * reference.norm(n)
        if name == "l1_ball":
            return domain["radius"] * max(map(abs, n))
        if name == "simplex":
            return max(n)
        if name == "all":
            return 0.0 if not any(n) else math.inf
        return 0.0 if max(n) <= 0.0 else math.inf

    def test_projections_satisfy_the_variational_inequality(self):
        rng = random.Random(11)
        for d1 in (1, 2, 3, 7):
            for domain, size in itertools.product(self.domains(d1), (0.1, 1.0, 5.0)):
                project = reference.projection(domain, d1)
                for _ in range(50):
                    v = random_point(rng, d1, size)
                    p = project(v)
                    normal = reference.minus(v, p)
                    self.assertTrue(self.feasible(domain, p), (domain, v, p))
                    self.assertLessEqual(self.support(domain, normal), reference.dot(normal, p) + 1e-12, (domain, v, p))

    def test_projections_are_nearest_on_a_grid(self):
        rng = random.Random(12)
        side = [i / 40.0 for i in range(-80, 81)]
        grid = list(itertools.product(side, side))
        for domain in self.domains(2):
            project = reference.projection(domain, 2)
            inside = [u for u in grid if self.feasible(domain, u)]
            for _ in range(5):
                v = random_point(rng, 2, 1.5)
                nearest = min(reference.norm(reference.minus(u, v)) for u in inside)
                found = reference.norm(reference.minus(project(v), v))
                self.assertLessEqual(found, nearest + 1e-12)
                self.assertGreaterEqual(found, nearest - math.sqrt(2.0) / 40.0)  # one cell

    def test_ties_and_zeros(self):
        self.assertEqual(reference.project_simplex([0.0, 0.0]), [0.5, 0.5])
        self.assertEqual(reference.project_simplex([3.0]), [1.0])
        self.assertEqual(reference.project_simplex([5.0, 0.0, 0.0]), [1.0, 0.0, 0.0])
        self.assertEqual(reference.project_l1_ball([0.0, 0.0], 1.0), [0.0, 0.0])
        self.assertEqual(reference.project_l1_ball([-2.0, 2.0], 2.0), [-1.0, 1.0])
        self.assertEqual(reference.project_l2_ball([0.0, 0.0], 1.0), [0.0, 0.0])


class PaperTest(unittest.TestCase):
    def test_two_rounds_in_exact_fractions(self):
        """Algorithm 1 typed once more, in rationals, for d1 = d2 = 1, s = 0, K = 2, τ = 1."""
        A, B, b, w, c, r, e = map(Fraction, ("3/2", "1/2", "1/4", "1", "2", "1/2", "-1"))
        alpha, gamma, lambda1 = Fraction(1, 2), Fraction(1, 8), Fraction(4)
        x, y, z, regret, rows = Fraction(1), Fraction(1, 2), Fraction(1, 2), Fraction(0), []
        for t in (1, 2):
            lam = lambda1 * t
            committed = (x, y)
            for _ in range(2):
                z_next = z - alpha * (A * z - B * x - b)
                y_next = y - alpha / lam * (w * (y - c) + lam * (A * y - B * x - b))
                y, z = y_next, z_next
            d = r * (x - e) + lam * (-B * y + B * z)
            star = (B * x + b) / A
            exact = r * (x - e) + B / A * w * (star - c)
            regret += exact**2  # X = R: G_X(x, d, γ) = d
            rows.append((committed, regret, d, abs(d - exact)))
            x = x - gamma * d
        data = {"A": [[1.5]], "B": [[0.5]], "b": [0.25], "w": 1.0, "c": [2.0], "s": 0.0, "r": 0.5, "e": [-1.0]}
        config = plain_config(alpha=0.5, gamma=0.125, lambda1=4.0, tau=1.0, inner_steps=2)
        config |= {"problem": {"rounds": 2}, "start": {"x": 1.0, "y": 0.5}}
        got = trajectory({"dims": {"x": 1, "y": 1}, "rounds": [data]}, config)
        for row, ((x, y), regret, d, error) in zip(got, rows, strict=True):
            self.assertAlmostEqual(row["x"][0], float(x), delta=1e-14)
            self.assertAlmostEqual(row["y"][0], float(y), delta=1e-14)
            self.assertAlmostEqual(row["regret"], float(regret), delta=1e-14)
            self.assertAlmostEqual(row["own_mapping"], float(d * d), delta=1e-14)
            self.assertAlmostEqual(row["hypergradient_error"], float(error), delta=1e-14)

    def test_bias_falls_like_one_over_lambda(self):
        """Inner problems solved: |d − ∇F| ≤ D_1/λ (P lemma chen), and halves when λ doubles."""
        stream = streams.static_stream(21, 3, 4)
        errors = []
        for lam in (100.0, 200.0, 400.0, 1e6):
            config = plain_config(lambda1=lam, inner_steps=400)
            config["problem"]["rounds"] = 1
            errors.append(trajectory(stream, config)[0]["hypergradient_error"])
        self.assertAlmostEqual(errors[0] / errors[1], 2.0, delta=0.05)
        self.assertAlmostEqual(errors[1] / errors[2], 2.0, delta=0.03)
        self.assertLess(errors[3], 1e-5)

    def test_static_stream_is_solved(self):
        """τ > ½ on a static stream: the regret stays bounded, its increments vanish."""
        stream = streams.static_stream(22, 2, 3)
        config = plain_config(tau=1.0, inner_steps=20, gamma=0.2)
        config["problem"]["rounds"] = 400
        rows = trajectory(stream, config)
        self.assertLess(rows[-1]["regret_increment"], 1e-6)
        self.assertLess(rows[-1]["regret"] - rows[199]["regret"], 1e-3)

    def test_multiplier_recursion_telescopes(self):
        options = {"lambda1": 5.0, "tau": 0.75}
        value = 5.0
        for t in range(1, 50):
            self.assertAlmostEqual(reference.multiplier_at(options, t), value, delta=1e-12 * value)
            value *= (1.0 + 1.0 / t) ** 0.75

    def test_theory_beta(self):
        self.assertEqual(reference.beta_at({"beta_rule": "theory", "L_g1": 4.0}, 10.0), 1.0 / 80.0)
        self.assertEqual(reference.beta_at({"alpha": 0.5}, 10.0), 0.05)

    def test_start_is_projected_and_z_starts_at_y(self):
        stream = streams.static_stream(23, 2, 2)
        config = plain_config() | {"start": {"x": 9.0, "y": [0.4, -0.4]}, "domain": {"set": "simplex"}}
        rows = trajectory(stream, config)
        self.assertEqual(rows[0]["x"], [0.5, 0.5])
        self.assertEqual(rows[0]["y"], [0.4, -0.4])
        dual = trajectory(stream, config | {"optimiser": config["optimiser"] | {"warm_start": "dual"}})
        self.assertEqual(dual[0]["y"], [0.4, -0.4])

    def test_counts_are_the_declared_ones(self):
        """2K g_y + 2 g_x, K f_y + 1 f_x; a loop of n steps costs n + 1 gradients."""
        for case in cases.all_cases():
            if "long" in case.name:
                continue
            rows = trajectory(case.stream, case.config)
            steps = sum(row["inner_steps"] for row in rows)
            rounds, last = len(rows), rows[-1]
            adaptive = case.config["optimiser"]["name"] == "af2obo"
            self.assertEqual(last["hvp"], 0)
            if adaptive:  # (n_z + 1) + (n_y + 1) + 2
                self.assertEqual(last["grad_g"], steps + 4 * rounds)
            else:
                self.assertEqual(last["grad_g"], 2 * steps + 2 * rounds)
                self.assertEqual(last["grad_f"], steps + rounds)


class IdentityTest(unittest.TestCase):
    """Settings under which two of the algorithms are the same map."""

    FIELDS = ["f", "g", "regret", "own_mapping", "hypergradient_error", "residual_y", "residual_z"]

    def assert_same(self, one, other, fields=FIELDS):
        for a, b in zip(one, other, strict=True):
            for field in fields:
                self.assertAlmostEqual(a[field], b[field], delta=1e-10 * (1.0 + abs(a[field])))
            for p, q in zip(a["x"] + a["y"], b["x"] + b["y"], strict=True):
                self.assertAlmostEqual(p, q, delta=1e-11)

    def setUp(self):
        self.stream = streams.drifting_stream(31, 3, 2, 7)

    def test_single_loop_is_one_step(self):
        self.assertEqual(
            trajectory(self.stream, plain_config(inner_steps=1, tau=1.0)),
            trajectory(self.stream, plain_config(name="f2obo_sl", tau=1.0)),
        )

    def test_adaptive_without_tolerance_is_a_fixed_number_of_steps(self):
        for warm_start, beta in itertools.product(cases.WARM_STARTS, cases.BETA_RULES):
            common = {"tau": 0.5, "warm_start": warm_start, "beta_rule": beta, "L_g1": 3.0}
            fixed = trajectory(self.stream, plain_config(inner_steps=4, **common))
            adaptive = plain_config(name="af2obo", delta_y=0.0, delta_z=0.0, max_inner=4, **common)
            adaptive = trajectory(self.stream, adaptive)
            self.assertTrue(all(row["inner_steps"] == 8 for row in adaptive))
            self.assert_same(fixed, adaptive)

    def test_dual_is_separate_while_lambda_is_constant(self):
        for name, beta in itertools.product(cases.ALGORITHMS, cases.BETA_RULES):
            options = {"name": name, "tau": 0.0, "beta_rule": beta, "L_g1": 3.0,
                       "delta_y": 1e-3, "delta_z": 1e-4, "max_inner": 30}  # fmt: skip
            separate = trajectory(self.stream, plain_config(warm_start="separate", **options))
            dual = trajectory(self.stream, plain_config(warm_start="dual", **options))
            self.assert_same(separate, dual)

    def test_dual_tends_to_minus_v(self):
        """w → −v, the solution of g_yy v = f_y."""
        r, x, lam = Round(streams.static_stream(32, 2, 3)["rounds"][0]), [0.3, -0.2], 1e7
        z, w = reference.f2obo_dual_steps(r, x, [0.0] * 3, [0.0] * 3, 0.3, 0.3 / lam, lam, 500)
        v = reference.solve_positive_definite(r.A, r.f_y(x, r.inner_solution(x)))
        for a, b in zip(w, v, strict=True):
            self.assertAlmostEqual(a, -b, delta=1e-5)

    def test_tied_forgets_y(self):
        """The committed y is the round's last y; tying starts the next round from z alone."""
        tied = trajectory(self.stream, plain_config(warm_start="tied", tau=1.0))
        separate = trajectory(self.stream, plain_config(warm_start="separate", tau=1.0))
        self.assertEqual(tied[1]["y"], separate[1]["y"])  # round 1 is the same: z_1 = y_1
        self.assertNotEqual(tied[2]["y"], separate[2]["y"])

    def test_cyclic_repetition(self):
        twice = {"dims": self.stream["dims"], "rounds": self.stream["rounds"] * 3}
        self.assertEqual(trajectory(self.stream, plain_config()), trajectory(twice, plain_config()))


class CasesTest(unittest.TestCase):
    """The comparison is worth something only if the cases are well conditioned and meet the corners."""

    @classmethod
    def setUpClass(cls):
        cls.runs = [(case, trajectory(case.stream, case.config)) for case in cases.all_cases()]

    def test_cases_do_not_amplify_rounding(self):
        """1e-13 at the start, hundreds of roundings at once, moves nothing by half of the tolerance 1e-9."""
        for case, rows in self.runs:
            config = copy.deepcopy(case.config)
            y = reference.per_coordinate(config["start"].get("y", 0.0), case.stream["dims"]["y"])
            config["start"]["y"] = [a + 1e-13 for a in y]
            shifted = trajectory(case.stream, config)
            for a, b in zip(rows, shifted, strict=True):
                self.assertEqual(a["inner_steps"], b["inner_steps"], case.name)
                for field in set(a) - {"x", "y"}:
                    self.assertLessEqual(abs(a[field] - b[field]), 5e-10 * (1.0 + abs(a[field])), (case.name, field))

    def test_numbers_keep_a_sensible_size(self):
        for case, rows in self.runs:
            for row in rows:
                self.assertLess(max(map(abs, row["x"] + row["y"])), 20.0, case.name)

    def test_adaptive_cases_meet_tolerance_cap_and_idle_rounds(self):
        capped = idle = between = 0
        for case, rows in self.runs:
            if case.config["optimiser"]["name"] != "af2obo":
                continue
            for row in rows:
                cap = case.config["optimiser"]["max_inner"]
                capped += row["inner_steps"] == 2 * cap
                idle += row["inner_steps"] == 0
                between += 0 < row["inner_steps"] < cap
        self.assertGreater(min(capped, idle, between), 20)

    def test_projections_bite_and_leave_alone(self):
        """In every bounded set some rounds are cut (mapping ≠ direction) and some are free."""
        for set_name in cases.SETS[1:]:
            cut = free = 0
            for case, rows in self.runs:
                if f" {set_name} " not in case.name:
                    continue
                for row in rows:
                    data = case.stream["rounds"][(row["t"] - 1) % len(case.stream["rounds"])]
                    exact = Round(data).hypergradient(row["x"])
                    size = reference.dot(exact, exact)
                    same = abs(size - row["regret_increment"]) <= 1e-9 * (1.0 + size)
                    cut, free = cut + (not same), free + same
            self.assertGreater(cut, 20, set_name)
            if set_name != "simplex":  # <d, 1> = 0 never happens there by chance
                self.assertGreater(free, 20, set_name)


if __name__ == "__main__":
    unittest.main()
