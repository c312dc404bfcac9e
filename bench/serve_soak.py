"""Hours of `obolus serve` in minutes: as many rows and connections as an hour of a thousand rows per second has, and
what the process holds meanwhile.

    python3 bench/serve_soak.py [--hours 1] [--program build/release/obolus]

Four clients teach and ask, a hundred rows per request, each request on a connection of its own one time in ten; one
sends requests that are refused, and breaks off in the middle of others. Prints a Markdown table: rows learnt, memory
(resident), open files and threads, at ten moments. After the first the memory should stand still: the model's size does
not depend on the rows.
"""

import argparse
import http.client
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

ROWS_PER_HOUR, ROWS, CLIENTS = 3_600_000, 100, 4


def made_rows(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        row = {f"x{i}": round(rng.gauss(0, 1), 3) for i in range(5)} | {"kind": rng.choice("abcdefgh")}
        yield row | {"y": "p" if row["x0"] > row["x1"] else "n"}


def start(program, folder):
    columns = [*(f"x{i}" for i in range(5)), "kind", "y"]
    lines = [",".join(str(row[c]) for c in columns) for row in made_rows(0, 2000)]
    (folder / "rows.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    subprocess.run([program, "fit", "rows.csv", "--out", "run", "-q"], cwd=folder, check=True)
    command = [program, "serve", "run", "--listen", "127.0.0.1:0", "--durability", "interval"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if found := re.search(r"Serving on http://[^:]+:(\d+)/", line):
            return process, int(found[1])
    raise RuntimeError("the server did not start")


def held(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    number = {name: int(value) for name, value in re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE)}
    return number["VmRSS"] / 1024, len(os.listdir(f"/proc/{process.pid}/fd")), number["Threads"]


def client(port, seed, ended):
    rng = random.Random(seed)
    bodies = ["".join(json.dumps(row) + "\n" for row in made_rows(100 * seed + i, ROWS)) for i in range(20)]
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while not ended.is_set():
        verb = "learn" if rng.random() < 0.8 else "predict"
        kind = {"Content-Type": "application/x-ndjson"}
        connection.request("POST", f"/v1/models/run/{verb}", rng.choice(bodies), kind)
        connection.getresponse().read()
        if rng.random() < 0.1:
            connection.close()


def nuisance(port, ended):
    for i in range(10**9):
        if ended.wait(0.01):
            return
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(b"POST /v1/models/run/learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
            if i % 2 == 0:
                one.sendall(b'{"a": [[]' if i % 4 == 0 else b"\xff" * 9)
                one.recv(4096)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--program", default=Path(__file__).resolve().parents[1] / "build" / "release" / "obolus")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, port = start(str(Path(options.program).resolve()), Path(folder))
        ended = threading.Event()
        threads = [threading.Thread(target=client, args=(port, seed, ended)) for seed in range(1, CLIENTS + 1)]
        threads.append(threading.Thread(target=nuisance, args=(port, ended)))
        for thread in threads:
            thread.start()
        print("| rows learnt | memory, MiB | open files | threads |\n|---:|---:|---:|---:|")
        asked = http.client.HTTPConnection("127.0.0.1", port)
        for moment in range(1, 11):
            rows = 0
            while rows < options.hours * ROWS_PER_HOUR * moment / 10:
                ended.wait(0.2)
                asked.request("GET", "/v1/models")
                rows = json.loads(asked.getresponse().read())["models"][0]["rows"]
            memory, files, count = held(process)
            print(f"| {rows:,} | {memory:.1f} | {files} | {count} |", flush=True)
        ended.set()
        for thread in threads:
            thread.join()
        process.terminate()
        process.communicate()
        print(f"\nExit code {process.returncode}")


if __name__ == "__main__":
    main()
