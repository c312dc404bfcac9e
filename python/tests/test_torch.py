"""obolus.torch.problem: gradients and products against closed forms, shapes, batches, errors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import obolus.torch  # noqa: E402

# The sums below have some hundred terms of size 1: rounding stays a hundred times under these.
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}
RNG = np.random.default_rng(7)


def close(got, expected, dtype):
    scale = max(1.0, float(np.max(np.abs(expected))))
    assert got.dtype == dtype
    assert np.max(np.abs(got - expected)) <= TOLERANCE[dtype] * scale


def ridge(dtype):
    """f = mean (b y − c)²/2, g = mean (a y − r)²/2 + Σ exp(x_i) y_i²/2."""
    a, r, b, c = (RNG.normal(size=shape) for shape in ((30, 4), 30, (20, 4), 20))
    outer, inner = tuple(torch.tensor(m.astype(dtype)) for m in (b, c)), tuple(
        torch.tensor(m.astype(dtype)) for m in (a, r)
    )

    def f(x, y, batch):
        return 0.5 * ((batch[0] @ y - batch[1]) ** 2).mean()

    def g(x, y, batch):
        return 0.5 * ((batch[0] @ y - batch[1]) ** 2).mean() + 0.5 * (x.exp() * y**2).sum()

    start = torch.zeros(4, dtype=outer[0].dtype)
    return obolus.torch.problem(f, g, start, start, [(outer, inner)]), (a, r, b, c)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ridge_has_its_closed_forms(dtype):
    p, (a, r, b, c) = ridge(dtype)
    x, y, v = (RNG.normal(size=4).astype(dtype) for _ in range(3))
    p.reveal(1)
    assert p.dims() == (4, 4)
    assert p.dtype == np.dtype(dtype)
    assert p.outer_value(x, y) == pytest.approx(0.5 * np.mean((b @ y - c) ** 2), rel=TOLERANCE[dtype])
    inner = 0.5 * np.mean((a @ y - r) ** 2) + 0.5 * np.sum(np.exp(x) * y**2)
    assert p.inner_value(x, y) == pytest.approx(inner, rel=TOLERANCE[dtype])
    close(p.outer_gradient_x(x, y), np.zeros(4), dtype)
    close(p.outer_gradient_y(x, y), b.T @ (b @ y - c) / 20, dtype)
    close(p.inner_gradient_x(x, y), 0.5 * np.exp(x) * y**2, dtype)
    close(p.inner_gradient_y(x, y), a.T @ (a @ y - r) / 30 + np.exp(x) * y, dtype)
    close(p.inner_hvp_yy(x, y, v), a.T @ (a @ v) / 30 + np.exp(x) * v, dtype)
    close(p.inner_hvp_xy(x, y, v), np.exp(x) * y * v, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_softmax_of_a_module_has_its_closed_forms(dtype):
    rows = RNG.normal(size=(25, 3)).astype(dtype)
    labels = RNG.integers(4, size=25)
    module = torch.nn.Linear(3, 4, bias=False).to(torch.tensor(rows).dtype)

    def g(x, model, t):
        losses = torch.nn.functional.cross_entropy(model(torch.tensor(rows)), torch.tensor(labels), reduction="none")
        return (x["weight"][torch.tensor(labels)] * losses).mean()

    p = obolus.torch.problem(g, g, {"weight": torch.ones(4, dtype=module.weight.dtype)}, module)
    p.reveal(1)
    x = RNG.uniform(1, 2, size=4).astype(dtype)
    y, v = RNG.normal(size=12).astype(dtype), RNG.normal(size=12).astype(dtype)
    logits = rows.astype(np.float64) @ y.reshape(4, 3).T
    q = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    hot = np.eye(4)[labels]
    each = x[labels][:, None] / 25
    close(p.inner_gradient_y(x, y), ((each * (q - hot)).T @ rows).ravel(), dtype)
    close(p.inner_gradient_x(x, y), -hot.T @ np.log((q * hot).sum(1)) / 25, dtype)
    along = rows @ v.reshape(4, 3).T
    moved = q * (along - (q * along).sum(1, keepdims=True))
    close(p.inner_hvp_yy(x, y, v), ((each * moved).T @ rows).ravel(), dtype)
    close(p.inner_hvp_xy(x, y, v), hot.T @ ((q - hot) * along).sum(1) / 25, dtype)


def test_x_and_y_keep_their_nested_shapes():
    x = {"a": torch.ones(2), "b": [torch.zeros(1, 3)]}
    p = obolus.torch.problem(
        lambda x, y, t: y[0].sum(), lambda x, y, t: (x["a"].sum() + x["b"][0].sum()) * y[0].sum(), x, (torch.ones(2),)
    )
    p.reveal(3)
    assert p.dims() == (5, 2)
    assert p.unflatten_x(np.arange(5, dtype=np.float32))["b"][0].tolist() == [[2.0, 3.0, 4.0]]
    assert p.inner_hvp_xy(p.x0, p.y0, p.y0).tolist() == [2.0] * 5
    assert p.inner_hvp_yy(p.x0, p.y0, p.y0).tolist() == [0.0] * 2


def test_flat_arrays_are_not_copied_on_their_way_in():
    p, _ = ridge(np.float64)
    y = np.zeros(4)
    assert np.shares_memory(p.unflatten_y(y).numpy(), y)


def test_a_round_can_be_revealed_again():
    source = obolus.torch.problem(
        lambda x, y, b: b * y.sum(), lambda x, y, b: b * y.sum(), torch.ones(1), torch.ones(1), lambda t: (t, 10 * t)
    )
    values = []
    for t in (1, 3, 1):
        source.reveal(t)
        values.append((source.outer_value(source.x0, source.y0), source.inner_value(source.x0, source.y0)))
    assert values == [(1.0, 10.0), (3.0, 30.0), (1.0, 10.0)]


def plain(x, y, batch):
    return y.sum()


def test_an_iterator_runs_forwards_only():
    p = obolus.torch.problem(plain, plain, torch.ones(1), torch.ones(1), iter([(1, 1), (2, 2), (3, 3)]))
    p.reveal(2)
    p.reveal(2)
    with pytest.raises(RuntimeError, match="got round 1 after round 2, expected a later one"):
        p.reveal(1)
    with pytest.raises(IndexError, match="got round 5, but the batches ended after round 3"):
        p.reveal(5)


def test_errors_say_what_was_got_and_expected():
    one = torch.ones(1)
    with pytest.raises(TypeError, match="x: got str, expected tensors"):
        obolus.torch.problem(plain, plain, "no", one)
    with pytest.raises(TypeError, match="y: got a tensor of torch.int64, expected float32 or float64"):
        obolus.torch.problem(plain, plain, one, torch.ones(1, dtype=torch.int64))
    with pytest.raises(TypeError, match="batches: got int, expected a callable"):
        obolus.torch.problem(plain, plain, one, one, 3)
    p = obolus.torch.problem(plain, lambda x, y, t: y * torch.ones(2), one, one)
    with pytest.raises(RuntimeError, match="no round is revealed"):
        p.outer_value(p.x0, p.y0)
    p.reveal(1)
    with pytest.raises(ValueError, match=r"x: got an array of shape \(2,\), expected \(1,\)"):
        p.outer_value(np.ones(2, dtype=np.float32), p.y0)
    with pytest.raises(TypeError, match=r"g: got a tensor of shape \(2,\), expected a tensor with one number"):
        p.inner_value(p.x0, p.y0)
    with pytest.raises(ValueError, match="got round 0, expected 1 or later"):
        p.reveal(0)
