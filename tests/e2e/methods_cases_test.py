"""The cases of methods_cases.py: well conditioned, and meeting the corners.

Needs no program.   python3 tests/e2e/methods_cases_test.py
"""

import copy
import unittest

import methods_cases
import reference
from methods_reference import METHODS, trajectory


class CasesTest(unittest.TestCase):
    """The comparison is worth something only if the cases are well conditioned and meet the corners."""

    @classmethod
    def setUpClass(cls):
        cls.runs = [(case, trajectory(case.stream, case.config)) for case in methods_cases.all_cases()]

    def chosen(self, name, **options):
        for case, rows in self.runs:
            section = case.config["optimiser"]
            if section["name"] == name and all(section.get(key) == value for key, value in options.items()):
                yield section, rows

    def test_cases_do_not_amplify_rounding(self):
        """1e-13 at the start, hundreds of roundings at once, moves nothing by half of the tolerance 1e-9."""
        for case, rows in self.runs:
            config = copy.deepcopy(case.config)
            y = reference.per_coordinate(config["start"].get("y", 0.0), case.stream["dims"]["y"])
            config["start"]["y"] = [a + 1e-13 for a in y]
            for a, b in zip(rows, trajectory(case.stream, config), strict=True):
                for field in set(a) - {"x", "y"}:
                    slack = 0.0 if isinstance(a[field], int) else 5e-10 * (1.0 + abs(a[field]))
                    self.assertLessEqual(abs(a[field] - b[field]), slack, (case.name, field))

    def test_numbers_keep_a_sensible_size(self):
        for case, rows in self.runs:
            for row in rows:
                self.assertLess(max(map(abs, row["x"] + row["y"])), 20.0, case.name)

    def test_every_method_and_outer_step_is_there(self):
        names = {case.config["optimiser"]["name"] for case, _ in self.runs}
        self.assertEqual(names, set(METHODS))

    def test_conjugate_gradients_never_stop_early(self):
        for name in ("aobo", "sobow"):
            for section, rows in self.chosen(name):
                if section.get("system_solver", "cg") == "cg":
                    steps = section.get("system_steps", 5)
                    most = steps["most"] if isinstance(steps, dict) else steps
                    self.assertEqual(rows[-1]["hvp"] - rows[-2]["hvp"], most + 1)

    def test_adaptive_loops_meet_tolerance_cap_and_idle_rounds(self):
        for name in ("aobo", "af2obo"):
            rows = [row for _, run in self.chosen(name) for row in run]
            self.assertGreater(sum(row["capped"] for row in rows), 20)
            self.assertGreater(sum(row["inner_steps"] == 0 for row in rows), 20)
            self.assertGreater(sum(row["inner_steps"] > 0 and not row["capped"] for row in rows), 20)

    def test_the_balance_stays_between_and_meets_both_bounds(self):
        low = high = between = 0
        for name in methods_cases.PENALTY_ALGORITHMS:
            for section, rows in self.chosen(name, lambda_rule="balance"):
                for row in rows[1:]:
                    least, most = section["lambda1"], section["lambda1"] * row["t"] ** section.get("tau", 0.5)
                    at_least, at_most = row["lambda"] == least, row["lambda"] == most
                    low, high, between = low + at_least, high + at_most, between + (not at_least and not at_most)
        self.assertGreater(min(low, high, between), 100)

    def test_multiplier_of_bome_is_zero_at_times(self):
        sizes = [row["lambda"] for _, rows in self.chosen("bome") for row in rows]
        self.assertGreater(sizes.count(0.0), 20)
        self.assertGreater(len(sizes) - sizes.count(0.0), 100)

    def test_radii_bite(self):
        for name in ("fsobo", "aobo", "sobow", "sogd", "zo_sogd"):
            bites = []
            for case, rows in self.runs:
                section = dict(case.config["optimiser"])
                if section["name"] == name and section.pop("radius", None) is not None:
                    free = trajectory(case.stream, case.config | {"optimiser": section})
                    bites.append(free[-1]["regret"] != rows[-1]["regret"])
            self.assertGreater(2 * sum(bites), len(bites), name)


if __name__ == "__main__":
    unittest.main()
