"""Driving `obolus serve` from the end-to-end tests: a server on a free port, and requests to it."""

import http.client
import json
import re
import signal

import program

ADDRESS = re.compile(r"Serving on http://([^/\s:]+):(\d+)/")


class Server:
    """`obolus serve …` on a port of its own, until stop() or kill()."""

    def __init__(self, arguments, cwd, **streams):
        self.said = []
        listen = [] if "--listen" in arguments else ["--listen", "127.0.0.1:0"]
        self.process = program.start(["serve", *arguments, *listen], cwd, **streams)
        for line in self.process.stderr:
            self.said.append(line)
            if found := ADDRESS.search(line):
                self.host, self.port = found[1], int(found[2])
                return
        raise AssertionError(f"the server did not start, exit {self.process.wait()}: {''.join(self.said)}")

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """(status, headers, body), the body parsed if it is JSON."""
        own = connection or self.connect()
        if isinstance(body, (dict, list)):
            body, headers = json.dumps(body), {"Content-Type": "application/json"} | (headers or {})
        own.request(method, path, body, headers or {})
        answer = own.getresponse()
        text = answer.read().decode()
        if not connection:
            own.close()
        is_json = answer.getheader("Content-Type", "").startswith("application/json") and text
        return answer.status, dict(answer.getheaders()), json.loads(text) if is_json else text

    def post(self, path, body, **more):
        """The parsed body of an answer that must be 200."""
        status, _, answer = self.ask("POST", path, body, **more)
        if status != 200:
            raise AssertionError(f"POST {path}: {status} {answer}")
        return answer

    def get(self, path, **more):
        status, _, answer = self.ask("GET", path, **more)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {answer}")
        return answer

    def stop(self, by=signal.SIGTERM):
        """Its exit code and what it said; without `by` it ends by itself."""
        if by and self.process.poll() is None:
            self.process.send_signal(by)
        self.said.append(self.process.communicate(timeout=program.TIMEOUT)[1])
        return self.process.returncode, "".join(self.said)

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=program.TIMEOUT)


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


LINES = {"Content-Type": "application/x-ndjson"}
