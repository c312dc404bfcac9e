"""The peers of `obolus fit`, judged on every row before they learn it.

Each module has `methods(stream)`: {name: run}. The first word of a name is the column that it competes for, the rest
the variant. run(stream, seconds) gives what was told of each row: the probabilities of all classes, or a class alone
where there are no probabilities, or a number. Fewer rows than the stream has: the time was over.

All are told the classes beforehand. Where neighbours resemble each other a peer must not be stale: each learns a row
before it is asked for the next, those with batches too if that is better.
"""

import importlib
import sys
import warnings

import numpy

LIBRARIES = {
    "naive": "baselines",
    "vw": "vowpal",
    "optax": "jax_optax",
    "sklearn": "scikit",
    "river": "rivers",
    "autovw": "flaml_autovw",
}
LEAST = 1e-15


def methods(stream, wanted):
    found = {}
    for name, module in LIBRARIES.items():
        if name in wanted:
            try:
                found |= importlib.import_module(f"peers.{module}").methods(stream)
            except ModuleNotFoundError as error:
                print(f"{name}: {error}; its column stays empty", file=sys.stderr)
    return found


def losses(stream, told):
    """{measure: a number a row}."""
    target = stream.target[: len(told)]
    if stream.numbers:
        error = told - target
        return {"squared_error": error**2, "absolute_error": abs(error)}
    if told.ndim == 1:
        return {"accuracy": told == target}
    of_class = told[numpy.arange(len(told)), target]
    loss = -numpy.log(numpy.clip(numpy.nan_to_num(of_class), LEAST, 1))
    return {"log_loss": loss, "accuracy": told.argmax(axis=1) == target}


def silent(run, *arguments):
    """A peer that overflows says so in its probabilities."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run(*arguments)
