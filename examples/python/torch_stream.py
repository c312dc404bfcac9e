"""A torch network on a drifting stream of pictures, its loss weights and weight decay tuned while it trains.

    python3 examples/python/torch_stream.py

Three sources label 8 × 8 pictures. One of them is wrong most of the time, and which one changes halfway. A few trusted
pictures arrive each round and judge the model. The table shows how the weights follow.
"""

import torch
import torch.nn.functional as F
from torch import nn

import obolus.torch

ROUNDS, CLASSES, SIDE = 400, 5, 8
torch.set_num_threads(1)
torch.manual_seed(0)
first, second = F.avg_pool2d(3 * torch.randn(2, CLASSES, SIDE + 2, SIDE + 2), 3, stride=1)


def draw(t: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures whose classes change shape from round to round."""
    labels = torch.randint(CLASSES, (count,))
    share = t / ROUNDS
    shapes = (1 - share) * first[labels] + share * second[labels]
    return shapes[:, None] + 0.7 * torch.randn(count, 1, SIDE, SIDE), labels


def train_batch(t: int) -> tuple[torch.Tensor, ...]:
    pictures, labels = draw(t, 24)
    source = torch.arange(24) % 3
    wrong = (source == (0 if t < ROUNDS // 2 else 2)) & (torch.rand(24) < 0.8)
    return pictures, torch.where(wrong, (labels + 1) % CLASSES, labels), source


def training_loss(model, batch, h):
    pictures, labels, source = batch
    losses = F.cross_entropy(model(pictures), labels, reduction="none")
    return (h["source"][source] * losses).mean() + h["decay"] * sum(p.square().sum() for p in model.parameters())


def validation_loss(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1])


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, CLASSES))


model, untuned = network(), network()
tuner = obolus.torch.tune(
    model,
    training_loss,
    validation_loss,
    hyperparameters={"source": obolus.torch.weights(3), "decay": 1e-4},
    optimiser=torch.optim.Adam(model.parameters(), lr=3e-3),
    step=0.05,
)
plain = torch.optim.Adam(untuned.parameters(), lr=3e-3)
fixed = {"source": torch.ones(3), "decay": torch.tensor(1e-4)}

print("round   errors %: tuned  plain   weights of the three sources   weight decay")
errors = torch.zeros(2)
for t in range(1, ROUNDS + 1):
    pictures, labels = draw(t, 50)
    with torch.no_grad():
        errors += torch.stack([(net(pictures).argmax(1) != labels).float().mean() for net in (model, untuned)])
    batch = train_batch(t)
    tuner.step(batch, draw(t, 8))
    plain.zero_grad()
    training_loss(untuned, batch, fixed).backward()
    plain.step()
    if t % 50 == 0:
        source, decay = tuner.hyperparameters["source"], tuner.hyperparameters["decay"]
        weights = "  ".join(f"{value:6.2f}" for value in source)
        print(f"{t:5}             {2 * errors[0]:5.1f}  {2 * errors[1]:5.1f}   {weights}         {decay:9.1e}")
        errors.zero_()
