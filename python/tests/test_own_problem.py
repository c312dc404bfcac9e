"""Problems written in Python."""

import numpy as np
import pytest

import obolus
from obolus import _native
from ridge import STEPS, Ridge, after, without


def test_a_right_problem_passes_the_check():
    found = obolus.check(Ridge())
    assert found and found.ok and len(found) > 10
    assert any("f_x − g_xy v" in finding.what for finding in found)
    assert "ok " in repr(found) and "WRONG" not in repr(found)


@pytest.mark.parametrize(
    ("method", "finding"),
    [("outer_gradient_y", "f_y against"), ("inner_gradient_x", "g_x against"), ("inner_hvp_yy", "g_yy v against"),
     ("inner_hvp_xy", "g_xy v against"), ("inner_solution", "g_y vanishes at y*")],
)  # fmt: skip
def test_the_check_finds_what_is_wrong(method, finding):
    right = getattr(Ridge, method)
    found = obolus.check(without(**{method: lambda self, *a: 1.01 * right(self, *a)}))
    assert not found
    assert any(finding in f.what for f in found if not f.ok), found
    assert "WRONG" in repr(found)


def test_the_check_of_a_session_in_single_precision_allows_its_rounding():
    problem = Ridge(np.float32)
    problem.dtype = np.float32
    assert obolus.check(problem).ok


@pytest.mark.parametrize("name", ["Aobo", "Sobow"])
def test_missing_products_come_from_differences(name):
    steps = {"alpha": 0.02, "gamma": 0.05}
    optimiser = getattr(obolus, name)(**{k: v for k, v in steps.items() if k in {o.keyword for o in
                                         getattr(obolus, name).known}})  # fmt: skip
    exact = after(Ridge(), optimiser)
    differences = after(without("inner_hvp_yy", "inner_hvp_xy"), optimiser)
    half = after(without("inner_hvp_xy"), optimiser)
    assert exact.counts["hvp_xy"] > 0
    # A product by central differences is right to ε^(2/3) = 4e-11 of its size; twenty rounds add up less than a
    # hundred of them, each within a factor of ten of 1.
    for session in (differences, half):
        assert session.x == pytest.approx(exact.x, abs=4e-8) and session.x.tobytes() != exact.x.tobytes()


def test_products_by_differences_are_those_of_the_method():
    found = obolus.check(without("inner_hvp_yy", "inner_hvp_xy"))
    assert found.ok, found


def test_missing_gradients_come_from_differences_of_values():
    values_only = without("outer_gradient_x", "outer_gradient_y", "inner_gradient_x", "inner_gradient_y")
    exact, found = after(Ridge(), obolus.F2obo(**STEPS)), after(values_only, obolus.F2obo(**STEPS))
    # Gradients are right to 4e-11 of values around 10; λ_t ≤ 100 multiplies them, γ = 0.05 and 20 rounds make as much.
    assert found.x == pytest.approx(exact.x, abs=4e-11 * 10 * 100)
    assert found.x.tobytes() != exact.x.tobytes()


@pytest.mark.parametrize(
    ("missing", "says"),
    [(("dims",), r"Ridge: has no method dims\(\)"),
     (("outer_value", "outer_gradient_y"), r"Ridge: has no method outer_gradient_y\(x, y\), expected one, or outer_"),
     (("inner_value", "inner_gradient_x"), r"Ridge: has no method inner_gradient_x\(x, y\)")],
)  # fmt: skip
def test_what_cannot_be_done_without_is_named(missing, says):
    problem = without(*missing)
    if "dims" in missing:
        problem = type("Ridge", (), {"reveal": lambda self, t: None})()
    with pytest.raises(obolus.ProblemError, match=says):
        obolus.Session(obolus.F2obo(), problem)


def test_a_missing_gradient_of_many_numbers_is_a_mistake():
    problem = type("Ridge", (Ridge,), {"inner_gradient_y": None})(size=65)
    with pytest.raises(obolus.ProblemError, match="at most 64 numbers, got 65"):
        obolus.Session(obolus.F2obo(), problem)


def test_sessions_need_no_values_and_runs_say_so():
    problem = without("outer_value", "inner_value")
    assert after(problem, obolus.F2obo(**STEPS)).t == 20
    with pytest.raises(obolus.ProblemError, match="Ridge.outer_value in round 1: got no such method, expected one"):
        obolus.run(obolus.F2obo(**STEPS), problem, rounds=3)


def test_a_problem_without_reveal_stands_still():
    problem = Ridge()
    problem.reveal(1)
    problem.reveal = None
    assert obolus.run(obolus.F2obo(**STEPS), problem, rounds=5).status == "finished"


@pytest.mark.parametrize(
    ("method", "result", "says"),
    [("inner_gradient_y", np.zeros(3), r"got shape \(3,\), expected shape \(4,\)"),
     ("inner_gradient_y", np.zeros((4, 1)), r"got shape \(4, 1\), expected shape \(4,\)"),
     ("inner_gradient_y", np.zeros(5, np.float32), r"got shape \(5,\), expected shape \(4,\)"),
     ("outer_gradient_x", np.zeros(1, complex), "got dtype complex128, expected float64"),
     ("outer_gradient_x", np.array(["a"]), "got dtype <U1, expected float64"),
     ("outer_gradient_x", None, "got dtype object, expected float64"),
     ("outer_gradient_y", np.array([0, np.nan, 0, 0]), r"got nan at \[1\], expected finite numbers"),
     ("outer_gradient_y", [0, 0, 0, -np.inf], r"got -inf at \[3\], expected finite numbers")],
)  # fmt: skip
def test_a_wrong_result_is_named_with_its_method_and_round(method, result, says):
    right = getattr(Ridge, method)
    problem = without(**{method: lambda self, x, y: result if self.t == 3 else right(self, x, y)})
    with pytest.raises(obolus.ProblemError, match=f"^Ridge.{method} in round 3: {says}"):
        after(problem, obolus.F2obo(**STEPS))
    with pytest.raises(obolus.ProblemError, match=f"^Ridge.{method} in round 3: {says}"):
        obolus.run(obolus.F2obo(**STEPS), problem, rounds=5)


@pytest.mark.parametrize(("value", "says"), [("f", "got a str"), (None, "got a NoneType"), (np.nan, "got nan")])
def test_a_wrong_value_is_named(value, says):
    problem = without(outer_value=lambda self, x, y: value)
    with pytest.raises(obolus.ProblemError, match=f"^Ridge.outer_value in round 1: {says}, expected a"):
        obolus.run(obolus.F2obo(**STEPS), problem, rounds=2)


@pytest.mark.parametrize("dims", [None, 3, (1,), (1, 2, 3), (1, 0), (1.5, 2), ("a", "b")])
def test_wrong_sizes_are_named(dims):
    with pytest.raises(obolus.ProblemError, match=r"Ridge.dims\(\): got .*, expected two whole numbers, 1 or more"):
        obolus.Session(obolus.F2obo(), without(dims=lambda self: dims))


def test_sizes_may_be_of_any_integer_type():
    problem = without(dims=lambda self: [np.int64(1), np.int32(4)])
    assert obolus.Session(obolus.F2obo(), problem).y.shape == (4,)


def test_an_error_of_the_method_itself_comes_through():
    problem = without(inner_gradient_x=lambda self, x, y: {}["missing"])
    problem.reveal(1)
    with pytest.raises(KeyError, match="missing") as caught:
        obolus.Session(obolus.F2obo(), problem).step()
    assert any(entry.name == "<lambda>" for entry in caught.traceback)


def test_a_problem_may_say_where_it_starts():
    problem = without(start=lambda self: (np.full(1, 0.5), [1, 2, 3, 4]))
    session = obolus.Session(obolus.F2obo(), problem)
    assert (session.x.tolist(), session.y.tolist()) == ([0.5], [1, 2, 3, 4])
    with pytest.raises(obolus.ProblemError, match="Ridge.start: got a ndarray, expected a pair"):
        obolus.Session(obolus.F2obo(), without(start=lambda self: np.zeros(3)))


def test_differences_of_gradients_are_used_where_they_are_offered():
    calls = []

    def difference(self, x, z, delta):
        calls.append(self.t)
        return Ridge.inner_hvp_yy(self, x, z, delta)  # g is quadratic in y: exact

    def difference_x(self, x, z, delta):
        return np.exp(x) * (z @ delta + 0.5 * (delta @ delta))

    optimiser = obolus.F2obo(warm_start="dual", **STEPS)
    problem = without(inner_gradient_y_difference=difference, inner_gradient_x_difference=difference_x)
    exact, found = after(Ridge(), optimiser), after(problem, optimiser)
    assert len(calls) >= 20
    # The subtraction of gradients around 10 loses 1e-15 of them, which λ_t ≤ 100 multiplies.
    assert found.x == pytest.approx(exact.x, abs=20 * 1e-15 * 10 * 100)
    calls.clear()
    alone = without(inner_gradient_y_difference=difference)
    after(alone, optimiser)
    assert not calls


class Noisy(Ridge):
    """Gradients of g are of a few rows, drawn by a seed."""

    def reveal(self, t):
        super().reveal(t)
        self.rows, self.sizes = slice(None), None

    def resample(self, outer, inner, seed):
        self.sizes = (outer, inner)
        self.rows = np.random.default_rng(seed).integers(len(self.b), size=inner)

    def expectation(self):
        self.rows = slice(None)

    def inner_gradient_y(self, x, y):
        A, b = self.A[self.rows], self.b_t[self.rows]
        return len(self.b) / len(b) * (A.T @ (A @ y - b)) + np.exp(x[0]) * y


def test_a_problem_with_samples_takes_stochastic_optimisers():
    noisy = Noisy()
    first = after(noisy, obolus.Sf2obo(**STEPS), rounds=5)
    assert noisy.sizes is not None and first.counts["samples"] > 0
    assert first.x.tobytes() == after(Noisy(), obolus.Sf2obo(**STEPS), rounds=5).x.tobytes()
    other = after(Noisy(), obolus.Sf2obo(**STEPS), rounds=5, seed=2)
    assert first.x.tobytes() != other.x.tobytes()
    with pytest.raises(obolus.ConfigError, match="draws samples, which Ridge does not offer"):
        obolus.Session(obolus.Sf2obo(), Ridge())


def test_evaluations_become_columns():
    problem = without(
        evaluate=lambda self, x, y: {"norm": np.float32(2.0), "t": float(self.t)}, judge=lambda self, x, y: {"one": 1}
    )
    run = obolus.run(obolus.F2obo(**STEPS), problem, rounds=10, metrics={"evaluate_every": 5})
    assert run.columns["norm"][[4, 9]].tolist() == [2.0, 2.0] and np.isnan(run.columns["norm"][0])
    assert run.columns["prequential_one"][9] == 1.0
    wrong = without(evaluate=lambda self, x, y: {"norm": "large"})
    with pytest.raises(obolus.ProblemError, match="Ridge.evaluate in round 2: got a str as 'norm', expected a number"):
        obolus.run(obolus.F2obo(**STEPS), wrong, rounds=2)


def test_the_regret_is_that_of_the_closed_form():
    solved = obolus.run(obolus.F2obo(**STEPS), Ridge(), rounds=20, metrics={"regret": True})
    iterated = obolus.run(
        obolus.F2obo(**STEPS), without("inner_solution"), rounds=20, metrics=obolus.Metrics(regret=True)
    )
    assert solved.regret is not None and solved.summary["hypergradient"] == "closed form"
    assert iterated.summary["hypergradient"] != "closed form"
    # The reference solve stops at rounding; squares of numbers around 1 are summed over 20 rounds.
    assert iterated.regret == pytest.approx(solved.regret, rel=1e-8)
    assert obolus.run(obolus.F2obo(**STEPS), Ridge(), rounds=3).regret is None


def test_a_problem_that_is_not_convex_says_so():
    problem = without(convex=False)
    assert obolus.run(obolus.F2obo(**STEPS), problem, rounds=3).status == "finished"
    with pytest.raises(obolus.ConfigError, match="reference_steps"):
        obolus.run(obolus.F2obo(**STEPS), problem, rounds=3, metrics={"regret": True})
    assert not any("convex" in finding.what for finding in obolus.check(problem))


def test_own_and_built_in_problems_round_alike():
    """The library's quadratic behind methods of Python's goes the same way as the quadratic itself."""
    native = obolus.problems.Quadratic(dim_x=3, dim_y=4)

    class Wrapped:
        def __getattr__(self, name):
            if (
                name in ("reveal", "dims", "start")
                or name.startswith(("outer_", "inner_"))
                and name in dir(native.native)
            ):
                return getattr(native.native, name)
            raise AttributeError(name)

    class Plain(Wrapped):
        inner_hvp_yy = inner_hvp_xy = None

    own = obolus.run(obolus.Aobo(), Wrapped(), rounds=30, metrics={"residuals": True})
    built_in = obolus.run(obolus.Aobo(), native, rounds=30, metrics={"regret": False, "variation": False})
    # The built-in one fuses its steps, which rounds otherwise: 30 rounds of a few dozen operations on numbers around 1.
    assert own.x == pytest.approx(built_in.x, abs=30 * 100 * 2.2e-16)
    assert own.columns["f"] == pytest.approx(built_in.columns["f"], abs=30 * 100 * 2.2e-16 * 10)
    assert isinstance(native.native, _native.Problem)
