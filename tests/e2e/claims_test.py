"""The claims of docs/experiments.md, measured again: E0, the static stream, the orders, and Tables 1 and 2."""

import json
import math
import unittest

import program

EXPERIMENTS = program.REPOSITORY / "experiments"
FIRST_ORDER = ("f2obo", "f2obo_sl", "af2obo", "f2obo order 2", "af2obo order 2", "sf2obo", "sf2obo order 2")


class Comparison:
    """summary.json by stream and label. The claims' configs have one setting an optimiser, unless a test says so."""

    def __init__(self, summary):
        self.horizons = summary["horizons"]
        relative = summary.get("relative_within_budget", [])
        self.relative_within_budget = {row["label"]: row["streams"] for row in relative}
        self.streams = [stream["name"] for stream in summary["streams"]]
        self._settings = {
            (stream["name"], optimiser["label"]): optimiser["settings"][0]
            for stream in summary["streams"]
            for optimiser in stream["optimisers"]
        }

    def regrets(self, stream, label):
        return [at["regret"]["mean"] for at in self._settings[stream, label]["horizons"]]

    def exponent(self, stream, label, quantity):
        return self._settings[stream, label]["growth"][quantity]["exponent"]

    def labels(self, stream):
        return [label for name, label in self._settings if name == stream]


class ClaimsTest(program.ProgramTest):
    def compare(self, config):
        self.obolus("compare", EXPERIMENTS / config, "--out", "out", "--force", "-q")
        return Comparison(json.loads((self.directory / "out" / "summary.json").read_text(encoding="utf-8")))

    def bias(self, order, multiplier):
        self.obolus("run", EXPERIMENTS / "order.toml", "--set", f"optimiser.order={order}", "--set",
                    f"optimiser.lambda1={multiplier}", "--out", "bias", "--force", "-q")  # fmt: skip
        return program.trace(self.directory / "bias")[0]["hypergradient_error"]

    def test_the_flipping_solution(self):
        """E0: who stays bounded, who grows like log T and who is linear."""
        e0 = self.compare("e0-quick.toml")
        one, two, three = e0.regrets("interior", "af2obo")
        self.assertGreater(two - one, 0.01)
        # Each decade adds (D/λ_1)² ln 10: equal increments. A power T^p would multiply them by 10^p.
        self.assertAlmostEqual((three - two) / (two - one), 1.0, delta=0.1)
        one, two, three = e0.regrets("interior", "af2obo order 2")
        # Σ λ_t^(−4) = Σ t^(−2)/λ_1⁴: a decade adds a tenth of the decade before.
        self.assertLess(three - two, 0.2 * (two - one))
        for stream, label in [("interior", "f2obo"), ("interior", "f2obo_sl"), ("noisy", "sf2obo")]:
            with self.subTest(label):
                _, two, three = e0.regrets(stream, label)
                self.assertAlmostEqual(math.log10(three / two), 1.0, delta=0.03)

    def test_a_static_stream_has_bounded_regret_when_the_bias_is_summable(self):
        static = self.compare("static.toml")
        _, _, three, four = static.regrets("quadratic", "f2obo, tau 0.6")
        # The last decade adds Σ (D/λ_t)², at most (D/λ_1)² 10⁴^(1−2τ)/(2τ − 1), with D/λ_1 ≈ 0.047 measured.
        self.assertLess(four - three, 2 * 0.05**2 * 1e4**-0.2 / 0.2)
        _, two, three, four = static.regrets("quadratic", "order 2, tau 0.3")
        # λ_t^(−4) ∝ t^(−1.2): every decade adds 10^(−0.2) of the one before, so the sum converges.
        self.assertLess((four - three) / (three - two), 0.75)

    def test_the_bias_falls_with_the_power_of_the_order(self):
        for order in range(1, 6):
            multipliers = [64, 128, 256] if order < 4 else [24, 48, 72]
            errors = [self.bias(order, multiplier) for multiplier in multipliers]
            slope = math.log(errors[-1] / errors[0]) / math.log(multipliers[-1] / multipliers[0])
            self.assertAlmostEqual(-slope, order, delta=0.15, msg=f"order {order}")

    def test_tables_1_and_2(self):
        """Products are exactly 0 for the first-order family; queries grow as the tables say, up to what CG saves."""
        tables = self.compare("e3-tables-quick.toml")
        for stream in tables.streams:
            for label in tables.labels(stream):
                with self.subTest(stream=stream, optimiser=label):
                    if label in FIRST_ORDER:
                        self.assertEqual(tables.exponent(stream, label, "products"), 0)
                    # T log T over these horizons has an exponent below 1.2; AF²OBO's bound is T².
                    self.assertLess(tables.exponent(stream, label, "gradients"), 1.25)
        self.assertAlmostEqual(tables.exponent("static", "fsobo", "products"), 1)
        self.assertAlmostEqual(tables.exponent("static", "f2obo_sl", "gradients"), 1)
        # Σ K_t t^(2/3) with K_t ∝ log t: T^(5/3) log T.
        self.assertAlmostEqual(tables.exponent("stochastic", "sf2obo", "samples"), 5 / 3 + 0.16, delta=0.03)
        # On the static stream the regret is bounded for all whose bias is summable.
        for label in ("sobow", "obbo", "fsobo", "aobo", "f2obo", "f2obo order 2", "af2obo order 2"):
            self.assertLess(tables.exponent("static", label, "regret"), 0.03, label)


if __name__ == "__main__":
    unittest.main()
