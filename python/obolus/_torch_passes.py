"""Passes through a torch model that leave no trace in it: at shifted parameters, twice with the same random draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def shifted(parameters: Sequence[Tensor], w: Sequence[Tensor]) -> Iterator[Callable[[float], None]]:
    """Hands out a function that moves the parameters z to z + nu w; at the end they are z again, to the bit.

    >>> p = torch.tensor([1.0])
    >>> with shifted([p], [torch.tensor([2.0])]) as shift:
    ...     shift(0.5)
    ...     print(p)
    tensor([2.])
    >>> p
    tensor([1.])
    """
    kept = [p.detach().clone() for p in parameters]

    def shift(nu: float) -> None:
        with torch.no_grad():
            for p, z, along in zip(parameters, kept, w, strict=True):
                p.copy_(z).add_(along, alpha=nu)

    try:
        yield shift
    finally:
        with torch.no_grad():
            for p, z in zip(parameters, kept, strict=True):
                p.copy_(z)


@contextmanager
def drawn_twice(model: nn.Module) -> Iterator[Callable[[], None]]:
    """Hands out a function after which dropout draws as it did before.

    At the end the next draws are those too, and buffers, as of batch norm, are as before.
    """
    random = torch.get_rng_state()
    devices = {p.device for p in model.parameters() if p.device.type == "cuda"}
    on_devices = {device: torch.cuda.get_rng_state(device) for device in devices}
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]

    def again() -> None:
        torch.set_rng_state(random)
        for device, state in on_devices.items():
            torch.cuda.set_rng_state(state, device)

    try:
        yield again
    finally:
        again()
        for buffer, value in buffers:
            buffer.copy_(value)
