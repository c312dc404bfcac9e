"""StreamClassifier and StreamRegressor as scikit-learn's estimators."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import obolus
from obolus import StreamClassifier, StreamRegressor

WEIGHTS = "a row twice is two steps and may be replayed twice: not the same as one of weight 2, as with SGDClassifier"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


@parametrize_with_checks([StreamClassifier(), StreamRegressor()], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def rows(count=1003, features=4, classes=3, seed=0):
    """1003: the last round is not full."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, features))
    return X, np.argmax(X @ rng.normal(size=(features, classes)) + rng.normal(size=(count, classes)), axis=1)


@pytest.mark.parametrize(
    "form",
    [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array],
)
def test_every_sparse_form_gives_the_same_bits(form):
    X, y = rows(count=300)
    X[np.abs(X) < 0.7] = 0
    expected = StreamClassifier().fit(sparse.csr_matrix(X), y)
    estimator = StreamClassifier().fit(form(X), y)
    assert_array_equal(estimator.predict_proba(form(X)), expected.predict_proba(sparse.csr_matrix(X)))
    assert_array_equal(estimator.predict_proba(X), expected.predict_proba(sparse.csr_matrix(X)))
    dense = StreamClassifier().fit(X, y)
    assert_array_equal(dense.predict_proba(form(X)), dense.predict_proba(X))


def test_an_index_twice_in_a_row_adds_up():
    twice = sparse.csr_matrix((np.array([1.0, 2.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    once = sparse.csr_matrix(np.array([[3.0, 0.0], [0.0, 1.0]]))
    assert_array_equal(*(StreamRegressor().fit(X, [1.0, 2.0]).predict(once) for X in (twice, once)))
    assert twice.nnz == 3


@pytest.mark.parametrize("labels", [
    [3, 7, -2], [True, False], ["b", "a", "c"], [1.0, 2.0, 10.0], np.array([1, 2], np.int8),
    np.array(["x", "y"], object),
])  # fmt: skip
def test_labels_come_back_as_they_were(labels):
    labels = np.asarray(labels)
    X, y = rows(classes=len(labels))
    y = labels[y]
    estimator = StreamClassifier().fit(X, y)
    assert estimator.predict(X).dtype == labels.dtype
    assert estimator.score(X, y) > 0.6
    assert set(estimator.classes_.tolist()) == set(labels.tolist())
    assert set(estimator.partial_fit(X, y).predict(X).tolist()) <= set(labels.tolist())
    assert type(estimator.predict_one(dict(enumerate(X[0].tolist(), 1)))) is type(labels.tolist()[0])


def test_a_class_may_come_later_or_be_announced():
    X, y = rows()
    early = y < 2
    estimator = StreamClassifier().partial_fit(X[early], y[early], classes=[0, 1, 2])
    assert estimator.classes_.tolist() == [0, 1, 2]
    assert (estimator.predict_proba(X)[:, 2] == 0).all()
    estimator = StreamClassifier().partial_fit(X[early], y[early])
    assert estimator.predict_proba(X).shape == (len(X), 2)
    estimator.partial_fit(X, y)
    assert estimator.classes_.tolist() == [0, 1, 2]
    # A probability is one number of 53 bits among three, summed twice.
    np.testing.assert_allclose(estimator.predict_proba(X).sum(axis=1), 1, atol=4 * 2**-53)
    assert estimator.score(X, y) > 0.6


@pytest.mark.parametrize("first, then", [([0, 1], ["a", "b"]), (["a", "b"], [True, False])])
def test_labels_stay_of_one_kind(first, then):
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match="expected .* like the labels before"):
        StreamClassifier().partial_fit(X, first).partial_fit(X, then)


def test_labels_that_the_learner_takes_for_one_class_are_refused():
    with pytest.raises(ValueError, match="'1' and '1.0', which are one class"):
        StreamClassifier().fit([[0.0], [1.0]], ["1", "1.0"])
    with pytest.raises(ValueError, match="empty text"):
        StreamClassifier().fit([[0.0], [1.0]], ["", "a"])


def test_what_comes_after_fit_goes_on_as_if_there_had_been_no_end():
    X, y = rows()
    whole = StreamClassifier().partial_fit(X, y)
    parts = StreamClassifier().fit(X[:501], y[:501])
    parts.predict(X)
    parts.partial_fit(X[501:502], y[501:502]).partial_fit(X[502:], y[502:])
    assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_nothing_is_predicted_before_fit():
    for estimator in (StreamClassifier(), StreamRegressor()):
        for call in (lambda e: e.predict([[1.0]]), lambda e: e.hyperparameters_, lambda e: e.save("nowhere")):
            with pytest.raises(NotFittedError):
                call(estimator)
    assert StreamClassifier().predict_proba_one({"a": 1}) == {}
    assert StreamClassifier().predict_one({"a": 1}) is None
    assert StreamRegressor().predict_one({"a": 1}) == 0.0


def test_missing_numbers_are_learnt_and_infinite_ones_refused():
    X, y = rows(classes=2)
    X[y == 1, 0] = np.nan
    assert StreamClassifier().fit(X, y).score(X, y) > 0.99  # that it is missing tells the class
    for bad in (np.inf, -np.inf, 1e300):
        X[700, 1] = bad
        estimator = StreamClassifier()
        with pytest.raises(ValueError, match="infinity|expected finite"):
            estimator.partial_fit(X, y)
    estimator = StreamClassifier().partial_fit(X[:700], y[:700])
    with pytest.raises(ValueError, match="expected finite"):
        estimator.partial_fit(X, y)
    assert estimator.stream_.rows == 700  # refused as a whole


def test_small_and_constant_data():
    X = np.array([[1.0, 2.0]])
    assert StreamClassifier().fit(X, ["a"]).predict(X).tolist() == ["a"]
    assert StreamClassifier().fit(X, ["a"]).predict_proba(X).tolist() == [[1.0]]
    assert StreamRegressor().fit(X, [3.0]).predict(X).tolist() == [3.0]
    assert StreamRegressor().fit(np.ones((50, 2)), np.full(50, 7.5)).predict(X).tolist() == [7.5]
    for estimator in (StreamClassifier(), StreamRegressor()):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            estimator.fit(np.empty((0, 2)), np.empty(0))
        with pytest.raises(ValueError, match=r"0 feature\(s\)"):
            estimator.fit(np.empty((2, 0)), [1, 2])


def test_weights_count():
    X, _ = rows()
    y = np.where(np.arange(len(X)) % 2, 1.0, 3.0)
    heavy = np.where(y == 1, 1.0, 0.0)
    assert abs(StreamRegressor(blend="none").fit(X, y, sample_weight=heavy).predict(X).mean() - 1) < 0.1
    classes = StreamClassifier().fit(X, y, sample_weight=heavy).predict(X)
    assert (classes == 1).mean() > 0.95
    with pytest.raises(ValueError, match="[Nn]egative"):
        StreamRegressor().partial_fit(X, y, -heavy)


def test_bad_options_are_named():
    given = {"speed": {"tune": "speed"}, "learning_rate": {"learning_rate": -1.0},
             "task": {"advanced": {"task": "auto"}}, "nonsense": {"advanced": {"nonsense": 1}}}  # fmt: skip
    for text, options in given.items():
        with pytest.raises(ValueError, match=text):
            StreamClassifier(**options).fit([[1.0]], [1])


def test_fractions_are_no_classes():
    with pytest.raises(ValueError, match="label type"):
        StreamClassifier().fit([[0.0], [1.0]], [0.5, 2.5])


def test_rare_classes_can_have_shifts_and_scales():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = (X[:, 0] + rng.normal(size=4000) > 2.6).astype(int)
    plain = StreamClassifier().fit(X, y)
    balanced = StreamClassifier(tune="rate,l2,class-shift,class-scale", judge="balanced").fit(X, y)
    recall = [(m.predict(X)[y == 1] == 1).mean() for m in (plain, balanced)]
    assert recall[1] > recall[0]
    assert {"shift of 0", "shift of 1"} & set(balanced.hyperparameters_)


def test_a_model_that_diverges_says_so():
    X, y = rows()
    estimator = StreamClassifier(tune="none", learning_rate=1e38, advanced={"limit": 1e38})  # beyond a float's range
    with pytest.raises(obolus.DivergedError, match="smaller learning_rate"):
        estimator.fit(X, y)


def test_threads_may_share_an_estimator():
    X, y = rows()
    estimator = StreamClassifier().fit(X, y)
    expected = estimator.predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: estimator.predict_proba(X), range(16)):
            assert_array_equal(found, expected)
    one = dict(enumerate(X[0].tolist(), 1))
    with ThreadPoolExecutor(4) as pool:
        both = pool.map(lambda i: (estimator.predict_proba(X), estimator.predict_proba_one(one)), range(16))
        assert {found.tobytes() for found, _ in both} == {expected.tobytes()}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: estimator.partial_fit(X, y), range(4)))
    assert estimator.stream_.rows == 5 * len(X)


def test_clone_pipelines_and_searches():
    X, y = rows(count=400, classes=2)
    estimator = StreamClassifier(tune="rate", learning_rate=0.5)
    assert clone(estimator).get_params() == estimator.get_params()
    pipeline = make_pipeline(StandardScaler(), StreamClassifier())
    search = GridSearchCV(pipeline, {"streamclassifier__tune": ["none", None]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.7
    assert cross_val_score(StreamRegressor(), X, X[:, 0], cv=2).min() > 0.9
    texts = ["cheap pills now", "meeting at noon", "cheap offer now", "lunch at noon"] * 50
    labels = ["spam", "ham", "spam", "ham"] * 50
    of_texts = make_pipeline(TfidfVectorizer(), StreamClassifier()).fit(texts, labels)
    assert of_texts.predict(["cheap now", "at noon"]).tolist() == ["spam", "ham"]


def test_callbacks_see_the_path_of_the_hyperparameters():
    pytest.importorskip("sklearn.callback")
    X, y = rows(count=2000, classes=2)

    class Watch:
        def __init__(self, stop_after):
            self.rates, self.scores, self.stop_after, self.calls = [], [], stop_after, []

        def setup(self, estimator, context):
            self.calls.append("setup")

        def teardown(self, estimator, context):
            self.calls.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
            self.rates.append(estimator.hyperparameters_["rate"])
            self.scores.append(fitted_estimator.score(X, y))
            return len(self.rates) == self.stop_after

    watch = Watch(stop_after=None)
    estimator = StreamClassifier(passes=2).set_callbacks(watch).fit(X, y)
    assert watch.calls == ["setup", "teardown"]
    assert watch.rates[:-1] == [point["rate"] for point in estimator.path_]  # and once at the end
    assert len(estimator.path_) == 2 * 8  # of 256 rows
    assert watch.scores[-1] > 0.7
    stopped = StreamClassifier().set_callbacks(Watch(stop_after=3)).fit(X, y)
    assert stopped.stream_.rows == 3 * 256


def test_the_path_of_an_endless_stream_stays_short():
    X, y = rows(count=2000, classes=2)
    estimator = StreamClassifier(tune="rate")
    for i in range(2000):
        estimator.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    assert len(estimator.path_) <= 512
    assert estimator.path_[-1]["rows"] == 2000


def test_obolus_needs_no_scikit_learn():
    code = """
import sys
sys.modules["sklearn"] = None
import obolus
try:
    obolus.StreamClassifier
except ImportError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "pip install scikit-learn" in out
