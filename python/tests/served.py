"""A server that answers as a test tells it, for what a real one does seldom."""

import contextlib
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Stub(ThreadingHTTPServer):
    """Answers by `answer(request)`, or in turn by the functions in `script` first. All requests are kept in `asked`."""

    daemon_threads = True

    def __init__(self):
        self.script, self.asked, self.connections = [], [], 0
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        """A connection that a test broke."""

    def bodies(self, verb):
        """The rows of each request."""
        return [[json.loads(line) for line in body.splitlines()] for _, path, body, _ in self.asked if verb in path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, body, dict(self.headers)))
        answer = self.server.script.pop(0) if self.server.script else plainly
        answer(self)

    do_POST = do_GET

    def send(self, status, body, **headers):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def plainly(handler):
    """As a server does that has one model, `run`."""
    _, path, body, _ = handler.server.asked[-1]
    if path == "/v1/models":
        handler.send(200, {"models": [{"name": "run", "task": "classes", "rows": 1, "learns": True}]})
    elif path == "/v1/models/run":
        handler.send(200, {"name": "run", "task": "classes", "rows": 1, "learns": True, "label": "y", "later": 1})
    elif path == "/readyz":
        handler.send(200, {"status": "ready"})
    elif path == "/metrics":
        handler.send(200, b"obolus_rows 1\n")
    elif path.endswith("/checkpoint"):
        handler.send(200, {"model": "run", "rows": 7})
    elif path.endswith("/feedback"):
        ids = [json.loads(line)["id"] for line in body.splitlines()]
        handler.send(200, {"model": "run", "rows": 8, "learnt": len(ids) - ids.count("gone"),
                           "unknown": [one for one in ids if one == "gone"]})  # fmt: skip
    else:
        rows = [json.loads(line) for line in body.splitlines()]
        told = [{"prediction": "yes", "probabilities": {"yes": 1.0}} | ({"id": r["id"]} if "id" in r else {})
                for r in rows]  # fmt: skip
        handler.send(200, {"model": "run", "rows": 2, "learnt": len(rows), "predictions": told})


def refusing(status, message="no", **headers):
    return lambda handler: handler.send(status, {"error": {"status": status, "message": message}}, **headers)


def breaking(handler):
    """The request is read, and nothing is answered."""
    handler.close_connection = True


def breaking_within(handler):
    """The answer ends in its middle."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"model"')
    handler.close_connection = True


@contextlib.contextmanager
def stub():
    server = Stub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def deaf():
    """Takes connections, and neither reads nor answers."""

    class Deaf(socketserver.BaseRequestHandler):
        def handle(self):
            done.wait()

    done = threading.Event()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Deaf) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            done.set()
            server.shutdown()
            thread.join()
