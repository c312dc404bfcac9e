"""A small problem for tests, of which a method may be told to do something in some round."""

import numpy as np


class Tracking:
    """y follows x and a drift u."""

    def __init__(self, at=0, do=None):
        self.at, self.do, self.t = at, do, 0

    def dims(self):
        return (1, 1)

    def reveal(self, t):
        self.u, self.t = 1e-3 * t, t

    def outer_value(self, x, y):
        return 0.5 * float((y[0] - 1) ** 2)

    def inner_value(self, x, y):
        return 0.5 * float((y[0] - x[0] - self.u) ** 2)

    def outer_gradient_x(self, x, y):
        return np.zeros(1)

    def outer_gradient_y(self, x, y):
        return y - 1

    def inner_gradient_x(self, x, y):
        return x + self.u - y

    def inner_gradient_y(self, x, y):
        if self.t == self.at:
            self.at = 0
            self.do()
        return y - x - self.u
