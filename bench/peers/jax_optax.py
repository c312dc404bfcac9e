"""optax: optimisers that need no rate, on the same linear model of standardised columns; dense streams only.

One compiled loop over the rows. schedule_free_sgd is given three rates (its default is 1), and predicts with its
average.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy
import optax
from optax import contrib

MOST_COLUMNS = 2_000
OPTIMISERS = {
    "cocob": contrib.cocob,
    "dog": contrib.dog,
    "prodigy": contrib.prodigy,
    "schedule_free_sgd 0.01": partial(contrib.schedule_free_sgd, 0.01),
    "schedule_free_sgd 0.1": partial(contrib.schedule_free_sgd, 0.1),
    "schedule_free_sgd 1": partial(contrib.schedule_free_sgd, 1.0),
    "mechanize sgd": lambda: contrib.mechanize(optax.sgd(1.0)),
    "mechanize adam": lambda: contrib.mechanize(optax.adam(1e-3)),
}


def loss_of(stream):
    """Of the outputs, which are logits or one number."""
    if stream.numbers:
        return lambda outputs, target: (outputs[0] - target) ** 2 / 2
    if len(stream.classes) == 2:
        return lambda outputs, target: jax.nn.softplus(outputs[0]) - target * outputs[0]
    return lambda outputs, target: jax.nn.logsumexp(outputs) - outputs[target]


def outputs_of(optimiser, averaged, loss, rows, target, delay, count):
    """One line a row, each told before the row is learnt."""

    def step(carry, i):
        weights, state = carry
        told = rows[i] @ (contrib.schedule_free_eval_params(state, weights) if averaged else weights)
        known = i - delay
        value, slope = jax.value_and_grad(lambda w: loss(rows[known] @ w, target[known]))(weights)
        change, new_state = optimiser.update(slope, state, weights, value=value)
        learnt = optax.apply_updates(weights, change), new_state
        return jax.tree.map(lambda new, old: jnp.where(known >= 0, new, old), learnt, carry), told

    weights = jnp.zeros((rows.shape[1], count), jnp.float32)
    return jax.lax.scan(step, (weights, optimiser.init(weights)), jnp.arange(len(rows)))[1]


def optax_linear(name):
    def run(stream, seconds):
        count = 1 if len(stream.classes) <= 2 else len(stream.classes)
        optimiser = optax.with_extra_args_support(OPTIMISERS[name]())
        pass_over = partial(
            outputs_of, optimiser, "schedule_free" in name, loss_of(stream), delay=stream.delay, count=count
        )
        rows = numpy.column_stack([stream.scaled, numpy.ones(len(stream), numpy.float32)])
        told = jax.jit(pass_over)(jnp.asarray(rows), jnp.asarray(stream.target))
        told = numpy.asarray(told, float)
        if stream.numbers:
            return told[:, 0]
        logits = numpy.column_stack([numpy.zeros(len(told)), told]) if count == 1 else told
        odds = numpy.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    return run


def methods(stream):
    if not stream.dense or stream.rows.shape[1] > MOST_COLUMNS:
        return {}
    return {f"optax {name}": optax_linear(name) for name in OPTIMISERS}
