"""The losses of two built-in problems, written in torch and in JAX on the same data, beside the native ones.

The problems hand out no data, and need not: with one row per round, zero weights and p = 1/classes for every class, the
gradient of a class's weights is (p − [class is the label]) times the row.
"""

import numpy as np
import pytest

import obolus

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import obolus.jax  # noqa: E402
import obolus.torch  # noqa: E402

# Of the largest number. Sums have at most a few hundred terms of size 1 in a handful of layers, so that rounding, of
# 2e-16 or 1e-7 a term and random in sign, adds up to well below.
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}
PRECISION = {np.float64: "double", np.float32: "float"}
CLASSES = 3
FEATURES, ROWS = 24, 60
SIDE, CHANNELS, BATCH = 8, (4, 6), 8


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", request.param is np.float64)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def datum(by_class):
    """Row and label of (p − [class is the label]) row, one line per class; rows have a nonzero number."""
    at = np.argmax(np.abs(by_class).max(0))
    label = int(np.argmax(np.abs(by_class[:, at])))
    return -by_class[label] * CLASSES / (CLASSES - 1), label


def stacked(data):
    rows, labels = zip(*data, strict=True)
    return np.array(rows), np.array(labels)


def rows_of(gradient, problem, rounds):
    """Rows and labels that f or g has in the rounds; y[i, c] belongs to feature i and class c."""
    nx, ny = problem.dims()
    found = []
    for t in range(1, rounds + 1):
        problem.reveal(t)
        found.append(datum(getattr(problem, gradient)(np.zeros(nx), np.zeros(ny)).reshape(FEATURES, CLASSES).T))
    return stacked(found)


def pictures_of(gradient, problem, rounds):
    """Pictures and labels that f or g has in the rounds; the network is a linear head, weights before biases."""
    x = np.repeat([1.0, 0.0], CLASSES)
    found = []
    for t in range(1, rounds + 1):
        problem.reveal(t)
        by_weight = getattr(problem, gradient)(x, np.zeros(problem.dims()[1]))[: CLASSES * SIDE**2]
        found.append(datum(by_weight.reshape(CLASSES, SIDE**2)))
    pictures, labels = stacked(found)
    return pictures.reshape(rounds, SIDE, SIDE), labels


def softmax(dtype):
    """The native problem on its whole pools, and (f's rows, g's rows), which one epoch of single ones shows."""
    options = dict(documents=ROWS, features=FEATURES, classes=CLASSES, seed=11)
    single = obolus.problems.SoftmaxL2(batch=1, **options)
    native = obolus.problems.SoftmaxL2(batch=0, precision=PRECISION[dtype], **options)
    return native, (rows_of("outer_gradient_y", single, ROWS // 2), rows_of("inner_gradient_y", single, ROWS // 2))


def network(dtype):
    """The native problem's first batch, and (f's pictures, g's pictures) of it."""
    options = dict(pictures=24, side=SIDE, classes=CLASSES, weights="none", seed=12)
    single = obolus.problems.LossTuning(batch=1, validation_batch=1, channels=[0], **options)
    native = obolus.problems.LossTuning(
        batch=BATCH, validation_batch=BATCH, channels=list(CHANNELS), precision=PRECISION[dtype], **options
    )
    return native, (pictures_of("outer_gradient_y", single, BATCH), pictures_of("inner_gradient_y", single, BATCH))


def shapes():
    """Of the network's parameters, in the order in which they lie in y."""
    side, before = SIDE, 1
    for width in CHANNELS:
        yield from ((width, 3, 3, before), (width,), (width,), (width,))
        side, before = side // 2, width
    yield from ((CLASSES, side * side * before), (CLASSES,))


def in_torch(made, data, dtype, x, y):
    """The problem of f and g that `made` has for torch."""
    real = torch.float64 if dtype is np.float64 else torch.float32
    batches = [tuple((torch.tensor(a, dtype=real), torch.tensor(labels)) for a, labels in data)]
    start = [torch.zeros(shape, dtype=real) for shape in y]
    return obolus.torch.problem(*made, torch.zeros(x, dtype=real), start, batches)


def in_jax(made, data, dtype, x, y):
    batches = [tuple((jnp.asarray(a, dtype), jnp.asarray(labels)) for a, labels in data)]
    return obolus.jax.problem(*made, jnp.zeros(x, dtype), [jnp.zeros(shape, dtype) for shape in y], batches)


def torch_softmax():
    def f(x, y, batch):
        return torch.nn.functional.cross_entropy(batch[0] @ y[0], batch[1])

    return f, lambda x, y, batch: f(x, y, batch) + 0.5 * (x[:, None] * y[0] ** 2).sum()


def jax_cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def jax_softmax():
    def f(x, y, batch):
        return jax_cross_entropy(batch[0] @ y[0], batch[1])

    return f, lambda x, y, batch: f(x, y, batch) + 0.5 * jnp.sum(x[:, None] * y[0] ** 2)


def torch_network():
    functional = torch.nn.functional

    def logits(y, pictures):
        maps = pictures[:, None]
        for weight, bias, scale, shift in (y[4 * i : 4 * i + 4] for i in range(len(CHANNELS))):
            maps = functional.conv2d(maps, weight.permute(0, 3, 1, 2), bias, padding=1)
            maps = functional.max_pool2d(functional.relu(maps), 2)
            maps = functional.batch_norm(maps, None, None, scale, shift, training=True)
        return maps.permute(0, 2, 3, 1).flatten(1) @ y[-2].T + y[-1]

    def f(x, y, batch):
        return functional.cross_entropy(logits(y, batch[0]), batch[1])

    def g(x, y, batch):
        return functional.cross_entropy(x[:CLASSES] * logits(y, batch[0]) + x[CLASSES:], batch[1])

    return f, g


def jax_network():
    def block(maps, weight, bias, scale, shift):
        layout = jax.lax.conv_dimension_numbers(maps.shape, weight.shape, ("NHWC", "OHWI", "NHWC"))
        maps = jax.lax.conv_general_dilated(maps, weight, (1, 1), "SAME", dimension_numbers=layout) + bias
        count, side = maps.shape[0], maps.shape[1] // 2
        maps = jax.nn.relu(maps).reshape(count, side, 2, side, 2, -1).max((2, 4))
        return (maps - maps.mean((0, 1, 2))) / jnp.sqrt(maps.var((0, 1, 2)) + 1e-5) * scale + shift

    def logits(y, pictures):
        maps = pictures[..., None]
        for i in range(len(CHANNELS)):
            maps = block(maps, *y[4 * i : 4 * i + 4])
        return maps.reshape(maps.shape[0], -1) @ y[-2].T + y[-1]

    def f(x, y, batch):
        return jax_cross_entropy(logits(y, batch[0]), batch[1])

    def g(x, y, batch):
        return jax_cross_entropy(x[:CLASSES] * logits(y, batch[0]) + x[CLASSES:], batch[1])

    return f, g


def agree(native, ours, x, y, dtype):
    """Values, gradients and products at (x, y)."""
    native.reveal(1)
    ours.reveal(1)
    assert native.dims() == ours.dims()
    assert native.dtype == ours.dtype == np.dtype(dtype)
    v = np.random.default_rng(2).normal(size=y.size)
    x, y, v = (a.astype(dtype) for a in (x, y, v))
    for name in ("outer_value", "inner_value"):
        assert getattr(ours, name)(x, y) == pytest.approx(getattr(native, name)(x, y), rel=TOLERANCE[dtype]), name
    seen = 0
    for name in ("outer_gradient_x", "outer_gradient_y", "inner_gradient_x", "inner_gradient_y"):
        seen += same(name, getattr(ours, name)(x, y), getattr(native, name)(x, y), dtype)
    for name in ("inner_hvp_yy", "inner_hvp_xy"):
        seen += same(name, getattr(ours, name)(x, y, v), getattr(native, name)(x, y, v), dtype)
    assert seen == 5  # f_x is 0


def same(name, got, expected, dtype):
    """Whether there was anything but zeros to compare."""
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype == np.dtype(dtype)
    size = np.max(np.abs(expected))
    assert np.max(np.abs(got - expected)) <= TOLERANCE[dtype] * size, name
    return bool(size > 0)


@pytest.mark.parametrize(("losses", "problem"), [(torch_softmax, in_torch), (jax_softmax, in_jax)])
def test_softmax_in_torch_and_jax_has_the_native_gradients(losses, problem, dtype):
    native, data = softmax(dtype)
    rng = np.random.default_rng(1)
    ours = problem(losses(), data, dtype, FEATURES, [(FEATURES, CLASSES)])
    agree(native, ours, rng.uniform(0.1, 1.0, FEATURES), rng.normal(size=FEATURES * CLASSES), dtype)


@pytest.mark.parametrize(("losses", "problem"), [(torch_network, in_torch), (jax_network, in_jax)])
def test_the_network_in_torch_and_jax_has_the_native_gradients(losses, problem, dtype):
    native, data = network(dtype)
    rng = np.random.default_rng(3)
    ours = problem(losses(), data, dtype, 2 * CLASSES, list(shapes()))
    y = np.concatenate([rng.normal(size=shape).ravel() / np.sqrt(np.prod(shape[1:], initial=1)) for shape in shapes()])
    agree(native, ours, rng.uniform(0.5, 1.5, 2 * CLASSES), y, dtype)


def test_the_rows_found_are_those_of_the_pools():
    """Each row of the pools once: the frequent features, which all have, differ from row to row."""
    _, (outer, inner) = softmax(np.float64)
    rows = np.concatenate([outer[0], inner[0]])
    assert len({row.tobytes() for row in rows}) > ROWS // 2
    assert set(outer[1]) == set(inner[1]) == set(range(CLASSES))
    assert rows.min() > -1e-15  # TF-IDF
