"""`obolus serve`, the real one, through the client and over plain HTTP."""

import asyncio
import contextlib
import http.client
import json
import shutil
import signal
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import schemathesis
from serving import fit, rows, run, serve, without_labels

from obolus import AsyncClient, MaybeLearntError, ServerError, StreamClassifier

PROBE = without_labels(rows(50, seed=9))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    fit(folder)
    return folder


@pytest.fixture
def folder(fitted, tmp_path):
    """A run of 400 rows, to serve from."""
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def server(folder):
    with serve("run", cwd=folder) as server:
        yield server


def http_answer(server, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.suppress(ConnectionError):  # a body that is too large may be refused before it is sent
        connection.request(method, path, body, {"Content-Type": "application/json"} | named)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response, text


# Predicting and learning


def test_a_run_predicts_learns_takes_feedback_and_checkpoints(server):
    client = server.client
    assert [(m.name, m.task, m.rows, m.learns) for m in client.models()] == [("run", "classes", 400, True)]
    before = client.predict(PROBE)
    assert {p.value for p in before} == {"yes", "no"}
    assert all(abs(sum(p.probabilities.values()) - 1) < 1e-6 for p in before)
    more = rows(100, seed=2)
    told = client.learn(more)
    assert np.mean([p.value == row["y"] for p, row in zip(told, more)]) > 0.8
    assert client.model().rows == 500
    assert client.predict(PROBE) != before

    asked = client.predict([row | {"id": f"a-{i}"} for i, row in enumerate(PROBE)])
    assert [p.id for p in asked] == [f"a-{i}" for i in range(50)]
    found = client.feedback(["a-3", "never", "a-4"], ["yes", "yes", "no"])
    assert (found.learnt, found.unknown) == (2, ["never"])
    assert client.checkpoint() == client.model().rows == 502
    assert "obolus_" in client.metrics()


def test_the_first_predictions_are_those_of_the_run_s_model(server, folder):
    """Logits below 8 in another order of three terms, by the derivative 1/4: as in test_frames.py."""
    told = server.client.predict(PROBE)
    expected = StreamClassifier.load(folder / "run" / "model").predict_proba(pd.DataFrame(PROBE))
    found = [[p.probabilities["no"], p.probabilities["yes"]] for p in told]
    np.testing.assert_allclose(found, expected, atol=3 * 8 / 4 * 2**-24)


def test_a_request_of_many_rows_learns_like_as_many_requests_of_one(folder):
    shutil.copytree(folder / "run", folder / "other")
    with serve("run", "other", cwd=folder) as server:
        more = rows(40, seed=3)
        together = server.client.learn(more, model="run")
        alone = [server.client.learn(row, model="other") for row in more]
        assert together == alone
        assert server.client.predict(PROBE, "run") == server.client.predict(PROBE, "other")


def test_a_request_is_learnt_whole_or_not_at_all(server):
    before = server.client.predict(PROBE)
    for bad in ({"size": 1.0}, {"size": [[1]], "y": "yes"}, {"size": 1e39, "y": "yes"}):
        with pytest.raises(ServerError) as caught:
            server.client.learn(rows(5, seed=4) + [bad])
        assert caught.value.status == 422
        assert "row 6" in caught.value.message
    assert server.client.model().rows == 400
    assert server.client.predict(PROBE) == before


def test_a_frame_is_learnt_with_labels_apart(server):
    more = rows(64, seed=5)
    frame = pd.DataFrame(without_labels(more))
    server.client.learn(frame, [row["y"] for row in more])
    assert server.client.model().rows == 464


def test_many_clients_at_once(server):
    """Every row is learnt once, and readers see whole states only."""

    async def work():
        async with AsyncClient(server.url) as client:
            await asyncio.gather(*(client.learn(rows(10, seed=i)) for i in range(20)),
                                 *(client.predict(PROBE) for _ in range(20)))  # fmt: skip
            return (await client.model()).rows

    assert asyncio.run(work()) == 600


def test_a_model_file_only_predicts(folder):
    with serve("m=run/model", cwd=folder) as server:
        assert [(m.name, m.learns) for m in server.client.models()] == [("m", False)]
        server.client.predict(PROBE)
        with pytest.raises(ServerError) as caught:
            server.client.learn(rows(1))
        assert caught.value.status == 409


# Durability


def test_answers_after_kill_9_are_the_same(folder):
    with serve("run", "--checkpoint-seconds", "3600", cwd=folder) as server:
        for i in range(20):
            server.client.learn(rows(7, seed=100 + i))
        server.client.predict([row | {"id": i} for i, row in enumerate(PROBE)])
        server.client.feedback([1, 2], ["yes", "no"])
        server.client.checkpoint()
        server.client.learn(rows(3, seed=99))
        told, count = server.client.predict(PROBE), server.client.model().rows
        assert count == 400 + 140 + 2 + 3
        server.kill()
    with serve("run", cwd=folder) as server:
        assert server.client.model().rows == count
        assert server.client.predict(PROBE) == told


def test_a_kill_while_rows_arrive_loses_none_that_was_answered(folder):
    answered = 0
    for attempt in range(3):
        with serve("run", cwd=folder) as server:
            start = server.client.model().rows
            assert answered <= start - 400 <= answered + 5
            answered = start - 400
            enough = threading.Event()

            def learn(client=server.client, enough=enough, attempt=attempt):
                nonlocal answered
                with pytest.raises(ServerError):
                    for i in range(100_000):
                        client.learn(rows(5, seed=1000 * attempt + i))
                        answered += 5
                        if i == 30:
                            enough.set()

            thread = threading.Thread(target=learn)
            thread.start()
            assert enough.wait(60)
            server.process.kill()
            thread.join()


def test_a_lost_connection_is_told_as_such(server):
    """The server stops in the middle: the rows are sent, and no answer comes."""
    client = server.client
    client.learn(rows(1))
    client._requests._timeout = 0.5
    client.close()
    server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(MaybeLearntError):
        client.learn(rows(1))
    server.process.send_signal(signal.SIGCONT)


def test_sigterm_ends_with_everything_kept(folder):
    with serve("run", cwd=folder) as server:
        server.client.learn(rows(11, seed=6))
        told = server.client.predict(PROBE)
        assert server.terminate() == 0
    with serve("run", cwd=folder) as server:
        assert server.client.model().rows == 411
        assert server.client.predict(PROBE) == told


def test_the_journal_replays_as_rows(folder):
    with serve("run", "--keep-journal", cwd=folder) as server:
        server.client.learn(rows(80, seed=7))
        told = server.client.predict(PROBE)
        server.terminate()
    journals = sorted(path.relative_to(folder) for path in (folder / "run" / "serve").glob("journal-*"))
    run("fit", "rows.csv", *journals, "--out", "again", "--quiet", cwd=folder)
    with serve("again", cwd=folder) as server:
        assert server.client.model().rows == 480
        assert server.client.predict(PROBE) == told


# HTTP


@pytest.mark.parametrize(("method", "path", "body", "headers", "status"), [
    ("POST", "/v1/models/run/predict", "{", {}, 400),
    ("POST", "/v1/models/run/predict", '{"size": [[1]]}', {}, 422),
    ("POST", "/v1/models/run/predict", '{"size": 1, "size": 2}', {}, 422),
    ("POST", "/v1/models/run/predict", "size=1", {"Content_Type": "text/plain"}, 415),
    ("POST", "/v1/models/none/predict", "{}", {}, 404),
    ("GET", "/nowhere", None, {}, 404),
    ("PUT", "/v1/models/run/predict", "{}", {}, 405),
    ("POST", "/v1/models", "{}", {}, 405),
    ("POST", "/v1/models/run/predict", "[" + ",".join(["{}"] * 10_001) + "]", {}, 413),
    ("POST", "/v1/models/run/predict", '{"a": "' + "x" * (9 << 20) + '"}', {}, 413),
    ("GET", "/v1/models", None, {"Host": "evil.example"}, 403),
    ("GET", "/v1/models", None, {"Origin": "http://evil.example"}, 403),
    ("GET", "/v1/models", None, {"X-Long": "x" * 40_000}, 431),
])  # fmt: skip
def test_what_is_wrong_is_answered_by_its_status(server, method, path, body, headers, status):
    response, text = http_answer(server, method, path, body, **headers)
    assert response.status == status, text
    assert json.loads(text)["error"]["status"] == status
    assert status != 405 or response.headers["Allow"]


def test_beyond_loopback_a_token_is_needed(folder):
    token = "sixteen-or-more-characters"
    (folder / "token").write_text(f"{token}\n", encoding="utf-8")
    with serve("run", "--token-file", "token", cwd=folder, host="0.0.0.0", token=token) as server:
        server.client.predict(PROBE)
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            response, _ = http_answer(server, "GET", "/v1/models", **headers)
            assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_the_open_inference_protocol(server):
    inputs = [{"name": "size", "shape": [50], "datatype": "FP64", "data": [row["size"] for row in PROBE]},
              {"name": "colour", "shape": [50, 1], "datatype": "BYTES", "data": [row["colour"] for row in PROBE]}]
    response, text = http_answer(server, "POST", "/v2/models/run/infer", json.dumps({"id": "x", "inputs": inputs}))
    assert response.status == 200, text
    answer = json.loads(text)
    told = server.client.predict(PROBE)
    assert (answer["model_name"], answer["id"]) == ("run", "x")
    outputs = {output["name"]: output for output in answer["outputs"]}
    labels, probabilities = outputs["prediction"], outputs["probabilities"]
    assert labels["data"] == [p.value for p in told]
    assert probabilities["shape"] == [50, 2]
    assert probabilities["data"] == [q for p in told for q in p.probabilities.values()]
    for path in ("/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/run", "/v2/models/run/ready"):
        assert http_answer(server, "GET", path)[0].status == 200


# The OpenAPI document says what the server does.


DOCUMENT = Path(__file__).parents[2] / "src" / "serve" / "openapi.json"
described = schemathesis.openapi.from_path(DOCUMENT, config=schemathesis.Config.from_dict({
    "parameters": {"name": "run"}, "seed": 1,
    "generation": {"max-examples": 10, "deterministic": True, "no-shrink": True, "database": "none"},
    # Valid rows may still be unusable: without a label, too deep, or with a name that is written twice once joined.
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "422"]}},
}))  # fmt: skip


@schemathesis.serializer("application/x-ndjson")
def json_lines(context, value):
    lines = value if isinstance(value, list) else [[value]]  # an object alone would be one line, and right
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.fixture(scope="module")
def lasting(fitted, tmp_path_factory):
    """One server for all that the document describes. It must not fall."""
    folder = tmp_path_factory.mktemp("lasting")
    shutil.copytree(fitted, folder, dirs_exist_ok=True)
    with serve("run", cwd=folder) as server:
        yield server
        assert server.process.poll() is None


@described.exclude(path="/events").parametrize()  # which have no end
def test_every_operation_does_what_the_document_says(case, lasting):
    case.call_and_validate(base_url=lasting.url, timeout=30)


def test_the_document_is_served(lasting):
    response, text = http_answer(lasting, "GET", "/openapi.json")
    assert response.headers["Content-Type"].startswith("application/json")
    assert json.loads(text) == json.loads(DOCUMENT.read_text(encoding="utf-8"))
