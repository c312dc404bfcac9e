"""A run that was killed and resumed leaves the trace of a run that was not, byte for byte but the seconds.

The moment of the kill is a random length of the trace file, not a time, so that nothing depends on
how fast the machine is.
"""

import json
import os
import random
import re
import shutil
import signal
import tomllib
import unittest

import program
import streams

# One kill each: (name, what differs from the documented config).
SETTINGS = [
    ("f2obo separate", {}),
    ("f2obo tied", {"warm_start": "tied"}),
    ("f2obo dual", {"warm_start": "dual"}),
    ("af2obo separate", {"name": "af2obo", "delta_y": 0.05, "delta_z": 0.01, "max_inner": 40, "tau": 0.5}),
    ("af2obo dual", {"name": "af2obo", "delta_y": 0.05, "delta_z": 0.01, "max_inner": 40, "tau": 0.5,
                     "warm_start": "dual"}),  # fmt: skip
]
ROUNDS = 60_000  # long enough to be interrupted, short enough to be quick
CHECKPOINT_EVERY = 1_500
TIMING = re.compile(r"second|time|date|resume|started|finished")  # keys of summary.json that may differ


class ResumeTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        streams.write_stream(streams.drifting_stream(51, 3, 4, 11), self.directory / "stream.json")

    # ---- pieces ----------------------------------------------------------------------------------

    def write_config(self, rounds=None, checkpoint_every=None, **optimiser):
        config = tomllib.loads(program.ISSUE_CONFIG)
        config["problem"]["rounds"] = rounds or ROUNDS
        config["log"]["checkpoint_every"] = checkpoint_every or CHECKPOINT_EVERY
        config["optimiser"] |= optimiser
        if config["optimiser"]["name"] == "af2obo":
            del config["optimiser"]["inner_steps"]
        self.write("config.toml", program.toml_text(config))

    def trace_size(self, out):
        try:
            return os.stat(self.directory / out / "trace.jsonl").st_size
        except FileNotFoundError:
            return 0

    def stop_at_size(self, out, size, how, *flags, checkpointed=True):
        """Starts a run, sends the signal once the trace has `size` bytes, returns the ended process.

        Unless told otherwise the first checkpoint must exist by then."""
        process = program.start(["run", "config.toml", "--out", out, *flags], self.directory)
        checkpoint = self.directory / out / "checkpoint"
        while process.poll() is None:
            if self.trace_size(out) >= size and (checkpoint.exists() or not checkpointed):
                process.send_signal(how)
                break
        out_text, err_text = process.communicate(timeout=program.TIMEOUT)
        process.told = f"exit {process.returncode}\nstdout: {out_text}\nstderr: {err_text}"
        process.err_text = err_text
        self.assertNotEqual(process.returncode, 0, "the run ended before the signal: raise ROUNDS")
        return process

    def forget(self, *outs):
        """A trace has tens of megabytes."""
        for out in outs:
            shutil.rmtree(self.directory / out)

    def resume(self, out):
        self.obolus("run", "config.toml", "--out", out, "--resume", "-q")

    def complete_lines(self, out, count):
        """The first `count` complete lines of a trace that may end in the middle of one."""
        text = (self.directory / out / "trace.jsonl").read_text(encoding="utf-8")
        lines = text.split("\n")[:-1]
        self.assertGreaterEqual(len(lines), count, f"{out} had too few rounds on disk for its checkpoint")
        return lines[:count]

    def summary(self, out):
        data = json.loads((self.directory / out / "summary.json").read_text(encoding="utf-8"))
        return self.without_timing(data)

    def without_timing(self, data):
        if isinstance(data, dict):
            return {k: self.without_timing(v) for k, v in data.items() if not TIMING.search(k)}
        return data

    def assert_same_run(self, first, second):
        self.assert_same_trace(first, second)
        self.assertEqual(self.summary(first), self.summary(second))

    # ---- kill -9 ------------------------------------------------------------------------------------

    def test_killed_and_resumed_is_uninterrupted(self):
        rng = random.Random()  # a new moment every time; the message says which
        for number, (name, optimiser) in enumerate(SETTINGS):
            fraction = rng.uniform(0.1, 0.8)
            with self.subTest(f"{name}, killed at {fraction:.6f} of the trace"):
                self.write_config(**optimiser)
                whole, cut = f"whole{number}", f"cut{number}"
                self.obolus("run", "config.toml", "--out", whole, "-q")
                self.assertEqual(len(program.trace_lines(self.directory / whole)), ROUNDS)
                process = self.stop_at_size(cut, fraction * self.trace_size(whole), signal.SIGKILL, "-q")
                self.assertEqual(process.returncode, -signal.SIGKILL, process.told)
                before = self.complete_lines(cut, CHECKPOINT_EVERY)
                self.resume(cut)
                self.assert_same_run(whole, cut)
                # It went on and did not start again: the old lines kept even their seconds.
                self.assertEqual(self.complete_lines(cut, CHECKPOINT_EVERY), before)
                self.forget(whole, cut)

    def test_killed_three_times(self):
        self.write_config()
        self.obolus("run", "config.toml", "--out", "whole", "-q")
        size = self.trace_size("whole")
        self.stop_at_size("cut", 0.2 * size, signal.SIGKILL, "-q")
        self.stop_at_size("cut", 0.45 * size, signal.SIGKILL, "-q", "--resume")
        self.stop_at_size("cut", 0.7 * size, signal.SIGKILL, "-q", "--resume")
        self.resume("cut")
        self.assert_same_run("whole", "cut")

    def test_killed_before_the_first_checkpoint_starts_again(self):
        self.write_config(checkpoint_every=10 * ROUNDS)
        self.obolus("run", "config.toml", "--out", "whole", "-q")
        self.stop_at_size("cut", 0.3 * self.trace_size("whole"), signal.SIGKILL, "-q", checkpointed=False)
        self.resume("cut")
        self.assert_same_run("whole", "cut")

    # ---- Ctrl-C ---------------------------------------------------------------------------------------

    def test_interrupted_saves_and_says_how_to_resume(self):
        rng = random.Random()
        for number, (name, optimiser) in enumerate(SETTINGS[2:4]):
            fraction = rng.uniform(0.1, 0.8)
            with self.subTest(f"{name}, interrupted at {fraction:.6f} of the trace"):
                self.write_config(checkpoint_every=10 * ROUNDS, **optimiser)  # only Ctrl-C saves
                whole, cut = f"whole{number}", f"cut{number}"
                self.obolus("run", "config.toml", "--out", whole, "-q")
                size = fraction * self.trace_size(whole)
                process = self.stop_at_size(cut, size, signal.SIGINT, checkpointed=False)
                self.assertEqual(process.returncode, 130, process.told)
                self.assertRegex(process.err_text, r"--resume", process.told)
                self.assertIsNone(program.STACK_TRACE.search(process.err_text), process.told)
                before = program.trace_lines(self.directory / cut)  # whole lines only
                self.assertLess(len(before), ROUNDS)
                self.resume(cut)
                self.assert_same_run(whole, cut)
                after = program.trace_lines(self.directory / cut)
                self.assertEqual(after[: len(before)], before, "a round that was saved was done again")
                self.forget(whole, cut)

    def test_quiet_does_not_silence_how_to_resume(self):
        self.write_config()
        process = self.stop_at_size("cut", 1, signal.SIGINT, "-q", checkpointed=False)
        self.assertEqual(process.returncode, 130, process.told)
        self.assertRegex(process.err_text, r"--resume", process.told)

    # ---- what resume refuses and leaves alone ------------------------------------------------------------

    def files(self, out):
        return {path.name: path.read_bytes() for path in sorted((self.directory / out).iterdir())}

    def test_resuming_a_finished_run_changes_nothing(self):
        self.write_config(rounds=200, checkpoint_every=50)
        self.obolus("run", "config.toml", "--out", "run", "-q")
        before = self.files("run")
        self.resume("run")
        self.assertEqual(self.files("run"), before)

    def test_resuming_with_another_config_is_refused_and_names_the_key(self):
        self.write_config(rounds=200, checkpoint_every=50)
        self.obolus("run", "config.toml", "--out", "run", "-q")
        before = self.files("run")
        for key, value in [("alpha", 0.2), ("gamma", 0.01), ("inner_steps", 6), ("warm_start", "dual")]:
            with self.subTest(key):
                self.write_config(rounds=200, checkpoint_every=50, **{key: value})
                answer = self.obolus("run", "config.toml", "--out", "run", "--resume", "-q", code=2)
                self.assertRegex(answer.stderr, rf"\b{key}\b")
                self.assertEqual(self.files("run"), before)
        self.write_config(rounds=200, checkpoint_every=50)
        override = ("--set", "optimiser.tau=0.5")
        answer = self.obolus("run", "config.toml", *override, "--out", "run", "--resume", "-q", code=2)
        self.assertRegex(answer.stderr, r"\btau\b")

    def test_an_existing_run_is_not_overwritten_unless_forced(self):
        self.write_config(rounds=200, checkpoint_every=50)
        self.obolus("run", "config.toml", "--out", "run", "-q")
        before = self.files("run")
        answer = self.obolus("run", "config.toml", "--out", "run", "-q", code=2)
        self.assertRegex(answer.stderr, r"--resume")
        self.assertRegex(answer.stderr, r"--force")
        self.assertEqual(self.files("run"), before)
        self.write_config(rounds=30, checkpoint_every=50, alpha=0.2)
        self.obolus("run", "config.toml", "--out", "run", "--force", "-q")
        self.assertEqual(len(program.trace(self.directory / "run")), 30)
        self.obolus("run", "config.toml", "--out", "fresh", "-q")
        self.assert_same_run("fresh", "run")

    def test_an_unfinished_run_is_not_overwritten_either(self):
        self.write_config()
        self.stop_at_size("run", 1, signal.SIGKILL, "-q")
        before = self.files("run")
        self.obolus("run", "config.toml", "--out", "run", "-q", code=2)
        self.assertEqual(self.files("run"), before)

    def test_an_empty_directory_is_as_good_as_none(self):
        self.write_config(rounds=20)
        (self.directory / "run").mkdir()
        self.obolus("run", "config.toml", "--out", "run", "-q")
        self.assertEqual(len(program.trace(self.directory / "run")), 20)


if __name__ == "__main__":
    unittest.main()
