"""Ctrl-C and other threads while native code runs."""

import json
import os
import subprocess
import sys
import threading

import obolus
from tracking import Tracking

QUADRATIC = obolus.problems.Quadratic(dim_x=2, dim_y=3)

INTERRUPTED = """
import os, signal, sys, threading
import obolus
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits it ignored
{setup}
try:
    obolus.run(obolus.F2obo(), problem, rounds=10**9, out=sys.argv[1], every=10**6, progress=False,
               metrics={{"every": 10**6, "regret": False}}{more})
except KeyboardInterrupt as stopped:
    print("interrupted:", stopped)
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def interrupted(tmp_path, setup, more=""):
    """The output of a program whose run gets Ctrl-C, and the folder that the run wrote."""
    script = INTERRUPTED.format(setup=setup, more=more)
    folder = tmp_path / "run"
    answer = subprocess.run(
        [sys.executable, "-c", script, folder],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=os.path.dirname(__file__),
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines(), folder


def test_ctrl_c_in_a_native_run_saves_and_raises(tmp_path):
    # The signal comes while native code runs: a second thread sends it once the folder is there.
    setup = """
def send():
    while not os.path.exists(os.path.join(sys.argv[1], "trace.jsonl")):
        pass
    os.kill(os.getpid(), signal.SIGINT)
problem = obolus.problems.Quadratic(dim_x=2, dim_y=3)
threading.Thread(target=send).start()
"""
    lines, folder = interrupted(tmp_path, setup)
    assert lines[0].startswith("interrupted: stopped after round ") and "resume=True" in lines[0] and lines[1] == "True"
    done = int(lines[0].split()[4])
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["status"], summary["rounds"]) == ("stopped", done)
    session = obolus.run_config(folder / "config.toml", out=folder, resume=True, callback=lambda row: False,
                                overrides={"log.every": 1})  # fmt: skip
    assert session.rounds == done + 1


def test_ctrl_c_in_a_method_of_an_own_problem_ends_the_round_first(tmp_path):
    setup = """
from tracking import Tracking
problem = Tracking(500, lambda: signal.raise_signal(signal.SIGINT))
"""
    lines, folder = interrupted(tmp_path, setup)
    assert lines[0].startswith("interrupted: stopped after round ") and lines[1] == "True"
    done = int(lines[0].split()[4])
    assert done >= 500 and json.loads((folder / "summary.json").read_text())["rounds"] == done
    run = obolus.run(
        obolus.F2obo(), Tracking(), rounds=10**9, out=folder, every=1, resume=True, callback=lambda row: False,
        metrics={"every": 10**6, "regret": False},
    )  # fmt: skip
    assert run.rounds == done + 1


def test_a_second_ctrl_c_does_not_wait_for_the_round(tmp_path):
    setup = """
from tracking import Tracking
def twice():
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
problem = Tracking(500, twice)
"""
    lines, folder = interrupted(tmp_path, setup)
    assert lines == ["interrupted: ", "True"]
    assert not (folder / "summary.json").exists()


def test_another_thread_goes_on_while_native_code_runs():
    """The interpreter never switches threads here: the other one runs only if native code lets it."""
    go, done = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: (go.wait(), done.set()))
    other.start()
    calls = []

    def callback(row):
        go.set()
        calls.append(done.is_set())
        return not done.is_set() and len(calls) < 200

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        obolus.run(obolus.F2obo(), QUADRATIC, rounds=10**9, callback=callback, every=10**5, progress=False,
                   metrics={"every": 10**5, "regret": False, "variation": False})  # fmt: skip
    finally:
        sys.setswitchinterval(interval)
        go.set()
        other.join()
    assert not calls[0] and calls[-1]
