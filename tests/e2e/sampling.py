"""Oracles made from others: a round seen through noisy samples, and products by central differences."""

import math

from reference import dot, minus, norm, plus, times, transposed_times

CUBE_ROOT_OF_EPSILON = math.cbrt(2.0**-52)


class Sampled:
    """f + <ξ_x,x> + <ξ_y,y> and g + <ζ_x,x> + <ζ_y,y> − y'Ex with normal ξ, ζ, E of mean 0.

    A batch of size B has deviation noise/√((d1 + d2)B) in every entry of ξ and ζ and noise_cross/√B in
    every entry of E. One draw serves every call until the next; before the first the round is exact.
    """

    def __init__(self, round_, d1, d2, noise, noise_cross, rng):
        self._round, self._d1, self._d2, self._rng = round_, d1, d2, rng
        self._noise, self._noise_cross = noise, noise_cross
        self._drawn = False

    def draw(self, batch):
        if self._noise == 0.0 and self._noise_cross == 0.0:
            return
        size = self._noise / math.sqrt((self._d1 + self._d2) * batch)
        self._f_x, self._g_x = self._normal(self._d1, size), self._normal(self._d1, size)
        self._f_y, self._g_y = self._normal(self._d2, size), self._normal(self._d2, size)
        cross = self._noise_cross / math.sqrt(batch)
        self._E = [self._normal(self._d1, cross) for _ in range(self._d2)]
        self._drawn = True

    def _normal(self, dimension, deviation):
        return [self._rng.gauss(0.0, deviation) for _ in range(dimension)]

    def f(self, x, y):
        value = self._round.f(x, y)
        return value + dot(self._f_x, x) + dot(self._f_y, y) if self._drawn else value

    def g(self, x, y):
        value = self._round.g(x, y)
        if not self._drawn:
            return value
        return value + dot(self._g_x, x) + dot(self._g_y, y) - dot(y, times(self._E, x))

    def f_x(self, x, y):
        value = self._round.f_x(x, y)
        return plus(value, 1.0, self._f_x) if self._drawn else value

    def f_y(self, x, y):
        value = self._round.f_y(x, y)
        return plus(value, 1.0, self._f_y) if self._drawn else value

    def g_x(self, x, y):
        value = self._round.g_x(x, y)
        return plus(value, 1.0, minus(self._g_x, transposed_times(self._E, y))) if self._drawn else value

    def g_y(self, x, y):
        value = self._round.g_y(x, y)
        return plus(value, 1.0, minus(self._g_y, times(self._E, x))) if self._drawn else value

    def g_yy(self, x, y, v):
        return self._round.g_yy(x, y, v)

    def g_xy(self, x, y, v):
        value = self._round.g_xy(x, y, v)
        return minus(value, transposed_times(self._E, v)) if self._drawn else value


class CentralDifferences:
    """An oracle whose products are [∇g(x, y + hv) − ∇g(x, y − hv)]/(2h), h = ε^(1/3) max(1, |y|)/|v|.

    Each costs two gradients of g; v = 0 gives 0 without a call.
    """

    def __init__(self, oracle):
        self.f_x, self.f_y, self.g_x, self.g_y = oracle.f_x, oracle.f_y, oracle.g_x, oracle.g_y

    def g_yy(self, x, y, v):
        return self._difference(self.g_y, x, y, v, len(y))

    def g_xy(self, x, y, v):
        return self._difference(self.g_x, x, y, v, len(x))

    @staticmethod
    def _difference(gradient, x, y, v, size):
        if norm(v) == 0.0:
            return [0.0] * size
        h = CUBE_ROOT_OF_EPSILON * max(1.0, norm(y)) / norm(v)
        change = minus(gradient(x, plus(y, h, v)), gradient(x, plus(y, -h, v)))
        return [a / (2.0 * h) for a in change]
