"""The web service around river that serve_vs_peers.py measures: `uvicorn serve_river:app`. It keeps nothing on disk."""

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from river import linear_model, preprocessing

app = FastAPI()
model = preprocessing.StandardScaler() | linear_model.LogisticRegression()


def predicted(row):
    yes = model.predict_proba_one(row).get(True, 0.5)
    return {"prediction": "yes" if yes > 0.5 else "no", "probabilities": {"no": 1 - yes, "yes": yes}}


# Rows are not declared to FastAPI, which would check each number: the fastest way it has. One process, as there is one
# model, and no await while it learns.
@app.post("/predict")
async def predict(request: Request):
    return JSONResponse({"predictions": [predicted(row) for row in await request.json()]})


@app.post("/learn")
async def learn(request: Request):
    told = []
    for row in await request.json():
        label = row.pop("y") == "yes"
        told.append(predicted(row))
        model.learn_one(row, label)
    return JSONResponse({"predictions": told})
