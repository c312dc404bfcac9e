"""Driving the obolus program from the end-to-end tests: where it is, how it is run, what it leaves.

The program is taken from the environment variable OBOLUS, or else from build/release/obolus.
"""

import faulthandler
import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# Seconds; a run that needs this long hangs. The longest takes one minute of two free cores, but machines are shared.
TIMEOUT = 400

# A suite that hangs says where before ctest ends it, whose own report has nothing of it.
faulthandler.dump_traceback_later(float(os.environ.get("OBOLUS_TEST_SECONDS", 570)), exit=True)

# The documented config, word for word.
ISSUE_CONFIG = """\
[problem]
name = "quadratic_file"
path = "stream.json"
rounds = 200
[start]            # numbers or arrays; default 0
x = 0.0
y = 0.0
[optimiser]
name = "f2obo"     # f2obo, f2obo_sl, af2obo, sf2obo
alpha = 0.1
beta_rule = "alpha/lambda"   # or "theory"
gamma = 0.05
lambda1 = 5.0
tau = 1.0
inner_steps = 5    # af2obo: delta_y, delta_z, max_inner
[domain]
set = "box"        # all, box (lower, upper), l2_ball (radius), l1_ball (radius), simplex, nonnegative
lower = -1.0
upper = 1.0
[metrics]
gamma = 0.05       # the gamma of the regret
[log]
vectors = true
"""

# Marks of a crash or of an error nobody caught.
STACK_TRACE = re.compile(
    r"terminate called|what\(\):|Aborted|core dumped|Segmentation|Traceback|"
    r"AddressSanitizer|runtime error:|std::[a-z_]+(error|exception)|^\s*#\d+ 0x",
    re.MULTILINE,
)


def executable():
    """The program's absolute path; a clear failure when it has not been built."""
    path = Path(os.environ.get("OBOLUS", REPOSITORY / "build" / "release" / "obolus")).resolve()
    if not os.access(path, os.X_OK) or path.is_dir():
        raise FileNotFoundError(f"no program at {path}: run `make build`, or set OBOLUS")
    return str(path)


def _default_interrupt():
    """A runner started in the background ignores Ctrl-C and would hand that on to the program."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(arguments, cwd, **streams):
    """The program as a running process."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | streams
    return subprocess.Popen(
        [executable(), *map(str, arguments)],
        cwd=cwd,
        encoding="utf-8",
        preexec_fn=_default_interrupt,
        **streams,
    )


def run(arguments, cwd):
    """The program run to its end: a CompletedProcess with returncode, stdout and stderr."""
    process = start(arguments, cwd)
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"{arguments} still ran after {TIMEOUT} s\n{out}\n{err}") from None
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items()) + " }"
    return repr(value)


def toml_text(config):
    """Two-level dicts as TOML; what lies deeper becomes inline tables."""
    lines = []
    for section, keys in config.items():
        lines.append(f"[{section}]")
        lines.extend(f"{key} = {toml_value(value)}" for key, value in keys.items())
    return "\n".join(lines) + "\n"


def trace_lines(directory):
    """The lines of a run's trace as text."""
    text = (Path(directory) / "trace.jsonl").read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        raise AssertionError(f"{directory}/trace.jsonl ends in the middle of a line")
    return text.splitlines()


def trace(directory):
    """The rows of a run's trace as dicts. NaN and Infinity are not JSON and are refused."""

    def refuse(token):
        raise ValueError(f"{token} in {directory}/trace.jsonl")

    return [json.loads(line, parse_constant=refuse) for line in trace_lines(directory)]


def without_seconds(line):
    """A trace line with the wall time taken out, the rest untouched as text."""
    return re.sub(r'"seconds"\s*:\s*[^,}\s]+', '"seconds":_', line)


class ProgramTest(unittest.TestCase):
    """A test with a scratch directory and assertions about the program's answers."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="obolus-e2e-")
        self.addCleanup(scratch.cleanup)
        self.directory = Path(scratch.name)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def obolus(self, *arguments, code=0):
        """Runs the program in the scratch directory and asserts its exit code."""
        answer = run(arguments, self.directory)
        told = f"obolus {' '.join(map(str, arguments))}\nstdout: {answer.stdout}\nstderr: {answer.stderr}"
        self.assertEqual(answer.returncode, code, told)
        self.assertIsNone(STACK_TRACE.search(answer.stderr), told)
        return answer

    def assert_same_trace(self, first, second):
        """All fields of all rounds equal as text, wall time aside."""
        ours = [without_seconds(line) for line in trace_lines(self.directory / first)]
        theirs = [without_seconds(line) for line in trace_lines(self.directory / second)]
        self.assertEqual(len(ours), len(theirs), f"rounds in {first} and {second}")
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True), start=1):
            if one != other:
                self.fail(f"line {number} differs\n{first}: {one}\n{second}: {other}")
