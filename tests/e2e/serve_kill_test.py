"""A server that is killed under load, again and again: every row that was acknowledged is in its journal, in its place,
and every answer is the one that `obolus fit` gives when it reads the journal in one go, without any kill.
`serve_kill_test.py --kills 500` tries harder than the suite.
"""

import http.client
import json
import random
import struct
import sys
import threading
import time
import unittest

import program
from serve_test import csv_of, rows
from server import Server

KILLS = 10
CLIENTS = 3
BEFORE = 203  # rows of the run that is served, which is in the middle of a round


def journal_rows(folder):
    """The rows of all segments, read by the description of the format in docs/serve.md."""
    found = []
    for path in sorted(folder.glob("journal-*")):
        data, at = path.read_bytes(), 40
        while at + 40 <= len(data):
            mark, size, first, count, _, _ = struct.unpack_from("<4sIqqQQ", data, at)
            if mark != b"ROWS" or at + 40 + size > len(data):
                break
            part = [json.loads(line) for line in data[at + 40 : at + 40 + size].splitlines()]
            assert len(part) == count and first == BEFORE + len(found), path
            found += part
            at += 40 + size
    return found


class Client(threading.Thread):
    """Teaches rows until the connection breaks, and keeps what was answered."""

    def __init__(self, live, seed):
        super().__init__()
        self.live, self.rng, self.answered = live, random.Random(seed), []

    def run(self):
        connection = self.live.connect()
        made = rows(self.rng.randrange(10**9), 20_000)
        while made:
            count = self.rng.choice([1, 1, 1, 2, 5, 40])
            part, made = made[:count], made[count:]
            try:
                answer = self.live.post("/v1/models/run/learn", part, connection=connection)
            except (OSError, http.client.HTTPException):
                connection.close()
                return
            self.answered.append((answer["rows"] - answer["learnt"] - BEFORE, part, answer["predictions"]))


class ServeKillTest(program.ProgramTest):
    def test_killed_under_load(self):
        seed = random.SystemRandom().randrange(2**32)
        rng = random.Random(seed)
        self.write("rows.csv", csv_of(rows(1, BEFORE)))
        self.obolus("fit", "rows.csv", "--out", "run", "-q")
        answered = []
        for _ in range(KILLS):
            options = ["--durability", rng.choice(["always", "interval"]), "--keep-journal",
                       "--checkpoint-seconds", rng.choice([0.05, 0.5, 1000])]  # fmt: skip
            live = Server(["run", *options], self.directory)
            clients = [Client(live, rng.randrange(2**32)) for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(rng.choice([0.01, 0.1, 0.4]) * rng.random())
            live.kill()
            for client in clients:
                client.join()
                answered += client.answered
        self.check(answered, f"seed {seed}")

    def check(self, answered, told):
        live = Server(["run"], self.directory)
        found = live.get("/v1/models/run")["rows"] - BEFORE
        live.kill()
        kept = journal_rows(self.directory / "run" / "serve")
        self.assertEqual(found, len(kept), told)
        journals = sorted(map(str, (self.directory / "run" / "serve").glob("journal-*")))
        self.obolus("fit", "rows.csv", *journals, "--out", "whole", "-q", "--predictions", "told.txt",
                    "--probabilities")  # fmt: skip
        lines = [line.split("\t") for line in (self.directory / "told.txt").read_text().splitlines()][BEFORE:]
        for place, part, predictions in answered:
            self.assertEqual(kept[place : place + len(part)], part, f"{told}: an acknowledged row is lost")
            for line, prediction in zip(lines[place:], predictions, strict=False):
                numbers = [f"{q:.6g}" for q in prediction["probabilities"].values()]
                self.assertEqual(line, [prediction["prediction"], *numbers], f"{told}: not the answer without kills")
        acknowledged = sum(len(part) for _, part, _ in answered)
        print(f"{KILLS} kills: {acknowledged} rows acknowledged in {len(answered)} requests, none lost; "
              f"{len(kept) - acknowledged} more learnt that could not be answered", file=sys.stderr)  # fmt: skip


if __name__ == "__main__":
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()
