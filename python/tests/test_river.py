"""One row at a time, alone and in river's pipelines."""

import copy
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from river import compose, datasets, evaluate, metrics, preprocessing

from obolus import StreamClassifier, StreamRegressor


def stream(count=700, seed=0):
    """Dicts with numbers, truth values, texts and gaps in all of them, from the first row on; and labels."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        size = float(rng.normal())
        row = {"size": size, "colour": str(rng.choice(["red", "green"])), "flag": bool(size > 0), "late": None}
        row["late"] = None if i < 20 else str(rng.choice(["a", "b"]))
        for name in ("size", "colour"):
            if rng.random() < 0.2:
                row[name] = None
        rows.append(row)
    labels = ["yes" if (row["size"] or 0) + (row["colour"] == "red") > 0.5 else "no" for row in rows]
    return rows, labels


def frames(rows):
    return {"pandas": pd.DataFrame(rows), "polars": pl.DataFrame(rows, infer_schema_length=None)}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", [StreamClassifier, StreamRegressor])
def test_learn_many_is_a_loop_of_learn_one_bit_for_bit(kind, library):
    rows, labels = stream()
    if kind is StreamRegressor:
        labels = [2.0 * (row["size"] or 0) for row in rows]
    X = frames(rows)[library]
    many, single = kind(), kind()
    weights = np.linspace(0.5, 2, len(rows))
    for cut in (slice(0, 1), slice(1, 10), slice(10, 433), slice(433, 700)):
        many.learn_many(X[cut], labels[cut], weights[cut])
        for row, label, weight in zip(rows[cut], labels[cut], weights[cut].tolist()):
            single.learn_one(row, label, weight)
        assert many.stream_.state() == single.stream_.state()
    assert many.stream_.model() == single.stream_.model()
    ask = "predict_proba_one" if kind is StreamClassifier else "predict_one"
    for row in rows:
        assert getattr(many, ask)(row) == getattr(single, ask)(row)
    if kind is StreamClassifier:
        expected = [[single.predict_proba_one(row)[label] for label in ("no", "yes")] for row in rows]
        assert_array_equal(many.predict_proba(X), expected)
    else:
        assert_array_equal(many.predict(X), [single.predict_one(row) for row in rows])


def test_rows_may_differ_in_their_columns():
    model = StreamClassifier()
    for i in range(200):
        model.learn_one({"a": i % 2} if i % 3 else {"b": i % 2, f"c{i}": 1.0}, i % 2)
    known = model.stream_.groups
    assert model.predict_one({"a": 1}) == 1
    assert model.predict_one({"a": 0, "never seen": 5.0}) == model.predict_one({"a": 0}) == 0
    assert model.stream_.groups == known  # predictions leave no trace


def test_labels_of_any_kind():
    for labels in ([True, False], ["a", "b"], [1, 2], [("a", 1), ("b", 2)], [np.int64(3), np.int64(4)]):
        model = StreamClassifier()
        for i in range(60):
            model.learn_one({"a": i % 2}, labels[i % 2])
        assert model.predict_one({"a": 1}) == labels[1]
        assert set(model.predict_proba_one({"a": 1})) == set(labels)
        assert len(model.classes_) == 2
    with pytest.raises(ValueError, match="one of the classes before"):
        model.learn_one({"a": 1}, "3")


def test_a_pickled_or_copied_model_goes_on_with_the_same_bits():
    rows, labels = stream()
    model = StreamClassifier()
    for row, label in zip(rows[:301], labels[:301]):
        model.learn_one(row, label)
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model.clone(include_attributes=True)]
    for row, label in zip(rows[301:], labels[301:]):
        for one in (model, *others):
            one.learn_one(row, label)
    assert {one.stream_.state() for one in others} == {model.stream_.state()}
    assert not hasattr(model.clone(), "stream_")


def test_dicts_after_arrays_and_frames_after_dicts():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    model = StreamClassifier().fit(X, y)
    model.learn_one({"1": 2.0, "2": 0.0}, 1)
    assert model.predict_one({"1": 2.0, "2": 0.0}) == 1
    model = StreamClassifier()
    model.learn_one({"u": 2.0, "v": 0.0}, 1)
    model.partial_fit(pd.DataFrame(X, columns=["u", "v"]), y)
    assert model.score(pd.DataFrame(X[:, ::-1], columns=["v", "u"]), y) > 0.9
    assert model.score(X, y) > 0.9


def test_bad_rows_are_refused_and_change_nothing():
    model = StreamClassifier()
    model.learn_one({"a": 1.0}, "x")
    before = model.stream_.state()
    for bad in (math.inf, 1e300):
        with pytest.raises(ValueError, match="finite"):
            model.learn_one({"a": bad}, "y")
    with pytest.raises(ValueError, match="weight"):
        model.learn_one({"a": 1.0}, "y", -1.0)
    assert model.stream_.state() == before
    assert model.classes_.tolist() == ["x"]


def test_a_river_pipeline_learns_and_is_judged():
    model = preprocessing.StandardScaler() | StreamClassifier()
    assert evaluate.progressive_val_score(datasets.Phishing(), model, metrics.LogLoss()).get() < 0.32
    assert evaluate.progressive_val_score(datasets.Phishing(), model.clone(), metrics.Accuracy()).get() > 0.87
    rows = datasets.TrumpApproval().take(500)
    model = compose.Select("ordinal_date", "gallup") | StreamRegressor()
    score = metrics.MAE()
    for x, y in rows:
        score.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert score.get() < 0.5


def test_many_rows_through_a_river_pipeline():
    rows, labels = zip(*datasets.Phishing())
    X, y = pd.DataFrame(rows), pd.Series(labels)
    model = preprocessing.StandardScaler() | StreamClassifier()
    model.learn_many(X[:1000], y[:1000])
    found = model.predict_many(X[1000:])
    assert (found == y[1000:]).mean() > 0.85
    assert found.index.equals(X.index[1000:])
    assert model.predict_proba_many(X[1000:]).columns.tolist() == [False, True]


def test_the_log_loss_on_phishing_is_that_of_the_program(tmp_path):
    rows = list(datasets.Phishing())
    pd.DataFrame([{**x, "label": y} for x, y in rows]).to_csv(tmp_path / "rows.csv", index=False)
    command = ["fit", "rows.csv", "--out", "run", "--metrics", "-", "--quiet"]
    program = Path(sys.executable).with_name("obolus")
    done = subprocess.run([program, *command], check=True, cwd=tmp_path, capture_output=True, text=True)
    expected = json.loads(done.stdout)["prequential"]["log_loss"]
    model, total = StreamClassifier(), 0.0
    for i, (x, y) in enumerate(rows):  # a class seen for the first time after n rows has probability 1/(n + 2)
        total -= math.log(model.predict_then_learn_one(x, y).get(y, 1 / (i + 2)))
    # Two sums of 1250 losses, rounded in different ways.
    assert total / len(rows) == pytest.approx(expected, rel=1250 * 2**-52)
