"""obolus compare: tables, files, errors, and that a killed comparison goes on to the same numbers."""

import csv
import io
import json
import os
import signal
import unittest

import program

CONFIG = """\
[compare]
seeds = 2
horizons = [50, 100, 200]
budget = 12.0
[problem]
name = "quadratic"
dim_x = 2
dim_y = 3
sine = 0.5
noise = 0.1
[domain]
set = "box"
lower = -2.0
upper = 2.0
[metrics]
gamma = 0.05
[shared]
alpha = 0.15
gamma = [0.02, 0.05]
[[stream]]
name = "still"
problem = { drift = "static" }
[[stream]]
name = "abrupt"
problem = { drift = "abrupt", period = 40 }
[[optimiser]]
label = "F²OBO, double loop"
name = "f2obo"
inner_steps = [1, 5]
[[optimiser]]
name = "af2obo"
delta_y = 0.001
delta_z = 0.0001
max_inner = 100
[[optimiser]]
name = "sf2obo"
batch = 4
[[optimiser]]
label = "wild"
name = "f2obo"
alpha = 50.0
inner_steps = 20
"""
CELLS = 2 * 2 * (4 + 2 + 2 + 2)  # streams × seeds × settings
JOBS = CELLS + 2 * 2  # and each stream by itself, for every seed
FILES = {"config.toml", "about.jsonl", "cells.jsonl", "tables.md", "tables.csv", "summary.json"}


def without_seconds(data):
    if isinstance(data, dict):
        return {key: without_seconds(value) for key, value in data.items() if key != "seconds"}
    return [without_seconds(value) for value in data] if isinstance(data, list) else data


class CompareTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("compare.toml", CONFIG)

    def summary(self, out):
        text = (self.directory / out / "summary.json").read_text(encoding="utf-8")
        return without_seconds(json.loads(text, parse_constant=lambda token: self.fail(token)))

    def lines(self, out):
        """Complete lines of cells.jsonl, none when there is no such file yet."""
        try:
            return (self.directory / out / "cells.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
        except FileNotFoundError:
            return []

    # ---- what a user sees -----------------------------------------------------------------------------

    def test_tables_appear_and_the_folder_is_complete(self):
        answer = self.obolus("compare", "compare.toml", "--out", "run")
        for pattern in [r"Equal rounds, T = 200: still", r"Equal budget, 12 evaluations a round, 2,400 in all: abrupt",
                        r"Queries", r"Overall", r"F²OBO, double loop +gamma=0\.0[25], inner_steps=[15] +\d\S* ± ",
                        r"af2obo +needs \d", r"wild .*diverged \(2 of 2\)"]:  # fmt: skip
            self.assertRegex(answer.stdout, pattern)
        self.assertLessEqual(max(map(len, answer.stdout.splitlines())), 140)
        self.assertEqual({path.name for path in (self.directory / "run").iterdir()}, FILES)
        self.assertEqual((self.directory / "run/config.toml").read_text(encoding="utf-8"), CONFIG)
        self.assertEqual(len(self.lines("run")), JOBS)
        self.assertIn("## Equal rounds", (self.directory / "run/tables.md").read_text(encoding="utf-8"))

    def test_the_summary_holds_every_number(self):
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        summary = self.summary("run")
        self.assertEqual([stream["name"] for stream in summary["streams"]], ["still", "abrupt"])
        stream = summary["streams"][1]
        self.assertEqual(len(stream["variation"]), 3)
        self.assertEqual(len(stream["variation"][2]["V_T"]["seeds"]), 2)
        for optimiser in stream["optimisers"]:
            for setting in optimiser["settings"]:
                self.assertEqual([horizon["T"] for horizon in setting["horizons"]], [50, 100, 200])
                self.assertEqual(len(setting["horizons"][0]["regret"]["seeds"]), 2)
        first = stream["optimisers"][0]
        means = [setting["horizons"][2]["regret"]["mean"] for setting in first["settings"]]
        self.assertEqual(first["best"]["index"], means.index(min(means)))
        self.assertEqual(first["settings"][0]["growth"]["products"]["exponent"], 0)
        self.assertAlmostEqual(first["settings"][0]["growth"]["gradients"]["exponent"], 1, places=12)

    def test_one_cell_is_one_run(self):
        """The comparison's regret is that of `obolus run` with the same options."""
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        config = CONFIG[CONFIG.index("[problem]"):CONFIG.index("[shared]")] + (
            "[optimiser]\nname = \"f2obo\"\nalpha = 0.15\ngamma = 0.05\ninner_steps = 5\n")  # fmt: skip
        self.write("alone.toml", config)
        self.obolus("run", "alone.toml", "--out", "alone", "--rounds", 200, "--seed", 2,
                    "--set", "problem.drift=static")
        alone = json.loads((self.directory / "alone/summary.json").read_text(encoding="utf-8"))
        setting = self.summary("run")["streams"][0]["optimisers"][0]["settings"][3]
        self.assertEqual(setting["setting"], "gamma=0.05, inner_steps=5")
        self.assertEqual(setting["horizons"][2]["regret"]["seeds"][1], alone["regret"])
        gradients = sum(alone["oracle"][k] for k in ("f_x", "f_y", "g_x", "g_y"))
        self.assertEqual(setting["horizons"][2]["gradients"]["seeds"][1], gradients)

    def test_csv_parses_and_is_the_file(self):
        answer = self.obolus("compare", "compare.toml", "--out", "run", "--csv")
        self.assertEqual(answer.stdout, (self.directory / "run/tables.csv").read_text(encoding="utf-8"))
        rows = list(csv.DictReader(io.StringIO(answer.stdout)))
        self.assertEqual(len(rows), 2 * 4)
        self.assertEqual(rows[0]["optimiser"], "F²OBO, double loop")
        self.assertGreater(float(rows[0]["regret_mean"]), 0)
        self.assertEqual(rows[3]["diverged"], "2")
        self.assertEqual(rows[3]["regret_mean"], "")
        self.assertNotIn(None, rows[0])

    def test_quiet_says_nothing(self):
        answer = self.obolus("compare", "compare.toml", "--out", "run", "-q")
        self.assertEqual((answer.stdout, answer.stderr), ("", ""))

    def test_the_folder_is_named_after_the_config(self):
        self.obolus("compare", "compare.toml", "-q")
        self.obolus("compare", "compare.toml", "-q")
        self.assertEqual(self.summary("runs/compare"), self.summary("runs/compare-2"))

    def test_the_number_of_threads_changes_nothing(self):
        for threads in (1, 3):
            self.obolus("compare", "compare.toml", "--out", f"run{threads}", "--threads", threads, "-q")
        self.assertEqual(self.summary("run1"), self.summary("run3"))

    # ---- stopping and going on --------------------------------------------------------------------------

    def stop(self, out, how, lines, *flags):
        """Starts a comparison that takes some seconds, signals it once so many cells are done, and gives its end."""
        process = program.start(["compare", "compare.toml", "--out", out, "--threads", "2", *flags], self.directory)
        while process.poll() is None and len(self.lines(out)) < lines:
            pass
        if process.poll() is None:
            process.send_signal(how)
        _, err = process.communicate(timeout=program.TIMEOUT)
        self.assertNotEqual(process.returncode, 0, "the comparison ended before the signal: raise the horizons")
        return process.returncode, err

    def test_killed_and_resumed_is_uninterrupted(self):
        self.write("compare.toml", CONFIG.replace("[50, 100, 200]", "[500, 5000, 20000]"))
        self.obolus("compare", "compare.toml", "--out", "whole", "-q")
        code, _ = self.stop("cut", signal.SIGKILL, 6)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertFalse(os.path.exists(self.directory / "cut/summary.json"))
        code, _ = self.stop("cut", signal.SIGKILL, 20, "--resume")
        before = self.lines("cut")
        with open(self.directory / "cut/cells.jsonl", "a", encoding="utf-8") as file:
            file.write(before[0][: len(before[0]) // 2])  # as if the machine had died in the middle of a line
        self.obolus("compare", "compare.toml", "--out", "cut", "--resume", "-q")
        self.assertEqual(self.lines("cut")[: len(before)], before, "a finished cell was run again")
        self.assertEqual(len(self.lines("cut")), JOBS)
        self.assertEqual(self.summary("cut"), self.summary("whole"))

    def test_interrupted_keeps_what_is_done_and_says_how_to_go_on(self):
        self.write("compare.toml", CONFIG.replace("[50, 100, 200]", "[500, 5000, 20000]"))
        for how, expected in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(how.name):
                code, err = self.stop(how.name, how, 5, "-q")
                self.assertEqual(code, expected, err)
                self.assertRegex(err, rf"compare '{how.name}/config.toml' --out '{how.name}' --resume")
                self.assertIsNone(program.STACK_TRACE.search(err))
                done = len(self.lines(how.name))
                self.assertGreaterEqual(done, 5)
                self.assertLess(done, JOBS)
        self.obolus("compare", "SIGINT/config.toml", "--out", "SIGINT", "--resume", "-q")
        self.assertEqual(len(self.lines("SIGINT")), JOBS)

    def test_a_changed_config_is_not_resumed(self):
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        self.write("compare.toml", CONFIG.replace("period = 40", "period = 41"))
        answer = self.obolus("compare", "compare.toml", "--out", "run", "--resume", code=2)
        self.assertRegex(answer.stderr, r"cannot resume[\s\S]*abrupt[\s\S]*--force")
        self.obolus("compare", "compare.toml", "--out", "run", "--force", "-q")

    def test_a_folder_that_holds_a_run_is_not_overwritten(self):
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        before = self.lines("run")
        answer = self.obolus("compare", "compare.toml", "--out", "run", code=2)
        self.assertRegex(answer.stderr, r"--resume[\s\S]*--force")
        self.assertEqual(self.lines("run"), before)

    def test_a_damaged_log_is_refused(self):
        """Valid JSON, but a horizon is missing."""
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        lines = self.lines("run")
        for number, line in enumerate(lines):
            record = json.loads(line)
            if "optimiser" in record:
                record["horizons"] = {name: values[:-1] for name, values in record["horizons"].items()}
            else:
                record["variation"] = record["variation"][:-1]
            damaged = [*lines[:number], json.dumps(record), *lines[number + 1 :]]
            if number in (0, len(lines) - 1):
                (self.directory / "run" / "cells.jsonl").write_text("\n".join(damaged) + "\n", encoding="utf-8")
                answer = self.obolus("compare", "compare.toml", "--out", "run", "--resume", code=3)
                self.assertRegex(answer.stderr, rf"cells\.jsonl:{number + 1}.*damaged")

    def test_the_demonstration_replaces_nothing_but_itself(self):
        self.obolus("demo", "--out", "demo")
        self.obolus("demo", "--out", "demo")
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        before = self.lines("run")
        answer = self.obolus("demo", "--out", "run", code=2)
        self.assertRegex(answer.stderr, r"holds a run")
        self.assertEqual(self.lines("run"), before)

    # ---- without a regret -------------------------------------------------------------------------------

    def measured(self):
        """The same comparison by what the problem evaluates, with controls that never change x."""
        text = CONFIG.replace("noise = 0.1", "noise = 0.1\nevaluate = true")
        text = text.replace("[metrics]\ngamma = 0.05", "[metrics]\nregret = false\nevery = 20\nevaluate_every = 40")
        text = text.replace("budget = 12.0", 'budget = 12.0\nrank_by = "inner_distance"\nrank = "least"')
        return text + "".join(
            f'[[optimiser]]\nlabel = "x = {x}"\nname = "fixed"\nstart = {{ x = {x} }}\n' for x in (0.0, 1.5)
        )

    def test_measures_take_the_place_of_the_regret(self):
        self.write("compare.toml", self.measured())
        answer = self.obolus("compare", "compare.toml", "--out", "run")
        for pattern in [r"Measures at T = 200: still", r"optimiser +outer_value +inner_distance +prequential_loss",
                        r"x = 1\.5 +\d\S* ± ", r"wild +diverged \(2 of 2\)", r"by the least inner_distance"]:
            self.assertRegex(answer.stdout, pattern)
        for name in FILES - {"config.toml"}:
            self.assertNotIn("regret", (self.directory / "run" / name).read_text(encoding="utf-8"), name)
        rows = list(csv.DictReader(io.StringIO((self.directory / "run/tables.csv").read_text(encoding="utf-8"))))
        self.assertEqual(len(rows), 2 * 6)
        self.assertNotIn(None, rows[0])
        self.assertNotIn(None, rows[0].values())
        best = self.summary("run")["streams"][0]["optimisers"][0]
        means = [s["horizons"][2]["evaluation"]["inner_distance"]["mean"] for s in best["settings"]]
        self.assertEqual(best["best"]["index"], means.index(min(means)))
        self.assertEqual(float(rows[0]["inner_distance_mean"]), min(means))

    def test_every_evaluation_is_kept_with_its_round(self):
        self.write("compare.toml", self.measured())
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        record = next(r for r in map(json.loads, self.lines("run")) if r.get("optimiser") == "x = 1.5")
        self.assertEqual(record["evaluations"]["t"], [40, 50, 80, 100, 120, 160, 200])
        self.assertEqual(len(record["evaluations"]["evaluation"]["outer_value"]), 7)

    def test_a_measured_cell_is_one_run(self):
        self.write("compare.toml", self.measured())
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        text = self.measured()
        self.write("alone.toml", text[text.index("[problem]"):text.index("[shared]")] + (
            "[start]\nx = 1.5\n[optimiser]\nname = \"fixed\"\nalpha = 0.15\n"))  # fmt: skip
        self.obolus("run", "alone.toml", "--out", "alone", "--rounds", 200, "--seed", 2,
                    "--set", "problem.drift=static")
        alone = json.loads((self.directory / "alone/summary.json").read_text(encoding="utf-8"))
        found = next(o for o in self.summary("run")["streams"][0]["optimisers"] if o["label"] == "x = 1.5")
        at_end = found["settings"][0]["horizons"][2]["evaluation"]
        self.assertEqual({name: of["seeds"][1] for name, of in at_end.items()}, alone["evaluation"])

    def test_killed_and_resumed_measures_are_uninterrupted(self):
        self.write("compare.toml", self.measured().replace("[50, 100, 200]", "[500, 5000, 20000]"))
        self.obolus("compare", "compare.toml", "--out", "whole", "-q")
        self.stop("cut", signal.SIGKILL, 6)
        self.obolus("compare", "compare.toml", "--out", "cut", "--resume", "-q")
        self.assertEqual(self.summary("cut"), self.summary("whole"))

    def test_a_ranking_that_cannot_be_is_refused_with_what_can(self):
        for wrong, right, patterns in [
            ('"inner_distance"', '"inner_distanse"',
             [r"compare\.toml:5:\d+", r"outer_value, inner_distance, prequential_loss"]),
            ('rank = "least"\n', "", [r"rank", r"least", r"most"]),
            ('rank_by = "inner_distance"\nrank = "least"\n', "", [r"rank_by", r"settings", r"inner_distance"]),
            ("every = 20", "every = 20\nregret = true", [r"compare\.toml:\d+"]),
            ("start = { x = 1.5 }", "start = { w = 1.5 }", [r"compare\.toml:\d+", r"'w'"]),
        ]:  # fmt: skip
            with self.subTest(right):
                self.write("compare.toml", self.measured().replace(wrong, right, 1))
                answer = self.obolus("compare", "compare.toml", "--out", "run", code=2)
                for pattern in patterns:
                    self.assertRegex(answer.stderr, pattern)

    # ---- errors -----------------------------------------------------------------------------------------

    def test_errors_say_where_and_what(self):
        for wrong, right, patterns in [
            ("budget = 12.0", "buget = 12.0", [r"compare\.toml:4:\d+", r"buget", r"'budget'"]),
            ("period = 40", "perod = 40", [r"compare\.toml:25:\d+", r"perod", r"'period'"]),
            ('name = "af2obo"', 'name = "af2oboo"', [r"compare\.toml:31:\d+", r"'af2obo'"]),
            ("batch = 4", "batch = [4, 0]", [r"compare\.toml:\d+", r"sf2obo\.?.*batch|batch.*sf2obo"]),
            ('label = "wild"', 'label = "sf2obo"', [r"sf2obo", r"twice", r"label"]),
            ("seeds = 2", "seeds = 100000", [r"runs", r"100000"]),
            ("[[optimiser]]", "[optimiser]", [r"compare\.toml:\d+"]),
            ("[metrics]\ngamma = 0.05\n", "", [r"\[metrics\] gamma"]),
            ('name = "quadratic"', 'name = "quadratic"\nseed = 7', [r"compare\.toml:7:\d+", r"seed", r"\[compare\]"]),
            ("batch = 4", 'batch = 4\nstreams = ["stil"]', [r"compare\.toml:\d+", r"stil", r"'still'"]),
            ("batch = 4", 'batch = 4\nouter_step = "entropy"', [r"entropy", r"box", r"sf2obo"]),
            ('name = "sf2obo"', 'name = "sogd"\ny_step = 0.1\nalpha = 0.1', [r"y_step", r"alpha", r"one option"]),
        ]:
            with self.subTest(right):
                self.write("compare.toml", CONFIG.replace(wrong, right, 1))
                answer = self.obolus("compare", "compare.toml", "--out", "run", code=2)
                for pattern in patterns:
                    self.assertRegex(answer.stderr, pattern)
                self.assertFalse((self.directory / "run").exists())

    def test_command_lines(self):
        for arguments, pattern in [
            (("compare",), r"(?i)config"),
            (("compare", "nowhere.toml"), r"nowhere\.toml"),
            (("run", "compare.toml"), r"compare\.toml:1:\d+.*obolus compare"),
            (("compare", "compare.toml", "--resume"), r"--out"),
            (("compare", "compare.toml", "--threads", "0"), r"--threads"),
            (("compare", "compare.toml", "--out", "a", "--resume", "--force"), r"--force|--resume"),
        ]:
            with self.subTest(" ".join(arguments)):
                answer = self.obolus(*arguments, code=2)
                self.assertRegex(answer.stderr, pattern)


if __name__ == "__main__":
    unittest.main()
