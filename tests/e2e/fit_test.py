"""obolus fit, predict and inspect as users call them: formats, files, predictions, metrics, errors, and going on."""

import gzip
import json
import math
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import time
import tomllib
import unittest
from collections import Counter

import fit_streams
import program

USAGE, DATA, DIVERGED = 2, 3, 4
HEADER = struct.Struct("<8sIIQQ")  # of a model: magic, version, reserved, size, checksum
SUMMARY = {
    "status", "rows", "rounds", "horizon", "skipped", "task", "classes", "features", "prequential", "window", "alarms",
    "hyperparameters", "tuned", "at_bound", "l2_of_features", "batch", "settings", "last_window", "largest_weights",
    "seconds", "seconds_learning", "rows_per_second",
}  # fmt: skip
CLASS_METRICS = {"log_loss", "accuracy", "balanced_accuracy", "macro_f1", "kappa"}


class FitProgramTest(program.ProgramTest):
    def piped(self, text, *arguments, code=0):
        """The program with text (or bytes) on its standard input."""
        data = text.encode() if isinstance(text, str) else text
        command = [program.executable(), *map(str, arguments)]
        answer = subprocess.run(command, input=data, cwd=self.directory, capture_output=True, timeout=program.TIMEOUT)
        out, err = answer.stdout.decode(), answer.stderr.decode()
        self.assertEqual(answer.returncode, code, f"{arguments}\n{out}\n{err}")
        self.assertIsNone(program.STACK_TRACE.search(err), err)
        return subprocess.CompletedProcess(command, answer.returncode, out, err)

    def fit(self, *arguments, out="run", code=0):
        return self.obolus("fit", *arguments, "--out", out, code=code)

    def metrics(self, *arguments, out="run"):
        return json.loads(self.fit(*arguments, "--metrics", "-", "--force", out=out).stdout)

    def model(self, out="run"):
        return (self.directory / out / "model").read_bytes()

    def models_of(self, *commands):
        """The models of several commands, in order."""
        return [self.fit(*command, "--force") and self.model() for command in commands]

    def files(self, out="run"):
        return {path.name: path.read_bytes() for path in sorted((self.directory / out).iterdir())}

    def refused(self, *arguments, code, patterns):
        answer = self.obolus(*arguments, code=code)
        self.assertLessEqual(len(answer.stderr.splitlines()), 2, answer.stderr)
        self.assertNotIn("internal error", answer.stderr)
        for pattern in patterns:
            self.assertRegex(answer.stderr, pattern)


class FormatsTest(FitProgramTest):
    """One stream, written in every format: they all learn it."""

    def setUp(self):
        super().setUp()
        header, rows = fit_streams.table(1, 800, 2)
        self.csv = self.write("rows.csv", fit_streams.csv(header, rows))
        self.header, self.rows = header, rows

    def learnt(self, *arguments, rows=800):
        summary = self.metrics(*arguments)
        self.assertEqual(summary["rows"], rows)
        self.assertEqual(summary["status"], "finished")
        self.assertGreater(summary["prequential"]["accuracy"], 0.75, summary)
        return summary

    def test_csv_label_last_or_by_name_or_position(self):
        summary = self.learnt("rows.csv")
        self.assertEqual(sorted(summary["classes"]), ["kind 0", "kind 1"])
        moved = [[row[3], *row[:3]] for row in self.rows]
        self.write("moved.csv", fit_streams.csv(["kind", "width", "height", "colour"], moved, ";"))
        models = self.models_of(["rows.csv"], ["rows.csv", "--label", "kind"], ["rows.csv", "--label", -1])
        self.assertEqual(len(set(models)), 1)
        self.learnt("moved.csv", "--label", "kind")
        self.learnt("moved.csv", "--label", 1, "--delimiter", ";")
        self.fit("rows.csv", "--label", "knid", "--force", code=USAGE)

    def test_csv_missing_values_and_categories(self):
        self.fit("rows.csv")
        inspected = json.loads(self.obolus("inspect", "run/model", "--json").stdout)
        self.assertEqual(inspected["groups"], ["width", "height", "colour"])
        # width, height, whether width is missing, and red, blue, shade0, shade1
        self.assertEqual(inspected["features"], 7)
        self.assertEqual(self.metrics("rows.csv", "--ignore", "width")["features"], 5)
        self.learnt("rows.csv", "--categorical", "colour", "--numeric", "width,height")

    def test_csv_without_header(self):
        self.write("bare.csv", fit_streams.csv(self.rows[0], self.rows[1:]))
        self.learnt("bare.csv", "--header", "no")

    def test_arff(self):
        head = "@relation rows\n@attribute width numeric\n@attribute height numeric\n@attribute colour string\n"
        head += "@attribute kind {'kind 0', 'kind 1'}\n@data\n"

        def cells(row):
            quoted = [*row[:2], *(f"'{cell}'" for cell in row[2:])]
            return ",".join("?" if cell in ("NA", "''") else str(cell) for cell in quoted) + "\n"

        self.write("rows.arff", head + "".join(map(cells, self.rows)))
        self.learnt("rows.arff")
        self.learnt("rows.arff", "--label", "kind")

    def test_svmlight_and_index_base(self):
        self.write("rows.svm", fit_streams.svmlight(2, 800))
        models = self.models_of(["rows.svm"], ["rows.svm", "--format", "svmlight"], ["rows.svm", "--index-base", 1])
        self.assertEqual(len(set(models)), 1)
        self.learnt("rows.svm")
        self.write("zero.svm", "1 1:1\n0 0:1\n")
        self.fit("zero.svm", "--index-base", 1, "--force", code=DATA)

    def test_vowpal_wabbit_with_tags(self):
        self.write("rows.vw", fit_streams.vowpal_wabbit(3, 3_000, namespaces=2))
        self.learnt("rows.vw", "--predictions", "p.txt", rows=3_000)
        lines = (self.directory / "p.txt").read_text().splitlines()
        self.assertEqual([line.split("\t")[1] for line in lines], [f"row{t}" for t in range(3_000)])

    def test_packed_several_and_piped_are_the_same_rows(self):
        text = self.csv.read_text()
        lines = text.splitlines(True)
        (self.directory / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
        self.write("first.csv", "".join(lines[:300]))
        self.write("second.csv", lines[0] + "".join(lines[300:]))
        models = self.models_of(["rows.csv"], ["packed.csv.gz"], ["first.csv", "second.csv"])
        self.piped(text, "fit", "-", "--format", "csv", "--out", "run", "--force")
        models.append(self.model())
        self.piped(gzip.compress(text.encode()), "fit", "-", "--out", "run", "--force")
        models.append(self.model())
        self.assertEqual(len(set(models)), 1)

    def json_lines(self, rows=None):
        cells = [[None if cell in ("NA", "") else cell for cell in row] for row in (rows or self.rows)]
        return "".join(json.dumps(dict(zip(self.header, row))) + "\n" for row in cells)

    def test_json_lines(self):
        self.write("rows.jsonl", self.json_lines())
        self.learnt("rows.jsonl", "--label", "kind")
        self.learnt("rows.jsonl", "--label", "kind", "--format", "jsonl")
        self.write("rows.ndjson", self.json_lines().replace('"kind":', '"label":'))
        self.learnt("rows.ndjson")
        # A key that is always there, with kinds as CSV finds them: the same rows, hence the same model.
        as_table = ["--categorical", "colour", "--numeric", "width"]
        same = self.models_of(["rows.csv"], ["rows.jsonl", "--label", "kind", *as_table])
        self.assertEqual(len(set(same)), 1)
        # The model knows its columns: numbers may be texts.
        texts = "".join(json.dumps(dict(zip(self.header, map(str, row)))) + "\n" for row in self.rows)
        self.write("texts.jsonl", texts)
        expected = self.obolus("predict", "run/model", "rows.csv", "--label", "kind", "--probabilities").stdout
        for rows in ("rows.jsonl", "texts.jsonl"):
            said = self.obolus("predict", "run/model", rows, "--label", "kind", "--probabilities").stdout
            self.assertEqual(said, expected)

    def test_json_lines_may_follow_a_table(self):
        lines = self.csv.read_text().splitlines(True)
        self.write("first.csv", "".join(lines[:501]))
        self.write("more.jsonl", self.json_lines(self.rows[500:650]))
        self.write("last.ndjson", self.json_lines(self.rows[650:]))
        models = self.models_of(["rows.csv"], ["first.csv", "more.jsonl", "last.ndjson"])
        self.assertEqual(len(set(models)), 1)
        self.fit("more.jsonl", "first.csv", "--label", "kind", "--force", code=DATA)

    def test_rows_have_names_of_their_own(self):
        header, named = ["name", *self.header], [[f"row{t}", *row] for t, row in enumerate(self.rows)]
        self.write("named.csv", fit_streams.csv(header, named))
        self.header, self.rows = header, named
        self.write("named.jsonl", self.json_lines())
        for rows in ("named.csv", "named.jsonl"):
            self.learnt(rows, "--label", "kind", "--id", "name", "--predictions", "p.txt")
            lines = (self.directory / "p.txt").read_text().splitlines()
            self.assertEqual([line.split("\t")[1] for line in lines], [f"row{t}" for t in range(800)])
            out = self.obolus("predict", "run/model", rows, "--label", "kind", "--id", "name").stdout
            self.assertEqual([line.split("\t")[1] for line in out.splitlines()], [f"row{t}" for t in range(800)])

    def test_a_bad_line_of_json_is_named_with_its_column(self):
        self.write("bad.jsonl", '{"a":1,"label":"p"}\n{"a":1,"label":"q"}\n{"a":nan,"label":"p"}\n')
        self.refused("fit", "bad.jsonl", code=DATA, patterns=[r"bad\.jsonl:3:6: got \"nan\", expected a value"])
        self.assertEqual(self.metrics("bad.jsonl", "--skip-bad", 1)["rows"], 2)

    def test_generated(self):
        summary = self.metrics("--generate", "sea,seed=3,drift_rows=[500,1000]", "--rows", 2_000)
        self.assertEqual(summary["rows"], 2_000)
        self.assertGreater(summary["prequential"]["accuracy"], 0.8)
        self.refused("fit", "--generate", "sea", code=USAGE, patterns=["--rows"])
        self.refused("fit", "--generate", "see", "--rows", 5, code=USAGE, patterns=["did you mean 'sea'"])
        self.refused("fit", "--generate", "sea,nois=1", "--rows", 5, code=USAGE, patterns=["noise"])
        self.refused("fit", "rows.csv", "--generate", "sea", "--rows", 5, code=USAGE, patterns=["files"])

    def test_rows_limits(self):
        self.assertEqual(self.metrics("rows.csv", "--rows", 50)["rows"], 50)
        self.assertEqual(self.metrics("rows.csv", "--rows", 10_000)["rows"], 800)

    def test_no_rows_at_all(self):
        for text in ("", "\n", "# nothing\n"):
            self.write("empty.svm", text)
            self.refused("fit", "empty.svm", "--out", "run", "--force", code=DATA, patterns=["no rows"])
        self.write("empty.csv", "width,height,kind\n")
        self.refused("fit", "empty.csv", "--out", "run", "--force", code=DATA, patterns=["no rows"])


class ArgumentsTest(FitProgramTest):
    def test_help_teaches(self):
        text = self.obolus("fit", "--help").stdout
        for part in ("obolus fit rows.csv --label", "obolus fit - --format vw", "--generate sea", "obolus predict",
                     "Exit codes: 0", "130", "--tune", "--resume", "--skip-bad", "gzip"):  # fmt: skip
            self.assertIn(part, text)
        self.assertIn("in any order", self.obolus("predict", "--help").stdout)
        self.assertIn("executes nothing", self.obolus("inspect", "--help").stdout)
        for verb in ("fit", "predict", "inspect"):
            self.assertRegex(self.obolus("--help").stdout, rf"\n  {verb}\s")

    def test_wrong_options_are_refused_with_a_suggestion(self):
        self.write("rows.svm", "1 1:1\n0 2:1\n")
        for arguments, patterns in [
            (["rows.svm", "--predictoins", "x"], [r"--predictoins", r"did you mean '--predictions'"]),
            (["rows.svm", "--learning-rte", 2], [r"did you mean '--learning-rate'"]),
            (["rows.svm", "--learning-rate", -1], [r"--learning-rate", r"got '-1', expected a number"]),
            (["rows.svm", "--hash-bits", 99], [r"--hash-bits"]),
            (["rows.svm", "--hash-bits", "many"], [r"--hash-bits", r"many"]),
            (["rows.svm", "--advanced", "batch=0"], [r"batch", r"got 0"]),
            (["rows.svm", "--advanced", "bacth=4"], [r"did you mean 'batch'"]),
            (["rows.svm", "--advanced", "batch"], [r"--advanced: got 'batch', expected key=value"]),
            (["rows.svm", "--format", "cvs"], [r"--format", r"csv"]),
            (["rows.svm", "--task", "clases"], [r"did you mean 'classes'"]),
            (["rows.svm", "--tune", "rate,tempreature"], [r"got 'tempreature'", r"did you mean 'temperature'"]),
            (["rows.svm", "--tune", "none,rate"], [r"none"]),
            (["rows.svm", "--tune", "l2,l2-per-group"], [r"l2-per-group"]),
            (["rows.svm", "--tune", "class-shift"], [r"--classes"]),
            (["rows.svm", "--tune", "l2", "--l2", 0], [r"l2: got 0"]),
            (["rows.svm", "--detectors", "adwim"], [r"adwim", r"adwin"]),
            (["rows.svm", "--classes", "0,1,0"], [r"'0' twice"]),
            (["rows.svm", "--resume", "--force", "--out", "x"], [r"--force"]),
            (["rows.svm", "--resume"], [r"--out"]),
            (["rows.svm", "--predictions", "-", "--metrics", "-"], [r"--metrics", r"--predictions"]),
            (["rows.svm", "-"], [r"alone"]),
            ([], [r"got no rows", r"--generate"]),
        ]:  # fmt: skip
            with self.subTest(arguments):
                self.refused("fit", *arguments, code=USAGE, patterns=patterns)
        self.refused("predict", code=USAGE, patterns=[r"model"])
        self.refused("inspect", code=USAGE, patterns=[r"model"])
        self.refused("ft", "rows.svm", code=USAGE, patterns=[r"did you mean 'fit'"])
        self.assertEqual([p.name for p in self.directory.iterdir()], ["rows.svm"], "a refused command left something")

    def test_files_that_are_not_there(self):
        self.refused("fit", "nowhere.csv", code=DATA, patterns=[r"nowhere\.csv"])
        (self.directory / "folder").mkdir()
        self.refused("fit", "folder", code=DATA, patterns=[r"folder"])

    def test_quiet_unless_asked(self):
        self.write("rows.svm", fit_streams.svmlight(1, 100))
        answer = self.fit("rows.svm")
        self.assertEqual((answer.stdout, answer.stderr), ("", ""))
        told = self.fit("rows.svm", "-v", out="told").stderr
        self.assertRegex(told, r"(?m)^\s+64 ")
        self.assertRegex(told, r"(?m)^rows +100$")
        self.assertRegex(told, r"(?m)^log_loss ")

    def test_folders_are_named_after_the_data(self):
        self.write("rows.svm", "1 1:1\n0 2:1\n")
        self.obolus("fit", "rows.svm")
        self.obolus("fit", "rows.svm")
        self.piped("1 | a\n", "fit", "-", "--format", "vw")
        self.assertEqual({p.name for p in (self.directory / "runs").iterdir()}, {"rows", "rows-2", "stdin"})
        names = {"config.toml", "about.jsonl", "trace.jsonl", "summary.json", "model", "checkpoint"}
        self.assertEqual({p.name for p in (self.directory / "runs/rows").iterdir()}, names)
        config = tomllib.loads((self.directory / "runs/rows/config.toml").read_text())
        self.assertEqual(config["problem"]["data"], ["rows.svm"])
        self.assertEqual(config["fit"]["task"], "classes")

    def test_a_taken_folder(self):
        self.write("rows.svm", fit_streams.svmlight(1, 100))
        self.fit("rows.svm")
        before = self.files()
        self.refused("fit", "rows.svm", "--out", "run", code=USAGE, patterns=["--resume", "--force"])
        self.assertEqual(self.files(), before)
        self.fit("rows.svm", "--rows", 60, "--force")
        self.assertNotEqual(self.model(), before["model"])
        (self.directory / "mine").mkdir()
        self.write("mine/model", "my own")
        self.refused("fit", "rows.svm", "--out", "mine", code=USAGE, patterns=["--force"])
        self.assertEqual((self.directory / "mine/model").read_text(), "my own")

    def test_force_leaves_no_old_model(self):
        self.write("rows.svm", fit_streams.svmlight(1, 100))
        self.write("bad.svm", "1 1:1\n0 x\n")
        self.fit("rows.svm")
        self.fit("bad.svm", "--force", code=DATA)
        self.assertTrue((self.directory / "run/model").exists(), "bad rows were found before the old run was touched")
        self.fit("bad.svm", "--force", "--task", "classes", code=DATA)
        self.assertFalse((self.directory / "run/model").exists())

    def test_where_nothing_can_be_written(self):
        self.write("rows.svm", fit_streams.svmlight(1, 100))
        self.refused("fit", "rows.svm", "--predictions", "no/where", "--out", "a", code=DATA, patterns=["no/where"])
        self.refused("fit", "rows.svm", "--model", "no/where", "--out", "b", code=DATA, patterns=["no/where"])
        self.refused("fit", "rows.svm", "--metrics", "no/where", "--out", "c", code=DATA, patterns=["no/where"])
        self.fit("rows.svm")
        self.refused("predict", "run/model", "rows.svm", "-o", "no/where", code=USAGE, patterns=["no/where"])
        if not os.path.exists("/dev/full"):
            return
        for command in (["fit", "rows.svm", "--predictions", "-", "--out", "d"],
                        ["fit", "rows.svm", "--metrics", "-", "--out", "e"],
                        ["predict", "run/model", "rows.svm"]):  # fmt: skip
            with self.subTest(command), open("/dev/full", "w") as full:
                process = program.start(command, self.directory, stdout=full)
                _, told = process.communicate(timeout=program.TIMEOUT)
                self.assertEqual(process.returncode, DATA, told)
                self.assertRegex(told, r"^obolus: cannot write to standard output\n$")


class BadRowsTest(FitProgramTest):
    def test_a_bad_row_is_named_by_line_and_column(self):
        self.write("rows.svm", "1 1:1\n0 2:1\n1 1:x 2:5\n0 1:1\n")
        self.refused("fit", "rows.svm", "--out", "run", code=DATA, patterns=[r"rows\.svm:3:\d+: got .*x.*, expected"])
        self.write("rows.csv", "a,b,y\n1,2,u\n1,2\n3,4,v\n")
        told = [r"rows\.csv:3:\d+: got .*expected 3"]
        self.refused("fit", "rows.csv", "--out", "run", "--force", code=DATA, patterns=told)
        answer = self.piped("1 | a\n1| b\n", "fit", "-", "--format", "vw", "--out", "piped", code=DATA)
        self.assertRegex(answer.stderr, r"standard input:2:1: got")

    def test_skip_bad_counts_up_to_its_number(self):
        rows = fit_streams.svmlight(4, 300).splitlines(True)
        for at in (200, 100, 0):
            rows.insert(at, "1 1:x\n")
        self.write("rows.svm", "".join(rows) + "nonsense\n")  # the last one, too
        summary = self.metrics("rows.svm", "--skip-bad", 4)
        self.assertEqual((summary["rows"], summary["skipped"]), (300, 4))
        self.assertRegex(summary["first_skipped"], r"rows\.svm:1:5: got")
        self.refused("fit", "rows.svm", "--skip-bad", 2, "--out", "a", code=DATA, patterns=[r"rows\.svm:203:5: got"])
        self.refused("fit", "rows.svm", "--skip-bad", 3, "--out", "b", code=DATA, patterns=[r"rows\.svm:304:1: got"])

    def test_labels_outside_of_the_given_classes(self):
        good = fit_streams.svmlight(4, 300).splitlines(True)
        rows = good[:100] + ["7 3:100 19:5\n"] + good[100:] + ["7 1:1\n"]
        self.write("rows.svm", "".join(rows))
        self.write("good.svm", "".join(good))
        told = [r"rows\.svm:101: label: got '7', expected one of the classes 0, 1"]
        self.refused("fit", "rows.svm", "--classes", "0,1", "--out", "run", code=DATA, patterns=told)
        summary = self.metrics("rows.svm", "--classes", "0,1", "--skip-bad", 2)
        self.assertEqual((summary["rows"], summary["skipped"]), (300, 2))
        with_bad = self.model()
        self.fit("good.svm", "--classes", "0,1", out="good")
        self.assertEqual(self.model("good"), with_bad, "a row that was skipped changed the model")
        self.fit("rows.svm", "--classes", "0,1", "--skip-bad", 1, "--force", code=DATA)

    def test_both_kinds_of_bad_rows_share_one_number(self):
        good = fit_streams.svmlight(4, 300).splitlines(True)
        self.write("rows.svm", "".join(good[:100] + ["7 1:1\n"] * 2 + good[100:200] + ["1 x\n"] * 2 + good[200:]))
        self.fit("rows.svm", "--classes", "0,1", "--skip-bad", 3, code=DATA)
        self.assertEqual(self.metrics("rows.svm", "--classes", "0,1", "--skip-bad", 4)["skipped"], 4)

    def test_labels_that_are_no_numbers(self):
        self.write("rows.csv", "a,y\n1,0.5\n2,1.5\n3,many\n")
        told = [r"rows\.csv:4: label: got 'many', expected a finite number"]
        self.refused("fit", "rows.csv", "--task", "numbers", "--out", "run", code=DATA, patterns=told)

    def test_a_model_that_diverges_says_so(self):
        rows = [f"{i % 7},{(i % 5) * (-1) ** i * 8e37}\n" for i in range(500)]  # sums of the labels overflow
        self.write("rows.csv", "x,y\n" + "".join(rows))
        answer = self.fit("rows.csv", "--task", "numbers", code=DIVERGED)
        self.assertRegex(answer.stderr, r"diverged in round \d+")
        self.assertEqual(json.loads((self.directory / "run/summary.json").read_text())["status"], "diverged")


class PredictionsTest(FitProgramTest):
    def setUp(self):
        super().setUp()
        self.labelled = fit_streams.linear_rows(5, 1_500, 4)
        self.write("rows.svm", fit_streams.svmlight(5, 1_500, classes=4))
        self.truth = [str(label) for label, _ in self.labelled]

    def lines(self, text):
        return [line.split("\t") for line in text.splitlines()]

    def test_a_file_and_standard_output_say_the_same(self):
        self.fit("rows.svm", "--predictions", "p.txt")
        text = (self.directory / "p.txt").read_text()
        self.assertEqual(self.fit("rows.svm", "--predictions", "-", out="other").stdout, text)
        lines = self.lines(text)
        self.assertEqual(len(lines), 1_500)
        self.assertEqual(lines[0], ["?"], "before the first row no class is known")
        right = sum(line[0] == truth for line, truth in zip(lines, self.truth, strict=True))
        self.assertGreater(right / 1_500, 0.8, "in the order of the rows, most of them are right")

    def test_rows_without_label_are_predicted_only(self):
        text = "| a\n| b\n1 | a\n-1 | b\n| a\n"
        out = self.piped(text, "fit", "-", "--format", "vw", "--predictions", "-", "--out", "run").stdout
        self.assertEqual(out.splitlines()[:3], ["?", "?", "?"])
        self.assertEqual(out.splitlines()[3], "1")
        self.assertEqual(json.loads((self.directory / "run/summary.json").read_text())["rows"], 5)

    def recomputed(self, truth, lines, classes):
        """Metrics from predictions with probabilities; classes come in the order of their first rows."""
        loss, both, as_truth, as_prediction = 0.0, Counter(), Counter(truth), Counter(line[0] for line in lines)
        for t, (line, label) in enumerate(zip(lines, truth, strict=True)):
            known = dict(zip(classes, map(float, line[1:])))
            loss -= math.log(min(max(known.get(label, 1 / (t + 2)), 1e-15), 1))
            both[label] += line[0] == label
        n = len(truth)
        accuracy = sum(both.values()) / n
        chance = sum(as_truth[k] * as_prediction[k] for k in as_truth) / n**2
        return {
            "log_loss": loss / n,
            "accuracy": accuracy,
            "balanced_accuracy": sum(both[k] / as_truth[k] for k in as_truth) / len(as_truth),
            "macro_f1": sum(2 * both[k] / (as_truth[k] + as_prediction[k]) for k in as_truth) / len(as_truth),
            "kappa": (accuracy - chance) / (1 - chance),
        }

    def test_metrics_follow_from_the_predictions(self):
        for options in ([], ["--delay", 20], ["--hold-out", 5], ["--tune", "none"], ["--classes", "0,1,2,3"]):
            with self.subTest(options):
                summary = self.metrics("rows.svm", "--predictions", "p.txt", "--probabilities", *options)
                self.assertEqual(set(summary), SUMMARY - ({"l2_of_features"} if "none" in options else set()))
                if "none" not in options:
                    l2 = summary["l2_of_features"]
                    self.assertTrue(0 < l2["least"] < l2["middle"] < l2["most"], l2)
                lines = self.lines((self.directory / "p.txt").read_text())
                # Rows before the first label is known.
                unknown = 0 if "--classes" in options else 21 if "--delay" in options else 1
                self.assertTrue(all(line == ["?"] for line in lines[:unknown]))
                for line in lines[unknown:]:
                    self.assertAlmostEqual(sum(map(float, line[1:])), 1, delta=5e-6)
                    best = max(range(len(line) - 1), key=lambda c: float(line[1 + c]))
                    self.assertEqual(line[0], summary["classes"][best])
                if "--classes" not in options:
                    self.assertEqual([len(line) - 1 for line in lines[:1]], [0])
                self.assertEqual(len(lines[-1]) - 1, 4)
                expected = self.recomputed(self.truth, lines, summary["classes"])
                self.assertEqual(set(summary["prequential"]), CLASS_METRICS)
                for name, value in expected.items():
                    self.assertAlmostEqual(summary["prequential"][name], value, delta=2e-5, msg=name)
                self.assertAlmostEqual(
                    summary["window"]["accuracy"],
                    sum(a[0] == b for a, b in zip(lines[-1000:], self.truth[-1000:])) / 1000, delta=1e-9)  # fmt: skip
                self.assertEqual(json.loads((self.directory / "run/summary.json").read_text()), summary)
                self.check_last_window(summary, self.truth[-1000:], lines[-1000:])

    def check_last_window(self, summary, truth, lines):
        """Four classes: the probability of the predicted one, and which was taken for which."""
        last = summary["last_window"]
        self.assertEqual(last["rows"], 1000)
        names = last["confusion"]["classes"]
        self.assertEqual(sorted(names), sorted(set(truth)))
        counts = Counter((true, line[0]) for true, line in zip(truth, lines, strict=True))
        expected = [[counts[true, predicted] for predicted in names] for true in names]
        self.assertEqual(last["confusion"]["weights"], expected)
        self.assertEqual((last["confusion"]["folded"], sum(last["confusion"]["unpredicted"])), (0, 0))
        self.assertEqual(last["calibration"]["of"], "the predicted class")
        rows, hits, sums = [0] * 10, [0] * 10, [0.0] * 10
        for true, line in zip(truth, lines, strict=True):
            p = max(map(float, line[1:]))
            place = min(9, int(10 * p))
            rows[place] += 1
            hits[place] += true == line[0]
            sums[place] += p
        for i, bin in enumerate(last["calibration"]["bins"]):
            self.assertLessEqual(abs(bin["rows"] - rows[i]), 1)  # six digits may round to the edge of a bin
            if rows[i] and bin["rows"] == rows[i]:
                self.assertAlmostEqual(bin["frequency"], hits[i] / rows[i], delta=1e-5)
                self.assertAlmostEqual(bin["probability"], sums[i] / rows[i], delta=1e-5)

    def test_a_column_is_what_the_model_knows_it_as(self):
        # The codes of the rows to predict are all digits, those of the fit were not.
        rows = [("789x"[i % 4], i % 7, "yes" if i % 4 in (0, 3) else "no") for i in range(400)]
        self.write("codes.csv", "code,size,label\n" + "".join(f"{c},{n},{label}\n" for c, n, label in rows))
        self.fit("codes.csv", out="codes")
        digits = [row for row in rows if row[0] != "x"]
        self.write("digits.csv", "code,size\n" + "".join(f"{c},{n}\n" for c, n, _ in digits))
        out = self.obolus("predict", "codes/model", "digits.csv").stdout
        self.assertEqual(out.split(), [label for _, _, label in digits])

    def test_numbers_whose_neighbours_are_alike(self):
        labels = [round(40 + 5 * math.sin(i / 30) + 0.01 * (i * 7919 % 13), 3) for i in range(800)]
        self.write("alike.csv", "x,y\n" + "".join(f"{i * 31 % 17},{y}\n" for i, y in enumerate(labels)))
        blended = self.metrics("alike.csv", "--task", "numbers")
        alone = self.metrics("alike.csv", "--task", "numbers", "--blend", "none")
        self.assertGreater(blended["predicted_by"]["last_label"], 0.5)
        self.assertNotIn("predicted_by", alone)
        last = sum((y - before) ** 2 for before, y in zip(labels, labels[1:], strict=False)) / (len(labels) - 1)
        self.assertLess(blended["prequential"]["squared_error"], 1.1 * last)
        self.assertLess(blended["prequential"]["squared_error"], alone["prequential"]["squared_error"])
        self.fit("alike.csv", "--task", "numbers", out="alike")
        shares = json.loads(self.obolus("inspect", "alike/model", "--json").stdout)["predicted_by"]
        self.assertEqual(set(shares), {"model", "mean_label"})  # the rows of a model need not come next

    def test_numbers(self):
        text = fit_streams.numbers(6, 1_500)
        self.write("prices.csv", text)
        summary = self.metrics("prices.csv", "--label", "price", "--predictions", "p.txt", "--window", 100)
        self.assertEqual(summary["task"], "numbers")
        self.assertEqual(set(summary), SUMMARY - {"classes"} | {"predicted_by"})
        self.assertEqual(set(summary["predicted_by"]), {"model", "last_label", "mean_label"})
        self.assertAlmostEqual(sum(summary["predicted_by"].values()), 1)
        self.assertEqual(set(summary["prequential"]), {"squared_error", "absolute_error", "median_error"})
        truth = [float(line.split(",")[-1]) for line in text.splitlines()[1:]]
        errors = [float(p) - y for p, y in zip((self.directory / "p.txt").read_text().splitlines(), truth, strict=True)]
        # The first row is predicted before any label is known, and not judged.
        for part, some in (("prequential", errors[1:]), ("window", errors[-100:])):
            self.assertAlmostEqual(summary[part]["squared_error"], sum(e * e for e in some) / len(some), delta=1e-6)
            self.assertAlmostEqual(summary[part]["absolute_error"], sum(map(abs, some)) / len(some), delta=1e-6)
            middle = statistics.median(map(abs, some))
            self.assertAlmostEqual(summary[part]["median_error"], middle, delta=0.05 * middle)  # bins are 2 % wide
        self.assertLess(summary["window"]["squared_error"], 0.1)
        last = [[y, y + e] for y, e in zip(truth[-100:], errors[-100:], strict=True)]
        self.assertEqual(len(summary["last_window"]["pairs"]), 100)
        for pair, expected in zip(summary["last_window"]["pairs"], last, strict=True):
            for got, value in zip(pair, expected, strict=True):
                self.assertAlmostEqual(got, value, delta=1e-5 * max(1, abs(value)))
        self.write("whole.csv", "x,y\n" + "".join(f"{i % 7},{i % 3}\n" for i in range(300)))
        self.assertEqual(self.metrics("whole.csv")["task"], "classes")
        self.assertEqual(self.metrics("whole.csv", "--task", "numbers")["task"], "numbers")

    def test_shadows_are_what_the_fixed_settings_give(self):
        header, rows = fit_streams.table(11, 700, 3)
        self.write("rows.csv", fit_streams.csv(header, rows))
        summary = self.metrics("rows.csv", "--shadow")
        self.assertEqual([s["name"] for s in summary["shadow"]], ["rate 0.01", "rate 0.1", "rate 1", "rate 10"])
        for shadow in summary["shadow"]:
            rate = shadow["name"].split()[1]
            alone = self.metrics("rows.csv", "--tune", "none", "--learning-rate", rate)
            self.assertEqual(shadow["window"], alone["window"])
            for name, value in alone["prequential"].items():
                self.assertEqual(shadow[name], value)
        self.assertEqual(self.metrics("rows.csv")["prequential"], summary["prequential"])
        self.fit("rows.csv", "--shadow", "--rows", 333, out="half")
        self.fit("rows.csv", "--shadow", "--resume", out="half")
        self.assertEqual(json.loads(self.files("half")["summary.json"])["shadow"], summary["shadow"])

    def test_weights_of_rows_count(self):
        header, rows = fit_streams.table(7, 500, 2)
        weighted = [[*row, 1 + t % 3] for t, row in enumerate(rows)]
        self.write("rows.csv", fit_streams.csv([*header, "w"], weighted))
        summary = self.metrics("rows.csv", "--label", "kind", "--weight", "w", "--predictions", "p.txt")
        lines = (self.directory / "p.txt").read_text().splitlines()
        right = sum(row[4] for row, line in zip(weighted, lines, strict=True) if row[3] == line)
        self.assertAlmostEqual(summary["prequential"]["accuracy"], right / sum(row[4] for row in weighted), delta=1e-9)

    def test_a_reader_that_goes_away_is_no_crash(self):
        command = ["fit", "--generate", "sea", "--rows", 200_000, "--predictions", "-", "--out", "run"]
        process = program.start(command, self.directory)
        self.assertEqual(process.stdout.readline(), "?\n")
        process.stdout.close()
        told = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=program.TIMEOUT), -signal.SIGPIPE)
        self.assertEqual(told, "")


class TuningTest(FitProgramTest):
    def setUp(self):
        super().setUp()
        self.write("rows.svm", fit_streams.svmlight(8, 600, classes=3))
        self.write("rows.vw", fit_streams.vowpal_wabbit(8, 600, namespaces=3))

    def test_none_keeps_all_numbers(self):
        given = ["--learning-rate", 2, "--l2", 0.001, "--advanced", "replay_weight=0.5",
                 "--advanced", "recent_weight=0.2", "--advanced", "temperature=1.5"]  # fmt: skip
        summary = self.metrics("rows.svm", "--tune", "none", *given)
        self.assertEqual(summary["tuned"], [])
        for name, value in {"rate": 2, "l2": 0.001, "replay": 0.5, "recent": 0.2, "temperature": 1.5}.items():
            self.assertAlmostEqual(summary["hyperparameters"][name], value, delta=1e-12)
        self.assertIn("(fixed)", self.obolus("inspect", "run/model").stdout)

    def test_every_word_tunes_its_own_alone(self):
        start = {"rate": 1, "l2": 1e-5, "replay": 1, "recent": 1, "temperature": 1}
        for word in start:
            with self.subTest(word):
                summary = self.metrics("rows.svm", "--tune", word)
                self.assertEqual(summary["tuned"], [word])
                moved = {k for k, v in summary["hyperparameters"].items() if abs(v / start[k] - 1) > 1e-9}
                self.assertEqual(moved, {word})
        self.assertEqual(self.metrics("rows.svm")["tuned"], ["rate", "l2", "replay", "recent", "temperature"])

    def test_groups_and_classes(self):
        summary = self.metrics("rows.vw", "--tune", "rate,l2-per-group")
        self.assertEqual(summary["tuned"], ["rate", "l2 of space0", "l2 of space1", "l2 of space2"])
        for word, name in (("class-shift", "shift"), ("class-scale", "scale")):
            with self.subTest(word):
                summary = self.metrics("rows.svm", "--tune", word, "--classes", "0,1,2")
                self.assertEqual(summary["tuned"], [f"{name} of {c}" for c in range(3)])
                inspected = json.loads(self.obolus("inspect", "run/model", "--json").stdout)
                self.assertEqual(inspected["hyperparameters"], summary["hyperparameters"])
                self.assertEqual(len(self.obolus("predict", "run/model", "rows.svm").stdout.splitlines()), 600)

    def test_same_bits_whatever_the_threads(self):
        namespaces = fit_streams.vowpal_wabbit(9, 3_000, namespaces=14)
        self.write("late.vw", namespaces)
        late = ["late.vw", "--tune", "l2-per-group", "--task", "classes"]
        for options in (["rows.svm"], ["rows.svm", "--delay", 30], late):
            with self.subTest(options):
                models = self.models_of(*[[*options, "--threads", threads] for threads in (1, 2, 2, 2, 1)])
                self.assertEqual(len(set(models)), 1)
        one, other = self.models_of(["rows.svm", "--seed", 2], ["rows.svm", "--seed", 3])
        self.assertNotEqual(one[HEADER.size :], other[HEADER.size :])

    def test_options_of_the_learner_matter(self):
        plain = self.metrics("rows.svm")["prequential"]
        advanced = ("batch=16", "replay=0", "recent=2", "decay=true", "steps=2", "memory=0.5", "buffer=30")
        for options in (["--delay", 50], ["--hold-out", 3], ["--judge", "balanced"], ["--hash-bits", 3],
                        ["--scale", "none"], *(["--advanced", one] for one in advanced)):  # fmt: skip
            with self.subTest(options):
                self.assertNotEqual(self.metrics("rows.svm", *options)["prequential"], plain)
        self.assertLess(self.metrics("rows.svm", "--delay", 300)["prequential"]["accuracy"], plain["accuracy"])


class StoppedTest(FitProgramTest):
    ENDLESS = ["--generate", "rbf,classes=4", "--rows", 40_000]  # long enough to be interrupted

    def stop_when_traced(self, how, *arguments, out="cut"):
        process = program.start(["fit", *arguments, "--out", out], self.directory)
        trace = self.directory / out / "trace.jsonl"
        while process.poll() is None and not (trace.exists() and trace.stat().st_size > 0):
            pass
        process.send_signal(how)
        _, told = process.communicate(timeout=program.TIMEOUT)
        return process.returncode, told

    def test_interrupted_and_resumed_is_uninterrupted(self):
        arguments = [*self.ENDLESS, "--predictions", "cut.txt", "--probabilities"]
        self.fit(*self.ENDLESS, "--predictions", "whole.txt", "--probabilities", out="whole")
        for how, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(how):
                shutil.rmtree(self.directory / "cut", ignore_errors=True)
                returned, told = self.stop_when_traced(how, *arguments)
                self.assertEqual(returned, code, told)
                pattern = r"obolus: stopped after (\d+) rows and saved; to resume, [^\n]* --out 'cut' --resume\n"
                said = re.fullmatch(pattern, told)
                self.assertTrue(said, told)
                rows = int(said[1])
                self.assertLess(rows, 40_000)
                summary = json.loads((self.directory / "cut/summary.json").read_text())
                self.assertEqual((summary["status"], summary["rows"]), ("stopped", rows))
                self.assertEqual(len((self.directory / "cut.txt").read_text().splitlines()), rows)
                self.obolus("inspect", "cut/model")
                self.fit(*arguments, "--resume", out="cut")
                self.assertEqual(self.model("cut"), self.model("whole"))
                self.assertEqual((self.directory / "cut.txt").read_bytes(), (self.directory / "whole.txt").read_bytes())
                self.assert_same_trace("cut", "whole")
                ended, whole = (json.loads((self.directory / f"{name}/summary.json").read_text())
                                for name in ("cut", "whole"))  # fmt: skip
                self.assertEqual(ended["last_window"], whole["last_window"])
                self.assertEqual(ended["largest_weights"], whole["largest_weights"])

    def test_a_summary_so_far_comes_with_every_checkpoint(self):
        self.write("rows.svm", fit_streams.svmlight(10, 300))
        process = program.start(
            ["fit", "-", "--format", "svmlight", "--index-base", 1, "--task", "classes", "--out", "run",
             "--checkpoint-every", 100, "--threads", 1], self.directory, stdin=subprocess.PIPE)  # fmt: skip
        process.stdin.write((self.directory / "rows.svm").read_text())
        process.stdin.flush()
        summary, end = self.directory / "run/summary.json", time.monotonic() + 60
        while time.monotonic() < end and not (summary.exists() and json.loads(summary.read_text())["rows"] == 300):
            time.sleep(0.01)
        process.kill()
        process.communicate()
        said = json.loads(summary.read_text())
        self.assertEqual((said["status"], said["rows"], said["last_window"]["rows"]), ("running", 300, 300))
        self.obolus("report", "run")

    def test_a_signal_is_heeded_while_no_row_comes(self):
        for threads in (1, 2):
            command = ["fit", "-", "--format", "vw", "--task", "classes", "--predictions", "-", "--threads", threads]
            process = program.start([*command, "--out", f"live{threads}"], self.directory, stdin=subprocess.PIPE)
            process.stdin.write("1 | a\n-1 | b\n")
            process.stdin.flush()
            said = [process.stdout.readline() for _ in range(2)]
            self.assertEqual(said, ["?\n", "1\n"], "rows are handed on at once")
            process.send_signal(signal.SIGINT)
            end = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            ended = process.poll()
            process.kill()
            _, told = process.communicate()
            self.assertEqual(ended, 130, told)
            self.assertEqual(told, "obolus: stopped after 2 rows and saved\n")
            self.obolus("inspect", f"live{threads}/model")

    def test_rows_of_an_open_pipe_are_learnt_as_they_come(self):
        command = ["fit", "-", "--format", "jsonl", "--id", "i", "--task", "classes", "--predictions", "-"]
        process = program.start([*command, "--out", "open"], self.directory, stdin=subprocess.PIPE)
        for i, row in enumerate("pqqp"):
            process.stdin.write(json.dumps({"a": {"q": 1, "p": -1}[row], "label": row, "i": i}) + "\n")
            process.stdin.flush()
            said, name = process.stdout.readline().rstrip("\n").split("\t")
            self.assertEqual(name, str(i), "a row is handed on with its line")
            if i < 2:
                self.assertEqual(said, "?p"[i], "the row before is learnt by then")
        process.stdin.close()
        self.assertEqual(process.wait(60), 0, process.stderr.read())
        process.stdout.close()
        process.stderr.close()

    def test_a_signal_is_heeded_before_the_first_byte(self):
        process = program.start(["fit", "-", "--out", "live"], self.directory, stdin=subprocess.PIPE)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
        self.assertIn((process.returncode, told), [(143, "obolus: stopped after 0 rows\n"), (-signal.SIGTERM, "")])

    def begin(self, *options):
        self.text = fit_streams.svmlight(10, 1_200)
        self.write("rows.svm", self.text)
        self.fit("rows.svm", *options, "--rows", 1_100)

    def refused_unchanged(self, *arguments, code, patterns):
        before = self.files()
        self.refused("fit", *arguments, "--out", "run", "--resume", code=code, patterns=patterns)
        self.assertEqual(self.files(), before, "a refused --resume changed something")

    def test_more_rows_go_on_as_if_they_had_been_there(self):
        self.begin()
        self.fit("rows.svm", out="whole")
        self.fit("rows.svm", "--resume")
        self.assertEqual(self.model(), self.model("whole"))
        before = self.files()
        self.fit("rows.svm", "--resume")  # finished: nothing more to do
        after = self.files()
        for name in ("model", "trace.jsonl", "config.toml"):
            self.assertEqual(after[name], before[name], name)
        more = fit_streams.svmlight(10, 2_000)
        self.assertTrue(more.startswith(self.text))
        self.write("rows.svm", more)
        self.fit("rows.svm", "--resume")
        self.fit("rows.svm", "--force", out="whole")
        self.assertEqual(self.model(), self.model("whole"))

    def test_fewer_rows_than_were_learnt_are_refused(self):
        self.begin()
        self.refused_unchanged("rows.svm", "--rows", 900, code=USAGE, patterns=["1100 rows already", "900"])

    def test_other_data_is_refused(self):
        self.begin()
        lines = self.text.splitlines(True)
        told = [r"cannot resume"]
        self.write("rows.svm", "".join(lines[:500] + [lines[500].rstrip() + " 30:1\n"] + lines[501:]))
        self.refused_unchanged("rows.svm", code=DATA, patterns=[*told, "differ"])
        self.write("rows.svm", "".join(lines[:1_050]))
        self.refused_unchanged("rows.svm", code=DATA, patterns=[*told, "1050 rows"])

    def test_other_weights_and_names_are_refused(self):
        header, rows = fit_streams.table(11, 1_000, 2)
        weighted = [[*row, 1] for row in rows]
        options = ["rows.csv", "--label", "kind", "--weight", "w"]
        self.write("rows.csv", fit_streams.csv([*header, "w"], weighted))
        self.fit(*options)
        self.write("rows.csv", fit_streams.csv([*header, "w"], [[*row, 2] for row in rows]))
        self.refused_unchanged(*options, code=DATA, patterns=["differ"])
        self.write("rows.csv", fit_streams.csv(["breadth", *header[1:], "w"], weighted))
        self.refused_unchanged(*options, code=DATA, patterns=["differ"])

    def test_other_rows_to_judge_by_are_refused(self):
        judges = fit_streams.svmlight(10, 50)
        self.write("judges.svm", judges)
        self.begin("--validation", "judges.svm")
        self.fit("rows.svm", "--validation", "judges.svm", out="whole")
        self.write("judges.svm", judges.replace("1 ", "0 ", 1))
        self.refused_unchanged("rows.svm", "--validation", "judges.svm", code=DATA, patterns=["differ"])
        self.write("judges.svm", judges)
        self.refused_unchanged("rows.svm", code=USAGE, patterns=["validation"])
        self.fit("rows.svm", "--validation", "judges.svm", "--resume")
        self.assertEqual(self.model(), self.model("whole"))

    def test_other_options_are_refused(self):
        self.begin()
        for options, pattern in ((["--learning-rate", 2], "learning_rate"), (["--tune", "none"], "tune"),
                                 (["--window", 10], "window"), (["--skip-bad", 5], "skip_bad")):  # fmt: skip
            with self.subTest(options):
                self.refused_unchanged("rows.svm", *options, code=USAGE, patterns=["cannot resume", pattern])
        self.write("other.svm", self.text)
        self.refused_unchanged("other.svm", code=USAGE, patterns=[r"rows\.svm", r"other\.svm"])
        self.refused("fit", "rows.svm", "--force", "--resume", "--out", "run", code=USAGE, patterns=["--force"])

    def test_standard_input_is_refused(self):
        self.begin()
        answer = self.piped(self.text, "fit", "-", "--format", "svmlight", "--out", "run", "--resume", code=USAGE)
        self.assertRegex(answer.stderr, r"--resume: got standard input")

    def test_predictions_have_no_gaps(self):
        self.begin("--predictions", "p.txt")
        self.refused_unchanged("rows.svm", code=USAGE, patterns=["--predictions"])
        other = ["--predictions", "p.txt", "--probabilities"]
        self.refused_unchanged("rows.svm", *other, code=USAGE, patterns=["--probabilities"])
        (self.directory / "cut.txt").write_text("0\n")
        told = [r"cut\.txt", "cut or replaced"]
        self.refused_unchanged("rows.svm", "--predictions", "cut.txt", code=DATA, patterns=told)
        self.fit("rows.svm", "--predictions", "p.txt", "--resume")
        self.assertEqual(len((self.directory / "p.txt").read_text().splitlines()), 1_200)
        self.fit("rows.svm", "--rows", 1_100, "--force")
        self.refused_unchanged("rows.svm", "--predictions", "new.txt", code=USAGE, patterns=["--predictions"])

    def test_damaged_checkpoints_are_refused(self):
        self.begin()
        path = self.directory / "run/checkpoint"
        whole = path.read_bytes()
        for content in (whole[:-1], whole[:50], b"", whole[:500] + bytes([whole[500] ^ 1]) + whole[501:]):
            path.write_bytes(content)
            self.refused_unchanged("rows.svm", code=DATA, patterns=[r"run/checkpoint"])

    def test_one_process_a_folder(self):
        command = ["fit", "-", "--format", "vw", "--task", "classes", "--out", "run"]
        process = program.start(command, self.directory, stdin=subprocess.PIPE)
        process.stdin.write("1 | a\n")
        process.stdin.flush()
        while not (self.directory / "run/about.jsonl").exists() and process.poll() is None:
            pass
        self.write("rows.svm", "1 1:1\n")
        self.refused("fit", "rows.svm", "--out", "run", "--force", code=USAGE, patterns=["another process"])
        process.communicate("-1 | b\n", timeout=program.TIMEOUT)
        self.assertEqual(process.returncode, 0)


class ModelTest(FitProgramTest):
    def setUp(self):
        super().setUp()
        self.header, self.rows = fit_streams.table(12, 1_000, 3)
        self.write("rows.csv", fit_streams.csv(self.header, self.rows))
        self.fit("rows.csv", "--model", "here")

    def predicted(self, *arguments):
        return self.obolus("predict", "run/model", *arguments).stdout

    def test_predictions_do_not_depend_on_the_order_of_columns(self):
        expected = self.predicted("rows.csv", "--label", "kind", "--probabilities")
        self.assertEqual(len(expected.splitlines()), 1_000)
        self.assertEqual(self.predicted("rows.csv", "--probabilities"), expected, "an unknown column says nothing")
        turned = [[row[i] for i in (2, 1, 0)] for row in self.rows]
        self.write("turned.csv", fit_streams.csv(["colour", "height", "width"], turned, ";"))
        said = self.predicted("turned.csv", "--probabilities")
        for one, other in zip(said.splitlines(), expected.splitlines(), strict=True):
            for p, q in zip(one.split("\t")[1:], other.split("\t")[1:], strict=True):
                self.assertAlmostEqual(float(p), float(q), delta=5e-6, msg="sums in another order, and no more")
        extra = [[t, *row] for t, row in enumerate(self.rows)]
        self.write("extra.csv", fit_streams.csv(["extra", *self.header], extra))
        said = self.predicted("extra.csv", "--ignore", "extra", "--label", "kind", "--probabilities")
        self.assertEqual(said, expected)
        right = sum(line.split("\t")[0] == row[3] for line, row in zip(expected.splitlines(), self.rows, strict=True))
        self.assertGreater(right / 1_000, 0.6)

    def test_ways_of_output(self):
        expected = self.predicted("rows.csv")
        self.assertEqual(self.predicted("rows.csv", "-o", "p.txt"), "")
        self.assertEqual((self.directory / "p.txt").read_text(), expected)
        piped = self.piped((self.directory / "rows.csv").read_bytes(), "predict", "run/model", "-", "--format", "csv")
        self.assertEqual(piped.stdout, expected)
        self.assertEqual(self.obolus("predict", "here", "rows.csv").stdout, expected)
        named = self.predicted("rows.csv", "--names", "--probabilities").splitlines()
        self.assertEqual(named[0], "predicted\tkind 0\tkind 1\tkind 2" if "kind 0" == self.rows[0][3] else named[0])
        self.assertEqual(sorted(named[0].split("\t")[1:]), ["kind 0", "kind 1", "kind 2"])
        for line in named[1:]:
            self.assertAlmostEqual(sum(map(float, line.split("\t")[1:])), 1, delta=5e-6)

    def test_the_model_is_what_the_fit_says_next(self):
        """A row behind the others: `fit` judges it with what `predict` uses, but for rows that wait for their round."""
        rows = fit_streams.svmlight(13, 801).splitlines(True)  # 801 = 100 rounds of 8, and one
        self.write("rows.svm", "".join(rows))
        self.write("first.svm", "".join(rows[:-1]))
        self.write("last.svm", rows[-1])
        self.fit("rows.svm", "--predictions", "p.txt", "--probabilities", out="all")
        self.fit("first.svm", out="first")
        said = self.obolus("predict", "first/model", "last.svm", "--probabilities").stdout
        judged = (self.directory / "p.txt").read_text().splitlines()[-1]
        for one, other in zip(said.split("\t")[1:], judged.split("\t")[1:], strict=True):
            self.assertAlmostEqual(float(one), float(other), delta=2e-5)

    def test_bad_rows_to_predict(self):
        self.write("bad.csv", "width,height,colour\n1,2,red\n1,2\n3,4,blue\n")
        self.refused("predict", "run/model", "bad.csv", code=DATA, patterns=[r"bad\.csv:3:\d+: got"])
        self.assertEqual(len(self.predicted("bad.csv", "--skip-bad", 1).splitlines()), 2)

    def test_damaged_and_foreign_models(self):
        whole = self.model()
        magic, version, reserved, size, checksum = HEADER.unpack(whole[: HEADER.size])
        self.assertEqual((magic, version, reserved, size), (b"OBOLUSFM", 4, 0, len(whole) - HEADER.size))
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
        for name, content, patterns in [
            ("cut", whole[:-1], ["damaged", "fit the model again"]),
            ("longer", whole + b"x", ["damaged"]),
            ("flipped", flipped, ["damaged", "fit the model again"]),
            ("reserved", HEADER.pack(magic, version, 1, size, checksum) + whole[HEADER.size :], ["damaged"]),
            ("empty", b"", ["expected a model of `obolus fit`"]),
            ("header", whole[:20], ["expected a model of `obolus fit`"]),
            ("text", b"hello\n" * 20, ["expected a model of `obolus fit`"]),
            ("future", HEADER.pack(magic, 9, 0, size, checksum) + whole[HEADER.size :], ["version 9", "newer obolus"]),
            ("past", HEADER.pack(magic, 0, 0, size, checksum) + whole[HEADER.size :], ["version 0", "fit it again"]),
        ]:
            with self.subTest(name):
                (self.directory / name).write_bytes(content)
                self.refused("inspect", name, code=DATA, patterns=[rf"^obolus: {name}: ", *patterns])
                self.refused("predict", name, "rows.csv", code=DATA, patterns=[rf"^obolus: {name}: ", *patterns])
        for name, patterns in (("nowhere", ["nowhere: cannot open"]), ("run", ["run: is a folder"]),
                               ("run/checkpoint", ["expected a model"]),
                               ("rows.csv", ["expected a model"])):  # fmt: skip
            with self.subTest(name):
                self.refused("inspect", name, code=DATA, patterns=patterns)

    def test_fields_that_do_not_fit_are_refused(self):
        """Damage that the checksum does not show: bytes changed, and the checksum with them."""
        whole = self.model()

        def fnv(data):
            value = 0xCBF29CE484222325
            for byte in data:
                value = (value ^ byte) * 0x100000001B3 % 2**64
            return value

        self.assertEqual(HEADER.unpack(whole[: HEADER.size])[4], fnv(whole[HEADER.size :]))
        body = whole[HEADER.size :]
        for at in range(3, len(body), max(1, len(body) // 25)):
            changed = body[:at] + bytes([body[at] ^ 0x81]) + body[at + 1 :]
            header = HEADER.pack(b"OBOLUSFM", 1, 0, len(changed), fnv(changed))
            (self.directory / "odd").write_bytes(header + changed)
            for verb in (["predict", "odd", "rows.csv"], ["inspect", "odd"]):
                command = [program.executable(), *verb]
                answer = subprocess.run(command, cwd=self.directory, capture_output=True, timeout=60)
                told = answer.stderr.decode(errors="replace")
                self.assertIn(answer.returncode, (0, DATA), f"{verb}, byte {at}: {told}")
                self.assertIsNone(program.STACK_TRACE.search(told), f"{verb}, byte {at}: {told}")

    def test_inspect(self):
        text = self.obolus("inspect", "run/model").stdout
        for pattern in (r"task +classes", r"rows learnt +1,000", r"features +\d", r"classes .*kind 0", r"rate +\d",
                        r"l2 of features +\S+ to \S+, half", r"largest weights", r"(?m)^width ",
                        r"(?m)^#[0-9a-f]{16} "):
            self.assertRegex(text, pattern)
        self.assertNotIn("largest", self.obolus("inspect", "run/model", "--weights", 0).stdout)
        data = json.loads(self.obolus("inspect", "run/model", "--json", "--weights", 5).stdout)
        keys = "task rows rounds features classes groups hyperparameters l2_of_features constants largest_weights"
        self.assertEqual(set(data), set(keys.split()))
        self.assertEqual((data["task"], data["rows"], len(data["constants"])), ("classes", 1_000, 3))
        weights = [abs(w["weight"]) for w in data["largest_weights"]]
        self.assertEqual(weights, sorted(weights, reverse=True))
        self.assertEqual(len(weights), 5)
        self.assertEqual({w["for"] for w in data["largest_weights"]} - set(data["classes"]), set())

    def test_report(self):
        path = self.obolus("report", "run").stdout.strip()
        self.assertEqual(path, str((self.directory / "run/report.html").resolve()))
        self.assertGreater(os.path.getsize(path), 10_000)

    def test_the_trace_is_json_with_every_hyperparameter(self):
        rows = program.trace(self.directory / "run")
        rounds = [row["t"] for row in rows]
        self.assertEqual(rounds, sorted(set(rounds)), "one line per round")
        self.assertEqual({len(row["x_values"]) for row in rows}, {5})
        self.assertIn("log_loss", rows[0]["evaluation"])
        evaluated = [row["t"] for row in rows if "evaluation" in row]
        self.assertEqual(evaluated, [t for t in rounds if t < 512 or t % (1 << (t.bit_length() - 9)) == 0])


if __name__ == "__main__":
    unittest.main()
