"""A scikit-learn pipeline on a stream: nothing to set, beside SGDClassifier with fixed settings.

    python3 examples/python/sklearn_stream.py

Messages of two topics arrive in batches; words change sides while the stream runs. HashingVectorizer turns them into
sparse rows, the classifier is tested on each batch and then learns it (prequential accuracy).
"""

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

import obolus

BATCHES, ROWS, WORDS, LENGTH = 60, 50, 300, 12
rng = np.random.default_rng(0)
words = np.array([f"word{i}" for i in range(WORDS)])
leaning = rng.normal(size=WORDS)  # towards one topic or the other


def batch():
    """Messages and topics; twenty words change their side before each batch."""
    leaning[rng.choice(WORDS, 20)] *= -1
    topics = rng.integers(0, 2, ROWS)
    shares = np.exp(np.outer(topics - 0.5, leaning))
    shares /= shares.sum(axis=1, keepdims=True)
    texts = [" ".join(rng.choice(words, LENGTH, p=share)) for share in shares]
    return texts, np.array(["sport", "music"])[topics]


class Partial:
    """A pipeline learns batches through the partial_fit of its last step; the steps before it need no fitting."""

    def __init__(self, classifier, **first):
        self.pipeline = make_pipeline(HashingVectorizer(n_features=2**14), classifier)
        self.first = first  # what SGDClassifier must be told at its first batch

    def learn(self, texts, topics):
        self.pipeline[-1].partial_fit(self.pipeline[:-1].transform(texts), topics, **self.first)

    def accuracy(self, texts, topics):
        return self.pipeline.score(texts, topics)


def sgd(rate):
    classifier = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=rate, random_state=0)
    return Partial(classifier, classes=np.array(["music", "sport"]))


models = {"StreamClassifier": Partial(obolus.StreamClassifier())}
models |= {f"SGD, eta0 {rate:g}": sgd(rate) for rate in (0.01, 0.1, 1, 10)}
models["SGD, defaults"] = Partial(SGDClassifier(random_state=0), classes=np.array(["music", "sport"]))

accuracy = {name: [] for name in models}
for number in range(BATCHES):
    texts, topics = batch()
    for name, model in models.items():
        if number > 0:
            accuracy[name].append(model.accuracy(texts, topics))
        model.learn(texts, topics)

print(f"{BATCHES - 1} batches of {ROWS}    accuracy   in the last ten")
for name, found in accuracy.items():
    print(f"{name:18}  {np.mean(found):10.3f}   {np.mean(found[-10:]):15.3f}")
path = models["StreamClassifier"].pipeline[-1].path_
print("learning rate after", ", ".join(f"{point['rows']} rows: {point['rate']:.2g}" for point in path[9::10]))
