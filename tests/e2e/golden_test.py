"""Golden command lines: arguments, exit code, and what stdout and stderr must say.

Expectations come from the documentation, not from the program's output.
"""

import json
import os
import re
import subprocess
import tomllib
import unittest
from dataclasses import dataclass, field

import program
import streams

OPTIMISERS = ["f2obo", "f2obo_sl", "af2obo", "sf2obo"]
PROBLEMS = ["oscillation", "quadratic", "quadratic_file"]
SETS = ["all", "box", "l2_ball", "l1_ball", "simplex", "nonnegative"]
OPTIONS = ["alpha", "beta_rule", "gamma", "lambda1", "tau", "inner_steps", "warm_start", "delta_y", "delta_z",
           "max_inner"]  # fmt: skip
METRICS = ["regret", "own_mapping", "hypergradient_error"]
FLAGS = ["--set", "--out", "--seed", "--rounds", "--threads", "--resume", "--force", "-q", "-v"]
FIELDS = ["t", "f", "g", "regret", "regret_increment", "own_mapping", "hypergradient_error", "residual_y",
          "residual_z", "lambda", "inner_steps", "grad_f", "grad_g", "hvp", "seconds"]  # fmt: skip

NOTHING = [r"\A\Z"]


def words(names):
    """Each name as a word of its own (`f2obo` inside `af2obo` does not count)."""
    return [rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in names]


def without(name):
    return rf"\A(?![\s\S]*{re.escape(name)})"


@dataclass
class Golden:
    arguments: str
    code: int
    stdout: list = field(default_factory=list)  # regexes, all of which must be found
    stderr: list = field(default_factory=list)


GOLDENS = [
    # help and version: asked for, hence on stdout with code 0
    Golden("--help", 0, [r"(?i)usage", *words(["run", "list", "check", "--version"])], NOTHING),
    Golden("-h", 0, [r"(?i)usage"], NOTHING),
    Golden("--version", 0, [r"\Aobolus \d+\.\d+\.\d+"], NOTHING),
    Golden("run --help", 0, [r"(?i)usage", r"(?i)config", *words(FLAGS)], NOTHING),
    Golden("list --help", 0, [r"(?i)usage", *words(["optimisers", "problems", "metrics", "sets"])], NOTHING),
    Golden("check --help", 0, [r"(?i)usage", r"(?i)config"], NOTHING),
    Golden("--help", 0, [r"(?i)exit codes?[\s\S]*\b130\b"], NOTHING),  # "exit codes documented"
    # not asked for, hence on stderr with code 2
    Golden("", 2, NOTHING, [r"(?i)usage|--help"]),
    Golden("nonsense", 2, NOTHING, [r"nonsense"]),
    Golden("--nonsense", 2, NOTHING, [r"--nonsense"]),
    # list: every option, default and meaning
    Golden("list", 0, words(OPTIMISERS + PROBLEMS + SETS + METRICS), NOTHING),
    Golden("list optimisers", 0, words(OPTIMISERS + OPTIONS) + [r"alpha/lambda", r"\btheory\b"], NOTHING),
    Golden("list optimisers", 0, words(["separate", "tied", "dual"]), NOTHING),
    Golden("list problems", 0, words(PROBLEMS + ["path", "rounds"]), NOTHING),
    Golden("list sets", 0, words(SETS + ["lower", "upper", "radius"]), NOTHING),
    Golden("list metrics", 0, words(METRICS + ["gamma"]), NOTHING),
    Golden("list formats", 0, words(["svmlight", "csv", "arff", "jsonl", "vw", ".libsvm", "--index-base"]), NOTHING),
    Golden("list generators", 0, words(["sea", "hyperplane", "rbf", "led", "agrawal", "drift_rows"]), NOTHING),
    # one entry, with its options and without the others
    Golden("list optimisers f2obo", 0, [without("sobow"), *words(["f2obo", "alpha", "warm_start"])], NOTHING),
    Golden("list problems quadratic_file", 0, [without("oscillation"), *words(["quadratic_file", "path"])], NOTHING),
    Golden("list sets box", 0, [without("radius"), *words(["box", "lower", "upper"])], NOTHING),
    Golden("list metrics own_mapping", 0, [without("separation"), *words(["own_mapping"])], NOTHING),
    Golden("list metrics H_2T", 0, [without("separation"), *words(["H_2T", "gamma"])], NOTHING),
    Golden("list sections domain", 0, [without("checkpoint_every"), r"\[domain\]", *words(["radius"])], NOTHING),
    Golden("list formats csv", 0, [without("--index-base"), *words(["csv", "--delimiter"])], NOTHING),
    Golden("list formats jsonl", 0, [without("--delimiter"), *words(["jsonl", ".ndjson", "--id"])], NOTHING),
    Golden("list generators sea", 0, [without("perturbation"), *words(["sea", "drift_width", "share"])], NOTHING),
    Golden("list optimisers f2bo", 2, NOTHING, [r"got 'f2bo', expected the name of an opt", r"did you mean 'f2obo'"]),
    Golden("list problems quadratics", 2, NOTHING, [r"did you mean 'quadratic'"]),
    Golden("list sets bix", 2, NOTHING, [r"did you mean 'box'"]),
    Golden("list metrics regrett", 2, NOTHING, [r"did you mean 'regret'"]),
    Golden("list nonsense", 2, NOTHING, [r"nonsense", *words(["optimisers", "problems", "metrics", "sets"])]),
    Golden("list optimizers", 2, NOTHING, [r"optimizers", *words(["optimisers"])]),
    # check: gradient, HVP, hypergradient against differences; strong convexity on samples
    Golden("check config.toml", 0, [r"f_x against differences", r"g_yy v against differences",
                                    r"f_x − g_xy v against differences of F", r"strongly convex"]),  # fmt: skip
    Golden("check nowhere.toml", 2, NOTHING, [r"nowhere\.toml"]),
    Golden("check", 2, NOTHING, [r"(?i)config"]),
    # run: quiet when nobody watches
    Golden("run config.toml --out a", 0, NOTHING, NOTHING),
    Golden("run config.toml --out b -q", 0, NOTHING, NOTHING),
    Golden("run config.toml --out c -v", 0, NOTHING, [r"\S"]),
    Golden("run --out d -q config.toml", 0, NOTHING, NOTHING),
    Golden("run config.toml --out deep/er/directory -q", 0, NOTHING, NOTHING),
    Golden("run config.toml --out e -q --seed 7 --rounds 5 --threads 1", 0, NOTHING, NOTHING),
    Golden("run config.toml --out f -q --set optimiser.alpha=0.05 --set optimiser.tau=0.5", 0, NOTHING, NOTHING),
]


class GoldenTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        streams.write_stream(streams.drifting_stream(61, 2, 3, 7), self.directory / "stream.json")
        self.config = tomllib.loads(program.ISSUE_CONFIG)
        self.config["problem"]["rounds"] = 30
        self.write("config.toml", program.toml_text(self.config))

    def run_to(self, out, *arguments, config="config.toml"):
        self.obolus("run", config, "--out", out, "-q", *arguments)
        return program.trace(self.directory / out)

    def write_changed(self, section, **keys):
        """A second config, other.toml, with some keys changed."""
        changed = {name: dict(values) for name, values in self.config.items()}
        changed[section] |= keys
        self.write("other.toml", program.toml_text(changed))

    def test_golden_command_lines(self):
        for golden in GOLDENS:
            with self.subTest(f"obolus {golden.arguments}"):
                answer = self.obolus(*golden.arguments.split(), code=golden.code)
                for pattern in golden.stdout:
                    self.assertRegex(answer.stdout, pattern)
                for pattern in golden.stderr:
                    self.assertRegex(answer.stderr, pattern)

    # ---- the run directory -------------------------------------------------------------------------------

    def test_a_run_directory_holds_what_is_documented(self):
        rows = self.run_to("run")
        names = {path.name for path in (self.directory / "run").iterdir()}
        self.assertLessEqual({"config.toml", "trace.jsonl", "summary.json", "checkpoint"}, names)
        self.assertEqual(len(rows), 30)
        for row in rows:
            self.assertLessEqual(set(FIELDS) | {"x", "y"}, set(row))
        summary = json.loads((self.directory / "run" / "summary.json").read_text(encoding="utf-8"))
        self.assertIsInstance(summary, dict)

    def test_numbers_have_at_most_17_significant_digits(self):
        self.run_to("run")
        for line in program.trace_lines(self.directory / "run"):
            for number in re.findall(r"-?\d[\d.]*(?:[eE][+-]?\d+)?", line):
                digits = re.sub(r"[eE].*|[-.]", "", number).lstrip("0")
                self.assertLessEqual(len(digits), 17, number)

    def test_the_echoed_config_is_complete_and_reproduces_the_run(self):
        self.run_to("first", "--set", "optimiser.alpha=0.05", "--seed", "7", "--rounds", "12")
        self.run_to("second", config="first/config.toml")
        self.assert_same_trace("first", "second")
        echo = tomllib.loads((self.directory / "first" / "config.toml").read_text(encoding="utf-8"))
        self.assertEqual(echo["optimiser"]["alpha"], 0.05)
        self.assertEqual(echo["problem"]["rounds"], 12)
        self.assertEqual(echo["optimiser"]["warm_start"], "separate")  # a default, spelt out
        seeds = {key: value for section in [echo, *echo.values()] if isinstance(section, dict)
                 for key, value in section.items() if key == "seed"}  # fmt: skip
        self.assertEqual(seeds, {"seed": 7})

    def test_the_echo_of_the_echo_is_the_echo(self):
        self.run_to("first")
        self.run_to("second", config="first/config.toml")
        first, second = (self.directory / out / "config.toml" for out in ("first", "second"))
        self.assertEqual(tomllib.loads(first.read_text("utf-8")), tomllib.loads(second.read_text("utf-8")))

    # ---- overrides -----------------------------------------------------------------------------------------

    def test_set_is_the_same_as_writing_it_into_the_config(self):
        self.write_changed("optimiser", alpha=0.05, inner_steps=3, warm_start="tied")
        self.run_to("written", config="other.toml")
        overrides = ["optimiser.alpha=0.05", "optimiser.inner_steps=3", "optimiser.warm_start=tied"]
        self.run_to("set", *(word for override in overrides for word in ("--set", override)))
        self.assert_same_trace("written", "set")

    def test_set_takes_toml_values_too(self):
        self.write_changed("domain", lower=[-1.0, -0.5])
        self.run_to("written", config="other.toml")
        self.run_to("set", "--set", "domain.lower=[-1.0, -0.5]", "--set", 'optimiser.warm_start="separate"')
        self.assert_same_trace("written", "set")

    def test_the_last_set_wins(self):
        self.run_to("one", "--set", "optimiser.alpha=0.05")
        self.run_to("two", "--set", "optimiser.alpha=0.3", "--set", "optimiser.alpha=0.05")
        self.assert_same_trace("one", "two")

    def test_set_adds_sections_and_keys_that_were_not_there(self):
        del self.config["metrics"]
        self.write("config.toml", program.toml_text(self.config))
        self.run_to("set", "--set", "metrics.gamma=0.3")
        self.config["metrics"] = {"gamma": 0.3}
        self.write("config.toml", program.toml_text(self.config))
        self.run_to("written")
        self.assert_same_trace("written", "set")

    def test_rounds(self):
        self.assertEqual(len(self.run_to("flag", "--rounds", "7")), 7)
        self.assertEqual(len(self.run_to("set", "--set", "problem.rounds=7")), 7)
        self.assert_same_trace("flag", "set")

    # ---- seed and threads ----------------------------------------------------------------------------------

    def test_the_seed_does_not_touch_a_deterministic_run(self):
        self.run_to("one", "--seed", "1")
        self.run_to("two", "--seed", "2")
        self.assert_same_trace("one", "two")

    def test_the_seed_decides_a_random_run(self):
        stochastic = {"problem": {"name": "quadratic", "rounds": 20}, "optimiser": {"name": "sf2obo"},
                      "log": {"vectors": True}}  # fmt: skip
        self.write("random.toml", program.toml_text(stochastic))
        for out, seed in [("one", "1"), ("again", "1"), ("two", "2")]:
            self.run_to(out, "--seed", seed, config="random.toml")
        self.assert_same_trace("one", "again")
        one, two = (program.trace(self.directory / out) for out in ("one", "two"))
        self.assertNotEqual([row["regret"] for row in one], [row["regret"] for row in two])

    def test_the_number_of_threads_does_not_change_a_bit(self):
        del self.config["optimiser"]["inner_steps"]
        for name, keys in [
            ("f2obo", {"inner_steps": 5}),
            ("f2obo_sl", {}),
            ("af2obo", {"delta_y": 0.01, "delta_z": 0.001, "max_inner": 100}),
        ]:
            with self.subTest(name):
                self.write_changed("optimiser", name=name, **keys)
                self.run_to(f"{name}-one", "--threads", "1", config="other.toml")
                self.run_to(f"{name}-two", "--threads", "2", config="other.toml")
                self.assert_same_trace(f"{name}-one", f"{name}-two")

    # ---- a terminal ------------------------------------------------------------------------------------------

    def on_a_terminal(self, *arguments):
        """What the program writes to a terminal as its stderr, and its exit code."""
        master, slave = os.openpty()
        process = program.start(["run", "config.toml", *arguments], self.directory, stderr=slave)
        os.close(slave)
        text = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # Linux says EIO when the last writer is gone
                break
            if not piece:
                break
            text += piece
        os.close(master)
        stdout, _ = process.communicate(timeout=program.TIMEOUT)
        self.assertEqual(stdout, "")
        return text.decode("utf-8"), process.returncode

    def test_progress_is_shown_on_a_terminal(self):
        text, code = self.on_a_terminal("--out", "run")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"\b30\b")

    def test_quiet_is_quiet_on_a_terminal_too(self):
        text, code = self.on_a_terminal("--out", "run", "-q")
        self.assertEqual((text, code), ("", 0))

    def test_output_that_nobody_reads_is_no_crash(self):
        """`obolus list | head -1`"""
        process = program.start(["list"], self.directory, stdout=subprocess.PIPE)
        process.stdout.close()
        _, stderr = process.communicate(timeout=program.TIMEOUT)
        self.assertIsNone(program.STACK_TRACE.search(stderr))


if __name__ == "__main__":
    unittest.main()
