"""A problem with every method, and with fewer."""

import numpy as np

import obolus


class Ridge:
    """g = ½|Ay − b_t|² + ½ e^x |y|², f = ½|Cy − d|²: one hyperparameter, every method."""

    def __init__(self, dtype=np.float64, size=4):
        rng = np.random.default_rng(3)
        self.A, self.C = (rng.normal(size=(2 * size, size)).astype(dtype) for _ in range(2))
        self.b, self.d = (rng.normal(size=2 * size).astype(dtype) for _ in range(2))
        self.size, self.t = size, 0

    def dims(self):
        return (1, self.size)

    def reveal(self, t):
        self.t = t
        self.b_t = self.b * self.b.dtype.type(1 + 0.1 * np.sin(t))

    def outer_value(self, x, y):
        return 0.5 * float(np.sum((self.C @ y - self.d) ** 2))

    def inner_value(self, x, y):
        return 0.5 * float(np.sum((self.A @ y - self.b_t) ** 2) + np.exp(x[0]) * np.sum(y**2))

    def outer_gradient_x(self, x, y):
        return np.zeros_like(x)

    def outer_gradient_y(self, x, y):
        return self.C.T @ (self.C @ y - self.d)

    def inner_gradient_x(self, x, y):
        return 0.5 * np.exp(x) * np.sum(y**2)

    def inner_gradient_y(self, x, y):
        return self.A.T @ (self.A @ y - self.b_t) + np.exp(x[0]) * y

    def inner_hvp_yy(self, x, y, v):
        return self.A.T @ (self.A @ v) + np.exp(x[0]) * v

    def inner_hvp_xy(self, x, y, v):
        return np.exp(x) * (y @ v)

    def inner_solution(self, x):
        return np.linalg.solve(self.A.T @ self.A + np.exp(x[0]) * np.eye(self.size), self.A.T @ self.b_t)


def without(*names, **more):
    """A Ridge that lacks methods, or has others."""
    return type("Ridge", (Ridge,), {**dict.fromkeys(names), **more})()


STEPS = {"alpha": 0.02, "gamma": 0.05}


def after(problem, optimiser, rounds=20, **options):
    session = obolus.Session(optimiser, problem, **options)
    for t in range(1, rounds + 1):
        problem.reveal(t)
        session.step()
    return session
