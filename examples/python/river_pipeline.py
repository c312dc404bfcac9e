"""A river pipeline with a learner that tunes itself, and progressive validation.

    python3 examples/python/river_pipeline.py

The 1,250 web sites of river's Phishing, one at a time: predicted, then learnt. Nobody knows the best fixed rate
beforehand; the learner that is told none comes close to it.
"""

from river import compose, datasets, evaluate, linear_model, metrics, optim, preprocessing

import obolus


def scaled(learner):
    return compose.Pipeline(preprocessing.StandardScaler(), learner)


models = {"StreamClassifier": scaled(obolus.StreamClassifier())}
for rate in (0.001, 0.01, 0.1, 1.0):
    models[f"river, SGD({rate:g})"] = scaled(linear_model.LogisticRegression(optim.SGD(rate)))

print("progressive validation     accuracy   log-loss")
for name, model in models.items():
    score = metrics.Accuracy() + metrics.LogLoss()
    evaluate.progressive_val_score(datasets.Phishing(), model, score)
    accuracy, loss = (metric.get() for metric in score)
    print(f"{name:24}  {accuracy:9.4f}  {loss:9.4f}")
