"""`obolus report`: one HTML file from run folders alone. What the page does with it is tested in web/tests."""

import base64
import json
import re
import unittest
import zlib

import program

DATA = re.compile(r'<script id="obolus-data" type="application/octet-stream">([A-Za-z0-9+/=]*)</script>')
RUN = """\
[problem]
name = "quadratic"
rounds = 60
seed = {seed}
[optimiser]
name = "f2obo"
gamma = 0.05
[metrics]
gamma = 0.05
"""
COMPARISON = """\
[compare]
seeds = 2
[problem]
name = "quadratic"
rounds = 60
[metrics]
gamma = 0.05
[[optimiser]]
label = "</script><script>alert(1)</script>"
name = "f2obo"
gamma = [0.05, 0.1]
"""


class ReportTest(program.ProgramTest):
    def data(self, path):
        """The report's numbers, and the page without them."""
        page = (self.directory / path).read_text(encoding="utf-8")
        found = DATA.findall(page)
        self.assertEqual(len(found), 1)
        return json.loads(zlib.decompress(base64.b64decode(found[0], validate=True))), DATA.sub("", page)

    def run_with(self, seed):
        self.write("config.toml", RUN.format(seed=seed))
        self.obolus("run", "config.toml", "--out", f"run{seed}", "-q")

    def test_a_run_becomes_one_file_beside_it(self):
        self.run_with(1)
        said = self.obolus("report", "run1").stdout.strip()
        self.assertEqual(said, str((self.directory / "run1" / "report.html").resolve()))
        report, page = self.data("run1/report.html")
        self.assertEqual(report["runs"][0]["columns"]["t"], list(range(1, 61)))
        self.assertEqual(report["made"]["command"].split()[1:], ["report", "run1"])
        machine = report["sources"][0]["about"][0]["machine"]
        self.assertGreaterEqual(machine["cores"], 1)
        self.assertIn("Content-Security-Policy", page)
        for reference in re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]+)""", page.split("<script")[0]):
            self.assertTrue(reference.startswith(("#", "data:")), reference)

    def test_every_number_of_the_trace_is_in_it_to_seven_digits(self):
        self.run_with(1)
        self.obolus("report", "run1", "-o", "r.html")
        columns = self.data("r.html")[0]["runs"][0]["columns"]
        for i, row in enumerate(program.trace(self.directory / "run1")):
            for name, value in row.items():
                if isinstance(value, (int, float)):
                    self.assertAlmostEqual(columns[name][i], value, delta=1e-6 * abs(value), msg=name)

    def test_several_folders_make_one_report_and_resumed_runs_say_so(self):
        self.run_with(1)
        self.run_with(2)
        self.obolus("run", "run2/config.toml", "--rounds", "80", "--out", "run2", "--resume", "-q")
        self.write("compare.toml", COMPARISON)
        self.obolus("compare", "compare.toml", "--out", "compared", "-q")
        self.obolus("report", "run1", "run2", "compared", "-o", "all.html")
        report, page = self.data("all.html")
        self.assertEqual([s["kind"] for s in report["sources"]], ["run", "run", "comparison"])
        self.assertEqual(len(report["sources"][1]["about"]), 2)
        self.assertEqual(len(report["runs"]), 2 + 4)
        self.assertEqual(report["runs"][2]["optimiser"], "</script><script>alert(1)</script>")
        self.assertNotIn("alert(1)", page)

    def test_the_same_folders_give_the_same_bytes_but_for_the_date(self):
        self.run_with(1)
        reports = []
        for _ in range(2):
            self.obolus("report", "run1", "-o", "r.html")
            reports.append(self.data("r.html")[0])
            reports[-1]["made"].pop("date")
        self.assertEqual(*reports)

    def test_what_holds_no_run_is_refused_by_name(self):
        self.assertIn("nowhere: holds no run", self.obolus("report", "nowhere", code=3).stderr)
        self.assertIn("folders", self.obolus("report", code=2).stderr)

    def test_the_demonstration_ends_with_a_report_of_its_own(self):
        said = self.obolus("demo", "--out", "demo").stdout
        path = re.search(r"^Report: (.*)$", said, re.MULTILINE).group(1)
        self.assertTrue(path.endswith("demo/report.html"), path)
        report, _ = self.data(path)
        self.assertEqual(len(report["runs"]), 2 * 30 * 3)
        self.assertLess((self.directory / path).stat().st_size, 3_000_000)


if __name__ == "__main__":
    unittest.main()
