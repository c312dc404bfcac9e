"""The claims of docs/experiments.md, measured again at shorter horizons."""

import csv
import io
import math
import unittest

import program

EXPERIMENTS = program.REPOSITORY / "experiments"


class ClaimsTest(program.ProgramTest):
    def growth(self, config, *arguments, rounds="100,1000,10000"):
        answer = self.obolus("growth", EXPERIMENTS / config, "--csv", "--rounds", rounds, *arguments)
        return list(csv.DictReader(io.StringIO(answer.stdout)))

    def regrets(self, *arguments, **keywords):
        return [float(row["regret"]) for row in self.growth(*arguments, **keywords)]

    def test_af2obo_at_tau_one_half_grows_like_log_t(self):
        """Each decade adds (D/λ_1)² ln 10: equal increments. A power T^p would multiply them by 10^p."""
        one, two, three = self.regrets("e0-af2obo.toml")
        self.assertGreater(two - one, 0.01)
        self.assertAlmostEqual((three - two) / (two - one), 1.0, delta=0.1)

    def test_a_fixed_inner_loop_is_linear_where_it_should_be(self):
        for config in ("e0-f2obo.toml", "e0-f2obo-sl.toml", "e0-sf2obo.toml"):
            with self.subTest(config):
                _, two, three = self.regrets(config)
                self.assertAlmostEqual(math.log10(three / two), 1.0, delta=0.03)

    def test_f2obo_on_a_static_stream_has_bounded_regret_when_tau_exceeds_one_half(self):
        for tau in (0.6, 0.75, 1.0):
            with self.subTest(tau):
                _, two, three = self.regrets("static-f2obo.toml", "--set", f"optimiser.tau={tau}")
                # The last decade adds Σ (D/λ_t)², at most (D/λ_1)² 1000^(1−2τ)/(2τ − 1), with D/λ_1 ≈ 0.047 measured.
                tail = 0.05**2 * 1000 ** (1 - 2 * tau) / (2 * tau - 1)
                self.assertLess(three - two, 2 * tail)

    def test_the_bias_falls_like_one_over_lambda(self):
        errors = []
        for multiplier in (40, 80, 160):
            rows = self.growth(
                "static-f2obo.toml", "--set", "optimiser.tau=0", "--set", f"optimiser.lambda1={multiplier}",
                "--set", "optimiser.inner_steps=100", rounds="2000",
            )
            errors.append(float(rows[0]["hypergradient_error"]))
        for before, after in zip(errors, errors[1:]):
            # λ·error = D − O(1/λ): the ratio is 2 up to 1/λ.
            self.assertAlmostEqual(before / after, 2.0, delta=0.02)


if __name__ == "__main__":
    unittest.main()
