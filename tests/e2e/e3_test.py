"""E3 at equal evaluations: order 2 against every method of the paper, at the κ_g of the config.

The static stream is a tie (3e-5 apart), counted here as the numbers fall; docs/experiments.md says so, shows other
condition numbers (at κ_g = 10 order 2 wins nowhere) and tells how the setting was chosen.
"""

import json
import unittest

import program

PAPER = ("oagd", "sobow", "obbo", "fsobo", "aobo", "f2obo", "f2obo_sl", "af2obo", "sobbo", "sogd", "zo_sogd", "sf2obo")


def within_budget(summary, stream, label):
    """Mean regret of the label's best setting within the budget; infinite when none fits."""
    for optimiser in summary["streams"][stream]["optimisers"]:
        if optimiser["label"] != label:
            continue
        most = summary["budget"] * summary["horizons"][-1]
        fitting = [
            setting["horizons"][-1]["regret"]["mean"]
            for setting in optimiser["settings"]
            if setting["diverged"] == 0 and setting["horizons"][-1]["evaluations"]["mean"] <= most
        ]
        return min(fitting, default=float("inf"))
    return float("inf")


class E3Test(program.ProgramTest):
    def test_on_e3s_own_lists_order_2_is_lowest_on_four_streams_and_close_on_the_fifth(self):
        config = (program.REPOSITORY / "experiments" / "e3-quick.toml").read_text(encoding="utf-8")
        self.assertIn("seeds = [1, 2, 3]", config)
        one_seed = self.directory / "e3.toml"  # a third of the time; the docs' tables have three and five
        one_seed.write_text(config.replace("seeds = [1, 2, 3]", "seeds = [1]"), encoding="utf-8")
        self.obolus("compare", one_seed, "--out", "out", "-q")
        summary = json.loads((self.directory / "out" / "summary.json").read_text(encoding="utf-8"))
        lower = 0
        for index, stream in enumerate(summary["streams"]):
            ours = min(within_budget(summary, index, f"{name} order 2") for name in ("af2obo", "sf2obo"))
            best = min(within_budget(summary, index, label) for label in PAPER)
            lower += ours < best
            self.assertLess(ours, 1.1 * best, stream["name"])
            print(f"{stream['name']}: order 2 {ours:.5g}, best of the paper's methods {best:.5g}")
        self.assertGreaterEqual(lower, 4)


if __name__ == "__main__":
    unittest.main()
