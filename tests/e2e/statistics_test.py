"""The stochastic methods with noise: the program's means over seeds against the reference's.

    OBOLUS=build/release/obolus python3 tests/e2e/statistics_test.py

The two draw different numbers, so only distributions can agree: for each statistic of a run's last row
the means over the seeds must lie within three standard errors of their difference. All seeds are fixed:
the outcome is always the same.
"""

import concurrent.futures
import math
import statistics
import unittest

import program
import streams
from methods_reference import trajectory

SEEDS = range(1, 201)
ROUNDS = 25
LIMIT = 3.0  # standard errors
STREAM = streams.drifting_stream(seed=77, d1=2, d2=3, length=ROUNDS)

# Batches are small and noises large: what the samples do to x must stand out from what they leave alone.
PENALTY = {"alpha": 0.3, "gamma": 0.05, "lambda1": 8.0, "batch": 4}
PRODUCTS = {"alpha": 0.3, "gamma": 0.1, "inner_steps": 3, "window": 4, "batch": 4, "outer_batch": 2}
CUT_SERIES = {"estimator": "neumann", "system_steps": 4, "L_g1": 2.5}
SETTINGS = {
    "sobbo itd round": {"name": "sobbo", "samples": "round"} | PRODUCTS,
    "sobbo itd fresh": {"name": "sobbo", "samples": "fresh"} | PRODUCTS,
    "sobbo neumann round": {"name": "sobbo", "samples": "round"} | PRODUCTS | CUT_SERIES,
    "sobbo neumann fresh": {"name": "sobbo", "samples": "fresh"} | PRODUCTS | CUT_SERIES,
    "sogd": {"name": "sogd", "y_step": 0.3, "v_step": 0.3, "gamma": 0.1, "momentum": 0.8, "batch": 1},
    "zo_sogd": {"name": "zo_sogd", "y_step": 0.1, "v_step": 0.1, "gamma": 0.1, "momentum": 0.8, "batch": 1,
                "directions": 2},
    "sf2obo order 2 round": {"name": "sf2obo", "order": 2, "samples": "round", "inner_steps": 3} | PENALTY,
    "sf2obo order 2 fresh": {"name": "sf2obo", "order": 2, "samples": "fresh", "inner_steps": 3, "outer_batch": 2}
    | PENALTY,
    "f2sa round": {"name": "f2sa", "samples": "round", "inner_steps": 2} | PENALTY,
    "f2sa fresh": {"name": "f2sa", "samples": "fresh", "inner_steps": 2, "outer_batch": 2} | PENALTY,
    "f3sa": {"name": "f3sa", "momentum": 0.7, "increment": 0.5} | PENALTY,
}  # fmt: skip


def config_of(section):
    return {
        "problem": {"name": "quadratic_file", "path": "stream.json", "rounds": ROUNDS,
                    "noise": 1.0, "noise_cross": 0.8},
        "start": {"x": [0.3, -0.2], "y": 0.1},
        "optimiser": section,
        "domain": {"set": "l2_ball", "radius": 1.5},
        "metrics": {"gamma": 0.1, "variation": False, "bound": False},
        "log": {"vectors": True, "every": ROUNDS},
    }  # fmt: skip


def statistics_of(row):
    """Means and, through the squares, spreads: a wrong deviation of the samples shows in these."""
    numbers = {"regret": row["regret"], "own_mapping": row["own_mapping"]}
    numbers["squared hypergradient_error"] = row["hypergradient_error"] ** 2
    numbers["squared residual_z"] = row["residual_z"] ** 2
    for i, a in enumerate(row["x"], start=1):
        numbers |= {f"x_{i}": a, f"x_{i}²": a * a}
    for i, a in enumerate(row["y"], start=1):
        numbers |= {f"y_{i}": a, f"y_{i}²": a * a}
    return numbers


def standard_errors_apart(ours, theirs):
    """|difference of the means| over its standard error"""
    spread = statistics.variance(ours) / len(ours) + statistics.variance(theirs) / len(theirs)
    return abs(statistics.fmean(ours) - statistics.fmean(theirs)) / math.sqrt(spread)


class StatisticsTest(program.ProgramTest):
    furthest = {}  # setting → (standard errors, statistic)

    @classmethod
    def tearDownClass(cls):
        print("\nmeans furthest apart, in standard errors of the difference:")
        for name, (size, statistic) in sorted(cls.furthest.items()):
            print(f"  {name:21} {size:.2f}  ({statistic})")

    def last_row_of_program(self, seed):
        answer = program.run(["run", "config.toml", "--seed", seed, "--out", f"run{seed}", "-q"], self.directory)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return program.trace(self.directory / f"run{seed}")[-1]

    def check(self, name):
        config = config_of(SETTINGS[name])
        streams.write_stream(STREAM, self.directory / "stream.json")
        self.write("config.toml", program.toml_text(config))
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            theirs = [statistics_of(row) for row in pool.map(self.last_row_of_program, SEEDS)]
        ours = [statistics_of(trajectory(STREAM, config, seed)[-1]) for seed in SEEDS]
        for statistic in ours[0]:
            size = standard_errors_apart(*([run[statistic] for run in runs] for runs in (ours, theirs)))
            if size >= self.furthest.get(name, (-1.0, ""))[0]:
                self.furthest[name] = (size, statistic)
            with self.subTest(name, statistic=statistic):
                self.assertLessEqual(size, LIMIT)


def _add_tests():
    """One test a setting, so that a failure names it."""
    for name in SETTINGS:
        setattr(StatisticsTest, "test_" + name.replace(" ", "_"), lambda self, name=name: self.check(name))


_add_tests()

if __name__ == "__main__":
    unittest.main()
