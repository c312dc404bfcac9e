"""`obolus serve` beside other servers: python bench/serve_vs_peers.py [--servers obolus,fastapi,vw] [--seconds N] …

Prints a Markdown table of rows per second and latencies, over loopback, for requests of 1 and of 100 rows that are
predicted or learnt. Server and client share two cores. All have the same rows, ten numbers each, and have learnt
5,000 of them before; what is learnt is predicted first, and the prediction answered.

- obolus, as it comes (every answer durable) and with `--durability interval`;
- a service of FastAPI, uvicorn and river's logistic regression with a StandardScaler (serve_river.py), one process;
- Vowpal Wabbit's daemon. It speaks lines over TCP, not HTTP, so the client is this program instead of wrk, and costs
  more: read its figures for single rows as lower bounds. It serves a connection per process, each with a copy of the
  model: more than one would be models that know nothing of each other.

Neither peer keeps what it learns on disk. The repeats of all servers take turns.

Needs wrk (Debian: wrk), `pip install -r bench/requirements-serve.txt`, and a program `vw`, which neither Debian 12 nor
the wheels on PyPI have: unpack `pip download --no-deps --no-binary :all: vowpalwabbit`, then
`cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release && ninja -C build vw_cli_bin`.
"""

import argparse
import contextlib
import csv
import http.client
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from itertools import cycle
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS, BEFORE, FEATURES = 20_000, 5_000, 10
SIZES = (1, 100)
VERBS = ("predict", "learn")


def made_rows():
    """A hyperplane with noise."""
    rng = random.Random(1)
    weights = [rng.gauss(0, 1) for _ in range(FEATURES)]
    for _ in range(BEFORE + ROWS):
        row = {f"x{i}": round(rng.random(), 4) for i in range(FEATURES)}
        above = sum(w * (v - 0.5) for w, v in zip(weights, row.values(), strict=True)) + rng.gauss(0, 0.2) > 0
        yield row | {"y": "yes" if above else "no"}


def without_label(row):
    return {name: value for name, value in row.items() if name != "y"}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """A process that listens on a port, with the rows before already learnt."""

    process = None

    def __init__(self, folder, rows):
        self.folder, self.rows, self.port = folder, rows, free_port()

    def start(self, command, **options):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit(f"{command[0]}: does not listen; run {' '.join(map(str, command))} to see why")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def check(server):
    """Fast nonsense is not measured."""
    rows = server.rows[BEFORE : BEFORE + 100]
    right = sum(told == row["y"] for told, row in zip(server.answers(rows), rows, strict=True))
    if right < 80:
        sys.exit(f"{server.name}: {right} of 100 predictions are right, expected 80")


class Http(Server):
    """Measured by wrk."""

    connections = (1, 16)

    def ask(self, verb, rows):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", self.path(verb), json.dumps(rows), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return [one["prediction"] for one in answer["predictions"]]

    def answers(self, rows):
        return self.ask("predict", [without_label(row) for row in rows])

    def write_bodies(self):
        for verb in VERBS:
            for size in SIZES:
                parts = [self.rows[i : i + size] for i in range(BEFORE, len(self.rows), size)]
                with open(self.bodies(verb, size), "w", encoding="utf-8") as file:
                    for part in parts:
                        sent = part if verb == "learn" else [without_label(row) for row in part]
                        file.write(json.dumps(sent) + "\n")

    def bodies(self, verb, size):
        return self.folder / f"{verb}-{size}.jsonl"

    def measure(self, verb, size, connections, seconds):
        command = ["wrk", "-t", "1", "-c", connections, "-d", seconds, "-s", HERE / "serve_rows.lua"]
        command += [f"http://127.0.0.1:{self.port}{self.path(verb)}", "--", self.bodies(verb, size)]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"wrk: {done.stderr}{done.stdout}")
        found = json.loads(done.stdout.splitlines()[-1])
        if found["errors"]:
            sys.exit(f"{self.name} {verb}: {found['errors']} errors in {found['requests']} requests")
        return found["requests"] * size / found["seconds"], found["p50"], found["p99"]


class Obolus(Http):
    name, durability = "obolus", "always"

    def prepare(self, program):
        self.write_bodies()
        with open(self.folder / "rows.csv", "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, self.rows[0].keys())
            table.writeheader()
            table.writerows(self.rows[:BEFORE])
        fitting = [program, "fit", "rows.csv", "--out", f"run-{self.durability}", "--quiet"]
        subprocess.run(fitting, cwd=self.folder, check=True)
        serving = [program, "serve", f"m=run-{self.durability}", "--listen", f"127.0.0.1:{self.port}"]
        self.start([*serving, "--durability", self.durability], cwd=self.folder)

    @staticmethod
    def path(verb):
        return f"/v1/models/m/{verb}"

    @staticmethod
    def version(options):
        return subprocess.run([options.program, "--version"], capture_output=True, text=True).stdout.strip()


class ObolusInterval(Obolus):
    name, durability = "obolus, `--durability interval`", "interval"


class FastApi(Http):
    name = "FastAPI, uvicorn, river"

    def prepare(self, program):
        self.write_bodies()
        self.start([program, "-m", "uvicorn", "serve_river:app", "--port", str(self.port), "--log-level", "error",
                    "--no-access-log"], cwd=HERE)  # fmt: skip
        for i in range(0, BEFORE, 100):
            self.ask("learn", self.rows[i : i + 100])

    @staticmethod
    def path(verb):
        return f"/{verb}"

    @staticmethod
    def version(options):
        return ", ".join(f"{name} {version(name)}" for name in ("fastapi", "uvicorn", "river"))


class VowpalWabbit(Server):
    name = "Vowpal Wabbit's daemon, TCP"
    connections = (1,)

    def prepare(self, program):
        self.lines = {verb: [self.line(row, verb) for row in self.rows] for verb in VERBS}
        self.start([program, "--daemon", "--foreground", "--port", str(self.port), "--num_children", "1",
                    "--loss_function", "logistic", "--link", "logistic", "--quiet"])  # fmt: skip
        self.each([self.lines["learn"][i : i + 100] for i in range(0, BEFORE, 100)], None)

    @staticmethod
    def line(row, verb):
        """Without a label it predicts only."""
        label = {"yes": "1 ", "no": "-1 "}[row["y"]] if verb == "learn" else ""
        return label + "| " + " ".join(f"{name}:{value}" for name, value in without_label(row).items()) + "\n"

    def each(self, requests, seconds):
        """Milliseconds of every request: its lines, and as many lines back."""
        bodies = [("".join(lines).encode(), len(lines)) for lines in requests]
        taken = []
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            end = None if seconds is None else time.perf_counter() + seconds
            for body, count in bodies if seconds is None else cycle(bodies):
                began = time.perf_counter()
                if end and began > end:
                    break
                connection.sendall(body)
                self.read(connection, count)
                taken.append((time.perf_counter() - began) * 1e3)
        return taken

    @staticmethod
    def read(connection, count):
        told = []
        while count:
            told.append(connection.recv(1 << 16))
            if not told[-1]:
                sys.exit("vw: closed the connection")
            count -= told[-1].count(b"\n")
        return b"".join(told)

    def answers(self, rows):
        lines = [self.line(row, "predict") for row in rows]
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall("".join(lines).encode())
            told = self.read(connection, len(lines))
        return ["yes" if float(line.split()[0]) > 0.5 else "no" for line in told.splitlines()]

    def measure(self, verb, size, connections, seconds):
        lines = self.lines[verb][BEFORE:]
        began = time.perf_counter()
        taken = self.each([lines[i : i + size] for i in range(0, len(lines), size)], seconds)
        rate = len(taken) * size / (time.perf_counter() - began)
        cuts = statistics.quantiles(taken, n=100)
        return rate, cuts[49], cuts[98]

    @staticmethod
    def version(options):
        said = subprocess.run([options.vw, "--version"], capture_output=True, text=True).stdout
        return f"Vowpal Wabbit {said.split()[0]}"


SERVERS = {"obolus": [Obolus, ObolusInterval], "fastapi": [FastApi], "vw": [VowpalWabbit]}


def table(servers, options):
    cases = [(server, verb, size, connections) for verb in VERBS for size in SIZES for server in servers
             for connections in server.connections]  # fmt: skip
    found = {case: [] for case in cases}
    for _ in range(options.repeats):
        for case in cases:
            server, verb, size, connections = case
            found[case].append(server.measure(verb, size, connections, options.seconds))
    print("| | rows per request | server | connections | rows per second | p50, ms | p99, ms |")
    print("|---|---:|---|---:|---:|---:|---:|")
    for (server, verb, size, connections), repeats in found.items():
        rates, p50, p99 = zip(*repeats, strict=True)
        rate = f"{min(rates):,.0f} to {max(rates):,.0f}"
        print(f"| {verb} | {size} | {server.name} | {connections} | {rate} | {min(p50):.3f} | {min(p99):.3f} |")


def two_cores():
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    return len(cores)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", default="obolus,fastapi,vw")
    parser.add_argument("--seconds", type=int, default=5, help="of one measurement")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--program", default=HERE.parent / "build" / "release" / "obolus")
    parser.add_argument("--vw", default=shutil.which("vw") or "vw")
    options = parser.parse_args()
    names = options.servers.split(",")
    rows, cores = list(made_rows()), two_cores()
    programs = {"obolus": Path(options.program).resolve(), "vw": options.vw, "fastapi": sys.executable}
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name in names:
                for kind in SERVERS[name]:
                    servers.append(kind(Path(folder), rows))
                    servers[-1].prepare(programs[name])
                    check(servers[-1])
            table(servers, options)
        finally:
            for server in servers:
                server.stop()
    wrk = subprocess.run(["wrk", "-v"], capture_output=True, text=True).stdout.split()[1]
    told = [SERVERS[name][0].version(options) for name in names]
    print(f"\n{'; '.join(told)}; wrk {wrk}, Python {sys.version.split()[0]}; {cores} cores")


if __name__ == "__main__":
    main()
