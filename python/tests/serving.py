"""`obolus serve` as the tests start and end it."""

import contextlib
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

from obolus import Client

PROGRAM = Path(sys.executable).with_name("obolus")
SECONDS = 60  # to start or to end, on a machine that is shared


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    def __init__(self, *arguments, cwd, host="127.0.0.1", token=None):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = Client(self.url, token)
        command = [PROGRAM, "serve", *map(str, arguments), "--listen", f"{host}:{self.port}"]
        self.said = open(Path(cwd) / f"said-{self.port}", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, cwd=cwd, stdout=self.said, stderr=self.said)
        try:
            self.wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def wait_until_ready(self):
        deadline = time.monotonic() + SECONDS
        while not self.client.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.said.seek(0)
                raise AssertionError(f"not ready, exit code {self.process.returncode}: {self.said.read()}")
            time.sleep(0.02)

    def kill(self):
        """As `kill -9` does."""
        self.process.kill()
        self.process.wait()
        self.client.close()
        self.said.close()

    def terminate(self):
        """The exit code."""
        self.process.terminate()
        code = self.process.wait(SECONDS)
        self.kill()
        return code


@contextlib.contextmanager
def serve(*arguments, **options):
    server = Server(*arguments, **options)
    try:
        yield server
    finally:
        server.kill()


def rows(count, seed=1):
    """A number, a category, and what follows from both, with noise."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        size, colour = round(rng.gauss(0, 1), 4), rng.choice(["red", "green", "blue"])
        yes = size + (colour == "red") + rng.gauss(0, 0.3) > 0.5
        found.append({"size": size, "colour": colour, "y": "yes" if yes else "no"})
    return found


def write_csv(path, given):
    lines = [",".join(given[0])] + [",".join(str(value) for value in row.values()) for row in given]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def without_labels(given):
    return [{key: value for key, value in row.items() if key != "y"} for row in given]


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, check=True, capture_output=True, text=True).stdout


def fit(folder):
    """A run of 400 rows: a multiple of 8, so that its last round is whole."""
    write_csv(folder / "rows.csv", rows(400))
    run("fit", "rows.csv", "--out", "run", "--quiet", cwd=folder)
