"""Requests to `obolus serve` over connections that are kept, and which of them are sent again."""

from __future__ import annotations

import json
import os
import random
import select
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

MOST_IDLE = 16  # connections


class ServerError(Exception):
    """An answer of `obolus serve` that is an error, or none at all.

    Attributes:
        status: the status of HTTP; None if nothing was answered
        message: the server's
        done: how many rows of the same call earlier requests had dealt with: a long list is sent in several
    """

    def __init__(self, status: int | None, message: str, done: int = 0) -> None:
        super().__init__(status, message, done)
        self.status = status
        self.message = message
        self.done = done

    def __str__(self) -> str:
        status = "" if self.status is None else f" (status {self.status})"
        done = f"; {self.done} rows were done before, and the message counts from the next" if self.done else ""
        return f"{self.message}{status}{done}"


class MaybeLearntError(ServerError):
    """The connection broke after rows were sent to be learnt: they may have been learnt, or not. They are not sent
    again. `model().rows` tells how many rows were learnt."""


class Answer(NamedTuple):
    status: int
    retry_after: float
    body: bytes

    def json(self) -> Any:
        """What was answered, unless it is an error."""
        try:
            found = json.loads(self.body)
        except ValueError:
            found = None
        if 200 <= self.status < 300 and isinstance(found, dict):
            return found
        if isinstance(found, dict) and isinstance(found.get("error"), dict):
            raise ServerError(self.status, str(found["error"].get("message")))
        start = self.body[:200].decode(errors="replace").strip()
        raise ServerError(self.status, f"got {start!r}, expected an answer of obolus serve")


class _FailureError(Exception):
    """Where an exchange failed. What failed while it was sent did not arrive whole, so it was not obeyed."""

    def __init__(self, where: Literal["connect", "send", "answer"], cause: Exception) -> None:
        self.where = where
        self.cause = cause


def _retry_after(text: str | None) -> float:
    try:
        return max(0.05, float(text or 1))
    except ValueError:  # a date
        return 1.0


class Requests:
    """Any number of threads may ask at once."""

    def __init__(self, url: str, token: str | None, timeout: float, patience: float) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
            raise ValueError(f"url: got {url!r}, expected http://HOST:PORT")
        self._make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port, self._prefix = parts.hostname, port, parts.path.rstrip("/")
        self._url, self._timeout, self._patience = url, timeout, patience
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._lock = threading.Lock()
        self._idle: list[HTTPConnection] = []
        self._process = os.getpid()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json", *,
            repeatable: bool = True, patience: float | None = None) -> Answer:  # fmt: skip
        """Sends again what was not accepted (429, 503) until patience ends, and once what a broken connection took
        along, unless it may have been obeyed and must not be twice."""
        deadline = time.monotonic() + (self._patience if patience is None else patience)
        headers = self._headers | ({} if body is None else {"Content-Type": kind})
        broken = False
        refusal: Answer | None = None
        while True:
            try:
                answer = self._exchange(method, self._prefix + path, body, headers)
                if answer.status not in (429, 503):
                    return answer
                refusal = answer
            except _FailureError as failure:
                if refusal is None or failure.where != "connect":  # a server that drains may be starting again
                    if broken or not self._may_repeat(failure, repeatable):
                        raise self._error(failure, repeatable) from failure.cause
                    broken = True
                    continue
            pause = refusal.retry_after * random.uniform(1, 1.25)  # not all clients at once
            if time.monotonic() + pause > deadline:
                return refusal
            time.sleep(pause)

    @staticmethod
    def _may_repeat(failure: _FailureError, repeatable: bool) -> bool:
        if failure.where == "connect" or isinstance(failure.cause, TimeoutError):
            return False
        return repeatable or failure.where == "send"

    def _error(self, failure: _FailureError, repeatable: bool) -> ServerError:
        cause = failure.cause
        why = f"{type(cause).__name__}: {cause}"
        if isinstance(cause, TimeoutError):
            why = f"nothing came within {self._timeout:g} seconds"
        if failure.where == "connect":
            return ServerError(None, f"cannot connect to {self._url}: {cause}")
        if failure.where == "send" or repeatable:
            return ServerError(None, f"no answer from {self._url}: {why}")
        return MaybeLearntError(None, f"no answer from {self._url}: {why}; the rows sent may have been learnt")

    def _exchange(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        connection = self._take()
        where: Literal["connect", "send", "answer"] = "connect"
        try:
            if connection.sock is None:
                connection.connect()
            where = "send"
            unsent = self._send(connection, method, path, body, headers)
            if unsent is None:
                where = "answer"
            try:
                response = connection.getresponse()
                answer = Answer(response.status, _retry_after(response.headers["Retry-After"]), response.read())
            except (OSError, HTTPException) as error:
                raise unsent or error from None
        except (OSError, HTTPException) as error:
            connection.close()
            raise _FailureError(where, error) from error
        except BaseException:
            connection.close()
            raise
        self._give_back(connection, keep=unsent is None and not response.will_close)
        return answer

    @staticmethod
    def _send(connection: HTTPConnection, method: str, path: str, body: bytes | None,
              headers: dict[str, str]) -> OSError | None:  # fmt: skip
        """Why it could not be sent whole. The server may have answered nevertheless, that it is too much."""
        try:
            connection.request(method, path, body, headers)
        except TimeoutError:
            raise
        except OSError as error:
            return error
        return None

    def _take(self) -> HTTPConnection:
        """One that is idle and that the server has not closed meanwhile, or a new one."""
        while True:
            with self._lock:
                if self._process != os.getpid():  # a fork: the connections are the parent's
                    self._idle, self._process = [], os.getpid()
                if not self._idle:
                    break
                connection = self._idle.pop()
            if connection.sock is not None and not _readable(connection.sock):
                return connection
            connection.close()
        return self._make(self._host, self._port, timeout=self._timeout)

    def _give_back(self, connection: HTTPConnection, keep: bool) -> None:
        with self._lock:
            if keep and len(self._idle) < MOST_IDLE and self._process == os.getpid():
                self._idle.append(connection)
                return
        connection.close()


def _readable(socket: Any) -> bool:
    """An idle connection has something to read only when it was closed. Not select(), which ends at 1,024 files."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
