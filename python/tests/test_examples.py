"""examples/python: every program runs on one core, and what it shows holds."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
NUMBER = r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?"


def printed(name, tmp_path, *needed):
    for package in needed:
        if not find_spec(package):
            pytest.skip(f"{package} is not installed")
    one_core = {**os.environ, "OMP_NUM_THREADS": "1"}
    answer = subprocess.run(
        [sys.executable, EXAMPLES / name], cwd=tmp_path, env=one_core, capture_output=True, text=True, timeout=120
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def table(text):
    """{first words of a line: its numbers}, of lines that have both."""
    rows = {}
    for line in text.splitlines():
        if found := re.match(rf"(.+?)\s\s+({NUMBER}(?:\s+{NUMBER})*)$", line):
            rows[found[1].strip()] = [float(number) for number in found[2].split()]
    return rows


def test_every_program_is_tested():
    tested = set(re.findall(r'printed\("(\w+\.py)"', Path(__file__).read_text(encoding="utf-8")))
    assert tested == {path.name for path in EXAMPLES.glob("*.py")}


def test_the_penalty_of_ones_own_problem_beats_all_fixed_ones(tmp_path):
    text = printed("own_problem.py", tmp_path)
    assert text.startswith("wrong: nothing\n")
    rows = table(text)
    tuned = rows.pop("tuned")
    assert len(rows) == 4
    assert all(tuned[1] < second for _, second in rows.values())
    # Before the labels become noisy, the best fixed penalties are as good as none.
    assert tuned[0] < 1.05 * min(first for first, _ in rows.values())


def rounds(text):
    """The lines that begin with a round, as numbers."""
    return {int(line.split()[0]): [float(number) for number in line.split()[1:]]
            for line in text.splitlines() if re.fullmatch(rf"(\s*{NUMBER})+\s*", line)}  # fmt: skip


def test_a_tuned_network_makes_fewer_errors_than_an_untuned_one(tmp_path):
    found = rounds(printed("torch_stream.py", tmp_path, "torch"))
    assert list(found) == list(range(50, 401, 50))
    assert sum(row[0] for row in found.values()) < 0.7 * sum(row[1] for row in found.values())
    first, second, third = found[200][2:5]
    assert first < 0.2 * min(second, third)  # the source that is wrong until then
    assert found[400][4] / found[400][3] < 0.5 * third / second  # and the one that is wrong after


def test_weight_decay_falls_on_the_features_that_do_not_matter_now(tmp_path):
    found = rounds(printed("jax_model.py", tmp_path, "jax"))
    assert found[400][2] > 10 * found[400][1]
    assert found[800][1] > 10 * found[800][2]


def test_the_classifier_that_nobody_set_is_as_good_as_the_best_fixed_rate(tmp_path):
    rows = table(printed("sklearn_stream.py", tmp_path, "sklearn"))
    tuned, *fixed = (rows[name] for name in rows if name.startswith(("StreamClassifier", "SGD")))
    assert len(fixed) == 5
    assert tuned[0] > max(accuracy for accuracy, _ in fixed) - 0.01
    assert tuned[0] > min(accuracy for accuracy, _ in fixed) + 0.05


def test_at_most_one_fixed_rate_of_rivers_has_a_lower_log_loss(tmp_path):
    rows = table(printed("river_pipeline.py", tmp_path, "river", "sklearn"))
    tuned, *fixed = (rows[name] for name in rows if name.startswith(("StreamClassifier", "river")))
    assert len(fixed) == 4
    assert sum(loss < tuned[1] for _, loss in fixed) <= 1
    assert tuned[0] > max(accuracy for accuracy, _ in fixed) - 0.01
