"""scripts/choose-and-confirm: settings chosen on some seeds, judged on others."""

import importlib.machinery
import importlib.util
import json
import math
import os
import subprocess
import sys
import tomllib
import unittest

import program

SCRIPT = program.REPOSITORY / "scripts" / "choose-and-confirm"
REGISTERED = program.REPOSITORY / "experiments" / "e3-registered.toml"
CONFIG = """\
[compare]
seeds = [1, 2]
horizons = [40]
budget = 12.0
[problem]
name = "quadratic"
dim_x = 2
dim_y = 3
condition = 5.0
[metrics]
gamma = 0.1
[shared]
alpha = 0.2
gamma = [0.1, 0.5]
[[stream]]
name = "still"
problem = { drift = "static" }
[[stream]]
name = "slow"
problem = { drift = "slow" }
[[optimiser]]
label = "one"
name = "f2obo"
inner_steps = [1, 3]
[[optimiser]]
name = "fsobo"
v_step = [0.1, 0.2]
[[optimiser]]
label = "costly"
name = "f2obo"
inner_steps = 9
"""


def script():
    loader = importlib.machinery.SourceFileLoader("choose_and_confirm", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class ChooseAndConfirmTest(program.ProgramTest):
    def call(self, *arguments):
        environment = os.environ | {"OBOLUS": program.executable(), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], cwd=self.directory, env=environment,
                              capture_output=True, encoding="utf-8", timeout=program.TIMEOUT)  # fmt: skip

    def read(self, path):
        return (self.directory / "out" / path).read_text(encoding="utf-8")

    def test_what_was_chosen_on_some_seeds_is_judged_on_others(self):
        self.write("tiny.toml", CONFIG)
        arguments = ("tiny.toml", "--conditions", "5,20", "--seeds", "11-13", "--out", "out")
        answer = self.call(*arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        results = json.loads(self.read("results.json"))
        self.assertEqual(list(results), ["κ = 5, still", "κ = 5, slow", "κ = 20, still", "κ = 20, slow"])
        choice = json.loads(self.read("choose-20/summary.json"))
        for optimiser, row in zip(choice["streams"][1]["optimisers"], results["κ = 20, slow"], strict=True):
            with self.subTest(optimiser["label"]):
                if optimiser["label"] == "costly":
                    self.assertEqual(row["status"], "none within the budget")
                    continue
                means = {own["setting"]: own["horizons"][-1]["regret"]["mean"] for own in optimiser["settings"]}
                self.assertEqual(row["setting"], min(means, key=means.get))
                self.assertEqual(len(row["regrets"]), 3)
        ratios = [row["ratio"] for row in results["κ = 20, slow"] if "ratio" in row]
        self.assertEqual(min(ratios), [1, 1, 1])
        self.assertEqual(self.call(*arguments).stdout, answer.stdout)  # nothing runs again

    def test_steps_of_y_and_v_scale_with_the_condition_and_those_of_x_do_not(self):
        config = script().at_condition(tomllib.loads(CONFIG), 20)
        self.assertEqual(config["problem"]["condition"], 20)
        self.assertEqual(config["shared"], {"alpha": 0.05, "gamma": [0.1, 0.5]})
        self.assertEqual(config["optimiser"][1]["v_step"], [0.025, 0.05])

    def test_intervals_are_student_s_on_paired_logarithms(self):
        # Differences ln 2 and 3 ln 2: mean 2 ln 2, deviation √2 ln 2, half-width 12.706 ln 2.
        ratio, low, high = script().paired_ratio([2, 24], [1, 3])
        self.assertAlmostEqual(ratio, 4)
        self.assertAlmostEqual(math.log2(high), 2 + 12.706)
        self.assertAlmostEqual(math.log2(low), 2 - 12.706)

    def test_a_seed_that_would_choose_and_confirm_is_refused(self):
        self.write("tiny.toml", CONFIG)
        answer = self.call("tiny.toml", "--seeds", "2-4")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("seeds [2] would choose and confirm", answer.stderr)

    def test_the_registered_comparison_runs_with_lists_of_equal_length(self):
        text = REGISTERED.read_text(encoding="utf-8").replace("horizons = [2000]", "horizons = [2]")
        self.write("short.toml", text.replace("seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "seeds = [77]"))
        answer = self.call("short.toml", "--conditions", "300", "--seeds", "201-202", "--out", "out")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        choice = json.loads(self.read("choose-300/summary.json"))
        self.assertEqual(choice["seeds"], [77])
        for stream in choice["streams"]:
            for optimiser in stream["optimisers"]:
                self.assertEqual(len(optimiser["settings"]), 24, optimiser["label"])


if __name__ == "__main__":
    unittest.main()
