"""Whole runs and comparisons, against the command line."""

import json
import subprocess

import numpy as np
import pytest

import obolus
from obolus.looking import program
from tracking import Tracking

CONFIGS = {
    "f2obo": """
[problem]
name = "quadratic"
rounds = 60
seed = 7
dim_x = 3
dim_y = 4
drift = "abrupt"
period = 20
[optimiser]
name = "f2obo"
gamma = { scale = 0.1, power = -0.25 }
[domain]
set = "box"
lower = -0.5
upper = [0.5, 0.6, 0.7]
[metrics]
evaluate_every = 10
""",
    "aobo": """
[problem]
name = "oscillation"
rounds = 80
[start]
x = 1.0
[optimiser]
name = "aobo"
[metrics]
variation = false
""",
    "sobbo": """
[problem]
name = "quadratic"
rounds = 50
seed = 3
noise = 0.1
noise_cross = 0.1
evaluate = true
precision = "float"
[optimiser]
name = "sobbo"
[metrics]
regret = false
evaluate_every = 7
[log]
every = 2
""",
}


def command_line(*arguments):
    return subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=True)


def trace(folder):
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


def timeless(row):
    """A row without the clock's numbers."""
    return {name: value for name, value in row.items() if name != "seconds"}


def same_bits(run, rows):
    """Every number of the trace is in the run's columns, to the last bit, and no other."""
    for name, column in run.columns.items():
        if name == "seconds":
            continue
        for number, row in zip(column, rows, strict=True):
            there = {**row, **row.get("evaluation", {})}
            assert (np.isnan(number) and name not in there) or there[name] == number, (name, row["t"])
    names = {name for row in rows for name in {**row, **row.get("evaluation", {})}}
    assert names - {"x_values", "x_quantiles", "x_size", "evaluation"} == set(run.columns)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_gives_the_bits_of_the_command_line(name, tmp_path):
    config = tmp_path / f"{name}.toml"
    config.write_text(CONFIGS[name])
    command_line("run", config, "--out", tmp_path / "command")
    every = 2 if name == "sobbo" else 1
    run = obolus.run_config(config, out=tmp_path / "python", every=every)
    rows = trace(tmp_path / "command")
    assert run.status == "finished" and run.label == name and len(rows) == run.rounds // every + (name == "sobbo") * 4
    same_bits(run, rows)
    assert [timeless(row) for row in trace(tmp_path / "python")] == [timeless(row) for row in rows]
    assert run.config == (tmp_path / "command" / "config.toml").read_text()
    ended = json.loads((tmp_path / "command" / "summary.json").read_text())
    assert {k: v for k, v in run.summary.items() if "second" not in k} == {
        k: v for k, v in ended.items() if "second" not in k
    }


def test_classes_give_the_bits_of_the_command_line(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(CONFIGS["f2obo"] + "[log]\nvectors = true\n")
    command_line("run", config, "--out", tmp_path / "command")
    problem = obolus.problems.Quadratic(dim_x=3, dim_y=4, drift="abrupt", period=20)
    optimiser = obolus.F2obo(gamma=obolus.Schedule(scale=0.1, power=-0.25))
    domain = obolus.Box(lower=-0.5, upper=[0.5, 0.6, 0.7])
    metrics = obolus.Metrics(evaluate_every=10)
    run = obolus.run(optimiser, problem, rounds=60, seed=7, domain=domain, metrics=metrics)
    rows = trace(tmp_path / "command")
    same_bits(run, [{k: v for k, v in row.items() if k not in ("x", "y")} for row in rows])
    shorter = obolus.run(optimiser, problem, rounds=59, seed=7, domain=domain, metrics=metrics)
    assert shorter.x.tolist() == rows[59]["x"] and shorter.y.tolist() == rows[59]["y"]


def test_a_seed_of_the_problem_itself_is_kept():
    own = obolus.run(obolus.F2obo(), obolus.problems.Quadratic(seed=5), rounds=3)
    told = obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=3, seed=5)
    assert own.seed == told.seed == 5 and own.x.tobytes() == told.x.tobytes()
    assert obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=3).x.tobytes() != own.x.tobytes()


def test_overrides_are_those_of_the_command_line(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(CONFIGS["f2obo"])
    command_line("run", config, "--out", tmp_path / "command", "--set", "problem.rounds=9", "--set", "domain.set=all",
                 "--set", "log.every=3")  # fmt: skip
    run = obolus.run_config(config, overrides={"problem.rounds": 9, "domain.set": "all", "log.every": 3})
    assert run.config == (tmp_path / "command" / "config.toml").read_text()
    with pytest.raises(obolus.ConfigError, match="no_such"):
        obolus.run_config(config, overrides={"problem.no_such": 9})


PROBLEMS = [obolus.problems.Quadratic(dim_x=2, dim_y=3), Tracking()]


@pytest.mark.parametrize("problem", PROBLEMS, ids=["built-in", "own"])
def test_a_callback_sees_the_rounds_and_may_stop(problem, tmp_path):
    seen = []

    def callback(row):
        seen.append(row)
        return row["t"] < 12

    run = obolus.run(obolus.F2obo(), problem, rounds=50, callback=callback, out=tmp_path / "run")
    assert (run.status, run.rounds, [row["t"] for row in seen]) == ("stopped", 12, list(range(1, 13)))
    assert [row["f"] for row in seen] == run.columns["f"].tolist()
    kept = []
    obolus.run(obolus.F2obo(), problem, rounds=50, every=20, callback=lambda row: kept.append(row["t"]))
    assert kept == [20, 40, 50]


@pytest.mark.parametrize("problem", PROBLEMS, ids=["built-in", "own"])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(problem, tmp_path):
    optimiser, out = obolus.F2obo(), tmp_path / "run"
    whole = obolus.run(optimiser, problem, rounds=30)
    obolus.run(optimiser, problem, rounds=30, out=out, callback=lambda row: row["t"] < 11)
    with pytest.raises(obolus.ConfigError):
        obolus.run(optimiser, problem, rounds=30, out=out)
    run = obolus.run(optimiser, problem, rounds=30, out=out, resume=True)
    assert (run.status, run.rounds, run.folder) == ("finished", 30, str(out))
    assert run.x.tobytes() == whole.x.tobytes() and run.y.tobytes() == whole.y.tobytes()
    for name in whole.columns:
        if name != "seconds":
            assert run.columns[name].tobytes() == whole.columns[name].tobytes(), name
    again = obolus.run(optimiser, problem, rounds=30, out=out, resume=True)
    assert again.columns["f"].tobytes() == whole.columns["f"].tobytes()
    with pytest.raises(ValueError, match="resume: got no folder"):
        obolus.run(optimiser, problem, resume=True)


def test_a_folder_can_be_read_back(tmp_path):
    run = obolus.run(
        obolus.F2obo(), PROBLEMS[0], rounds=30, seed=4, out=tmp_path / "one", metrics={"evaluate_every": 10}
    )
    read = obolus.read_run(tmp_path / "one")
    assert (read.label, read.seed, read.status, read.summary, read.config) == (
        "one", 4, "finished", run.summary, run.config)  # fmt: skip
    assert {name: column.tobytes() for name, column in read.columns.items()} == {
        name: column.tobytes() for name, column in run.columns.items()
    }


def test_an_error_of_the_callback_is_raised_after_saving(tmp_path):
    def callback(row):
        if row["t"] == 5:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        obolus.run(obolus.F2obo(), PROBLEMS[0], rounds=20, callback=callback, out=tmp_path / "run")
    rest = obolus.run(obolus.F2obo(), PROBLEMS[0], rounds=20, out=tmp_path / "run", resume=True)
    assert rest.x.tobytes() == obolus.run(obolus.F2obo(), PROBLEMS[0], rounds=20).x.tobytes()


def test_a_run_that_diverges_is_a_result():
    run = obolus.run(obolus.F2obo(alpha=50.0), Tracking(), x0=1.0, rounds=1000)
    assert run.status == "diverged" and run.rounds < 1000 and "diverged" in repr(run)


def test_progress_is_shown_by_tqdm(capsys):
    obolus.run(obolus.F2obo(), PROBLEMS[0], rounds=25, progress=True)
    assert "25/25" in capsys.readouterr().err
    obolus.compare([obolus.F2obo()], PROBLEMS[0], rounds=5, seeds=[1, 2], progress=True)  # a job measures the stream
    assert "4/4" in capsys.readouterr().err
    obolus.run(obolus.F2obo(), PROBLEMS[0], rounds=25)  # no terminal
    assert capsys.readouterr().err == ""


def test_metrics_are_checked_by_name():
    with pytest.raises(TypeError, match="Metrics: got the option 'regert', expected one of gamma, regret"):
        obolus.run(obolus.F2obo(), PROBLEMS[0], metrics={"regert": True})
    with pytest.raises(TypeError, match="metrics: got 3, expected"):
        obolus.run(obolus.F2obo(), PROBLEMS[0], metrics=3)
    assert set(obolus.run(obolus.F2obo(), PROBLEMS[0], rounds=2).columns) <= set(obolus.metrics.COLUMNS)
