"""Comparisons, against the command line."""

import subprocess

import pytest

import obolus
from obolus.looking import program
from tracking import Tracking

COMPARE = """
[compare]
seeds = [1, 2]
horizons = [40]
[problem]
name = "quadratic"
dim_x = 2
dim_y = 3
[metrics]
gamma = 0.01
[[optimiser]]
label = "f2obo"
name = "f2obo"
gamma = [0.01, 0.1]
[[optimiser]]
label = "second"
name = "aobo"
"""


def tables(text):
    """A comparison's tables without times, which are the last column, and the name of the folder."""
    return [line.rsplit("  ", 1)[0].rstrip() for line in text.splitlines() if line and not line.startswith("Files:")]


def test_a_comparison_has_the_tables_of_the_command_line(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(COMPARE)
    answer = subprocess.run(
        [program(), "compare", config, "--out", tmp_path / "command"], capture_output=True, text=True, check=True
    )
    by_config = obolus.compare_config(config, out=tmp_path / "python")
    by_classes = obolus.compare(
        {"f2obo": obolus.F2obo(gamma=[0.01, 0.1]), "second": obolus.Aobo()},
        obolus.problems.Quadratic(dim_x=2, dim_y=3), rounds=40, seeds=[1, 2],
    )  # fmt: skip
    assert len(tables(answer.stdout)) > 6
    for comparison in (by_config, by_classes):
        assert tables(comparison.text) == tables(answer.stdout)
        assert [(run.label, run.seed) for run in comparison.runs] == [
            ("f2obo, gamma=0.01", 1), ("f2obo, gamma=0.01", 2), ("f2obo, gamma=0.1", 1), ("f2obo, gamma=0.1", 2),
            ("second", 1), ("second", 2)]  # fmt: skip
    for a, b in zip(by_config.runs, by_classes.runs):
        assert a.columns["regret"].tobytes() == b.columns["regret"].tobytes()
    alone = obolus.run(obolus.Aobo(), obolus.problems.Quadratic(dim_x=2, dim_y=3), rounds=40, seed=2,
                       metrics={"gamma": 0.01})  # fmt: skip
    assert by_config.runs[-1].regret == alone.regret
    resumed = obolus.compare_config(config, out=tmp_path / "python", resume=True, threads=1)
    assert tables(resumed.text) == tables(answer.stdout) and len(resumed.runs) == 6


def test_own_problems_are_compared_one_after_the_other(tmp_path):
    optimisers = [obolus.F2obo(), obolus.F2obo(gamma=0.1), obolus.Aobo()]
    found = obolus.compare(
        optimisers, Tracking(), rounds=30, seeds=[1, 2], out=tmp_path / "c", metrics={"regret": True}
    )
    labels = ["f2obo", "F2obo(gamma=0.1)", "aobo"]
    assert [run.label for run in found.runs] == [label for label in labels for _ in range(2)]
    alone = obolus.run(obolus.F2obo(gamma=0.1), Tracking(), rounds=30, metrics={"regret": True, "gamma": 0.01})
    assert found.runs[2].regret == alone.regret
    assert all((tmp_path / "c" / f"{run.label}-{run.seed}" / "trace.jsonl").exists() for run in found.runs)
    assert [line.split("  ")[0] for line in found.text.splitlines()[1:4]] == labels and "2 of 2" in repr(found)
    again = obolus.compare(
        optimisers, Tracking(), rounds=30, seeds=[1, 2], out=tmp_path / "c", metrics={"regret": True}, resume=True
    )
    assert [run.regret for run in again.runs] == [run.regret for run in found.runs]
    with pytest.raises(ValueError, match=r"got F2obo\(\) twice"):
        obolus.compare([obolus.F2obo()] * 3, Tracking(), rounds=3)


def test_runs_have_the_order_of_the_config_whichever_ends_first(tmp_path):
    config = tmp_path / "order.toml"
    config.write_text(
        "[compare]\nseeds = [2, 1]\n[problem]\nname = 'quadratic'\nrounds = 300\n[metrics]\nregret = false\n"
        "[[optimiser]]\nname = 'f2obo'\ninner_steps = 200\n[[optimiser]]\nname = 'fixed'\ninner_steps = 1\n"
    )
    runs = obolus.compare_config(config, threads=2).runs
    assert [(run.label, run.seed) for run in runs] == [("f2obo", 2), ("f2obo", 1), ("fixed", 2), ("fixed", 1)]
