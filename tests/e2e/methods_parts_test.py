"""The parts of methods_reference.py: linear systems, reverse mode, stencils, inner solvers, outer steps, samples.

Needs no program.   python3 tests/e2e/methods_parts_test.py
"""

import itertools
import math
import random
import unittest
from fractions import Fraction

import cases
import hvp_methods
import methods_cases
import outer_steps
import penalty_methods
import reference
import reference_test
import sampling
import streams
from methods_reference import options_of, trajectory
from methods_reference_test import config_of
from reference import Round, dot, minus, norm, plus
from reference_test import random_point


def one_round(seed, d1, d2):
    return Round(streams.drifting_stream(seed, d1, d2, 1)["rounds"][0])


class LinearSystemTest(unittest.TestCase):
    def setUp(self):
        self.round = one_round(41, 2, 5)
        self.right = random_point(random.Random(1), 5)
        self.exact = reference.solve_positive_definite(self.round.A, self.right)

    def product(self, v):
        return reference.times(self.round.A, v)

    def error(self, v):
        return norm(minus(v, self.exact))

    def test_conjugate_gradients_solve_in_d2_steps(self):
        zero, warm = [0.0] * 5, [0.3, -0.2, 0.1, 0.5, 0.0]
        for start in (zero, warm):
            residual = minus(self.right, self.product(start))
            errors = [self.error(hvp_methods.conjugate_gradients(self.product, self.right, start, residual, steps))
                      for steps in range(6)]  # fmt: skip
            self.assertLess(errors[5], 1e-12)
            self.assertGreater(errors[3], 1e-8)
            self.assertEqual(errors, sorted(errors, reverse=True))  # CG's error falls in every step

    def test_a_step_of_cg_is_least_along_the_residual(self):
        v = hvp_methods.conjugate_gradients(self.product, self.right, [0.0] * 5, self.right, 1)
        length = dot(self.right, self.right) / dot(self.right, self.product(self.right))
        self.assertLess(norm(plus(v, -length, self.right)), 1e-15)

    def test_neumann_and_descent_are_the_same_series(self):
        """v ← v − (1/L)(g_yy v − f_y) from f_y/L, Q times, sums the same Q + 1 terms."""
        smoothness = streams.inner_smoothness({"rounds": [{"A": self.round.A}]})
        for steps in (0, 1, 4):
            series = hvp_methods.neumann(self.product, self.right, smoothness, steps)
            first = [a / smoothness for a in self.right]
            descent = hvp_methods.system_descent(self.product, self.right, first, 1.0 / smoothness, steps)
            self.assertLess(norm(minus(series, descent)), 1e-14)
        self.assertLess(self.error(hvp_methods.neumann(self.product, self.right, smoothness, 400)), 1e-12)

    def test_sobbos_cut_series_has_the_series_as_its_mean(self):
        """Mean over m̃ = 0..m−1 of (m/L)(I − H/L)^m̃ f_y is the Neumann sum of m terms."""
        config = config_of("sobbo", estimator="neumann", system_steps=4, L_g1=3.0, inner_steps=2)
        y, x, estimates = [0.1] * 5, [0.2, -0.3], []
        for cut in range(4):
            method = hvp_methods.Sobbo(options_of(config["optimiser"]), 2, 5, y, FixedDraw(cut))
            estimates.append(method.estimate(self.round, 1, x, [y], 0.1))
        v = hvp_methods.neumann(self.product, self.round.f_y(x, y), 3.0, 3)
        mean = [sum(column) / 4.0 for column in zip(*estimates, strict=True)]
        self.assertLess(norm(minus(mean, hvp_methods.hypergradient(self.round, x, y, v))), 1e-14)


class FixedDraw:
    def __init__(self, value):
        self._value = value

    def randrange(self, most):
        assert 0 <= self._value < most
        return self._value


class ThroughTheStepsTest(unittest.TestCase):
    def test_reverse_mode_is_the_derivative_through_the_steps(self):
        """Against central differences of x ↦ f(x, ω^K(x)): h² and ε/h are both some 1e-10 at h = 1e-5."""
        rng, h = random.Random(5), 1e-5
        cases = itertools.product(((1, 1, 1), (2, 3, 1), (2, 3, 4), (4, 2, 7)), ((0.0, 0.0), (0.6, 0.3)))
        for (d1, d2, steps), (momentum, decay) in cases:
            round_, alpha = one_round(50 + steps, d1, d2), 0.2
            x, start, first = random_point(rng, d1), random_point(rng, d2), random_point(rng, d2)

            def path_from(x, steps=steps, round_=round_, path=(start,), m=first, alpha=alpha, mu=momentum, w=decay):
                path = list(path)
                for _ in range(steps):
                    m = plus(plus(round_.g_y(x, path[-1]), w, path[-1]), mu, m)
                    path.append(plus(path[-1], -alpha, m))
                return path

            found = hvp_methods.reverse_through_steps(round_, x, path_from(x), alpha, momentum, decay)
            for i in range(d1):
                ahead, behind = list(x), list(x)
                ahead[i] += h
                behind[i] -= h
                rise = round_.f(ahead, path_from(ahead)[-1]) - round_.f(behind, path_from(behind)[-1])
                self.assertAlmostEqual(found[i], rise / (2.0 * h), delta=1e-8)

    def test_many_steps_give_the_hypergradient(self):
        stream = streams.static_stream(52, 2, 3)
        row = trajectory(stream, config_of("obbo", rounds=1, alpha=0.3, inner_steps=300))[0]
        self.assertLess(row["hypergradient_error"], 1e-12)


class StencilTest(unittest.TestCase):
    def test_weights_differentiate_polynomials_up_to_the_order(self):
        """Σ_j a_j j^k = 1 for k = 1, 0 for the other k ≤ p, and not for k = p + 1; in rationals."""
        for order, stencil in penalty_methods.STENCILS.items():
            weights = {j: Fraction(a).limit_denominator(60) for j, a in stencil.items()}
            for j, a in stencil.items():
                self.assertEqual(float(weights[j]), a)
            moments = [sum(a * Fraction(j) ** k for j, a in weights.items()) for k in range(order + 2)]
            self.assertEqual(moments[:-1], [int(k == 1) for k in range(order + 1)])
            self.assertNotEqual(moments[-1], 0)

    def test_bias_falls_like_lambda_to_the_minus_order(self):
        """Inner problems solved (|∇| ≤ 1e-13): doubling λ divides |d − ∇F| by 2^p, up to O(1/λ)."""
        stream = streams.static_stream(21, 3, 4)
        for order, reach in methods_cases.REACH.items():
            errors = []
            for multiplier in (16.0 * reach, 32.0 * reach):
                config = config_of("af2obo", rounds=1, order=order, lambda1=multiplier, alpha=0.3,
                                   delta_y=1e-13 * multiplier, delta_z=1e-13)  # fmt: skip
                errors.append(trajectory(stream, config)[0]["hypergradient_error"])
            self.assertAlmostEqual(errors[0] / errors[1] / 2.0**order, 1.0, delta=0.2, msg=order)

    def test_order_two_beats_order_one_at_the_same_cost_of_g(self):
        stream, rows = streams.static_stream(23, 2, 3), {}
        for order in (1, 2):
            rows[order] = trajectory(stream, config_of("f2obo", order=order, lambda1=20.0, tau=0.0, alpha=0.3))[-1]
        self.assertEqual(rows[1]["grad_g"], rows[2]["grad_g"])
        self.assertLess(rows[2]["hypergradient_error"], 0.2 * rows[1]["hypergradient_error"])

    def test_z_is_the_centre(self):
        stream = streams.static_stream(24, 2, 3)
        round_ = Round(stream["rounds"][0])
        for order in (2, 4):  # the mean of y_1 and y_{−1} is O(λ⁻²) from y*
            row = trajectory(stream, config_of("f2obo", rounds=1, order=order, lambda1=100.0, tau=0.0, alpha=0.3,
                                               inner_steps=300))[0]  # fmt: skip
            self.assertLess(row["residual_z"], 1e-3)
            self.assertGreater(row["residual_z"], 1e-7)
            self.assertLess(row["residual_y"], 1e-10)
        self.assertLess(norm(round_.g_y([0.0] * 2, round_.inner_solution([0.0] * 2))), 1e-13)


class InnerSolverTest(unittest.TestCase):
    def setUp(self):
        self.round, self.x = one_round(71, 2, 6), [0.4, -0.1]
        self.star = self.round.inner_solution(self.x)

    def gradient(self, y):
        return self.round.g_y(self.x, y)

    def test_loops_meet_the_tolerance_and_pay_one_gradient_more(self):
        for solver in (penalty_methods.descend, penalty_methods.descend_nesterov):
            asked = []
            gradient = lambda y, asked=asked: asked.append(1) or self.gradient(y)  # noqa: E731
            point, taken, size = solver(gradient, [1.0] * 6, 0.3, 1e-8, 1000)
            self.assertEqual(len(asked), taken + 1)
            self.assertEqual(size, norm(self.gradient(point)))
            self.assertLessEqual(size, 1e-8)
            self.assertEqual(solver(self.gradient, [1.0] * 6, 0.3, 0.0, 7)[1], 7)
            self.assertEqual(solver(self.gradient, point, 0.3, 1e-7, 7)[1], 0)

    def test_momentum_is_faster_on_an_ill_conditioned_problem(self):
        gradient = lambda y: [a * b for a, b in zip((1.0, 0.01), y, strict=True)]  # noqa: E731
        plain = penalty_methods.descend(gradient, [1.0, 1.0], 1.0, 1e-6, 5000)[1]
        fast = penalty_methods.descend_nesterov(gradient, [1.0, 1.0], 1.0, 1e-6, 5000)[1]
        self.assertLess(3 * fast, plain)

    def test_backtracking_finds_a_stable_step_from_any_start(self):
        for first in (50.0, 1e-3):
            search = penalty_methods.Backtracking(first)
            point, taken, _ = search.descend(self.gradient, [1.0] * 6, 1e-9, 1000)
            self.assertLess(norm(minus(point, self.star)), 1e-8)
            self.assertLess(taken, 300)

    def test_a_refused_step_is_one_that_overshoots(self):
        """On g = ½ay²: |m − n| = a·step·|n|, refused exactly when a·step > 1."""
        for curvature, first, trials in ((1.0, 0.9, 1), (1.0, 1.1, 2), (4.0, 1.9, 4)):
            asked = []
            gradient = lambda y, c=curvature, asked=asked: asked.append(1) or [c * y[0]]  # noqa: E731
            search = penalty_methods.Backtracking(first)
            search.step({0: gradient}, {0: [1.0]}, {0: [curvature]})
            self.assertEqual(len(asked), trials)
            self.assertEqual(search.size, first * 0.5 ** (trials - 1) * 1.25)


class OuterStepTest(unittest.TestCase):
    def test_weighted_projections_satisfy_their_variational_inequality(self):
        """p is least when <h(u − p), w − p> ≤ 0 for all w in X: h_X(h(u − p)) ≤ <h(u − p), p>."""
        rng = random.Random(81)
        for d1, name, size in itertools.product((1, 2, 3, 7), cases.SETS, (0.1, 1.0, 5.0)):
            domain = cases.domain(name, d1)
            project = outer_steps.weighted_projection(domain, d1)
            for _ in range(30):
                u, weights = random_point(rng, d1, size), [math.exp(rng.uniform(-3.0, 3.0)) for _ in range(d1)]
                p = project(u, weights)
                normal = [h * a for a, h in zip(minus(u, p), weights, strict=True)]
                self.assertTrue(reference_test.ProjectionTest.feasible(domain, p, 1e-11), (domain, u, p))
                slack = 1e-11 * (1.0 + max(weights) * size)
                if name == "all":
                    self.assertEqual(u, p)
                elif name == "nonnegative":
                    self.assertLessEqual(max(normal), 0.0)
                    self.assertLessEqual(abs(dot(normal, p)), slack)
                else:
                    self.assertLessEqual(reference_test.ProjectionTest.support(domain, normal), dot(normal, p) + slack)

    def test_equal_weights_give_the_plain_projection(self):
        rng = random.Random(82)
        for d1, name in itertools.product((1, 2, 5), cases.SETS):
            domain = cases.domain(name, d1)
            plain, weighted = reference.projection(domain, d1), outer_steps.weighted_projection(domain, d1)
            for _ in range(30):
                u = random_point(rng, d1, 1.5)
                self.assertLess(norm(minus(plain(u), weighted(u, [0.7] * d1))), 1e-14)

    def moved(self, domain, x, direction, gamma=0.1, **options):
        section = options_of({"name": "fsobo"} | options)
        return outer_steps.OuterStep(section, domain, len(x))(x, direction, gamma, 1)

    def test_entropy_steps_minimise_their_model(self):
        """<d, u> + (1/γ) D(u, x), D the (generalised) relative entropy, against random points of the set."""
        rng, gamma = random.Random(83), 0.4
        for name in methods_cases.SETS_WITH_LOGARITHM:
            domain = methods_cases.domain(name, 3)
            for _ in range(20):
                x, d = self.positive_point(rng, domain), random_point(rng, 3, 3.0)

                def model(u, x=x, d=d):
                    entropy = sum(a * math.log(a / b) - a + b for a, b in zip(u, x, strict=True))
                    return dot(d, u) + entropy / gamma

                least = model(self.moved(domain, x, d, gamma, outer_step="entropy"))
                for _ in range(50):
                    self.assertLessEqual(least, model(self.positive_point(rng, domain)) + 1e-12)

    @staticmethod
    def positive_point(rng, domain):
        p = [rng.uniform(0.05, 0.6) for _ in range(3)]
        return [a / sum(p) for a in p] if domain["set"] == "simplex" else p

    def test_the_first_diagonal_and_log_adam_steps(self):
        """h = √(1 − b) |d|: every coordinate moves by γ/√(1 − b); log_adam moves every logarithm by γ."""
        d = [2.0, -0.5]
        x = self.moved({"set": "all"}, [0.0, 0.0], d, outer_step="diagonal", outer_epsilon=0.0)
        for a, sign in zip(x, (-1.0, 1.0), strict=True):
            self.assertAlmostEqual(a, sign * 0.1 / math.sqrt(0.1), delta=1e-14)
        x = self.moved({"set": "nonnegative"}, [0.5, 2.0], d, outer_step="log_adam", outer_epsilon=0.0)
        for a, b in zip(x, (0.5 * math.exp(-0.1), 2.0 * math.exp(0.1)), strict=True):
            self.assertAlmostEqual(a, b, delta=1e-14)

    def test_full_shrinkage_makes_all_coordinates_equal(self):
        for step in ("euclidean", "diagonal", "entropy", "log_adam"):
            x = self.moved({"set": "nonnegative"}, [0.2, 0.5, 0.3], [1.0, -2.0, 0.5], outer_step=step, shrinkage=1.0)
            for a in x[1:]:
                self.assertAlmostEqual(a, x[0], delta=1e-14)

    def test_logarithms_need_positive_sets(self):
        for domain in ({}, {"set": "l1_ball", "radius": 1.0}, {"set": "box", "lower": [0.0, -0.1], "upper": 1.0}):
            with self.assertRaises(ValueError):
                self.moved(domain, [0.5, 0.5], [1.0, 1.0], outer_step="entropy")


class SamplingTest(unittest.TestCase):
    def test_gradients_of_a_sample_fit_its_values(self):
        rng = random.Random(3)
        sample = sampling.Sampled(one_round(99, 2, 3), 2, 3, 0.7, 0.4, rng)
        sample.draw(2)
        x, y, v, h = random_point(rng, 2), random_point(rng, 3), random_point(rng, 3), 1e-5
        for function, gradient in ((sample.f, sample.f_x), (sample.g, sample.g_x)):
            for i, slope in enumerate(gradient(x, y)):
                e = [h * (i == j) for j in range(2)]
                rise = function(plus(x, 1.0, e), y) - function(minus(x, e), y)
                self.assertAlmostEqual(slope, rise / (2.0 * h), delta=1e-9)
        for function, gradient in ((sample.f, sample.f_y), (sample.g, sample.g_y)):
            for i, slope in enumerate(gradient(x, y)):
                e = [h * (i == j) for j in range(3)]
                rise = function(x, plus(y, 1.0, e)) - function(x, minus(y, e))
                self.assertAlmostEqual(slope, rise / (2.0 * h), delta=1e-9)
        for product, gradient in ((sample.g_xy, sample.g_x), (sample.g_yy, sample.g_y)):
            rise = minus(gradient(x, plus(y, h, v)), gradient(x, plus(y, -h, v)))
            self.assertLess(norm(minus(product(x, y, v), [a / (2.0 * h) for a in rise])), 1e-9)

    def test_deviations_are_the_declared_ones(self):
        """|ξ|² has mean σ²/B however many entries there are; 4,000 draws: relative error 0.01 a sigma."""
        rng, zero_x, zero_y = random.Random(4), [0.0] * 2, [0.0] * 3
        round_ = one_round(99, 2, 3)
        sample = sampling.Sampled(round_, 2, 3, 0.7, 0.4, rng)
        v = [1.0, 0.0, 0.0]
        outer = inner = cross = 0.0
        for _ in range(4000):
            sample.draw(4)
            d = minus(sample.f_x(zero_x, zero_y) + sample.f_y(zero_x, zero_y),
                      round_.f_x(zero_x, zero_y) + round_.f_y(zero_x, zero_y))  # fmt: skip
            e = minus(sample.g_x(zero_x, zero_y) + sample.g_y(zero_x, zero_y),
                      round_.g_x(zero_x, zero_y) + round_.g_y(zero_x, zero_y))  # fmt: skip
            c = minus(sample.g_xy(zero_x, zero_y, v), round_.g_xy(zero_x, zero_y, v))
            outer, inner, cross = outer + dot(d, d), inner + dot(e, e), cross + dot(c, c)
        self.assertAlmostEqual(outer / 4000 / (0.49 / 4), 1.0, delta=0.04)
        self.assertAlmostEqual(inner / 4000 / (0.49 / 4), 1.0, delta=0.04)
        self.assertAlmostEqual(cross / 4000 / (2 * 0.16 / 4), 1.0, delta=0.06)


if __name__ == "__main__":
    unittest.main()
