"""river: linear models with three optimisers at three rates each, ALMA, and successive halving over the nine.

Two classes: logistic regression; more: softmax, and one logistic regression against the rest for each. For classes a
constant column is the intercept, so that it has the optimiser's rate; for numbers the intercept has river's own step,
of rate 0.1 as in its examples. ALMA has a sigmoid of its margin for a probability, and is judged by it.
"""

from functools import partial

from river import linear_model, metrics, model_selection, multiclass, optim

from peers.prequential import prequential

OPTIMISERS = {"sgd": optim.SGD, "adagrad": optim.AdaGrad, "ftrl": optim.FTRLProximal}
DENSE, WORDS = (0.01, 0.1, 1.0), (0.1, 1.0, 10.0)  # words: rows of length 1, most columns rare
NUMBERS = {"sgd": (0.001, 0.01, 0.1), "adagrad": (0.1, 1.0, 10.0), "ftrl": (0.1, 1.0, 10.0)}


def one_for_each(classifier, count):
    model = multiclass.OneVsRestClassifier(classifier)
    for c in range(count):  # it would learn of a class by its first row
        model.classifiers[c] = classifier.clone()
    return model


def linear(kind, optimiser, rate, count):
    made = OPTIMISERS[optimiser](rate)
    if kind == "linear":
        return linear_model.LinearRegression(optimizer=made, intercept_lr=0.1)
    if kind == "softmax":
        model = linear_model.SoftmaxRegression(made)
        for c in range(count):
            model.weights[c]  # noqa: B018 (a defaultdict: looking makes it)
        return model
    model = linear_model.LogisticRegression(made, intercept_lr=0.0)
    return model if kind == "logistic" else one_for_each(model, count)


def alma(count):
    model = linear_model.ALMAClassifier()
    return model if count == 2 else one_for_each(model, count)


def halving(kind, rates, count, rows):
    models = [linear(kind, optimiser, rate, count) for optimiser in OPTIMISERS for rate in rates[optimiser]]
    budget = len(models) * rows
    if kind == "linear":
        return model_selection.SuccessiveHalvingRegressor(models, metrics.MSE(), budget)
    judge = metrics.LogLoss() if kind == "logistic" else metrics.CrossEntropy()
    return model_selection.SuccessiveHalvingClassifier(models, judge, budget)


def row_of(stream, scaled, i):
    """As a dictionary."""
    if scaled:
        row = dict(enumerate(stream.scaled[i].tolist()))
    elif stream.dense:
        row = dict(enumerate(stream.rows[i].toarray()[0].tolist()))
    else:
        part = slice(stream.rows.indptr[i], stream.rows.indptr[i + 1])
        row = dict(zip(stream.rows.indices[part].tolist(), stream.rows.data[part].tolist(), strict=True))
    if not stream.numbers:
        row[-1] = 1.0
    return row


def river(make, scaled):
    def run(stream, seconds):
        model, count = make(), len(stream.classes)
        convert = {0: float, 2: bool}.get(count, int)
        labels = [convert(c) for c in range(count)]
        asked = {}  # a row that is predicted is soon learnt

        def predict(i, _):
            row = asked[i] = row_of(stream, scaled, i)
            if stream.numbers:
                return [model.predict_one(row)]
            told = model.predict_proba_one(row)
            return [[told.get(label, 0.0) for label in labels]]

        def learn(i, _):
            model.learn_one(asked.pop(i), convert(stream.target[i]))

        told = prequential(stream, predict, learn, seconds)
        if not stream.numbers:
            told[told.sum(axis=1) == 0] = 1 / count
        return told

    return run


def methods(stream):
    count = len(stream.classes)
    kinds = ["linear"] if stream.numbers else ["logistic"] if count == 2 else ["softmax", "one-vs-rest"]
    rates = NUMBERS if stream.numbers else dict.fromkeys(OPTIMISERS, DENSE if stream.dense else WORDS)
    how, scaled = "scaled" if stream.dense else "raw", stream.dense
    found = {}
    for kind in kinds:
        for optimiser in OPTIMISERS:
            for rate in rates[optimiser]:
                make = partial(linear, kind, optimiser, rate, count)
                found[f"river {kind} {optimiser} {rate:g} {how}"] = river(make, scaled)
                if stream.dense and optimiser == "sgd":
                    found[f"river {kind} {optimiser} {rate:g} raw"] = river(make, False)
        found[f"river {kind} halving {how}"] = river(partial(halving, kind, rates, count, len(stream)), scaled)
    if not stream.numbers:
        found[f"river alma {how}"] = river(partial(alma, count), scaled)
    return found
