"""Sessions, and the classes made from the library's lists."""

import inspect
import pickle
import subprocess
from importlib import import_module

import numpy as np
import pytest

import obolus
from obolus import _native
from obolus.looking import program


# The documents' own words.
# fmt: off
class Tracking:                                   # y follows x and a drift u
    def dims(self): return (1, 1)
    def reveal(self, t): self.u = 1e-3 * t
    def outer_value(self, x, y): return 0.5 * float((y[0] - 1) ** 2)
    def inner_value(self, x, y): return 0.5 * float((y[0] - x[0] - self.u) ** 2)
    def outer_gradient_x(self, x, y): return np.zeros(1)
    def outer_gradient_y(self, x, y): return y - 1
    def inner_gradient_x(self, x, y): return x + self.u - y
    def inner_gradient_y(self, x, y): return y - x - self.u
# fmt: on


def driven(session, problem, first, last):
    for t in range(first, last + 1):
        problem.reveal(t)
        session.step()
    return session


def test_the_start_of_the_documents_follows_the_drift():
    p = Tracking()
    s = obolus.Session(obolus.F2obo(alpha=0.5, gamma=0.2, tau=0.5), p, np.zeros(1), np.zeros(1))
    for t in range(1, 1001): p.reveal(t); s.step()  # fmt: skip
    # x* = 1 − u moves by 1e-3 per round. Each round closes at least γ of the gap, less the penalty's bias of order
    # 1/λ_t, so that x lags by no more than 1e-3/γ = 5e-3 or so.
    assert abs(s.x[0] - (1 - p.u)) < 1e-2
    assert (s.t, s.x.dtype, s.y.dtype) == (1000, np.float64, np.float64)


def test_a_step_says_what_it_did():
    p = obolus.problems.Quadratic(dim_x=2, dim_y=3)
    s = obolus.Session(obolus.F2obo(inner_steps=4, lambda1=7.0, gamma=0.25), p)
    p.reveal(1)
    step = s.step()
    assert (step.penalty, step.gamma, step.steps_y, step.steps_z) == (7.0, 0.25, 4, 4)
    assert not step.capped and not step.indefinite
    assert s.counts["f_x"] == 1 and s.counts["hvp_yy"] == 0
    assert s.z.shape == (3,) and s.direction.shape == (2,)
    assert 'name = "f2obo"' in s.config


def test_a_step_before_any_round_is_an_error():
    session = obolus.Session(obolus.F2obo(), obolus.problems.Quadratic())
    with pytest.raises(obolus.ConfigError, match=r"reveal\(1\)"):
        session.step()
    with pytest.raises(obolus.ConfigError, match=r"reveal\(1\)"):
        obolus.problems.Quadratic().outer_value(np.zeros(10), np.zeros(10))


@pytest.mark.parametrize("name", ["F2obo", "Af2obo", "Sobbo"])
def test_a_saved_session_goes_on_to_the_same_bits(name, tmp_path):
    def opened():
        p = obolus.problems.Quadratic(dim_x=2, dim_y=3, noise=0.1, noise_cross=0.1)
        return p, obolus.Session(getattr(obolus, name)(), p, np.ones(2))

    p, whole = opened()
    driven(whole, p, 1, 40)
    p, first = opened()
    driven(first, p, 1, 17).save(tmp_path / "state")
    p, second = opened()
    second.load(tmp_path / "state")
    assert second.t == 17
    driven(second, p, 18, 40)
    assert whole.x.tobytes() == second.x.tobytes() and whole.y.tobytes() == second.y.tobytes()
    assert whole.counts == second.counts
    p, third = opened()
    third.restore(first.state())
    driven(third, p, 18, 40)
    assert whole.x.tobytes() == third.x.tobytes()


def test_the_state_of_another_optimiser_is_refused():
    p = obolus.problems.Quadratic()
    with pytest.raises(obolus.DataError, match="state of 'aobo', expected that of 'f2obo'"):
        obolus.Session(obolus.F2obo(), p).restore(obolus.Session(obolus.Aobo(), p).state())


def test_what_is_no_state_is_refused_and_tears_the_session():
    p = Tracking()
    session = obolus.Session(obolus.F2obo(), p)
    good = session.state()
    for bad in (b"", b"nonsense", good[:-1]):
        with pytest.raises(obolus.DataError):
            session.restore(bad)
    with pytest.raises(RuntimeError, match="restore a saved state"):
        session.step()
    session.restore(good)
    driven(session, p, 1, 1)


def test_single_precision_comes_from_the_starts_or_from_the_problem():
    single = obolus.Session(obolus.F2obo(), Tracking(), np.zeros(1, np.float32), np.zeros(1, np.float32))
    assert single.x.dtype == single.y.dtype == np.float32
    mixed = obolus.Session(obolus.F2obo(), Tracking(), np.zeros(1, np.float32), np.zeros(1))
    assert mixed.x.dtype == np.float64
    told = Tracking()
    told.dtype = np.float32
    assert obolus.Session(obolus.F2obo(), told, np.zeros(1)).x.dtype == np.float32
    built_in = obolus.problems.Quadratic(precision="float")
    assert obolus.Session(obolus.F2obo(), built_in).x.dtype == np.float32
    p = Tracking()
    s = obolus.Session(obolus.F2obo(alpha=0.5, gamma=0.2, tau=0.5), p, np.zeros(1, np.float32))
    driven(s, p, 1, 1000)
    # The lag of 5e-3 as in double; λ_t ≤ 5 √1000 = 158 times a rounding of 6e-8 adds 1e-5 to a direction.
    assert abs(s.x[0] - (1 - p.u)) < 1e-2


def test_a_domain_confines_x():
    p = Tracking()
    s = obolus.Session(obolus.F2obo(gamma=0.2), p, domain=obolus.Box(lower=-0.5, upper=0.25))
    highest = 0.0
    for t in range(1, 201):
        p.reveal(t)
        s.step()
        highest = max(highest, s.x[0])
    assert highest == 0.25  # it would be near 1 − u ≥ 0.8
    with pytest.raises(TypeError, match="domain: got 'box', expected one of obolus's sets"):
        obolus.Session(obolus.F2obo(), p, domain="box")


def test_starts_are_a_number_or_one_each():
    p = obolus.problems.Quadratic(dim_x=2, dim_y=3)
    assert obolus.Session(obolus.F2obo(), p, 0.5, [1, 2, 3]).x.tolist() == [0.5, 0.5]
    with pytest.raises(
        obolus.ConfigError, match="start.x: got a list of 3 numbers, expected one number or a list of 2"
    ):
        obolus.Session(obolus.F2obo(), p, np.zeros(3))
    with pytest.raises(ValueError, match=r"y0: got shape \(3, 1\), expected a number or one dimension"):
        obolus.Session(obolus.F2obo(), p, None, np.zeros((3, 1)))
    with pytest.raises(obolus.ConfigError, match="start.x"):
        obolus.Session(obolus.F2obo(), p, [np.nan, 0])


class Stops(Tracking):
    """Raises in the middle of round 3."""

    left = 1

    def reveal(self, t):
        super().reveal(t)
        self.t = t

    def inner_gradient_y(self, x, y):
        if self.t == 3 and self.left:
            self.left = 0
            raise LookupError("lost")
        return super().inner_gradient_y(x, y)


def test_a_round_that_raised_is_torn_until_the_session_is_restored():
    p = Stops()
    s = obolus.Session(obolus.F2obo(), p)
    driven(s, p, 1, 2)
    state = s.state()
    p.reveal(3)
    with pytest.raises(LookupError, match="lost"):
        s.step()
    for use in (s.step, s.state):
        with pytest.raises(RuntimeError, match="round 3 was interrupted half-way"):
            use()
    s.restore(state)
    driven(s, p, 3, 20)
    p = Tracking()
    assert s.x.tobytes() == driven(obolus.Session(obolus.F2obo(), p), p, 1, 20).x.tobytes()


def test_steps_that_are_too_long_diverge_with_the_round():
    p = Tracking()
    s = obolus.Session(obolus.F2obo(alpha=50.0), p, 1.0)
    with pytest.raises(obolus.DivergedError, match=r"^round \d+: .* is not finite"):
        driven(s, p, 1, 1000)
    assert isinstance(obolus.DivergedError(), ArithmeticError)


def test_a_session_goes_the_way_of_a_run():
    p = obolus.problems.Quadratic(dim_x=2, dim_y=3, noise=0.1, noise_cross=0.1, seed=5)
    s = driven(obolus.Session(obolus.Sobbo(), p, rounds=30), p, 1, 30)
    assert s.x.tobytes() == obolus.run(obolus.Sobbo(), p, rounds=30).x.tobytes()


OPTIMISERS = [name for name in obolus.optimisers.__all__ if name != "Optimiser"]


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_runs(name):
    optimiser = getattr(obolus, name)()
    p = obolus.problems.Quadratic(dim_x=2, dim_y=3, noise=0.1, noise_cross=0.1)
    s = driven(obolus.Session(optimiser, p), p, 1, 5)
    assert s.t == 5 and np.isfinite(s.x).all()
    assert np.any(s.x != p.start()[0]) == (name != "Fixed")


def listed(kind):
    """The entries of `obolus list`, as {name: [(option, default)]}."""
    text = subprocess.run([program(), "list", kind], capture_output=True, text=True, check=True).stdout
    entries, options = {}, None
    for line in text.splitlines()[1:]:
        if line.startswith("    ") and options is not None:
            word, default = line.split()[:2]
            if word != "option" and not word.startswith("─"):
                options.append(word)
        elif line.startswith("  ") and line[2] != " ":
            name, _, title = line.strip().partition("  ")
            if title:
                options = entries[name] = []
    return entries


@pytest.mark.parametrize("kind", ["optimisers", "problems", "sets"])
def test_classes_have_the_names_and_options_of_the_command_line(kind):
    module = import_module(f"obolus.{kind}")
    classes = {made.name: made for made in (getattr(module, name) for name in module.__all__[1:])}
    entries = listed(kind)
    assert len(entries) >= 5 and set(entries) == set(classes)
    for name, options in entries.items():
        known = {option.name for option in classes[name].known}
        assert set(options) <= known
        # Beyond the entry's own there are those of its whole section alone.
        common = {option[0] for section, _, _, found in _native.list_sections() for option in found
                  if kind.startswith(section[1:-1])}  # fmt: skip
        assert known - set(options) <= common
        assert list(inspect.signature(classes[name]).parameters) == [o.keyword for o in classes[name].known]
        for option in classes[name].known:
            assert f"{option.keyword}: {option.help}" in classes[name].__doc__


def test_an_option_that_does_not_exist_is_named():
    with pytest.raises(TypeError, match="F2obo: got the option 'alhpa', expected one of alpha, gamma"):
        obolus.F2obo(alhpa=1)
    with pytest.raises(obolus.ConfigError, match=r"optimiser.alpha: got -1"):
        obolus.Session(obolus.F2obo(alpha=-1.0), Tracking())
    with pytest.raises(TypeError, match="optimiser: got 'f2obo', expected one of obolus's optimisers"):
        obolus.Session("f2obo", Tracking())


def test_described_things_compare_copy_and_pickle():
    a = obolus.F2obo(alpha=0.1, gamma={"scale": 0.1, "power": -0.5})
    assert a == pickle.loads(pickle.dumps(a)) and hash(a) == hash(pickle.loads(pickle.dumps(a)))
    assert a.with_options(alpha=0.2) == obolus.F2obo(alpha=0.2, gamma={"scale": 0.1, "power": -0.5}) != a
    p = obolus.problems.Quadratic(dim_x=2, seed=3)
    p.reveal(1)
    q = pickle.loads(pickle.dumps(p))
    q.reveal(1)
    assert q == p and q.outer_value([1, 2], np.ones(10)) == p.outer_value([1, 2], np.ones(10))


def test_schedules_and_sets_are_options():
    gamma = obolus.Schedule(scale=0.5, power=-0.5, least=0.05, most=0.3)
    optimiser = obolus.F2obo(gamma=gamma, inner_steps={"scale": 2, "at": [3], "values": [6]})
    p = obolus.problems.Quadratic(dim_x=3, dim_y=3)
    s = obolus.Session(optimiser, p, 1 / 3, domain=obolus.Simplex())
    steps = []
    for t in range(1, 5):
        p.reveal(t)
        steps.append(s.step())
        assert s.x.sum() == pytest.approx(1, abs=1e-15 * 8)  # three numbers, rounded a few times
    assert [step.gamma for step in steps] == [min(0.5 * t**-0.5, 0.3) for t in range(1, 5)]
    assert [step.steps_y for step in steps] == [2, 2, 6, 6]
    ball = obolus.Session(obolus.F2obo(gamma=5.0), p, domain=obolus.L2Ball(radius=0.5))
    driven(ball, p, 1, 5)
    assert np.linalg.norm(ball.x) <= 0.5 * (1 + 4e-16)
    sides = obolus.Session(obolus.F2obo(gamma=5.0), p, domain=obolus.Box(lower=np.zeros(3), upper=[0.1, 0.2, 0.3]))
    driven(sides, p, 1, 5)
    assert (sides.x >= 0).all() and (sides.x <= [0.1, 0.2, 0.3]).all()


def test_a_schedule_has_the_keys_that_the_library_reads():
    whole = {"power": 0.5, "log": True, "least": 0.1, "most": 2.0, "at": [5], "values": [0.2], "from": 1, "warmup": 2,
             "cosine": 9, "floor": 0.1}  # fmt: skip
    keys = set(obolus.Schedule.__annotations__)
    assert keys == {"scale", "factor", *whole}
    p = Tracking()
    obolus.Session(obolus.F2obo(gamma={"scale": 0.1, **whole}), p)
    obolus.Session(obolus.F2obo(gamma={"scale": 0.1, "at": [5], "factor": 0.5}), p)
    with pytest.raises(obolus.ConfigError, match="unknown key 'powr' in optimiser.gamma.*power"):
        obolus.Session(obolus.F2obo(gamma={"scale": 0.1, "powr": 1}), p)
