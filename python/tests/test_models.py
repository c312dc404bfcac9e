"""What estimators write and read: the model files of `obolus fit`, the same bytes for the same rows, and pickles."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from obolus import StreamClassifier, StreamRegressor


def rows(count=1003, features=4, classes=3, seed=0):
    """1003: the last round is not full."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, features))
    return X, np.argmax(X @ rng.normal(size=(features, classes)) + rng.normal(size=(count, classes)), axis=1)


def program(*arguments):
    beside = Path(sys.executable).with_name("obolus")
    path = beside if beside.exists() else shutil.which("obolus")
    return subprocess.run([path, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def write_csv(path, X, y):
    """Numbers as Python writes them, so that they are read as the same ones."""
    lines = (",".join("" if isinstance(v, float) and v != v else str(v) for v in [*row, label])
             for row, label in zip(X.tolist(), y.tolist()))  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    return path


def fit(folder, data, *options):
    """`obolus fit`: the model, the predictions line by line, and the summary."""
    model, predictions = folder / "model", folder / "predictions"
    program("fit", data, "--out", folder / "run", "--model", model, "--predictions", predictions, "--probabilities",
            "--quiet", *options)  # fmt: skip
    lines = [line.split("\t") for line in predictions.read_text().splitlines()]
    return model, lines, json.loads((folder / "run" / "summary.json").read_text())


def predict(model, data, *options):
    return [line.split("\t") for line in program("predict", model, data, "--probabilities", *options).splitlines()]


def printed(numbers):
    return [f"{number:.6g}" for number in numbers]


def test_fit_writes_the_model_of_the_program_byte_for_byte(tmp_path):
    X, y = rows()
    X[::7, 1] = np.nan
    model, _, _ = fit(tmp_path, write_csv(tmp_path / "rows.csv", X, y))
    in_parts = StreamClassifier().partial_fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
    for estimator in (StreamClassifier().fit(X, y), in_parts):
        estimator.save(tmp_path / "python")
        assert (tmp_path / "python").read_bytes() == model.read_bytes()


def test_options_are_those_of_the_program(tmp_path):
    X, y = rows(classes=2)
    options = ["--tune", "rate,l2", "--learning-rate", "0.5", "--hash-bits", "6", "--delay", "3", "--seed", "7"]
    model, _, _ = fit(tmp_path, write_csv(tmp_path / "rows.csv", X, y), *options, "--advanced", "steps=4")
    given = {"tune": "rate,l2", "learning_rate": 0.5, "hash_bits": 6, "delay": 3, "random_state": 7}
    given["advanced"] = {"steps": 4}
    StreamClassifier(**given).fit(X, y).save(tmp_path / "python")
    assert (tmp_path / "python").read_bytes() == model.read_bytes()
    loaded = StreamClassifier.load(model)
    assert {k: v for k, v in loaded.get_params().items() if v is not None and k != "passes"} == given


def test_a_regression_is_that_of_the_program_byte_for_byte(tmp_path):
    X, _ = rows()
    y = X @ [1.0, 2.0, -1.0, 0.0] + np.sin(np.arange(len(X)) / 50)
    model, lines, _ = fit(tmp_path, write_csv(tmp_path / "rows.csv", X, y))
    StreamRegressor().fit(X, y).save(tmp_path / "python")
    assert (tmp_path / "python").read_bytes() == model.read_bytes()
    estimator = StreamRegressor()
    found = [estimator.predict_then_learn(X[cut], y[cut]) for cut in (slice(0, 1), slice(1, 500), slice(500, None))]
    assert [float(line[0]) for line in lines] == np.concatenate(found).tolist()


def test_predictions_before_learning_are_those_of_the_program(tmp_path):
    X, y = rows()
    _, lines, summary = fit(tmp_path, write_csv(tmp_path / "rows.csv", X, y))
    estimator = StreamClassifier()
    found = estimator.predict_then_learn(X, y)
    order = [int(name) for name in summary["classes"]]
    for line, probabilities in zip(lines, found[:, order]):
        assert line[1:] == printed(probabilities)[: len(line) - 1]
    known = np.array([len(line) for line in lines])[:, None] > 1 + np.argsort(order)[y][:, None]
    truth = np.where(known, np.take_along_axis(found, y[:, None], axis=1), 1 / (np.arange(len(y)) + 2)[:, None])
    # The mean of the same numbers, summed in another order.
    assert -np.log(truth).mean() == pytest.approx(summary["prequential"]["log_loss"], rel=len(y) * 2**-52)


def test_a_model_of_the_program_predicts_the_same_numbers_in_python(tmp_path):
    X, y = rows()
    model, _, _ = fit(tmp_path, write_csv(tmp_path / "rows.csv", X, y))
    loaded, lines = StreamClassifier.load(model), predict(model, tmp_path / "rows.csv", "--label", "-1")
    assert loaded.classes_.dtype == np.int64
    assert [line[0] for line in lines] == [str(label) for label in loaded.predict(X)]
    named = predict(model, tmp_path / "rows.csv", "--label", "-1", "--names")
    order = [int(name) for name in named[0][1:]]
    assert [line[1:] for line in lines] == [printed(row) for row in loaded.predict_proba(X)[:, order]]
    assert loaded.score(X, y) > 0.6
    with pytest.raises(ValueError, match="model from a file"):
        loaded.partial_fit(X, y)
    with pytest.raises(ValueError, match="other task"):
        StreamRegressor.load(model)
    assert loaded.fit(X, y).score(X, y) > 0.6


def test_sparse_rows_are_those_of_svmlight(tmp_path):
    X, y = rows(features=30, classes=2)
    X[np.abs(X) < 1] = 0
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=True)
    X = sparse.csr_array(np.array([[float(f"{v:.16g}") for v in row] for row in X]))  # as the file has them
    model, _, _ = fit(tmp_path, tmp_path / "rows.svm")
    StreamClassifier().fit(X, y).save(tmp_path / "python")
    assert (tmp_path / "python").read_bytes() == model.read_bytes()
    loaded = StreamClassifier.load(model)
    assert [line[1:] for line in predict(model, tmp_path / "rows.svm")] == [
        printed(row) for row in loaded.predict_proba(X)[:, [loaded.classes_.tolist().index(k) for k in loaded._order]]
    ]


@pytest.mark.parametrize("labels", [[3, 7], [True, False], ["b", "a"], ["1_0", "nan"]])
def test_a_loaded_model_has_the_labels_of_its_file(tmp_path, labels):
    X, y = rows(classes=2)
    estimator = StreamClassifier().fit(X, np.array(labels)[y])
    estimator.save(tmp_path / "model")
    loaded = StreamClassifier.load(tmp_path / "model")
    assert loaded.classes_.dtype == estimator.classes_.dtype
    assert_array_equal(loaded.predict(X), estimator.predict(X))
    assert_array_equal(loaded.predict_proba(X), estimator.predict_proba(X))


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("kind", [StreamClassifier, StreamRegressor])
def test_a_pickled_estimator_goes_on_with_the_same_bits(kind, ended):
    X, y = rows()
    estimator = kind().fit(X[:501], y[:501]) if ended else kind().partial_fit(X[:501], y[:501])
    restored = pickle.loads(pickle.dumps(estimator))
    ask = (lambda e: e.predict_proba(X)) if kind is StreamClassifier else (lambda e: e.predict(X))
    assert_array_equal(ask(restored), ask(estimator))
    for one in (estimator, restored):
        one.partial_fit(X[501:], y[501:])
    assert_array_equal(ask(restored), ask(estimator))
    assert restored.hyperparameters_ == estimator.hyperparameters_
    assert restored.path_ == estimator.path_


def test_saving_leaves_the_estimator_as_it_is(tmp_path):
    X, y = rows()
    saved, plain = (StreamClassifier().partial_fit(X[:501], y[:501]) for _ in range(2))
    saved.save(tmp_path / "model")
    assert_array_equal(saved.partial_fit(X, y).predict_proba(X), plain.partial_fit(X, y).predict_proba(X))


def test_a_model_without_columns_takes_no_dicts():
    X, y = rows(count=50)
    estimator = StreamClassifier().fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="got a dict, expected sparse rows"):
        estimator.learn_one({"1": 2.0}, 1)


def test_words_of_a_namespace_are_categories_of_a_column(tmp_path):
    (tmp_path / "rows.vw").write_text("1 |text good day\n-1 |text bad day\n" * 20)
    model, _, _ = fit(tmp_path, tmp_path / "rows.vw")
    loaded = StreamClassifier.load(model)
    assert [loaded.predict_one({"text": word}) for word in ("good", "bad")] == [1, -1]


def test_a_damaged_model_is_refused(tmp_path):
    X, y = rows(count=50)
    StreamClassifier().fit(X, y).save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    for bad in (content[:-1], b"x" + content[1:], content[:-1] + bytes([content[-1] ^ 1])):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(ValueError, match="bad: "):
            StreamClassifier.load(tmp_path / "bad")
