"""The arrays that problems written in Python get and return."""

import numpy as np
import pytest

import obolus
from ridge import STEPS, Ridge, after, without


class Keeps(Ridge):
    """Keeps every argument, as it is or as a view, and what it was."""

    def __init__(self):
        super().__init__()
        self.kept, self.addresses = [], set()

    def inner_gradient_y(self, x, y):
        self.addresses.add(y.ctypes.data)
        view = y if len(self.kept) % 2 else y[1:]
        self.kept.append((view, view.copy()))
        return super().inner_gradient_y(x, y)


def test_keeping_an_argument_is_safe():
    problem = Keeps()
    after(problem, obolus.F2obo(**STEPS))
    assert len(problem.kept) > 100
    assert all(np.array_equal(kept, was) for kept, was in problem.kept)
    assert len({was.tobytes() for _, was in problem.kept}) > 100


def test_an_argument_may_be_written_to_and_returned():
    def gradient(self, x, y):
        y[:] = Ridge.inner_gradient_y(self, x, y)
        return y

    written = after(without(inner_gradient_y=gradient), obolus.F2obo(**STEPS))
    assert written.x.tobytes() == after(Ridge(), obolus.F2obo(**STEPS)).x.tobytes()


def test_arguments_that_nobody_keeps_are_the_same_memory():
    class Looks(Ridge):
        def inner_gradient_y(self, x, y):
            seen.add(y.ctypes.data)
            return super().inner_gradient_y(x, y)

    seen = set()
    after(Looks(), obolus.F2obo(**STEPS))
    assert len(seen) == 1


def test_contiguous_results_of_the_type_are_not_converted():
    """What is not taken as it is goes through NumPy's asarray."""

    class Counts(np.ndarray):
        converted = 0

        def __array_finalize__(self, origin):
            if origin is not None:
                Counts.converted += 1  # a view or a copy was made

    result = np.zeros(4).view(Counts)
    problem = without(outer_gradient_y=lambda self, x, y: result)
    before = Counts.converted
    after(problem, obolus.F2obo(**STEPS))
    assert Counts.converted == before
    strided = without(outer_gradient_y=lambda self, x, y: np.zeros(8).view(Counts)[::2])
    after(strided, obolus.F2obo(**STEPS), rounds=1)
    assert Counts.converted > before


@pytest.mark.parametrize("make", [
    list, tuple, lambda g: g.astype(np.float32), lambda g: np.repeat(g, 2)[::2], lambda g: g[::-1].copy()[::-1],
    lambda g: memoryview(g),
])  # fmt: skip
def test_other_arrays_of_numbers_are_converted(make):
    problem = without(outer_gradient_y=lambda self, x, y: make(Ridge.outer_gradient_y(self, x, y)))
    exact, found = after(Ridge(), obolus.F2obo(**STEPS)), after(problem, obolus.F2obo(**STEPS))
    # float32 rounds f_y, around 10, by 6e-7; the steps of y do not enlarge it and λ_t β_t = α of it comes back in x.
    assert found.x == pytest.approx(exact.x, abs=1e-5)


def test_results_may_be_of_any_library_with_dlpack():
    class Capsule:
        """Hands on an array by DLPack alone."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    problem = without(outer_gradient_y=lambda self, x, y: Capsule(Ridge.outer_gradient_y(self, x, y)))
    exact, found = after(Ridge(), obolus.F2obo(**STEPS)), after(problem, obolus.F2obo(**STEPS))
    assert found.x.tobytes() == exact.x.tobytes()


def test_arguments_have_the_type_of_the_session():
    seen = set()

    def gradient(self, x, y):
        seen.add((x.dtype, y.dtype))
        return Ridge.inner_gradient_y(self, x, y)

    problem = type("Ridge", (Ridge,), {"inner_gradient_y": gradient, "dtype": np.float32})(np.float32)
    assert after(problem, obolus.F2obo(**STEPS)).x.dtype == np.float32
    assert seen == {(np.dtype(np.float32), np.dtype(np.float32))}
