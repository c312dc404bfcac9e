"""AutoVW (flaml.onlineml): five live models of Vowpal Wabbit, of which the rate is searched for from 0.001 to 100.

It judges its models by the squared error of one number, so that it does numbers and two classes, not more: for these
the link 2 sigmoid - 1, between the labels -1 and 1. No interactions: the model is linear, as the others are.
"""

from flaml.onlineml.autovw import AutoVW
from flaml.tune import loguniform

from peers import vowpal
from peers.prequential import prequential

LIVE = 5


def model_of(stream):
    fixed = {"loss_function": "squared"} if stream.numbers else {"loss_function": "logistic", "link": "glf1"}
    fixed |= {"quiet": True, "bit_precision": 20}
    space = fixed | {"learning_rate": loguniform(lower=1e-3, upper=100.0)}
    start = fixed | {"learning_rate": 0.5}
    return AutoVW(LIVE, space, init_config=start, metric="squared", random_seed=1)


def autovw(scaled):
    def run(stream, seconds):
        model = model_of(stream)

        def line(i, labelled):
            row = vowpal.features(stream, i, scaled)
            row = row[row.index("|") :]  # it takes a tag for a part of the label
            return f"{vowpal.label(stream, i)} {row}" if labelled else row

        def predict(i, _):
            told = model.predict(line(i, False))
            return [told if stream.numbers else [(1 - told) / 2, (1 + told) / 2]]

        def learn(i, _):
            if stream.delay:  # it learns what it predicted last
                model.predict(line(i, False))
            model.learn(line(i, True))

        return prequential(stream, predict, learn, seconds)

    return run


def methods(stream):
    if len(stream.classes) > 2:
        return {}
    return {"autovw raw": autovw(False)} | ({"autovw scaled": autovw(True)} if stream.dense else {})
