"""obolus.torch.tune: the hypergradient, recovery of good values, memory, restoring, errors."""

import io
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import obolus.torch  # noqa: E402

torch.set_num_threads(1)


def loss(model, batch, h=None):
    error = ((model(batch[0])[:, 0] - batch[1]) ** 2).mean()
    return error if h is None else error + (h["decay"][:, None] * model.weight.view(2, -1) ** 2).sum()


def linear(dtype=torch.float32):
    torch.manual_seed(0)
    return torch.nn.Linear(8, 1, bias=False).to(dtype)


def stream(count, seed=0, useless=lambda t: slice(0, 4), dtype=torch.float32):
    """Eight features; the target follows four of them, and noise."""
    generator = torch.Generator().manual_seed(seed)
    for t in range(count):
        truth = torch.ones(8)
        truth[useless(t)] = 0
        rows = torch.randn(16, 8, generator=generator)
        yield rows.to(dtype), (rows @ truth + torch.randn(16, generator=generator)).to(dtype)


START = {"decay": obolus.torch.positive([0.1, 0.1], 1e-3, 3)}


@pytest.mark.parametrize("order", [1, 2])
def test_dual_finds_the_hypergradient_of_a_still_problem(order):
    """f and g are quadratic, so the central difference of g_x has no bias and the forward one 2 decay·|w|²/λ."""
    batch, judge = stream(2, dtype=torch.float64)
    model = linear(torch.float64)
    tuner = obolus.torch.tune(
        model,
        loss,
        hyperparameters=START,
        optimiser=torch.optim.SGD(model.parameters(), lr=0.1),
        warm_start="dual",
        memory=float("inf"),
        shift=1e-6,
        step=0.0,
        order=order,
    )
    for _ in range(600):
        report = tuner.step(batch, judge)
    (a, r), (b, c) = ([part.numpy() for part in pair] for pair in (batch, judge))
    hessian = 2 * a.T @ a / 16 + 0.2 * np.eye(8)
    y = np.linalg.solve(hessian, 2 * a.T @ r / 16)
    v = np.linalg.solve(hessian, 2 * b.T @ (b @ y - c) / 16)
    expected = -(2 * y * v).reshape(2, 4).sum(1)
    assert np.allclose(model.weight.detach().numpy()[0], y, atol=1e-9)
    assert np.allclose(report.hypergradient["decay"], expected, rtol=1e-5 if order == 1 else 1e-8)


@pytest.mark.parametrize("name", ["SGD", "momentum", "Adam", "RMSprop"])
def test_decay_follows_the_features_that_are_useless_now(name):
    """Judge-then-train: each batch judges first. The useless half changes after 400 rounds."""
    model = linear()
    optimiser = {
        "SGD": lambda p: torch.optim.SGD(p, lr=0.05),
        "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        "Adam": lambda p: torch.optim.Adam(p, lr=0.02),
        "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.02),
    }[name](model.parameters())
    tuner = obolus.torch.tune(model, loss, hyperparameters=START, optimiser=optimiser, step=0.05)
    found = []
    for t, batch in enumerate(stream(800, useless=lambda t: slice(0, 4) if t < 400 else slice(4, 8))):
        tuner.step(batch)
        if t in (399, 799):
            found.append(tuner.hyperparameters["decay"])
    assert found[0][0] > 5 * found[0][1]
    assert found[1][1] > 5 * found[1][0]


@pytest.mark.parametrize("warm_start", ["tied", "dual"])
def test_a_source_of_wrong_labels_loses_its_weight(warm_start):
    generator = torch.Generator().manual_seed(3)
    centres = 2 * torch.randn(3, 5, generator=generator)

    def draw(count, wrong):
        labels = torch.randint(3, (count,), generator=generator)
        rows = centres[labels] + torch.randn(count, 5, generator=generator)
        source = torch.arange(count) % 2
        return rows, torch.where((source == 1) & wrong, (labels + 1) % 3, labels), source

    def weighted(model, batch, h=None):
        losses = torch.nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")
        return losses.mean() if h is None else (h["source"][batch[2]] * losses).mean()

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    tuner = obolus.torch.tune(
        model,
        weighted,
        hyperparameters={"source": obolus.torch.weights(2)},
        optimiser=torch.optim.SGD(model.parameters(), lr=0.1),
        train=(draw(16, True) for _ in range(150)),
        validation=(draw(16, False) for _ in range(150)),
        warm_start=warm_start,
    )
    right, wrong = tuner.hyperparameters["source"]
    assert right > 4 * wrong


def test_training_has_the_bits_of_a_plain_loop():
    """Dropout and batch norm included: tuning passes leave no trace, with hyperparameters held still."""

    def network():
        torch.manual_seed(1)
        layers = torch.nn
        return layers.Sequential(layers.Linear(8, 6), layers.BatchNorm1d(6), layers.Dropout(0.5), layers.Linear(6, 1))

    def decayed(model, batch, h=None):
        error = ((model(batch[0])[:, 0] - batch[1]) ** 2).mean()
        return error if h is None else error + h["decay"] * model[0].weight.square().sum()

    tuned, plain = network(), network()
    optimisers = [torch.optim.Adam(model.parameters()) for model in (tuned, plain)]
    torch.manual_seed(2)
    obolus.torch.tune(tuned, decayed, hyperparameters={"decay": 0.1}, optimiser=optimisers[0], step=0, train=stream(9))
    torch.manual_seed(2)
    for batch in stream(9):
        optimisers[1].zero_grad()
        decayed(plain, batch, {"decay": torch.tensor(0.1)}).backward()
        optimisers[1].step()
    for name, value in plain.state_dict().items():
        assert torch.equal(tuned.state_dict()[name], value), name


class Peak(torch.utils._python_dispatch.TorchDispatchMode):
    """The largest number of bytes in living storages, `held` among them, counted after every operation."""

    def __init__(self, held):
        super().__init__()
        self.living = {tensor.untyped_storage()._cdata: tensor.nbytes for tensor in held}
        self.peak = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in torch.utils._pytree.tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                key = storage._cdata
                if key not in self.living:
                    self.living[key] = storage.nbytes()
                    weakref.finalize(storage, self.living.pop, key, None)
        self.peak = max(self.peak, sum(self.living.values()))
        return out


@pytest.mark.parametrize("warm_start", ["tied", "dual"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_memory_is_at_most_2_2_times_that_of_plain_training(warm_start, momentum):
    """Next to no activations, so that copies of the parameters are all there is: the worst case."""

    def peak(tuned):
        torch.manual_seed(0)
        model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(30)])
        optimiser = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=momentum, foreach=False)
        batch = torch.randn(2, 64)

        def fit(model, batch, h=None):
            return ((model(batch) - batch) ** 2).mean() * (1.0 if h is None else h["scale"])

        tuner = obolus.torch.tune(
            model, fit, hyperparameters={"scale": 1.0}, optimiser=optimiser, warm_start=warm_start
        )
        scale = {"scale": torch.tensor(1.0)}
        with Peak([*model.parameters(), *(tuner._w if tuned else [])]) as meter:
            for _ in range(4):
                if tuned:
                    tuner.step(batch)
                else:
                    optimiser.zero_grad()
                    fit(model, batch, scale).backward()
                    optimiser.step()
        return meter.peak

    assert peak(True) <= 2.2 * peak(False)


@pytest.mark.parametrize("warm_start", ["tied", "dual"])
def test_a_restored_tuner_goes_on_with_the_same_bits(warm_start):
    def fresh():
        model = linear()
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        return obolus.torch.tune(
            model, loss, hyperparameters=START, optimiser=optimiser, warmup=5, warm_start=warm_start
        )

    batches = list(stream(60))
    whole, first, second = fresh(), fresh(), fresh()
    whole.run(batches)
    first.run(batches[:30])
    file = io.BytesIO()
    torch.save(first.state(), file)
    file.seek(0)
    second.load_state(torch.load(file))
    second.run(batches[30:])
    assert second.path == whole.path
    assert torch.equal(second.model.weight, whole.model.weight)
    assert second.gradients == whole.gradients


def test_every_n_th_round_tunes_and_all_train():
    model = linear()
    tuner = obolus.torch.tune(model, loss, hyperparameters=START, every=5, warmup=0)
    judged = [tuner.step(batch).validation_loss is not None for batch in stream(10)]
    assert judged == [False] * 4 + [True] + [False] * 4 + [True]
    assert tuner.gradients == 10 + 3 * 2


def test_the_path_is_thinned():
    from obolus._hyperparameters import Path

    path = Path(limit=10)
    for t in range(1, 101):
        path.add(t, {"a": np.array(float(t))})
    assert len(path.entries) <= 10
    assert path.entries[-1] == {"round": 96, "a": 96.0}


def test_domains_hold():
    from obolus._hyperparameters import OuterStep

    outer = OuterStep(
        {"s": obolus.torch.bounded(0.1, 0, 0.5), "f": obolus.torch.free([1.0, -1.0]), "w": obolus.torch.weights(3)}, 0.3
    )
    for _ in range(20):
        outer.move({"s": np.array(1.0), "f": np.array([1.0, 0.0]), "w": np.array([1.0, 0.0, -1.0])})
    assert outer.values["s"] == 0
    assert outer.values["f"][0] < -4
    assert outer.values["f"][1] == -1  # no gradient, no move
    assert outer.values["w"][[0, 2]].tolist() == [1 / 30, 30]


def test_errors_say_what_was_got_and_expected():
    model = linear()

    def made(loss=loss, hyperparameters=START, **options):
        return obolus.torch.tune(model, loss, hyperparameters=hyperparameters, **options)

    with pytest.raises(ValueError, match="hyperparameters: got none"):
        made(hyperparameters={})
    with pytest.raises(ValueError, match="hyperparameter 'decay': got -1, expected a positive number"):
        made(hyperparameters={"decay": -1})
    with pytest.raises(ValueError, match="order: got 3, expected 1 or 2"):
        made(order=3)
    with pytest.raises(TypeError, match="optimiser: got LBFGS"):
        made(optimiser=torch.optim.LBFGS(model.parameters()))
    with pytest.raises(ValueError, match="got validation without train"):
        made(validation=[])
    (batch,) = stream(1)
    with pytest.raises(ValueError, match=r"hyperparameter 'decay': got no gradient, expected the loss to use"):
        made(lambda model, batch, h: model(batch[0]).sum()).step(batch)
    with pytest.raises(TypeError, match="without a validation_loss the loss judges too"):
        made(lambda model, batch, h: h["decay"].sum() * model(batch[0]).sum()).step(batch)
    with pytest.raises(TypeError, match=r"validation loss: got a tensor of shape \(16, 1\)"):
        made(lambda model, batch, h: model(batch[0])).step(batch)
    with pytest.raises(FloatingPointError, match="round 1: the validation loss is nan"):
        made().step((batch[0] * float("nan"), batch[1]))
    with pytest.raises(ValueError, match="validation: got no more batches"):
        made(train=stream(3), validation=iter(stream(2)))
