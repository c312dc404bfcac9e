"""Data frames of every library as rows of the estimators."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from obolus import StreamClassifier, StreamRegressor


class Capsule:
    """What anything that speaks Arrow's PyCapsule interface looks like."""

    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


def columns(count=600, seed=0):
    rng = np.random.default_rng(seed)
    size, colour = rng.normal(size=count), rng.choice(["red", "green", "blue"], count)
    y = np.where(size + 2 * (colour == "red") + rng.normal(size=count) > 1, "yes", "no")
    return {"size": size, "colour": colour.tolist(), "count": rng.integers(9, size=count), "flag": size > 0}, y


def with_gaps(given):
    given = dict(given)
    given["size"] = [None if i % 7 == 3 else v for i, v in enumerate(given["size"].tolist())]
    given["colour"] = [None if i % 5 == 3 else v for i, v in enumerate(given["colour"])]
    return given


def forms(given):
    frame = pl.DataFrame(given)
    return {
        "pandas": pd.DataFrame(given),
        "pandas, nullable": pd.DataFrame(given).convert_dtypes(),
        "pandas, categories": pd.DataFrame(given).astype({"colour": "category"}),
        "polars": frame,
        "polars, categories": frame.with_columns(pl.col("colour").cast(pl.Categorical)),
        "capsule": Capsule(frame),
    }


@pytest.mark.parametrize("gaps", [False, True])
def test_every_library_gives_the_same_bits(gaps):
    given, y = columns()
    given = with_gaps(given) if gaps else given
    found = {name: StreamClassifier().fit(X, y).predict_proba(X) for name, X in forms(given).items()}
    for name, probabilities in found.items():
        assert_array_equal(probabilities, found["polars"], err_msg=name)
    assert (StreamClassifier().fit(pl.DataFrame(given), y).predict(pl.DataFrame(given)) == y).mean() > 0.7


def test_a_frame_of_numbers_is_its_array():
    given, y = columns()
    numbers = {k: np.asarray(v, float) for k, v in given.items() if k != "colour"}
    array = np.column_stack(list(numbers.values()))
    expected = StreamClassifier().fit(array, y).predict_proba(array)
    for name, X in {"pandas": pd.DataFrame(numbers), "polars": pl.DataFrame(numbers)}.items():
        estimator = StreamClassifier().fit(X, y)
        assert_array_equal(estimator.predict_proba(X), expected, err_msg=name)
        assert estimator.feature_names_in_.tolist() == ["size", "count", "flag"]


def test_labels_may_be_a_column():
    given, y = columns()
    X = pd.DataFrame(given)
    expected = StreamClassifier().fit(X, y).predict_proba(X)
    for labels in (pd.Series(y), pd.Series(y).astype("category"), pl.Series(y), y.tolist(), y.astype(object)):
        assert_array_equal(StreamClassifier().fit(X, labels).predict_proba(X), expected)
    assert_array_equal(StreamRegressor().fit(X, pl.Series(given["size"])).predict(X),
                       StreamRegressor().fit(X, given["size"]).predict(X))  # fmt: skip


def test_columns_must_be_those_of_the_first_rows():
    given, y = columns()
    X = pd.DataFrame(given)
    estimator = StreamClassifier().fit(X, y)
    for other in (X[["colour", "size", "count", "flag"]], X.drop(columns="flag"), X.rename(columns={"flag": "sign"})):
        with pytest.raises(ValueError, match="feature names|features"):
            estimator.predict(other)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        estimator.predict(X[:0])


def test_a_table_with_categories_gives_the_model_of_the_program(tmp_path):
    given, y = columns()
    X = pd.DataFrame(with_gaps(given)).drop(columns="flag")  # True in a CSV is a text, in a frame a number
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    program = Path(sys.executable).with_name("obolus")
    command = ["fit", "rows.csv", "--out", "run", "--model", "model", "--quiet"]
    subprocess.run([program, *command], check=True, cwd=tmp_path)
    estimator = StreamClassifier().fit(X, pd.Series(y, name="label"))
    estimator.save(tmp_path / "python")
    assert (tmp_path / "python").read_bytes() == (tmp_path / "model").read_bytes()
    loaded = StreamClassifier.load(tmp_path / "model")
    assert_array_equal(loaded.predict_proba(X), estimator.predict_proba(X))
    shuffled = X[["count", "size", "colour"]].assign(more=1.0)  # by name, as `obolus predict` finds them
    # Sums of three terms in another order: rounded to float32 once each, of logits below 8 by the derivative 1/4.
    np.testing.assert_allclose(loaded.predict_proba(shuffled), loaded.predict_proba(X), atol=3 * 8 / 4 * 2**-24)
    with pytest.raises(ValueError, match="expected a data frame with the columns size, colour, count"):
        loaded.predict(np.zeros((2, 3)))


def test_pandas_columns_of_any_kind_of_number():
    values = [1, 2.5, None, 4, np.float32(8), True] * 50
    y = np.arange(300) % 2
    plain = pd.DataFrame({"a": pd.Series(values, dtype=float)})
    expected = StreamClassifier().fit(plain, y).predict_proba(plain)
    for column in (pd.Series(values, dtype=object), pd.array(plain["a"], "Float64")):
        X = pd.DataFrame({"a": column})
        assert_array_equal(StreamClassifier().fit(X, y).predict_proba(X), expected)


def test_no_pyarrow_is_needed():
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas, polars, obolus
for X in (pandas.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}), polars.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]})):
    print(obolus.StreamClassifier().fit(X, ["no", "yes"]).predict(X).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["(2,)", "(2,)"], done.stderr
