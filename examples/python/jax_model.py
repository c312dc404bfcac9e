"""A JAX model tuned while it trains, and the same losses as an Obolus problem.

    python3 examples/python/jax_model.py

A linear model of twelve features, of which six matter; halfway the other six do. Each batch judges the weight decays of
both halves before the model trains on it.
"""

import jax.numpy as jnp
import numpy as np

import obolus.jax

ROUNDS, FEATURES, BATCH = 800, 12, 16
rng = np.random.default_rng(0)


def batch(t: int) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat([1.0, 0.0] if t <= ROUNDS // 2 else [0.0, 1.0], FEATURES // 2)
    rows = rng.normal(size=(BATCH, FEATURES))
    return rows.astype(np.float32), (rows @ truth + 2 * rng.normal(size=BATCH)).astype(np.float32)


def loss(params, batch, h=None):
    error = jnp.mean((batch[0] @ params["slope"] + params["offset"] - batch[1]) ** 2)
    return error if h is None else error + jnp.sum(h["decay"][:, None] * params["slope"].reshape(2, -1) ** 2)


params = {"slope": jnp.zeros(FEATURES), "offset": jnp.zeros(())}
start = obolus.jax.positive([0.1, 0.1], low=1e-3, high=10)
tuner = obolus.jax.tune(params, loss, hyperparameters={"decay": start}, learning_rate=0.05, step=0.05)

print("round   loss before training   weight decay of the halves")
judged = []
for t in range(1, ROUNDS + 1):
    judged.append(tuner.step(batch(t)).validation_loss)
    if t % 100 == 0:
        decay = tuner.hyperparameters["decay"]
        print(f"{t:5}   {np.mean(judged):20.2f}   {decay[0]:8.3f} {decay[1]:8.3f}")
        judged.clear()

problem = obolus.jax.problem(
    lambda x, y, data: loss(y, data),
    lambda x, y, data: loss(y, data, {"decay": jnp.exp(x)}),
    jnp.log(jnp.asarray(tuner.hyperparameters["decay"], jnp.float32)),
    tuner.params,
    [(batch(ROUNDS), batch(ROUNDS))],
)
problem.reveal(1)
slope = np.linalg.norm(problem.inner_gradient_y(problem.x0, problem.y0))
print(f"as a problem: dimensions {problem.dims()}, |g_y| = {slope:.2f} on a new batch")
