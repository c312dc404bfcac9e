"""What users get wrong, and what they are told.

Exit codes: 2 usage or configuration, 3 data, 4 diverged. Every answer is one clear message on
stderr, nothing on stdout, no stack trace, and no run directory that would block the next attempt.
"""

import copy
import json
import tomllib
import unittest

import program
import streams

USAGE, DATA, DIVERGED = 2, 3, 4
MESSAGE_LINES = 3  # the message, and at most a hint or two below it


def suggests(name):
    """The nearest valid name is proposed, whatever the wording around it."""
    return rf"(?i)(did you mean|nearest|closest|perhaps|maybe)[^\n]*[^\w]{name}(?![\w/])"


def in_round(number, key):
    """The round (1-based) and the key, in this order or the other."""
    return [rf"(?i)\bround {number}\b", rf"(?<![\w'])[\"'`]?{key}[\"'`]?(?!\w)"]


class ErrorsTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.stream = streams.drifting_stream(41, 2, 3, 5)
        self.config = tomllib.loads(program.ISSUE_CONFIG)
        self.config["problem"]["rounds"] = 8

    # ---- how a case is put and judged ------------------------------------------------------------

    def assert_one_clear_message(self, answer, patterns):
        lines = [line for line in answer.stderr.splitlines() if line.strip()]
        self.assertTrue(lines, "nothing on stderr")
        self.assertLessEqual(len(lines), MESSAGE_LINES, f"one clear message, got:\n{answer.stderr}")
        self.assertEqual(answer.stdout, "")
        for pattern in patterns:
            self.assertRegex(answer.stderr, pattern)

    def refused(self, code, *patterns, arguments=("run", "config.toml", "--out", "run", "-q")):
        answer = self.obolus(*arguments, code=code)
        self.assert_one_clear_message(answer, patterns)
        self.assertFalse((self.directory / "run" / "trace.jsonl").exists(), "a refused run left a trace")

    def config_refused(self, section, key, value, *patterns):
        """The config with one key changed is refused as a configuration error that names the key."""
        config = copy.deepcopy(self.config)
        config.setdefault(section, {})[key] = value
        with self.subTest(f"{section}.{key} = {value!r}"):
            self.write("config.toml", program.toml_text(config))
            streams.write_stream(self.stream, self.directory / "stream.json")
            self.refused(USAGE, *(patterns or (rf"\b{key}\b",)))

    def config_text_refused(self, text, *patterns):
        self.write("config.toml", text)
        streams.write_stream(self.stream, self.directory / "stream.json")
        self.refused(USAGE, *patterns)

    def stream_text_refused(self, text, *patterns):
        self.write("config.toml", program.toml_text(self.config))
        self.write("stream.json", text)
        self.refused(DATA, *patterns)

    def round_refused(self, number, key, value):
        """The stream with one value of one round changed is refused, naming both."""
        stream = copy.deepcopy(self.stream)
        stream["rounds"][number - 1][key] = value
        with self.subTest(f"round {number}, {key} = {value!r}"):
            self.stream_text_refused(json.dumps(stream), *in_round(number, key))

    # ---- files ------------------------------------------------------------------------------------

    def test_the_unchanged_config_and_stream_are_fine(self):
        self.write("config.toml", program.toml_text(self.config))
        streams.write_stream(self.stream, self.directory / "stream.json")
        self.obolus("run", "config.toml", "--out", "run", "-q")

    def test_a_config_that_does_not_exist(self):
        self.refused(USAGE, r"nowhere\.toml", arguments=("run", "nowhere.toml", "--out", "run"))

    def test_a_config_that_is_a_directory(self):
        (self.directory / "config.toml").mkdir()
        self.refused(USAGE, r"config\.toml")

    def test_a_config_that_is_not_toml(self):
        self.config_text_refused("[problem]\nname = \nrounds = 3\n", r"config\.toml", r"(?i)(line |:)2\b")

    def test_a_config_with_a_key_twice(self):
        text = program.ISSUE_CONFIG.replace("tau = 1.0", "tau = 1.0\ntau = 0.5")
        self.config_text_refused(text, r"\btau\b")

    def test_an_empty_config(self):
        self.config_text_refused("", r"(?i)problem|optimiser")

    def test_a_stream_that_does_not_exist(self):
        self.write("config.toml", program.toml_text(self.config))
        self.refused(DATA, r"stream\.json")

    def test_a_stream_that_is_a_directory(self):
        self.write("config.toml", program.toml_text(self.config))
        (self.directory / "stream.json").mkdir()
        self.refused(DATA, r"stream\.json")

    def test_a_stream_that_is_not_json(self):
        whole = json.dumps(self.stream)
        for text in ("", "{", "rounds: 3", whole[: len(whole) // 2], whole + "}", "[1, 2,]"):
            with self.subTest(text[:20]):
                self.stream_text_refused(text, r"stream\.json")

    # ---- the content of the stream --------------------------------------------------------------------

    def test_a_stream_of_the_wrong_shape(self):
        for text, pattern in [
            ("[]", r"(?i)object|dims"),
            ("null", r"(?i)object|dims"),
            (json.dumps({"rounds": self.stream["rounds"]}), r"\bdims\b"),
            (json.dumps({"dims": self.stream["dims"]}), r"\brounds\b"),
            (json.dumps(self.stream | {"rounds": []}), r"\brounds\b"),
            (json.dumps(self.stream | {"rounds": {}}), r"\brounds\b"),
            (json.dumps(self.stream | {"rounds": [1]}), r"(?i)round 1\b"),
            (json.dumps(self.stream | {"dims": {"x": 2}}), r"\bdims\b[^\n]*\by\b|\by\b[^\n]*\bdims\b"),
            (json.dumps(self.stream | {"dims": {"x": 0, "y": 3}}), r"\bdims\b"),
            (json.dumps(self.stream | {"dims": {"x": -2, "y": 3}}), r"\bdims\b"),
            (json.dumps(self.stream | {"dims": {"x": 2.5, "y": 3}}), r"\bdims\b"),
            (json.dumps(self.stream | {"dims": {"x": "2", "y": 3}}), r"\bdims\b"),
        ]:
            with self.subTest(text[:40]):
                self.stream_text_refused(text, pattern)

    def test_missing_keys_name_the_round_and_the_key(self):
        for number, key in enumerate(["A", "B", "b", "w", "c", "s", "r", "e"]):
            stream, number = copy.deepcopy(self.stream), 1 + number % 5
            del stream["rounds"][number - 1][key]
            with self.subTest(key):
                self.stream_text_refused(json.dumps(stream), *in_round(number, key))

    def test_wrong_sizes_name_the_round_and_the_key(self):
        data = self.stream["rounds"][0]
        self.round_refused(1, "A", data["A"][:2])  # a row missing
        self.round_refused(2, "A", [row[:2] for row in data["A"]])  # a column missing
        self.round_refused(3, "A", [data["A"][0], data["A"][1], data["A"][2][:1]])  # ragged
        self.round_refused(4, "B", [list(column) for column in zip(*data["B"])])  # transposed
        self.round_refused(5, "b", data["b"] + [0.0])
        self.round_refused(1, "c", data["c"][:1])
        self.round_refused(2, "e", data["e"] + [0.0])
        self.round_refused(3, "b", [])

    def test_wrong_types_name_the_round_and_the_key(self):
        self.round_refused(2, "w", [1.0])
        self.round_refused(3, "s", "0.5")
        self.round_refused(4, "r", None)
        self.round_refused(5, "b", 0.5)
        self.round_refused(1, "A", "identity")
        self.round_refused(2, "c", [0.0, "1.0", 0.0])
        self.round_refused(3, "e", [True, False])

    def test_numbers_that_are_not_finite_name_the_round_and_the_key(self):
        nan, infinity = float("nan"), float("inf")
        self.round_refused(3, "b", [0.0, nan, 0.0])  # written as the bare word NaN, as Python does
        self.round_refused(4, "w", infinity)
        self.round_refused(2, "A", [[1.0, 0.0, 0.0], [0.0, nan, 0.0], [0.0, 0.0, 1.0]])
        for token in ("1e999", "-1e999"):
            stream = copy.deepcopy(self.stream)
            stream["rounds"][4]["r"] = "HERE"
            with self.subTest(token):
                self.stream_text_refused(json.dumps(stream).replace('"HERE"', token), *in_round(5, "r"))

    def test_A_must_be_positive_definite(self):
        for number, matrix in enumerate([
            [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]],  # indefinite, with a positive diagonal
            [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]],  # singular
            [[0.0] * 3] * 3,
        ], start=2):  # fmt: skip
            self.round_refused(number, "A", matrix)
            stream = copy.deepcopy(self.stream)
            stream["rounds"][number - 1]["A"] = matrix
            self.stream_text_refused(json.dumps(stream), r"(?i)positive.definite")

    def test_A_must_be_symmetric(self):
        matrix = [[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
        self.round_refused(5, "A", matrix)
        stream = copy.deepcopy(self.stream)
        stream["rounds"][4]["A"] = matrix
        self.stream_text_refused(json.dumps(stream), r"(?i)symmetric")

    def test_a_bad_round_is_found_even_if_the_run_would_not_reach_it(self):
        """Bad files are refused when they are read, not in round 4 of 200."""
        self.config["problem"]["rounds"] = 2
        self.round_refused(4, "w", "heavy")

    # ---- names that are nearly right ------------------------------------------------------------------

    def test_unknown_keys_propose_the_nearest_valid_name(self):
        for section, wrong, value, right in [
            ("optimiser", "alhpa", 0.1, "alpha"),
            ("optimiser", "inner_step", 5, "inner_steps"),
            ("optimiser", "lamda1", 5.0, "lambda1"),
            ("optimiser", "warmstart", "tied", "warm_start"),
            ("problem", "ruonds", 5, "rounds"),
            ("problem", "pth", "stream.json", "path"),
            ("domain", "uper", 1.0, "upper"),
            ("metrics", "gama", 0.05, "gamma"),
            ("log", "vector", True, "vectors"),
        ]:
            self.config_refused(section, wrong, value, rf"\b{wrong}\b", suggests(right))

    def test_unknown_sections_propose_the_nearest_valid_name(self):
        self.config_refused("optimizer", "alpha", 0.1, r"\boptimizer\b", suggests("optimiser"))
        self.config_refused("metric", "gamma", 0.1, r"\bmetric\b", suggests("metrics"))

    def test_keys_outside_any_section(self):
        self.config_text_refused("alpha = 0.1\n" + program.ISSUE_CONFIG, r"\balpha\b")

    def test_unknown_names_propose_the_nearest_valid_name(self):
        for section, key, wrong, right in [
            ("optimiser", "name", "f2obbo", "f2obo"),
            ("optimiser", "name", "F2OBO", "f2obo"),
            ("optimiser", "name", "af2ob", "af2obo"),
            ("problem", "name", "quadratic_fil", "quadratic_file"),
            ("domain", "set", "bix", "box"),
            ("domain", "set", "l2ball", "l2_ball"),
            ("domain", "set", "non_negative", "nonnegative"),
            ("optimiser", "beta_rule", "alpha/lamda", "alpha/lambda"),
            ("optimiser", "warm_start", "seperate", "separate"),
        ]:
            self.config_refused(section, key, wrong, rf"(?<!\w){wrong}(?!\w)", suggests(right))

    # ---- values --------------------------------------------------------------------------------------

    def test_missing_keys_of_the_config(self):
        for section, key in [("problem", "name"), ("problem", "path"), ("optimiser", "name")]:
            config = copy.deepcopy(self.config)
            del config[section][key]
            with self.subTest(f"{section}.{key}"):
                self.config_text_refused(program.toml_text(config), rf"\b{section}\b", rf"\b{key}\b")

    def test_wrong_types(self):
        for section, key, value in [
            ("optimiser", "alpha", "0.1"),
            ("optimiser", "alpha", True),
            ("optimiser", "alpha", [0.1]),
            ("optimiser", "inner_steps", 2.5),
            ("optimiser", "inner_steps", "five"),
            ("optimiser", "name", 3),
            ("problem", "rounds", "many"),
            ("problem", "rounds", 10.5),
            ("problem", "path", 1),
            ("domain", "lower", True),
            ("domain", "lower", "-1"),
            ("log", "vectors", 1),
            ("log", "vectors", "yes"),
            ("start", "x", "zero"),
            ("start", "x", [0.0, "a"]),
            ("metrics", "gamma", "small"),
        ]:
            self.config_refused(section, key, value)

    def test_values_out_of_range(self):
        nan, infinity = float("nan"), float("inf")
        for section, key, value in [
            ("problem", "rounds", 0),
            ("problem", "rounds", -5),
            ("optimiser", "alpha", -0.1),
            ("optimiser", "alpha", 0.0),
            ("optimiser", "alpha", nan),
            ("optimiser", "alpha", infinity),
            ("optimiser", "gamma", -0.05),
            ("optimiser", "gamma", 0.0),
            ("optimiser", "lambda1", -5.0),
            ("optimiser", "lambda1", 0.0),
            ("optimiser", "inner_steps", 0),
            ("optimiser", "inner_steps", -1),
            ("metrics", "gamma", -0.05),
            ("metrics", "gamma", 0.0),
            ("start", "x", nan),
            ("start", "y", [0.0, infinity, 0.0]),
            ("log", "checkpoint_every", -1),
        ]:
            self.config_refused(section, key, value)

    def test_values_of_the_adaptive_optimiser_out_of_range(self):
        del self.config["optimiser"]["inner_steps"]
        self.config["optimiser"] |= {"name": "af2obo", "delta_y": 0.1, "delta_z": 0.1, "max_inner": 50}
        for key, value in [("delta_y", -0.1), ("delta_z", -0.1), ("max_inner", -1), ("max_inner", 1.5)]:
            self.config_refused("optimiser", key, value)

    def test_the_theory_rule_wants_a_positive_constant(self):
        self.config["optimiser"]["beta_rule"] = "theory"
        self.config_refused("optimiser", "L_g1", -1.0)
        self.config_refused("optimiser", "L_g1", 0.0)

    def test_boxes(self):
        both = (r"\blower\b", r"\bupper\b")
        self.config_refused("domain", "lower", 2.0, *both)
        self.config_refused("domain", "lower", [0.0, 2.0], *both)
        self.config_refused("domain", "upper", [0.0, -2.0], *both)
        self.config_refused("domain", "lower", float("nan"))

    def test_bounds_without_a_set_are_not_forgotten(self):
        for domain in ({"lower": -1.0, "upper": 1.0}, {"radius": 2.0}):
            self.config["domain"] = domain
            self.config_text_refused(program.toml_text(self.config), r"\bset\b")

    def test_balls(self):
        for name in ("l2_ball", "l1_ball"):
            for value in (-1.0, float("nan")):
                self.config["domain"] = {"set": name}
                self.config_refused("domain", "radius", value)
            self.config["domain"] = {"set": name}
            self.config_text_refused(program.toml_text(self.config), r"\bradius\b")

    def test_arrays_of_the_wrong_length(self):
        """The stream has d1 = 2, d2 = 3; the message says what was expected."""
        self.config_refused("start", "x", [0.0, 0.0, 0.0], r"\bx\b", r"\b2\b", r"\b3\b")
        self.config_refused("start", "y", [0.0, 0.0], r"\by\b", r"\b2\b", r"\b3\b")
        self.config_refused("domain", "lower", [-1.0], r"\blower\b", r"\b2\b", r"\b1\b")
        self.config_refused("domain", "upper", [1.0, 1.0, 1.0], r"\bupper\b", r"\b2\b", r"\b3\b")

    # ---- the command line -------------------------------------------------------------------------------

    def test_command_lines(self):
        self.write("config.toml", program.toml_text(self.config))
        streams.write_stream(self.stream, self.directory / "stream.json")
        run = ("run", "config.toml", "--out", "run", "-q")
        for arguments, patterns in [
            (("rnu", "config.toml"), [r"\brnu\b", suggests("run")]),
            (("run",), [r"(?i)config"]),
            (("run", "config.toml", "config.toml", "--out", "run"), [r"config\.toml"]),
            ((*run, "--otu", "x"), [r"--otu", suggests("--out")]),
            (("run", "config.toml", "--out"), [r"--out"]),
            ((*run, "--set", "nonsense"), [r"--set|nonsense"]),
            ((*run, "--set", "optimiser.alhpa=0.1"), [r"\balhpa\b", suggests("alpha")]),
            ((*run, "--set", "optimizer.alpha=0.1"), [r"\boptimizer\b", suggests("optimiser")]),
            ((*run, "--set", "optimiser.alpha=fast"), [r"\balpha\b", r"\bfast\b"]),
            ((*run, "--set", "optimiser.alpha=-1"), [r"\balpha\b"]),
            ((*run, "--seed", "abc"), [r"--seed", r"abc"]),
            ((*run, "--seed", "-1"), [r"--seed"]),
            ((*run, "--rounds", "0"), [r"rounds"]),
            ((*run, "--rounds", "ten"), [r"rounds", r"ten"]),
            ((*run, "--threads", "0"), [r"--threads"]),
            ((*run, "--threads", "many"), [r"--threads", r"many"]),
        ]:
            with self.subTest(" ".join(arguments)):
                self.refused(USAGE, *patterns, arguments=arguments)

    def test_out_names_a_file(self):
        self.write("config.toml", program.toml_text(self.config))
        streams.write_stream(self.stream, self.directory / "stream.json")
        self.write("taken", "a person's notes")
        self.refused(USAGE, r"\btaken\b", arguments=("run", "config.toml", "--out", "taken", "-q"))
        self.assertEqual((self.directory / "taken").read_text(encoding="utf-8"), "a person's notes")

    # ---- divergence ----------------------------------------------------------------------------------

    def test_divergence_names_the_round_and_the_quantity(self):
        self.config["optimiser"]["alpha"] = 100.0  # |1 − 100 A| ≥ 59: 1e308 is passed within 200 inner steps
        self.config["problem"]["rounds"] = 1000
        self.write("config.toml", program.toml_text(self.config))
        streams.write_stream(self.stream, self.directory / "stream.json")
        answer = self.obolus("run", "config.toml", "--out", "run", "-q", code=DIVERGED)
        quantity = r"(?i)\b(x|y|z|w|d|f|g|direction|gradient|regret|iterate)\b"
        self.assert_one_clear_message(answer, [r"(?i)\bround \d+", quantity])
        rows = program.trace(self.directory / "run")  # refuses NaN and Infinity
        self.assertLess(len(rows), 1000)
        self.assertEqual([row["t"] for row in rows], list(range(1, len(rows) + 1)))

    def test_after_an_error_the_same_out_directory_can_be_used(self):
        streams.write_stream(self.stream, self.directory / "stream.json")
        self.config["optimiser"]["alpha"] = -1.0
        self.write("config.toml", program.toml_text(self.config))
        self.obolus("run", "config.toml", "--out", "run", "-q", code=USAGE)
        self.config["optimiser"]["alpha"] = 0.1
        self.write("config.toml", program.toml_text(self.config))
        self.obolus("run", "config.toml", "--out", "run", "-q")
        self.assertEqual(len(program.trace(self.directory / "run")), 8)


if __name__ == "__main__":
    unittest.main()
