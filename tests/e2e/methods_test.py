"""The program against methods_reference.py, every field of every round.

    OBOLUS=build/release/obolus python3 tests/e2e/methods_test.py
"""

import tomllib
import unittest

import methods_cases
import program
import streams
from methods_reference import METHODS, options_of, trajectory
from trajectories_test import NUMBERS, VECTORS, row_deviations

COUNTERS = ["t", "inner_steps", "inner_steps_y", "inner_steps_z", "capped", "grad_f", "grad_g", "hvp", "cross",
            "values"]  # fmt: skip

# As in trajectories_test.py: rounding some 1e-16 at a time, amplified by λ and by feedback.
# methods_reference_test.py shows that no case turns a perturbation of 1e-13 into half of this.
TOLERANCE = 1e-9


class MethodsTest(program.ProgramTest):
    largest = {}  # method → (deviation, where)

    @classmethod
    def tearDownClass(cls):
        print("\nlargest deviation from the reference, relative to 1 + |value|:")
        for name, (size, where) in sorted(cls.largest.items()):
            print(f"  {name:9} {size:.2e}  ({where})")

    def compare(self, case, rows):
        expected_rows = trajectory(case.stream, case.config)
        self.assertEqual(len(rows), len(expected_rows), "rounds in the trace")
        for got, expected in zip(rows, expected_rows, strict=True):
            where = f"{case.name}, round {expected['t']}"
            missing = [field for field in COUNTERS + NUMBERS + VECTORS if field not in got]
            self.assertEqual(missing, [], f"{where}: fields missing")
            for field in COUNTERS:
                self.assertEqual(got[field], expected[field], f"{where}: {field}")
            for field, size in row_deviations(got, expected):
                self.note(case.config["optimiser"]["name"], size, f"{where}, {field}")
                told = f"{where}: {field} is {got[field]!r}, the reference has {expected[field]!r}"
                self.assertLessEqual(size, TOLERANCE, told)

    def note(self, name, size, where):
        if size >= self.largest.get(name, (-1.0, ""))[0]:
            self.largest[name] = (size, where)

    def run_case(self, case, number):
        streams.write_stream(case.stream, self.directory / "stream.json")
        self.write("config.toml", program.toml_text(case.config))
        self.obolus("run", "config.toml", "--out", f"run{number}", "-q")
        self.compare(case, program.trace(self.directory / f"run{number}"))

    def check_method(self, name):
        for number, case in enumerate(methods_cases.all_cases()):
            if case.config["optimiser"]["name"] == name:
                with self.subTest(case.name):
                    self.run_case(case, number)

    def echo(self, directory):
        """The complete config that a run leaves."""
        return tomllib.loads((self.directory / directory / "config.toml").read_text(encoding="utf-8"))

    def test_defaults_are_the_declared_ones(self):
        for case in methods_cases.default_cases():
            section = case.config["optimiser"]
            with self.subTest(section["name"]):
                streams.write_stream(case.stream, self.directory / "stream.json")
                self.write("config.toml", program.toml_text(case.config))
                self.obolus("run", "config.toml", "--out", section["name"], "-q")
                echo = self.echo(section["name"])["optimiser"]
                for key, value in options_of(section).defaults().items():
                    self.assertEqual(echo.get(key), value, key)

    def test_a_neumann_series_without_L_g1_takes_the_problems_own(self):
        """Which the echo of the config names; with it the reference follows."""
        for number, case in enumerate(methods_cases.method_cases()):
            section = case.config["optimiser"]
            if "L_g1" in section:
                streams.write_stream(case.stream, self.directory / "stream.json")
                del section["L_g1"]
                self.write("config.toml", program.toml_text(case.config))
                self.obolus("run", "config.toml", "--out", f"run{number}", "-q")
                section["L_g1"] = self.echo(f"run{number}")["optimiser"]["L_g1"]
                least, most = (f(case.stream) for f in (streams.inner_smoothness, streams.joint_smoothness))
                self.assertLessEqual(section["L_g1"], most)
                self.assertGreaterEqual(section["L_g1"], least / case.stream["dims"]["y"])  # |A| ≥ row sum/d2
                self.compare(case, program.trace(self.directory / f"run{number}"))

    def test_logarithms_are_refused_where_x_may_not_be_positive(self):
        case = next(methods_cases.method_cases())
        d1 = case.stream["dims"]["x"]
        streams.write_stream(case.stream, self.directory / "stream.json")
        wrong = [({"set": name} | methods_cases.domain(name, d1), 0.3) for name in methods_cases.SETS[:5]]
        wrong += [({"set": "nonnegative"}, 0.0), ({"set": "nonnegative"}, -1.0),
                  ({"set": "box", "lower": 0.0, "upper": 1.0}, 0.0)]  # fmt: skip
        for domain, x in wrong:
            for step in ("entropy", "log_adam"):
                with self.subTest(step, domain=domain, x=x):
                    section = case.config["optimiser"] | {"outer_step": step}
                    config = case.config | {"optimiser": section, "domain": domain, "start": {"x": x}}
                    self.write("config.toml", program.toml_text(config))
                    self.obolus("run", "config.toml", "--out", "refused", "-q", code=2)


def _add_tests():
    """One test a method, so that a failure names it."""
    for name in METHODS:
        setattr(MethodsTest, f"test_{name}", lambda self, name=name: self.check_method(name))


_add_tests()

if __name__ == "__main__":
    unittest.main()
