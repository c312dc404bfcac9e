"""Clients of `obolus serve`: rows to predict and to learn, over HTTP. The standard library sends them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar, overload
from urllib.parse import quote

from obolus._answers import Feedback, Prediction, ServedModel, prediction_of
from obolus._json_rows import chunks, dicts_of, plain, with_labels
from obolus._requests import MaybeLearntError, Requests, ServerError

__all__ = ["AsyncClient", "Client", "Feedback", "MaybeLearntError", "Prediction", "ServedModel", "ServerError"]

Result = TypeVar("Result")


class Frame(Protocol):
    """A data frame of any library."""

    @property
    def columns(self) -> Any: ...


class Stream(Protocol):
    """What gives a data frame through Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Row = Mapping[Any, Any]
Rows = Sequence[Row] | Frame | Stream
# Below the server's limits of 10,000 rows and 8 MiB. A request has to arrive within 10 s: 4 MiB take 3.4 Mbit/s.
MOST_ROWS = 10_000
MOST_BYTES = 4 << 20


class Client:
    """Predicts and learns with the models of an `obolus serve`. Threads may share one; connections are kept.

    >>> import obolus
    >>> client = obolus.Client("http://127.0.0.1:8765")
    >>> client
    Client('http://127.0.0.1:8765')
    >>> client.predict({"size": 1.5, "colour": "red"})                       # doctest: +SKIP
    Prediction(value='yes', probabilities={'no': 0.2, 'yes': 0.8}, id=None)
    >>> client.learn([{"size": 1.5, "label": "yes"}, {"size": 2, "label": "no"}])[0].value  # doctest: +SKIP
    'yes'

    Rows are a dict, several of them, or a data frame. NumPy's numbers become numbers, NaN and None missing values, and
    other things their text; dicts and lists within a row are as in docs/rows.md. One dict gives one prediction, all
    else a list. More than 10,000 rows or 4 MiB are sent in several requests, one after the other.

    `model` may be left out where the server has only one. Errors are `ServerError`.

    Options:
        token: what the server asks for unless it listens on loopback only
        timeout: seconds to wait for an answer
        patience: seconds in which a request is sent again while the server is busy (429) or not ready (503)
    """

    def __init__(self, url: str = "http://127.0.0.1:8765", token: str | None = None, *, timeout: float = 30.0,
                 patience: float = 30.0) -> None:  # fmt: skip
        self._url = url
        self._requests = Requests(url, token, timeout, patience)
        self._only: str | None = None
        self._labels: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def __enter__(self: Client) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. The next request opens one."""
        self._requests.close()

    def models(self) -> list[ServedModel]:
        """All that are served, in short."""
        return [ServedModel.read(one) for one in self._get("/v1/models")["models"]]

    def model(self, name: str | None = None) -> ServedModel:
        """One in full."""
        return ServedModel.read(self._get(self._path(name)))

    @overload
    def predict(self, rows: Row, model: str | None = None) -> Prediction: ...
    @overload
    def predict(self, rows: Rows, model: str | None = None) -> list[Prediction]: ...
    def predict(self, rows: Any, model: str | None = None) -> Prediction | list[Prediction]:
        """Predictions, in the order of the rows. Rows with an `id` may be labelled later, by `feedback`."""
        found = self._predictions(dicts_of(rows), model, "predict", repeatable=True)
        return found[0] if isinstance(rows, Mapping) else found

    @overload
    def learn(self, rows: Row, labels: object = None, model: str | None = None) -> Prediction: ...
    @overload
    def learn(self, rows: Rows, labels: Any = None, model: str | None = None) -> list[Prediction]: ...
    def learn(self, rows: Any, labels: Any = None, model: str | None = None) -> Prediction | list[Prediction]:
        """Learns rows, and returns what was predicted of each before. When it returns, they are durable.

        Labels are in the rows, or in `labels`: one for one dict, else one for each row. Each request is learnt whole or
        not at all; the `done` of an error is how many rows were learnt by the requests before. If the connection
        breaks before the answer comes, the rows may have been learnt: `MaybeLearntError` says so, and nothing is sent
        again.
        """
        found = dicts_of(rows)
        if labels is not None:
            given = [labels] if isinstance(rows, Mapping) else list(labels)
            found = with_labels(found, given, self._label(model))
        predictions = self._predictions(found, model, "learn", repeatable=False)
        return predictions[0] if isinstance(rows, Mapping) else predictions

    def feedback(self, ids: Any, labels: Any, model: str | None = None) -> Feedback:
        """Learns rows that were predicted before, now that their labels are known: an id and a label, or as many of
        each. The rows are those of `predict` that had these under `id`."""
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            ids, labels = [ids], [labels]
        rows = with_labels([{"id": plain(one)} for one in ids], list(labels), "label")
        answers = self._send(rows, model, "feedback", repeatable=False)
        unknown = [one for answer in answers for one in answer["unknown"]]
        return Feedback(sum(answer["learnt"] for answer in answers), unknown)

    def checkpoint(self, model: str | None = None) -> int:
        """Writes one now, so that the next start has nothing to repeat. Returns how many rows it has learnt."""
        return int(self._requests.ask("POST", self._path(model, "checkpoint"), b"{}").json()["rows"])

    def ready(self) -> bool:
        """Whether there is a server that takes requests. Does not wait for one."""
        try:
            return self._requests.ask("GET", "/readyz", patience=0).status == 200
        except ServerError:
            return False

    def metrics(self) -> str:
        """What Prometheus reads."""
        answer = self._requests.ask("GET", "/metrics")
        return answer.body.decode() if answer.status == 200 else str(answer.json())

    def _get(self, path: str) -> Any:
        return self._requests.ask("GET", path).json()

    def _name(self, model: str | None) -> str:
        if model is None and self._only is None:
            names = [one.name for one in self.models()]
            if len(names) != 1:
                raise ValueError(f"model: got none, expected one of {', '.join(names)}")
            self._only = names[0]
        return model or self._only or ""

    def _path(self, model: str | None, verb: str = "") -> str:
        return f"/v1/models/{quote(self._name(model), safe='')}" + (f"/{verb}" if verb else "")

    def _label(self, model: str | None) -> str:
        name = self._name(model)
        if name not in self._labels:
            self._labels[name] = self.model(name).label
        return self._labels[name]

    def _predictions(self, rows: Sequence[Row], model: str | None, verb: str,
                     repeatable: bool) -> list[Prediction]:  # fmt: skip
        answers = self._send(rows, model, verb, repeatable)
        return [prediction_of(one) for answer in answers for one in answer["predictions"]]

    def _send(self, rows: Sequence[Row], model: str | None, verb: str, repeatable: bool) -> list[Any]:
        """The answers to as many requests as it takes. All rows are written before the first is sent, so that one that
        cannot be stops all."""
        path = self._path(model, verb)
        answers: list[Any] = []
        done = 0
        for count, body in list(chunks(rows, MOST_ROWS, MOST_BYTES)):
            try:
                answer = self._requests.ask("POST", path, body, "application/x-ndjson", repeatable=repeatable)
                answers.append(answer.json())
            except ServerError as error:
                error.done = done
                raise
            done += count
        return answers


class AsyncClient:
    """`Client` for asyncio: the same methods, to await. Up to `connections` requests are on their way at once.

    >>> import obolus
    >>> obolus.AsyncClient("http://127.0.0.1:8765")
    AsyncClient('http://127.0.0.1:8765')
    >>> async def first(row):
    ...     async with obolus.AsyncClient() as client:
    ...         return await client.predict(row)

    A call that is cancelled stops waiting, but its rows may still be learnt.
    """

    # Threads, not streams: the standard library speaks HTTP with blocking sockets only, and a second implementation of
    # keep-alive, framing and of what may be sent again would be a second place for mistakes that learn rows twice. A
    # request is a few system calls and a wait; threads of our own do not hold up those of asyncio.to_thread.
    def __init__(self, url: str = "http://127.0.0.1:8765", token: str | None = None, *, timeout: float = 30.0,
                 patience: float = 30.0, connections: int = 16) -> None:  # fmt: skip
        self._client = Client(url, token, timeout=timeout, patience=patience)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="obolus")

    def __repr__(self) -> str:
        return f"Async{self._client!r}"

    async def __aenter__(self: AsyncClient) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits for the requests on their way, then closes the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()

    async def models(self) -> list[ServedModel]:
        """As `Client.models`; so are those below."""
        return await self._run(self._client.models)

    async def model(self, name: str | None = None) -> ServedModel:
        return await self._run(partial(self._client.model, name))

    @overload
    async def predict(self, rows: Row, model: str | None = None) -> Prediction: ...
    @overload
    async def predict(self, rows: Rows, model: str | None = None) -> list[Prediction]: ...
    async def predict(self, rows: Any, model: str | None = None) -> Prediction | list[Prediction]:
        return await self._run(partial(self._client.predict, rows, model))

    @overload
    async def learn(self, rows: Row, labels: object = None, model: str | None = None) -> Prediction: ...
    @overload
    async def learn(self, rows: Rows, labels: Any = None, model: str | None = None) -> list[Prediction]: ...
    async def learn(self, rows: Any, labels: Any = None, model: str | None = None) -> Prediction | list[Prediction]:
        return await self._run(partial(self._client.learn, rows, labels, model))

    async def feedback(self, ids: Any, labels: Any, model: str | None = None) -> Feedback:
        return await self._run(partial(self._client.feedback, ids, labels, model))

    async def checkpoint(self, model: str | None = None) -> int:
        return await self._run(partial(self._client.checkpoint, model))

    async def ready(self) -> bool:
        return await self._run(self._client.ready)

    async def metrics(self) -> str:
        return await self._run(self._client.metrics)

    async def _run(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)
