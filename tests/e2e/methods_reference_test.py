"""The methods of methods_reference.py: identities between them, limits, declared costs.

Needs no program.   python3 tests/e2e/methods_reference_test.py
"""

import itertools
import math
import random
import unittest

import cases
import methods_cases
import momentum_methods
import penalty_methods
import reference
import streams
from methods_reference import METHODS, options_of, trajectory
from reference import Round, dot, minus, norm, plus
from reference_test import random_point


def config_of(name, rounds=20, domain=None, start=None, **options):
    section = {"name": name, "gamma": 0.05} | options
    return {"problem": {"rounds": rounds}, "start": start or {}, "optimiser": section, "domain": domain or {}}


class SameRuns(unittest.TestCase):
    FIELDS = ["f", "g", "regret", "own_mapping", "hypergradient_error", "residual_y", "residual_z", "lambda"]

    def assert_same(self, one, other, fields=FIELDS, tolerance=1e-10):
        for a, b in zip(one, other, strict=True):
            for field in fields:
                self.assertAlmostEqual(a[field], b[field], delta=tolerance * (1.0 + abs(a[field])), msg=field)
            for p, q in zip(a["x"] + a["y"], b["x"] + b["y"], strict=True):
                self.assertAlmostEqual(p, q, delta=tolerance)


class TwoReferencesTest(SameRuns):
    def test_the_papers_algorithms_typed_twice_agree(self):
        """A quarter of cases.py; `inner_steps` and the counters exactly."""
        for case in itertools.islice(cases.all_cases(), 0, None, 4):
            one, other = reference.trajectory(case.stream, case.config), trajectory(case.stream, case.config)
            self.assert_same(one, other)
            for a, b in zip(one, other, strict=True):
                for field in ("inner_steps", *reference.Counted.KINDS):
                    self.assertEqual(a[field], b[field], (case.name, field))

    def test_there_is_one_entry(self):
        stream = streams.drifting_stream(1, 2, 3, 5)
        for section in ({"name": "fsobo"}, {"name": "f2obo", "order": 2}, {"name": "f2obo", "gamma": {"scale": 0.1}}):
            config = {"problem": {"rounds": 3}, "optimiser": section}
            self.assertEqual(reference.trajectory(stream, config), trajectory(stream, config))

    def test_unknown_options_are_refused(self):
        with self.assertRaises(ValueError):
            options_of({"name": "fsobo", "momentum": 0.9})


class IdentityTest(SameRuns):
    """Settings under which two methods are the same map."""

    def setUp(self):
        self.stream = streams.drifting_stream(91, 3, 4, 7)

    def run_of(self, name, **options):
        return trajectory(self.stream, config_of(name, **options))

    def test_sobbo_without_noise_is_obbo(self):
        for window, samples in itertools.product((1, 3, 50), ("round", "fresh")):
            common = {"alpha": 0.3, "window": window, "inner_steps": 4}
            self.assertEqual(self.run_of("sobbo", samples=samples, **common), self.run_of("obbo", **common))

    def test_sogd_with_momentum_one_takes_raw_directions(self):
        rows = self.run_of("sogd", y_step=0.3, v_step=0.2, momentum=1.0)
        x, y, v = [0.0] * 3, [0.0] * 4, [0.0] * 4
        for row in rows:
            r = Round(self.stream["rounds"][(row["t"] - 1) % 7])
            self.assertLess(norm(minus(row["x"], x)) + norm(minus(row["y"], y)), 1e-13)
            d = minus(r.f_x(x, y), r.g_xy(x, y, v))  # all three at (x, y, v)_t
            residual = minus(r.g_yy(x, y, v), r.f_y(x, y))
            y, v, x = plus(y, -0.3, r.g_y(x, y)), plus(v, -0.2, residual), plus(x, -0.05, d)

    def test_one_aobo_round_of_descent_is_fsobo(self):
        """δ = 0, one inner step, one step on the system."""
        aobo = self.run_of("aobo", alpha=0.3, delta=0.0, max_inner=1, system_solver="gd", system_steps=1)
        self.assert_same(aobo, self.run_of("fsobo", alpha=0.3))

    def test_sobow_with_window_one_is_aobo_with_one_step(self):
        for solver in ("cg", "gd"):
            common = {"alpha": 0.3, "system_solver": solver, "system_steps": 2}
            one = self.run_of("sobow", **common)
            self.assert_same(one, self.run_of("aobo", delta=0.0, max_inner=1, **common))

    def test_solved_systems_and_inner_problems_are_the_hypergradient(self):
        rows = self.run_of("oagd", alpha=0.3, window=1, inner_steps=200, system_steps=6)
        rows += self.run_of("aobo", alpha=0.3, delta=1e-13, system_steps=6)
        for row in rows:
            self.assertLess(row["hypergradient_error"], 1e-11)

    def test_on_a_still_stream_oagds_window_does_nothing_once_it_is_full(self):
        """At one point all functions are the same; before, the mean lacks the rounds that were not."""
        config = config_of("oagd", alpha=0.3, window=4, decay=0.5, inner_steps=200, system_steps=6)
        rows = trajectory(streams.static_stream(92, 2, 3), config)
        self.assertLess(rows[3]["hypergradient_error"], 1e-11)
        self.assertGreater(rows[2]["hypergradient_error"], 1e-3)

    def test_stored_weights_make_oagds_window_do_nothing_on_a_still_stream_from_the_first_round(self):
        common = {"alpha": 0.3, "window": 4, "decay": 0.5, "inner_steps": 200, "system_steps": 6}
        rows = trajectory(streams.static_stream(92, 2, 3), config_of("oagd", normalise="stored", **common))
        self.assertLess(max(row["hypergradient_error"] for row in rows), 1e-11)

    def test_wobo_with_a_window_of_one_is_sobow(self):
        for solver in ("cg", "gd"):
            common = {"alpha": 0.3, "system_solver": solver, "system_steps": 2, "window": 1}
            self.assert_same(self.run_of("wobo", **common), self.run_of("sobow", **common))

    def test_wobo_solves_every_inner_problem_of_its_window(self):
        """Solved at the current x, the estimates average to the mean of the window's hypergradients."""
        rows = self.run_of("wobo", alpha=0.3, window=3, inner_steps=200, system_steps=6)
        for row, after in itertools.pairwise(rows):
            x, total = row["x"], [0.0] * 3
            for s in range(max(1, row["t"] - 2), row["t"] + 1):
                r = Round(self.stream["rounds"][(s - 1) % 7])
                y = r.inner_solution(x)
                v = reference.solve_positive_definite(r.A, r.f_y(x, y))
                total = plus(total, 1.0 / 3.0, minus(r.f_x(x, y), r.g_xy(x, y, v)))
            self.assertLess(norm(minus(plus(x, -0.05, total), after["x"])), 1e-11)

    def test_f3sa_with_momentum_one_is_f2sa_with_one_step(self):
        common = {"alpha": 0.3, "increment": 0.5}
        fields = [*self.FIELDS, "inner_steps", "inner_steps_y", "inner_steps_z"]
        self.assert_same(self.run_of("f3sa", momentum=1.0, **common), self.run_of("f2sa", **common), fields)

    def test_f2sa_without_increment_is_f2obo(self):
        f2sa = self.run_of("f2sa", alpha=0.3, increment=0.0, inner_steps=3)
        self.assert_same(f2sa, self.run_of("f2obo", alpha=0.3, tau=0.0, inner_steps=3))

    def test_central_differences_are_exact_on_quadratics(self):
        """g is quadratic: only rounding, some ε/h = 4e-11, tells them from products."""
        for name, options in (("fsobo", {}), ("aobo", {"system_steps": 2, "delta": 0.01})):
            one, other = (self.run_of(n, alpha=0.3, **options) for n in (name, name + "_fd"))
            self.assert_same(one, other, tolerance=1e-9)

    def test_zeroth_order_terms_along_a_basis_are_sogds(self):
        """With r_i, q_i the unit vectors the estimators are central differences, exact on g."""
        stream = streams.drifting_stream(93, 3, 3, 1)  # d1 = d2, b = d: the basis serves both
        round_ = Round(stream["rounds"][0] | {"s": 0.0})
        rng = random.Random(2)
        x, y, v = (random_point(rng, 3) for _ in range(3))
        options = options_of({"name": "zo_sogd", "directions": 3})
        zeroth = momentum_methods.ZoSogd(options, 3, 3, y, BasisDraw(3)).terms_of(round_)(x, y, v)
        first = momentum_methods.Sogd(options_of({"name": "sogd"}), 3, 3, y, None).terms_of(round_)(x, y, v)
        for one, other in zip(zeroth, first, strict=True):
            self.assertLess(norm(minus(one, other)), 1e-9)


class BasisDraw:
    """gauss() that spells out the unit vectors, one after the other."""

    def __init__(self, dimension):
        self._entries = itertools.cycle(float(i == j) for i in range(dimension) for j in range(dimension))

    def gauss(self, mean, deviation):
        return next(self._entries)


class WarmStartTest(SameRuns):
    def setUp(self):
        self.stream = streams.drifting_stream(61, 3, 2, 7)

    def run_with(self, **options):
        common = {"alpha": 0.3, "lambda1": 24.0, "tau": 0.0, "inner_steps": 3}
        return trajectory(self.stream, config_of("f2obo", **(common | options)))

    def test_dual_is_separate_while_lambda_is_constant(self):
        for order, solver in itertools.product(methods_cases.ORDERS, ("gd", "nesterov", "backtracking")):
            options = {"order": order, "inner_solver": solver}
            self.assert_same(self.run_with(**options), self.run_with(warm_start="dual", **options))

    def test_tied_and_dual_differ_from_separate_once_lambda_grows(self):
        for order in methods_cases.ORDERS:
            runs = [self.run_with(order=order, tau=1.0, warm_start=name) for name in cases.WARM_STARTS]
            self.assertEqual(runs[0][1]["y"], runs[1][1]["y"])  # round 1: all copies start at y_1 anyway
            self.assertEqual(runs[0][1]["y"], runs[2][1]["y"])
            for one, other in itertools.combinations(runs, 2):
                self.assertNotEqual(one[2]["y"], other[2]["y"])

    def test_dual_keeps_the_scaled_difference(self):
        for order in methods_cases.ORDERS:
            options = options_of({"name": "f2obo", "order": order, "warm_start": "dual"})
            method = penalty_methods.F2obo(options, 1, 2, [0.0, 0.0], None)
            rng = random.Random(order)
            method.copies = {j: random_point(rng, 2) for j in method.copies}
            centre, before = method.centre(), dict(method.copies)
            method.multiplier = 12.0
            method.meet_round(8.0)
            for j, y in method.copies.items():
                kept = minus([12.0 * a for a in minus(y, centre)], [8.0 * a for a in minus(before[j], centre)])
                self.assertLess(norm(kept), 1e-13)


class RelativesTest(unittest.TestCase):
    def test_bome_descends_on_the_inner_gap(self):
        """With λ > 0 the step's inner product with ∇q is exactly η|∇q|²; with λ = 0 at least that."""
        stream, eta = streams.drifting_stream(95, 2, 3, 9), 0.5
        rows = trajectory(stream, config_of("bome", rounds=40, alpha=0.3, y_step=0.2, eta=eta, inner_steps=3))
        positive = 0
        for row in rows:
            r, x, y = Round(stream["rounds"][(row["t"] - 1) % 9]), row["x"], row["y"]
            near = y
            for _ in range(3):
                near = plus(near, -0.3, r.g_y(x, near))
            q = minus(r.g_x(x, y), r.g_x(x, near)) + r.g_y(x, y)
            step = plus(r.f_x(x, y) + r.f_y(x, y), row["lambda"], q)
            excess = dot(step, q) - eta * dot(q, q)
            self.assertGreater(excess, -1e-13)
            positive += row["lambda"] > 0.0
            if row["lambda"] > 0.0:
                self.assertAlmostEqual(excess, 0.0, delta=1e-13)
        self.assertGreater(positive, 5)

    def test_pbgd_follows_the_gradient_of_its_objective(self):
        """Round 1 on X = R^d1: the steps of x and y are −step · ∇(f + λ(g − g(·, ŷ))), ŷ a constant."""
        stream = streams.static_stream(96, 2, 3)
        rows = trajectory(stream, config_of("pbgd", rounds=2, alpha=0.3, y_step=0.02, start={"x": 0.3, "y": -0.2}))
        r, x, y, near = Round(stream["rounds"][0]), rows[0]["x"], rows[0]["y"], rows[0]["y"]
        for _ in range(5):
            near = plus(near, -0.3, r.g_y(x, near))

        def objective(u, v):
            return r.f(u, v) + 10.0 * (r.g(u, v) - r.g(u, near))

        moved = [a / 0.05 for a in minus(x, rows[1]["x"])] + [a / 0.02 for a in minus(y, rows[1]["y"])]
        joint, h = x + y, 1e-5
        for i, slope in enumerate(moved):
            ahead, behind = list(joint), list(joint)
            ahead[i] += h
            behind[i] -= h
            rise = objective(ahead[:2], ahead[2:]) - objective(behind[:2], behind[2:])
            self.assertAlmostEqual(slope, rise / (2.0 * h), delta=1e-7)

    def test_the_multiplier_grows_by_the_increment(self):
        for name in ("f2sa", "f3sa"):
            config = config_of(name, lambda1=7.0, increment={"scale": 2.0, "power": -0.5})
            value = 7.0
            for row in trajectory(streams.static_stream(97, 1, 2), config):
                self.assertAlmostEqual(row["lambda"], value, delta=1e-12)
                value += 2.0 / math.sqrt(row["t"])


class CostTest(unittest.TestCase):
    """The declared calls of a round, (grad_f, grad_g, hvp, cross, values), as increments of the counters."""

    K, Q, W = 3, 2, 4

    def increments(self, name, rounds=6, **options):
        stream = streams.drifting_stream(98, 2, 5, 9)
        rows = trajectory(stream, config_of(name, rounds=rounds, alpha=0.2, **options))
        self.rows = rows
        counts = [[0] * 5] + [[row[kind] for kind in reference.Counted.KINDS] for row in rows]
        return [tuple(b - a for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(counts)]

    def assert_constant(self, expected, name, **options):
        self.assertEqual(set(self.increments(name, **options)), {expected}, name)

    def test_products(self):
        K, Q = self.K, self.Q
        self.assert_constant((2, 1, 1, 1, 0), "fsobo")
        self.assert_constant((2, 1, Q + 1, 1, 0), "sobow", system_steps=Q)
        self.assert_constant((2, 1, Q, 1, 0), "sobow", system_steps=Q, system_solver="gd")
        self.assert_constant((2, K, K - 1, K, 0), "obbo", inner_steps=K)
        self.assert_constant((2, K, K - 1, K, 0), "sobbo", inner_steps=K)
        self.assert_constant((2, K, 0, 1, 0), "sobbo", inner_steps=K, estimator="neumann", system_steps=1)
        for t, got in enumerate(self.increments("oagd", window=self.W, inner_steps=K, system_steps=Q), start=1):
            seen = min(t, self.W)
            self.assertEqual(got, (2 * seen, K, Q * seen, seen, 0))
        on_window = {"window": self.W, "inner_on": "window", "system_steps": Q}
        for t, got in enumerate(self.increments("oagd", **on_window), start=1):
            seen = min(t, self.W)
            self.assertEqual(got, (2 * seen, seen, Q * seen, seen, 0))
        for t, got in enumerate(self.increments("wobo", window=self.W, inner_steps=K, system_steps=Q), start=1):
            seen = min(t, self.W)
            self.assertEqual(got, (2 * seen, K * seen, (Q + 1) * seen, seen, 0))

    def test_momentum_pays_twice_after_the_first_round(self):
        for name, once in (("sogd", (2, 1, 1, 1, 0)), ("zo_sogd", (0, 0, 0, 0, 14)), ("f3sa", (2, 4, 0, 0, 0))):
            got = self.increments(name)
            self.assertEqual(got[0], once)
            self.assertEqual(set(got[1:]), {tuple(2 * a for a in once)})
        self.assertEqual(self.increments("zo_sogd", directions=3)[1], (0, 0, 0, 0, 84))

    def test_relatives(self):
        for name in ("bome", "pbgd"):
            self.assert_constant((2, self.K + 3, 0, 0, 0), name, inner_steps=self.K)
        self.assert_constant((self.K + 1, 2 * self.K + 2, 0, 0, 0), "f2sa", inner_steps=self.K)

    def test_differences_cost_two_gradients_a_product(self):
        self.assertEqual(self.increments("fsobo_fd"), [(2, 3, 0, 0, 0)] + [(2, 5, 0, 0, 0)] * 5)  # v_1 = 0 is free
        got = self.increments("aobo_fd", delta=1e-3, system_steps=self.Q)
        for t, (row, calls) in enumerate(zip(self.rows, got, strict=True), start=1):
            products = self.Q + (t > 1) + 1
            self.assertEqual(calls, (2, row["inner_steps"] + 1 + 2 * products, 0, 0, 0))

    def test_adaptive_loops_pay_one_gradient_more(self):
        got = self.increments("aobo", delta=1e-3, system_steps=self.Q)
        for row, calls in zip(self.rows, got, strict=True):
            self.assertEqual(calls, (2, row["inner_steps"] + 1, self.Q + 1, 1, 0))

    def test_stencils(self):
        """An iteration: g_y a copy, f_y a copy with j ≠ 0; the direction as many g_x and f_x; balance one more."""
        for order, stencil in penalty_methods.STENCILS.items():
            copies, pulled, even = len(stencil), len(stencil) - (0 in stencil), order % 2 == 0
            for solver, per_copy in (("gd", self.K), ("nesterov", self.K)):
                expected = (pulled * (per_copy + 1), copies * (per_copy + 1), 0, 0, 0)
                self.assert_constant(expected, "f2obo", order=order, inner_steps=self.K, inner_solver=solver)
            expected = (pulled * (self.K + 1) + even, copies * (self.K + 1) + 1, 0, 0, 0)
            self.assert_constant(expected, "sf2obo", order=order, inner_steps=self.K, lambda_rule="balance")
            got = self.increments("f2obo", order=order, inner_steps=self.K, inner_solver="backtracking")
            self.assertTrue(all(calls[1] >= copies * (self.K + 2) for calls in got))
            got = self.increments("af2obo", order=order, lambda1=30.0)
            for row, calls in zip(self.rows, got, strict=True):
                self.assertEqual(calls[1], row["inner_steps"] + 2 * copies)
                self.assertEqual(calls[0], row["inner_steps_y"] + 2 * pulled)
                self.assertEqual(row["inner_steps"], row["inner_steps_y"] + row["inner_steps_z"])


class StaticStreamTest(unittest.TestCase):
    """On a still stream every method finds the hypergradient, up to its own bias."""

    SETTINGS = {
        "fsobo": {}, "aobo": {"delta": 1e-6}, "sobow": {"window": 3}, "oagd": {}, "obbo": {"inner_steps": 40},
        "sobbo": {"inner_steps": 40, "window": 5}, "sogd": {}, "zo_sogd": {"directions": 8},
        "f2sa": {"increment": 1.0}, "f3sa": {"increment": 1.0}, "bome": {"y_step": 0.1, "inner_steps": 20},
        "pbgd": {"gamma": 0.02, "lambda1": 15.0}, "fsobo_fd": {}, "aobo_fd": {"delta": 1e-6},
        "wobo": {"window": 3}, "f2obo": {"order": 2},
        "af2obo": {"order": 3, "lambda1": 16.0, "tau": 0.0, "delta_y": 1e-4, "delta_z": 1e-6},
        "sf2obo": {"order": 4, "lambda1": 16.0}, "f2obo_sl": {},
    }  # fmt: skip
    SOLVED_AT_ONCE = ["aobo", "aobo_fd", "af2obo", "obbo", "sobbo"]  # no first error to fall from

    def test_the_error_of_the_hypergradient_falls(self):
        stream = streams.static_stream(22, 2, 3)
        for name in METHODS:
            section = {"alpha": 0.3, "gamma": 0.05} | self.SETTINGS[name]
            rows = trajectory(stream, config_of(name, rounds=500, **section))
            first, last = rows[0]["hypergradient_error"], rows[-1]["hypergradient_error"]
            self.assertLess(last, 1e-3 if name in self.SOLVED_AT_ONCE else 0.2 * first, name)
            self.assertLess(rows[-1]["regret_increment"], 0.05 * rows[0]["regret_increment"], name)


if __name__ == "__main__":
    unittest.main()
