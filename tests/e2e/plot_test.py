"""Figures from run folders: endings, choices, what is refused, and that a figure shows the numbers of the trace."""

import json
import re
import shutil
import statistics
import struct
import unittest
import xml.etree.ElementTree as xml

import program

RUN = """\
[problem]
name = "quadratic"
rounds = {rounds}
evaluate = true
[optimiser]
name = "f2obo"
alpha = 0.1
gamma = 0.05
[metrics]
gamma = 0.05
evaluate_every = 10
"""
COMPARISON = """\
[compare]
seeds = 2
horizons = [20, 40]
[problem]
name = "quadratic"
[metrics]
gamma = 0.05
[shared]
gamma = [0.001, 0.05]
[[stream]]
name = "static"
problem = { drift = "static" }
[[stream]]
name = "jumps"
problem = { drift = "abrupt", period = 10 }
[[optimiser]]
label = "F²OBO <&\\"'>"
name = "f2obo"
[[optimiser]]
name = "sobow"
"""
SVG = "{http://www.w3.org/2000/svg}"


class PlotTest(program.ProgramTest):
    def run_folder(self, name, *arguments, rounds=40):
        self.write("run.toml", RUN.format(rounds=rounds))
        self.obolus("run", "run.toml", "--out", name, "-q", *arguments)

    def comparison(self, name="all"):
        self.write("compare.toml", COMPARISON)
        self.obolus("compare", "compare.toml", "--out", name, "-q")

    def plot(self, *arguments):
        """The figure's root element, its words and what was said."""
        answer = self.obolus("plot", *arguments, "-o", "figure.svg")
        self.assertEqual(answer.stdout, "figure.svg\n")
        root = xml.parse(self.directory / "figure.svg").getroot()
        return root, ["".join(element.itertext()) for element in root.iter(SVG + "text")], answer.stderr

    def renders(self):
        """Whether the program was built with librsvg."""
        answer = program.run(["plot", "nowhere", "-o", "figure.png"], self.directory)
        if answer.returncode == 3:
            return True
        self.assertEqual(answer.returncode, 2, answer.stderr)
        for word in ("librsvg2-dev", ".svg"):
            self.assertIn(word, answer.stderr)
        return False

    def test_the_ending_says_what_is_written(self):
        self.run_folder("a")
        self.assertEqual(self.obolus("plot", "a").stdout, "a/figure.svg\n")
        if not self.renders():
            self.skipTest("built without librsvg")
        for dpi, width in ((300, 2008), (100, 669)):  # 170 mm / 25.4 mm · dpi
            self.obolus("plot", "a", "-o", "figure.PNG", "--dpi", dpi)
            png = (self.directory / "figure.PNG").read_bytes()
            self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">I", png[16:20])[0], width)
            place = png.index(b"pHYs")
            self.assertEqual(struct.unpack(">IIB", png[place + 4 : place + 13]), (round(dpi / 0.0254),) * 2 + (1,))
        self.obolus("plot", "a", "-o", "figure.pdf", "--width", 85)
        pdf = (self.directory / "figure.pdf").read_bytes()
        self.assertTrue(pdf.startswith(b"%PDF-"))
        width = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", pdf)
        self.assertAlmostEqual(float(width[1]), 85 / 25.4 * 72, delta=1)
        self.assertIn(b"/FontFile", pdf)  # letters, not outlines
        self.assertNotIn(b"/Subtype /Image", pdf)

    def test_other_endings_are_refused_with_the_three(self):
        self.run_folder("a")
        for name in ("figure.jpg", "figure", "svg"):
            said = self.obolus("plot", "a", "-o", name, code=2).stderr
            for ending in (".svg", ".png", ".pdf", name):
                self.assertIn(ending, said)
            self.assertFalse((self.directory / name).exists())

    def test_a_curve_stands_where_the_mean_of_the_traces_does(self):
        for seed in (1, 2, 3):
            self.run_folder(f"s{seed}", "--seed", seed)
        root, _, _ = self.plot("s1", "s2", "s3", "--measure", "f")
        lines = list(root.iter(SVG + "polyline"))
        self.assertEqual(len(lines), 1)
        points = [tuple(map(float, p.split(","))) for p in lines[0].get("points").split()]
        traces = [program.trace(self.directory / f"s{seed}") for seed in (1, 2, 3)]
        means = [statistics.mean(row["f"] for row in rows) for rows in zip(*traces, strict=True)]
        self.assertEqual(len(points), len(means))
        # The axis is linear, so heights are an affine map of the means: found from the extremes, true for all to the
        # rounding of the file's coordinates (0.005 each, in the point and in both extremes).
        low, high = means.index(min(means)), means.index(max(means))
        slope = (points[high][1] - points[low][1]) / (means[high] - means[low])
        for (_, y), mean in zip(points, means, strict=True):
            self.assertAlmostEqual(y, points[low][1] + slope * (mean - means[low]), delta=0.02)
        self.assertEqual(len(list(root.iter(SVG + "polygon"))), 1)

    def test_long_runs_are_thinned_and_keep_their_ends(self):
        self.run_folder("long", rounds=5000)
        root, _, _ = self.plot("long", "--measure", "lambda")
        points = next(root.iter(SVG + "polyline")).get("points").split()
        self.assertLessEqual(len(points), 2000)
        frame = list(root.iter(SVG + "rect"))[-1]
        right = float(frame.get("x")) + float(frame.get("width"))
        self.assertAlmostEqual(float(points[-1].split(",")[0]), right, delta=0.02)

    def test_lists_what_the_folders_offer(self):
        self.run_folder("a")
        self.comparison()
        names = self.obolus("plot", "a", "--list").stdout.split("\n")
        for name in ("f", "g", "regret", "lambda", "residual_y", "seconds", "gradients", "inner_distance"):
            self.assertIn(name, names)
        both = self.obolus("plot", "a", "all", "--list").stdout.split()
        self.assertEqual(len(both), len(set(both)))
        self.assertIn("samples", both)

    def test_runs_and_comparisons_stand_in_one_figure(self):
        self.run_folder("a")
        self.comparison()
        _, words, said = self.plot("a", "all")
        for word in ("static", "jumps", "quadratic", "f2obo", "sobow", "F²OBO <&\"'>", "regret", "inner distance"):
            self.assertIn(word, words)
        summary = json.loads((self.directory / "all" / "summary.json").read_text(encoding="utf-8"))
        for optimiser in summary["streams"][0]["optimisers"]:
            self.assertIn(f"static: {optimiser['label']}: drawn is '{optimiser['best']['setting']}'", said)

    def test_choices_narrow_the_figure(self):
        self.comparison()
        jumps = ["all", "--stream", "jumps"]
        root, words, _ = self.plot(*jumps, "--only", "sobow", "--setting", "gamma=0.05", "--measure", "regret")
        self.assertEqual(len(list(root.iter(SVG + "polyline"))), 1)
        self.assertIn("sobow", words)
        self.assertNotIn("static", words)
        root, words, _ = self.plot(*jumps, "--setting", "all", "--measure", "f", "--title", "A title")
        self.assertEqual(len(list(root.iter(SVG + "polyline"))), 4)
        self.assertIn("sobow, gamma=0.001", words)
        self.assertIn("A title", words)

    def test_axes_are_as_asked(self):
        self.run_folder("a")
        _, words, _ = self.plot("a", "--x", "gradients", "--log-x", "--measure", "regret")
        self.assertIn("gradients", words)
        self.assertTrue(any(re.fullmatch(r"f2obo \(slope [0-9.−-]+\)", word) for word in words), words)
        _, words, _ = self.plot("a", "--x", "seconds", "--linear-y")
        self.assertTrue(any(word.startswith("seconds") for word in words), words)  # with a factor: a run this short
        self.obolus("plot", "a", "--log-y", "--linear-y", code=2)
        self.obolus("plot", "a", "--x", "days", code=2)
        self.obolus("plot", "a", "--width", "3", code=2)

    def test_an_unfinished_run_is_drawn_and_a_damaged_one_refused_by_line(self):
        self.run_folder("a")
        trace = self.directory / "a" / "trace.jsonl"
        whole = trace.read_text(encoding="utf-8")
        trace.write_text(whole[:-20], encoding="utf-8")
        self.plot("a")
        lines = whole.splitlines()
        lines[6] = lines[6][:30]
        trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.assertIn("a/trace.jsonl:7", self.obolus("plot", "a", code=3).stderr)

    def test_what_is_not_there_is_refused_by_name(self):
        self.run_folder("a")
        shutil.copytree(self.directory / "a", self.directory / "b")
        for arguments, code, words in [
            (["nowhere"], 3, ["nowhere", "trace.jsonl", "cells.jsonl"]),
            (["a", "--measure", "regrett"], 3, ["regrett", "did you mean 'regret'"]),
            (["a", "--only", "f3obo"], 2, ["f3obo", "f2obo"]),
            (["a", "--stream", "image"], 2, ["image", "quadratic"]),
            (["a", "b"], 2, ["-o", "several folders"]),
            (["a", "a", "-o", "x.svg"], 2, ["twice"]),
            (["a", "-o", "no/such/folder.svg"], 3, ["no/such/folder.svg"]),
        ]:
            with self.subTest(arguments):
                said = self.obolus("plot", *arguments, code=code).stderr
                for word in words:
                    self.assertIn(word, said)

    def test_a_folder_stays_as_it_was(self):
        self.run_folder("a")
        before = sorted(path.name for path in (self.directory / "a").iterdir())
        self.plot("a")
        self.assertEqual(sorted(path.name for path in (self.directory / "a").iterdir()), before)


if __name__ == "__main__":
    unittest.main()
