"""A problem of your own: a ridge penalty that follows the noise of a stream.

    python3 examples/python/own_problem.py

Each round brings thirty rows to train on, and thirty with exact labels to judge by. Halfway the labels to train on
become noisy, and the best penalty rises a hundredfold. The table compares the tuned penalty with fixed ones.
"""

import numpy as np

import obolus

ROUNDS, FEATURES, ROWS = 2000, 20, 30


class Ridge:  # x is the penalty, y are the weights
    def dims(self): return 1, FEATURES
    def reveal(self, t):  # any round, in any order: the rows are a function of t
        rng = np.random.default_rng(t)
        self.A, self.C = rng.normal(size=(2, ROWS, FEATURES))
        self.a, self.c = self.A.sum(axis=1) / 4, self.C.sum(axis=1) / 4
        self.a += (0.1 if t <= ROUNDS // 2 else 5) * rng.normal(size=ROWS)
    def outer_value(self, x, y): return 0.5 * np.mean((self.C @ y - self.c) ** 2)
    def inner_value(self, x, y): return 0.5 * np.mean((self.A @ y - self.a) ** 2) + 0.5 * x[0] * y @ y
    def outer_gradient_x(self, x, y): return np.zeros(1)
    def outer_gradient_y(self, x, y): return self.C.T @ (self.C @ y - self.c) / ROWS
    def inner_gradient_x(self, x, y): return np.array([0.5 * y @ y])
    def inner_gradient_y(self, x, y): return self.A.T @ (self.A @ y - self.a) / ROWS + x * y


def run(optimiser, penalty):
    return obolus.run(optimiser, Ridge(), rounds=ROUNDS, x0=[penalty], y0=np.zeros(FEATURES),
                      domain=obolus.Box(lower=1e-3, upper=3), metrics={"regret": False})


wrong = [finding.what for finding in obolus.check(Ridge(), x=[2.0], radius=0.5) if not finding.ok]
print("wrong:", ", ".join(wrong) or "nothing")

runs = {"tuned": run(obolus.F2oboSl(alpha=0.2, gamma=0.03, lambda1=5, tau=0, outer_step="log_adam"), 0.1)}
for penalty in (0.01, 0.1, 1.0, 3.0):
    runs[f"{penalty:g}"] = run(obolus.Fixed(alpha=0.2, inner_steps=1), penalty)

print("penalty   mean f: first half   second half")
for name, found in runs.items():
    first, second = np.split(found.columns["f"], 2)
    print(f"{name:7}   {first.mean():18.4f}   {second.mean():11.4f}")
print(f"tuned penalty at the end: {runs['tuned'].x[0]:.2f}")
