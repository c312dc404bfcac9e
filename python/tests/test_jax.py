"""obolus.jax: gradients and products against closed forms, tuning, errors."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import obolus.jax  # noqa: E402

# The sums below have some thirty terms of size 1: rounding stays a hundred times under these.
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}


@pytest.fixture(params=[np.float64, np.float32])
def dtype(request):
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", request.param is np.float64)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def test_ridge_has_its_closed_forms(dtype):
    rng = np.random.default_rng(7)
    a, r, b, c = (rng.normal(size=shape).astype(dtype) for shape in ((30, 4), 30, (20, 4), 20))

    def f(x, y, batch):
        return 0.5 * jnp.mean((batch[0] @ y["w"] - batch[1]) ** 2)

    def g(x, y, batch):
        return f(x, y, batch) + 0.5 * jnp.sum(jnp.exp(x) * y["w"] ** 2)

    p = obolus.jax.problem(f, g, jnp.zeros(4, dtype), {"w": jnp.zeros(4, dtype)}, lambda t: ((b, c), (a, r)))
    p.reveal(1)
    assert p.dims() == (4, 4)
    assert p.dtype == np.dtype(dtype)
    x, y, v = (rng.normal(size=4).astype(dtype) for _ in range(3))

    def close(got, expected):
        assert got.dtype == dtype
        assert np.max(np.abs(got - expected)) <= TOLERANCE[dtype] * max(1.0, np.max(np.abs(expected)))

    assert p.outer_value(x, y) == pytest.approx(0.5 * np.mean((b @ y - c) ** 2), rel=TOLERANCE[dtype])
    close(p.outer_gradient_x(x, y), np.zeros(4))
    close(p.outer_gradient_y(x, y), b.T @ (b @ y - c) / 20)
    close(p.inner_gradient_x(x, y), 0.5 * np.exp(x) * y**2)
    close(p.inner_gradient_y(x, y), a.T @ (a @ y - r) / 30 + np.exp(x) * y)
    close(p.inner_hvp_yy(x, y, v), a.T @ (a @ v) / 30 + np.exp(x) * v)
    close(p.inner_hvp_xy(x, y, v), np.exp(x) * y * v)
    assert p.unflatten_y(y)["w"].shape == (4,)


def loss(params, batch, h=None):
    error = jnp.mean((batch[0] @ params["w"] - batch[1]) ** 2)
    return error if h is None else error + jnp.sum(h["decay"] * params["w"].reshape(2, -1) ** 2)


def noise(count, seed=0):
    """Eight features; the target follows the last four, and much noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 16, 8)).astype(np.float32)
    return [(r, (r[:, 4:].sum(1) + rng.normal(size=16)).astype(np.float32)) for r in rows]


@pytest.mark.parametrize("warm_start", ["tied", "dual"])
def test_the_decay_of_useless_features_rises_and_that_of_useful_ones_falls(warm_start):
    tuner = obolus.jax.tune(
        {"w": jnp.ones(8)},
        loss,
        hyperparameters={"decay": np.full((2, 1), 0.1)},
        learning_rate=0.05,
        train=noise(300),
        validation=noise(300, seed=1),
        warm_start=warm_start,
    )
    useless, useful = tuner.hyperparameters["decay"][:, 0]
    assert useless > 0.2
    assert useful < 0.05
    assert tuner.gradients <= 4 * 300
    assert tuner.path[-1]["round"] == 300


def test_optax_trains_and_a_restored_tuner_goes_on_with_the_same_bits():
    optax = pytest.importorskip("optax")

    def fresh():
        return obolus.jax.tune(
            {"w": jnp.ones(8)},
            loss,
            hyperparameters={"decay": [[0.1], [0.1]]},
            learning_rate=0.01,
            optimiser=optax.adam(0.01),
            warmup=5,
        )

    batches = noise(60)
    whole, first, second = fresh(), fresh(), fresh()
    whole.run(batches)
    first.run(batches[:30])
    second.load_state(first.state())
    second.run(batches[30:])
    assert np.array_equal(second.hyperparameters["decay"], whole.hyperparameters["decay"])
    assert np.array_equal(second.params["w"], whole.params["w"])
    assert not np.array_equal(whole.hyperparameters["decay"], np.full((2, 1), 0.1))


def test_errors_say_what_was_got_and_expected():
    def f(x, y, t):
        return jnp.sum(y)

    with pytest.raises(TypeError, match="x: got numbers of type int32, expected float32 or float64"):
        obolus.jax.problem(f, f, jnp.zeros(2, jnp.int32), jnp.zeros(2))
    p = obolus.jax.problem(f, f, jnp.zeros(2), jnp.zeros(2))
    with pytest.raises(RuntimeError, match="no round is revealed"):
        p.outer_value(p.x0, p.y0)
    with pytest.raises(ValueError, match="learning_rate: got 0, expected a number above 0"):
        obolus.jax.tune({"w": jnp.ones(8)}, loss, hyperparameters={"decay": 1.0}, learning_rate=0)
    tuner = obolus.jax.tune({"w": jnp.ones(8)}, loss, hyperparameters={"decay": 1.0}, learning_rate=0.1)
    with pytest.raises(FloatingPointError, match="round 1: the validation loss is nan"):
        tuner.step((np.full((16, 8), np.nan, np.float32), np.zeros(16, np.float32)))
