"""A fit that is killed again and again, at any moment, ends with the bytes of one that is not.

Moments are random times from the start of the process to its end, so that they hit start-up, learning, writing,
renaming and syncing. After every kill the model must be whole, the predictions so far must be those of the whole run,
and the next process must go on from the checkpoint. `fit_kill_test.py --kills 1000` tries harder than the suite.
"""

import json
import random
import re
import shutil
import subprocess
import sys
import time
import unittest

import fit_streams
import program

KILLS = 25
EVERY = 200
TIMING = re.compile(r"second")

# name, file, its text, options
CASES = [
    ("binary", "rows.svm", lambda: fit_streams.svmlight(1, 6_000), []),
    ("late classes", "rows.csv", lambda: fit_streams.csv(*fit_streams.table(2, 6_000, 7)), ["--label", "kind"]),
    ("numbers", "prices.csv", lambda: fit_streams.numbers(3, 6_000), ["--task", "numbers"]),
    ("delay", "rows.svm", lambda: fit_streams.svmlight(4, 6_000, classes=3),
     ["--delay", 70, "--hold-out", 5, "--threads", 1]),
    ("l2 a group", "rows.vw", lambda: fit_streams.vowpal_wabbit(5, 3_000, namespaces=12),
     ["--tune", "rate,l2-per-group", "--probabilities"]),
    ("shifts of classes", "rows.svm", lambda: fit_streams.svmlight(6, 4_000, classes=3),
     ["--tune", "class-shift,class-scale,temperature", "--classes", "2,1,0", "--probabilities"]),
    ("bad rows", "rows.svm", lambda: with_bad_rows(fit_streams.svmlight(7, 5_000)),
     ["--classes", "0,1", "--skip-bad", 1_000, "--hash-bits", 4]),
    ("rows to judge by", "rows.svm", lambda: fit_streams.svmlight(9, 4_000, classes=3), ["--validation", "judges.svm"]),
    ("an optimiser", "rows.svm", lambda: fit_streams.svmlight(10, 4_000, classes=3), ["--advanced", "optimiser=f2obo"]),
    ("generated", None, None, ["--generate", "sea,drift_rows=1000", "--rows", 5_000]),
]  # fmt: skip


def with_bad_rows(text):
    """One row in ten is none, or has a label that is none."""
    rng = random.Random(8)
    return "".join(rng.choice(["7 1:5\n", "1 1:x\n"]) * (rng.random() < 0.1) + line for line in text.splitlines(True))


class Counts:
    def __init__(self):
        self.kills = self.finished = self.runs = self.unreadable = self.stuck = self.other_bits = 0
        self.before_folder = self.before_checkpoint = self.half_written = 0

    def __str__(self):
        return (
            f"{self.kills} kills in {self.runs} runs: {self.before_folder} before the folder was there, "
            f"{self.before_checkpoint} before the first checkpoint, {self.half_written} with a file half written; "
            f"{self.unreadable} unreadable models, {self.stuck} runs that could not go on, "
            f"{self.other_bits} resumed to other bits"
        )


class FitKillTest(program.ProgramTest):
    def command(self, out, *more):
        files = ["--out", out, "--predictions", f"{out}.txt"]
        return ["fit", *self.options, "--checkpoint-every", EVERY, *files, "-q", *more]

    def bytes_of(self, name):
        path = self.directory / name
        return path.read_bytes() if path.exists() else None

    def summary(self, out):
        data = json.loads(self.bytes_of(f"{out}/summary.json"))
        return {key: value for key, value in data.items() if not TIMING.search(key)}

    def results(self, out):
        trace = [program.without_seconds(line) for line in program.trace_lines(self.directory / out)]
        return self.bytes_of(f"{out}/model"), self.bytes_of(f"{out}.txt"), self.summary(out), trace

    def look_at_what_is_left(self, counts):
        folder = self.directory / "cut"
        if not folder.exists():
            counts.before_folder += 1
            return
        counts.before_checkpoint += not (folder / "checkpoint").exists()
        counts.half_written += any(folder.glob("*.tmp"))
        if (folder / "model").exists():
            answer = program.run(["inspect", "cut/model", "--json"], self.directory)
            if answer.returncode != 0 or json.loads(answer.stdout)["rows"] < 1:
                counts.unreadable += 1
                self.fail(f"{self.told}: the model is unreadable: {answer.stderr}")
        written = self.bytes_of("cut.txt") or b""
        self.assertTrue(self.whole[1].startswith(written), f"{self.told}: predictions so far are others")

    def start_and_kill(self, counts, fresh):
        """True when the process came to its end before it was killed."""
        delay = self.rng.uniform(0, self.rng.choice([0.3, 1.05]) * self.duration)
        self.told = f"{self.name}, seed {self.seed}, kill {counts.kills + 1} after {delay:.4f} s"
        process = program.start(self.command("cut", *([] if fresh else ["--resume"])), self.directory)
        try:
            _, said = process.communicate(timeout=delay)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
        if process.returncode == -9:
            counts.kills += 1
            self.look_at_what_is_left(counts)
            return False
        if process.returncode != 0:
            counts.stuck += 1
            self.fail(f"{self.told}: could not go on, exit {process.returncode}: {said}")
        return True

    def run_until_finished(self, counts, kills):
        """A run from its start to its end, through kills; no more than so many in all."""
        shutil.rmtree(self.directory / "cut", ignore_errors=True)
        (self.directory / "cut.txt").unlink(missing_ok=True)
        counts.runs += 1
        fresh = True
        while counts.kills < kills:
            if self.start_and_kill(counts, fresh):
                break
            fresh = False
        else:
            self.obolus(*self.command("cut", "--resume"))
        if self.results("cut") != self.whole:
            counts.other_bits += 1
            self.fail(f"{self.told}: resumed to other bits")
        self.assertEqual(list((self.directory / "cut").glob("*.tmp")), [])

    def begin(self, case):
        self.name, file, text, options = case
        self.options = [*([file] if file else []), *options]
        if file:
            self.write(file, text())
        self.write("judges.svm", fit_streams.svmlight(9, 30, classes=3))
        shutil.rmtree(self.directory / "whole", ignore_errors=True)
        began = time.monotonic()
        self.obolus(*self.command("whole"))
        self.duration = time.monotonic() - began
        self.whole = self.results("whole")
        self.seed = random.SystemRandom().randrange(2**32)
        self.rng = random.Random(self.seed)

    def test_killed_and_resumed_until_finished(self):
        total = 0
        for number, case in enumerate(CASES):
            kills = KILLS * (number + 1) // len(CASES) - KILLS * number // len(CASES)
            with self.subTest(case[0]):
                self.begin(case)
                counts = Counts()
                try:
                    while counts.kills < kills:
                        self.run_until_finished(counts, kills)
                finally:
                    print(f"{self.name} ({self.duration:.2f} s): {counts}", file=sys.stderr)
                total += counts.kills
        self.assertEqual(total, KILLS)


if __name__ == "__main__":
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()
