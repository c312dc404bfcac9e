"""examples/benchopt/obolus_solver.py in a stand-in for benchopt and for an objective of benchmark_bilevel.

The stand-in has what the solver uses of benchopt's BaseSolver: parameters become attributes, and `run` gets a callback
that says whether to go on.
"""

import importlib.util
import pathlib
import sys
import types

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import obolus.jax  # noqa: E402

SOLVER = pathlib.Path(__file__).parents[2] / "examples/benchopt/obolus_solver.py"
SAMPLES = (40, 24)  # of g and of f


@pytest.fixture
def solver(monkeypatch):
    """The module, loaded with the stand-in."""
    benchopt, criterion = types.ModuleType("benchopt"), types.ModuleType("benchopt.stopping_criterion")
    benchopt.BaseSolver = type("BaseSolver", (), {})
    criterion.SufficientProgressCriterion = lambda **options: options
    monkeypatch.setitem(sys.modules, "benchopt", benchopt)
    monkeypatch.setitem(sys.modules, "benchopt.stopping_criterion", criterion)
    spec = importlib.util.spec_from_file_location("obolus_solver", SOLVER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(module, **parameters):
    one = module.Solver()
    for name, value in {**{k: v[0] for k, v in module.Solver.parameters.items()}, **parameters}.items():
        setattr(one, name, value)
    return one


def objective(seen):
    """g = mean over the batch of |y − x − a|²/2, f = mean of |y − b|²/2: the best x is mean b − mean a, where y is at
    mean b. `seen` collects the batches."""
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(n, 3)).astype(np.float32) for n in SAMPLES)

    def mean_square(data, residual, start, batch_size):
        return 0.5 * jnp.mean(jnp.sum((residual - jax.lax.dynamic_slice(data, (start, 0), (batch_size, 3))) ** 2, 1))

    def f_inner(inner_var, outer_var, start=0, batch_size=1):
        jax.debug.callback(lambda s: seen.add(("inner", int(s), batch_size)), start)
        return mean_square(a, inner_var["y"] - outer_var, start, batch_size)

    def f_outer(inner_var, outer_var, start=0, batch_size=1):
        jax.debug.callback(lambda s: seen.add(("outer", int(s), batch_size)), start)
        return mean_square(b, inner_var["y"], start, batch_size)

    given = dict(
        f_inner=f_inner,
        f_outer=f_outer,
        n_inner_samples=SAMPLES[0],
        n_outer_samples=SAMPLES[1],
        inner_var0={"y": jnp.zeros(3)},
        outer_var0=jnp.zeros(3),
    )
    return given, b.mean(0) - a.mean(0), b.mean(0)


def times(count):
    """A callback that lets so many evaluations pass."""
    left = iter(range(count))
    return lambda: next(left, None) is not None


def test_the_solution_of_the_benchmarks_objective_is_found(solver):
    """Whole batches and g_yy = 1: at α = 0.5 and γ = 0.1 both levels contract by 0.9 a round or faster, and 300 rounds
    leave float32's rounding. The penalty's bias, of order 1/λ, vanishes at the solution, where f_y = 0."""
    given, x, y = objective(set())
    one = made(solver, step_size=0.5, outer_ratio=5.0, batch_size="full", eval_freq=100)
    one.set_objective(**given)
    one.run(times(3))
    result = one.get_result()
    assert np.allclose(result["outer_var"], x, atol=1e-4)
    assert np.allclose(result["inner_var"]["y"], y, atol=1e-4)


def test_every_batch_comes_once_an_epoch_and_none_is_cut(solver):
    seen = set()
    given, _, _ = objective(seen)
    one = made(solver, batch_size=8, eval_freq=5)
    one.set_objective(**given)
    one.run(times(1))
    jax.effects_barrier()
    assert {s for which, s, size in seen if which == "inner" and size == 8} == {0, 8, 16, 24, 32}
    assert {s for which, s, size in seen if which == "outer" and size == 8} == {0, 8, 16}
    batches = solver.Batches((24, 40), 8, seed=3)
    epochs = [[batches.start(1, 5 * epoch + i) for i in range(5)] for epoch in range(4)]
    assert all(sorted(epoch) == [0, 8, 16, 24, 32] for epoch in epochs)
    assert epochs[0] != epochs[1] or epochs[1] != epochs[2]


def test_every_run_begins_at_the_start_and_has_the_same_bits(solver):
    given, _, _ = objective(set())
    one = made(solver, batch_size=8, eval_freq=7)
    one.set_objective(**given)
    runs = []
    for evaluations in (2, 0, 2):
        one.run(times(evaluations))
        runs.append(np.asarray(one.get_result()["outer_var"]))
    assert np.array_equal(runs[0], runs[2])
    assert np.any(runs[0] != 0)
    assert np.all(runs[1] == 0)


@pytest.mark.parametrize("optimiser", ["F2obo", "Fsobo"])
def test_options_reach_the_optimiser(solver, optimiser):
    given, _, _ = objective(set())
    one = made(solver, optimiser=optimiser, step_size=0.2, outer_ratio=4.0, options={"gamma": 0.03})
    one.set_objective(**given)
    assert one.made == getattr(obolus, optimiser)(alpha=0.2, gamma=0.03)
