"""The program against the reference, every field of every round.

    OBOLUS=build/release/obolus python3 tests/e2e/trajectories_test.py
"""

import math
import tomllib
import unittest

import cases
import program
import streams
from reference import trajectory

COUNTERS = ["t", "inner_steps", "grad_f", "grad_g", "hvp"]
NUMBERS = ["f", "g", "regret", "regret_increment", "own_mapping", "hypergradient_error",
           "residual_y", "residual_z", "lambda"]  # fmt: skip
VECTORS = ["x", "y"]

# Both sides work in doubles (2⁻⁵³ ≈ 1e-16) and differ in the order of their sums. The largest
# amplifier is λ(g_x(y) − g_x(z)) with λ ≤ 3,000: some 1e-12, fed back through contracting steps.
# reference_test.py shows that no case turns a perturbation of 1e-13 into half of this.
TOLERANCE = 1e-9


def deviation(got, expected):
    """|got − expected| relative to 1 + |expected|; infinite when not a finite number."""
    if isinstance(got, bool) or not isinstance(got, (int, float)) or not math.isfinite(got):
        return math.inf
    return abs(got - expected) / (1.0 + abs(expected))


def row_deviations(got, expected):
    """(field, deviation) for everything in a row that is compared with a tolerance."""
    for field in NUMBERS:
        yield field, deviation(got[field], expected[field])
    for field in VECTORS:
        if len(got[field]) != len(expected[field]):
            yield field, math.inf
        for one, other in zip(got[field], expected[field], strict=False):
            yield field, deviation(one, other)


class TrajectoriesTest(program.ProgramTest):
    largest = {}  # algorithm → (deviation, where)

    @classmethod
    def tearDownClass(cls):
        print("\nlargest deviation from the reference, relative to 1 + |value|:")
        for algorithm, (size, where) in sorted(cls.largest.items()):
            print(f"  {algorithm:9} {size:.2e}  ({where})")

    def compare(self, name, stream, config, rows):
        expected_rows = trajectory(stream, config)
        self.assertEqual(len(rows), len(expected_rows), "rounds in the trace")
        for got, expected in zip(rows, expected_rows, strict=True):
            where = f"{name}, round {expected['t']}"
            missing = [f for f in COUNTERS + NUMBERS + VECTORS + ["seconds"] if f not in got]
            self.assertEqual(missing, [], f"{where}: fields missing")
            for field in COUNTERS:
                self.assertEqual(got[field], expected[field], f"{where}: {field}")
            for field, size in row_deviations(got, expected):
                self.note(config["optimiser"]["name"], size, f"{where}, {field}")
                told = f"{where}: {field} is {got[field]!r}, the reference has {expected[field]!r}"
                self.assertLessEqual(size, TOLERANCE, told)

    def note(self, algorithm, size, where):
        if size >= self.largest.get(algorithm, (-1.0, ""))[0]:
            self.largest[algorithm] = (size, where)

    def run_case(self, case, number):
        streams.write_stream(case.stream, self.directory / "stream.json")
        self.write("config.toml", program.toml_text(case.config))
        out = f"run{number}"
        self.obolus("run", "config.toml", "--out", out, "-q")
        self.compare(case.name, case.stream, case.config, program.trace(self.directory / out))

    def check_algorithm(self, algorithm):
        for number, case in enumerate(cases.all_cases()):
            if case.config["optimiser"]["name"] == algorithm:
                with self.subTest(case.name):
                    self.run_case(case, number)

    def test_f2obo_follows_algorithm_1(self):
        self.check_algorithm("f2obo")

    def test_f2obo_sl_follows_algorithm_1_with_one_step(self):
        self.check_algorithm("f2obo_sl")

    def test_sf2obo_without_noise_follows_algorithm_3(self):
        self.check_algorithm("sf2obo")

    def test_af2obo_follows_algorithm_2(self):
        self.check_algorithm("af2obo")

    def test_the_config_that_is_documented_works_word_for_word(self):
        stream = streams.drifting_stream(5, 3, 4, 17)
        streams.write_stream(stream, self.directory / "stream.json")
        self.write("config.toml", program.ISSUE_CONFIG)
        self.obolus("run", "config.toml", "--out", "run", "-q")
        config = tomllib.loads(program.ISSUE_CONFIG)
        self.compare("the documented config", stream, config, program.trace(self.directory / "run"))

    def test_integers_serve_where_numbers_are_expected(self):
        """JSON written by other languages says 1 for 1.0, and people write `x = 0` in TOML."""
        stream = {"dims": {"x": 2, "y": 2}, "rounds": [
            {"A": [[2, 1], [1, 3]], "B": [[1, 0], [-1, 2]], "b": [0, 1], "w": 1, "c": [0, 2], "s": 0, "r": 0,
             "e": [0, 0]}]}  # fmt: skip
        config = tomllib.loads(program.ISSUE_CONFIG)
        config["start"] = {"x": 0, "y": [1, 0]}
        config["optimiser"] |= {"tau": 1, "lambda1": 5}
        config["domain"] |= {"lower": [-1, 0], "upper": 1}
        self.run_case(cases.Case("integers", stream, config), 0)

    def test_without_vectors_the_rows_hold_numbers_only(self):
        case = next(cases.all_cases())
        streams.write_stream(case.stream, self.directory / "stream.json")
        for number, log in enumerate([{"log": {"vectors": False}}, {}]):
            config = {k: v for k, v in case.config.items() if k != "log"} | log
            self.write("config.toml", program.toml_text(config))
            self.obolus("run", "config.toml", "--out", f"run{number}", "-q")
            for row in program.trace(self.directory / f"run{number}"):
                self.assertNotIn("x", row)
                self.assertNotIn("y", row)


if __name__ == "__main__":
    unittest.main()
