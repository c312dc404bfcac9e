"""scikit-learn: stochastic gradients, plain, averaged and passive-aggressive (pa1), a row or 32 rows at a time.

pa1 goes with the hinge alone, which has no probabilities: it is judged by accuracy. Before the first batch is learnt
all classes are alike likely.
"""

import numpy
import sklearn
from sklearn.linear_model import SGDClassifier, SGDRegressor

from peers.prequential import prequential

BATCHES = (1, 32)
KINDS = {"sgd": {}, "average": {"average": True}, "pa1": {"learning_rate": "pa1", "eta0": 1.0, "penalty": None}}


def model_of(stream, kind):
    options = KINDS[kind] | {"random_state": 1}
    if stream.numbers:
        return SGDRegressor(loss="epsilon_insensitive" if kind == "pa1" else "squared_error", **options)
    return SGDClassifier(loss="hinge" if kind == "pa1" else "log_loss", **options)


def sgd(kind, scaled, batch):
    def run(stream, seconds):
        model, classes = model_of(stream, kind), numpy.arange(len(stream.classes))
        sure = stream.numbers or kind == "pa1"
        at_first = 0 if sure else numpy.full(len(classes), 1 / len(classes))
        rows = stream.scaled if scaled else stream.rows.toarray() if stream.dense else stream.rows
        started = False

        def predict(first, last):
            if not started:
                return [at_first] * (last - first)
            return model.predict(rows[first:last]) if sure else model.predict_proba(rows[first:last])

        def learn(first, last):
            nonlocal started
            model.partial_fit(rows[first:last], stream.target[first:last], *([] if stream.numbers else [classes]))
            started = True

        with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
            return prequential(stream, predict, learn, seconds, batch)

    return run


def methods(stream):
    found = {}
    for kind in KINDS:
        for batch in BATCHES:
            found[f"sklearn {kind} batch {batch} raw"] = sgd(kind, False, batch)
            if stream.dense:
                found[f"sklearn {kind} batch {batch} scaled"] = sgd(kind, True, batch)
    return found
