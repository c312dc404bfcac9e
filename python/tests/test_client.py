"""The clients of `obolus serve`, against a server that does what a test tells it. test_serve.py has the real one."""

import asyncio
import datetime
import decimal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from served import breaking, breaking_within, deaf, plainly, refusing, stub

from obolus import AsyncClient, Client, Feedback, MaybeLearntError, Prediction, ServerError, _client

YES = Prediction("yes", {"yes": 1.0})


@pytest.fixture
def server():
    with stub() as server:
        yield server


@pytest.fixture
def client(server):
    with Client(server.url, patience=5) as client:
        yield client


def test_one_dict_gives_one_prediction_and_several_give_a_list(client):
    assert client.predict({"a": 1, "id": 7}) == Prediction("yes", {"yes": 1.0}, 7)
    assert client.predict([{"a": 1}]) == [YES]
    assert client.predict([]) == []
    assert client.learn({"a": 1, "y": "no"}) == YES


def test_values_become_those_of_json(server, client):
    row = {
        "float": np.float64(1.5), "single": np.float32(0.5), "int": np.int64(3), "bool": np.bool_(True), "none": None,
        "nan": float("nan"), "na": pd.NA, "nat": pd.NaT, "day": datetime.date(2026, 1, 2), "text": "naïve",
        "decimal": decimal.Decimal("0.25"), "words": ("a", np.float32("nan")), "array": np.arange(2),
        "in": {"x": {1: 2}}, 3: "number",
    }  # fmt: skip
    client.predict(row)
    assert server.bodies("predict") == [[{
        "float": 1.5, "single": 0.5, "int": 3, "bool": True, "none": None, "nan": None, "na": None, "nat": None,
        "day": "2026-01-02", "text": "naïve", "decimal": 0.25, "words": ["a", None], "array": [0, 1],
        "in": {"x": {"1": 2}}, "3": "number",
    }]]  # fmt: skip


def test_data_frames_of_every_library_are_the_same_rows(server, client):
    given = {"n": [1.5, None, 3.0], "c": ["red", None, "blue"], "b": [True, False, True], "i": [1, 2, 3]}
    frames = [pd.DataFrame(given), pd.DataFrame(given).convert_dtypes(), pl.DataFrame(given)]
    for frame in frames:
        client.predict(frame)
    expected = [dict(zip(given, values)) for values in zip(*given.values())]
    assert server.bodies("predict") == [expected] * len(frames)


def test_labels_may_be_given_apart_and_go_where_the_model_has_them(server, client):
    client.learn([{"a": 1}, {"a": 2}], np.array(["u", "v"]))
    client.learn({"a": 3}, np.int64(4))
    client.learn(pd.DataFrame({"a": [5]}), pd.Series(["w"]))
    sent = [[(row["a"], row["y"]) for row in body] for body in server.bodies("learn")]
    assert sent == [[(1, "u"), (2, "v")], [(3, 4)], [(5, "w")]]
    with pytest.raises(ValueError, match="got 1, expected one for each of 2 rows"):
        client.learn([{"a": 1}, {"a": 2}], ["u"])
    with pytest.raises(ValueError, match="second label of row 1"):
        client.learn([{"y": 1}], ["u"])


@pytest.mark.parametrize(("rows", "why"), [
    ("text", "got str"), (3, "got int"), (np.zeros((2, 2)), "got ndarray"), ([{"a": 1}, 3], "got int as row 2"),
])  # fmt: skip
def test_what_is_no_rows_is_refused(client, rows, why):
    with pytest.raises(TypeError, match=why):
        client.predict(rows)


def test_a_row_that_cannot_be_written_stops_all_before_the_first_is_sent(server, client, monkeypatch):
    monkeypatch.setattr(_client, "MOST_ROWS", 2)
    with pytest.raises(ValueError, match="row 5: got inf, expected finite numbers"):
        client.learn([{"a": 1}] * 4 + [{"a": float("inf")}])
    assert server.bodies("learn") == []


# Many rows


def test_many_rows_go_in_several_requests_in_their_order(server, client):
    rows = [{"id": i} for i in range(25_000)]
    assert [p.id for p in client.learn(rows)] == list(range(25_000))
    assert [len(body) for body in server.bodies("learn")] == [10_000, 10_000, 5_000]
    assert sum(server.bodies("learn"), []) == rows


def test_long_rows_go_in_requests_of_bounded_size(server, client):
    rows = [{"text": "x" * 1_000_000}] * 9 + [{"text": "y" * 5_000_000}, {"text": "z"}]
    assert len(client.predict(rows)) == 11
    assert [len(body) for body in server.bodies("predict")] == [4, 4, 1, 1, 1]
    assert all(len(body) <= 4 << 20 or body.count(b"\n") == 1 for _, path, body, _ in server.asked if "predict" in path)


def test_an_error_says_how_many_rows_were_learnt_before_it(server, client, monkeypatch):
    monkeypatch.setattr(_client, "MOST_ROWS", 2)
    server.script = [plainly, plainly, plainly, refusing(422, "row 2, column 9: got no label, expected one")]
    with pytest.raises(ServerError, match="row 2, column 9.*4 rows were done before") as caught:
        client.learn([{"a": i, "y": 1} for i in range(9)])
    assert (caught.value.status, caught.value.done) == (422, 4)
    assert len(server.bodies("learn")) == 3


# The other methods


def test_feedback_sends_ids_and_labels(server, client):
    assert client.feedback(["a", np.int64(5), "gone"], ["u", "v", "w"]) == Feedback(2, ["gone"])
    assert client.feedback("b", "x") == Feedback(1, [])
    assert client.feedback(np.int64(6), np.float32(1.5)) == Feedback(1, [])
    assert server.bodies("feedback") == [
        [{"id": "a", "label": "u"}, {"id": 5, "label": "v"}, {"id": "gone", "label": "w"}],
        [{"id": "b", "label": "x"}], [{"id": 6, "label": 1.5}],
    ]  # fmt: skip


def test_models_checkpoints_and_metrics(client):
    assert [(m.name, m.rows, m.learns) for m in client.models()] == [("run", 1, True)]
    assert client.model().label == "y"
    assert client.checkpoint() == 7
    assert client.metrics() == "obolus_rows 1\n"
    assert client.ready()


def test_the_only_model_is_asked_for_once_and_several_must_be_named(server, client):
    client.predict({"a": 1})
    client.predict({"a": 1})
    assert [path for _, path, _, _ in server.asked] == ["/v1/models"] + ["/v1/models/run/predict"] * 2
    two = {"models": [{"name": n, "task": "classes", "rows": 0, "learns": True} for n in ("a b", "c/d")]}
    server.script = [lambda handler: handler.send(200, two)]
    other = Client(server.url)
    with pytest.raises(ValueError, match="got none, expected one of a b, c/d"):
        other.predict({"a": 1})
    other.predict({"a": 1}, model="c/d")
    assert server.asked[-1][1] == "/v1/models/c%2Fd/predict"


def test_the_token_is_sent(server):
    Client(server.url, token="secret").models()
    assert server.asked[-1][3]["Authorization"] == "Bearer secret"


def test_errors_have_the_status_and_the_message_of_the_server(server, client):
    server.script = [plainly, refusing(404, "no model 'x', expected one of run")]
    with pytest.raises(ServerError, match=r"no model 'x', expected one of run \(status 404\)") as caught:
        client.predict({"a": 1})
    assert (caught.value.status, caught.value.message) == (404, "no model 'x', expected one of run")
    server.script = [lambda handler: handler.send(200, b"<html>")]
    with pytest.raises(ServerError, match="got '<html>', expected an answer of obolus serve"):
        client.models()


@pytest.mark.parametrize("url", ["127.0.0.1:80", "ftp://h", "http://", "http://h:x", "http://h/?a=1"])
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="expected http://HOST:PORT"):
        Client(url)


# Sending again


@pytest.mark.parametrize("status", [429, 503])
def test_what_a_busy_server_refused_is_sent_again_when_it_says(server, client, status):
    server.script = [plainly, refusing(status, Retry_After="0.2"), refusing(status, Retry_After="0.1")]
    began = time.monotonic()
    assert client.learn({"a": 1, "y": 2}) == YES
    assert time.monotonic() - began >= 0.3
    assert len(server.bodies("learn")) == 3


def test_patience_ends(server):
    client = Client(server.url, patience=0.5)
    server.script = [plainly] + [refusing(429, "the queue is full", Retry_After="0.2")] * 9
    with pytest.raises(ServerError, match=r"the queue is full \(status 429\)"):
        client.learn({"a": 1, "y": 2})
    assert 2 <= len(server.bodies("learn")) <= 3
    server.script = [refusing(503, Retry_After="9")]
    assert not client.ready()


@pytest.mark.parametrize("status", [400, 401, 409, 413, 422, 507])
def test_other_errors_are_final(server, client, status):
    server.script = [plainly, refusing(status)]
    with pytest.raises(ServerError):
        client.learn({"a": 1, "y": 2})
    assert len(server.bodies("learn")) == 1


@pytest.mark.parametrize("broken", [breaking, breaking_within])
def test_a_prediction_that_a_connection_took_along_is_asked_for_again_once(server, client, broken):
    server.script = [plainly, broken]
    assert client.predict({"a": 1}) == YES
    assert len(server.bodies("predict")) == 2
    server.script = [broken, broken]
    with pytest.raises(ServerError, match="no answer") as caught:
        client.predict({"a": 1})
    assert caught.value.status is None
    assert not isinstance(caught.value, MaybeLearntError)


@pytest.mark.parametrize("broken", [breaking, breaking_within])
@pytest.mark.parametrize("verb", ["learn", "feedback"])
def test_rows_that_may_have_been_learnt_are_not_sent_again(server, client, broken, verb):
    server.script = [plainly, broken]
    with pytest.raises(MaybeLearntError, match="may have been learnt"):
        client.learn({"a": 1, "y": 2}) if verb == "learn" else client.feedback("a", 1)
    assert len(server.bodies(verb)) == 1


def test_a_connection_that_the_server_closed_while_idle_is_not_used(server, client):
    def closing(handler):
        plainly(handler)
        handler.close_connection = True  # without telling

    server.script = [closing]
    client.models()
    for connection in client._requests._idle:
        connection.sock.setblocking(True)
        assert connection.sock.recv(1, 2) == b""  # MSG_PEEK: waits until the end has come
    assert client.learn({"a": 1, "y": 2}) == YES


def test_rows_that_did_not_arrive_whole_are_sent_again(server, client, monkeypatch):
    """The first answer comes before the rows are read, and the connection breaks while they are sent."""

    def interrupted(handler):
        handler.connection.shutdown(2)
        handler.close_connection = True

    client.models()
    original = server.RequestHandlerClass.do_POST
    refused = []

    def do_POST(handler):
        if not refused:
            refused.append(True)
            return interrupted(handler)
        return original(handler)

    monkeypatch.setattr(server.RequestHandlerClass, "do_POST", do_POST)
    # More than the buffers of both ends hold, so that it cannot be sent whole without being read.
    assert client.learn({"text": "x" * 60_000_000, "y": 1}) == YES
    assert len(server.bodies("learn")) == 1


def test_an_answer_that_does_not_come_is_waited_for_once():
    with deaf() as url:
        client = Client(url, timeout=0.2)
        with pytest.raises(ServerError, match=r"nothing came within 0\.2 seconds"):
            client.predict({"a": 1}, model="run")
        with pytest.raises(MaybeLearntError, match="may have been learnt"):
            client.learn({"a": 1, "y": 1}, model="run")
        assert not client.ready()


def test_nobody_there(server):
    url = server.url
    server.shutdown()
    server.server_close()
    client = Client(url)
    with pytest.raises(ServerError, match=f"cannot connect to {url}"):
        client.learn({"a": 1}, model="run")
    assert not client.ready()


# Connections


def test_connections_are_kept(server, client):
    for _ in range(5):
        client.predict({"a": 1})
    assert server.connections == 1
    client.close()
    client.predict({"a": 1})
    assert server.connections == 2


def test_threads_share_a_client(server, client):
    found = {}

    def ask(name):
        found[name] = [p.id for i in range(20) for p in client.predict([{"id": f"{name}-{i}"}])]

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [f"{n}-{i}" for i in range(20)] for n in range(8)}
    assert server.connections <= 8 + 1


def test_asyncio_has_the_same_methods(server):
    async def work():
        async with AsyncClient(server.url) as client:
            found = await asyncio.gather(*(client.predict([{"id": i}]) for i in range(50)))
            assert [p.id for one in found for p in one] == list(range(50))
            assert await client.learn({"a": 1}, "u") == YES
            assert await client.feedback("gone", 1) == Feedback(0, ["gone"])
            assert (await client.model()).name == (await client.models())[0].name == "run"
            assert (await client.checkpoint(), await client.ready()) == (7, True)
            assert "obolus_rows" in await client.metrics()
            server.script = [breaking]
            with pytest.raises(MaybeLearntError):
                await client.learn({"a": 1, "y": 1})

    asyncio.run(work())
    assert server.connections <= 16


def test_a_wait_does_not_hold_up_the_loop(server):
    async def work():
        async with AsyncClient(server.url) as client:
            await client.models()
            refused = threading.Event()

            def refuse(handler):
                refusing(503, Retry_After="0.5")(handler)
                refused.set()

            server.script = [refuse]
            slow = asyncio.create_task(client.learn({"a": 1, "y": 1}, model="run"))
            await asyncio.to_thread(refused.wait)
            assert await client.predict({"a": 1}, model="run") == YES
            assert not slow.done()
            assert await slow == YES

    asyncio.run(work())


def test_importing_obolus_imports_no_client():
    code = "import sys, obolus; print('obolus._client' in sys.modules, obolus.Client.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "Client"]
