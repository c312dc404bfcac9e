"""`obolus serve` as programs use it: rows are predicted and learnt over HTTP, and answers outlive the process."""

import json
import random
import re
import resource
import shutil
import signal
import socket
import threading
import time
import unittest

import program
from server import LINES, Server, lines_of


def rows(seed, count):
    """Rows of two numbers and a category whose classes move."""
    rng = random.Random(seed)
    made = []
    for i in range(count):
        a, b, kind = rng.gauss(0, 1), rng.gauss(0, 2), rng.choice(["red", "green", "blue"])
        side = a - 0.5 * b + {"red": 1, "green": 0, "blue": -1}[kind] + (0.8 if i > count // 2 else 0)
        made.append({"a": round(a, 4), "b": round(b, 4), "kind": kind, "y": "p" if side > 0 else "n"})
    return made


def csv_of(made):
    return "a,b,kind,y\n" + "".join(f"{r['a']},{r['b']},{r['kind']},{r['y']}\n" for r in made)


def unlabelled(made):
    return [{key: value for key, value in row.items() if key != "y"} for row in made]


class ServeTest(program.ProgramTest):
    def fit(self, count=300, out="run", seed=1, **more):
        self.write("rows.csv", csv_of(rows(seed, count)))
        self.obolus("fit", "rows.csv", "--out", out, "-q")

    def serve(self, *arguments, **streams):
        started = Server(list(arguments) or ["run"], self.directory, **streams)
        self.addCleanup(lambda: started.process.poll() is None and started.kill())
        self.addCleanup(started.process.stderr.close)
        self.addCleanup(started.process.stdout.close)
        return started

    def learn(self, live, made, at_once=1):
        answers = []
        for begin in range(0, len(made), at_once):
            part = made[begin : begin + at_once]
            answers += live.post("/v1/models/run/learn", lines_of(part), headers=LINES)["predictions"]
        return answers

    def test_the_answers_after_a_kill_are_those_before_it(self):
        self.fit()
        live = self.serve("run", "--listen", "127.0.0.1:18765")
        self.assertEqual(live.ask("GET", "/healthz")[0], 200)
        self.assertEqual([m["name"] for m in live.get("/v1/models")["models"]], ["run"])
        learnt = live.post("/v1/models/run/learn", {"a": 1.5, "b": -1.0, "kind": "red", "y": "n"})
        self.assertEqual((learnt["learnt"], learnt["rows"]), (1, 301))
        self.learn(live, rows(2, 50), 3)
        asked = unlabelled(rows(3, 20))
        before = live.post("/v1/models/run/predict", asked)
        self.assertEqual(before["rows"], 351)
        live.kill()
        again = self.serve("run", "--listen", "127.0.0.1:18765")
        self.assertEqual(again.post("/v1/models/run/predict", asked), before)
        self.assertEqual(again.stop()[0], 0)

    def test_learning_does_not_depend_on_how_rows_come_together(self):
        more = rows(4, 240)
        seen = []
        self.fit()
        for at_once in (1, 7, 240):
            live = self.serve()
            answers = self.learn(live, more, at_once)
            state = live.get("/v1/models/run")
            seen.append((answers, state["hyperparameters"], state["metrics"], state["rounds"]))
            live.stop()
            shutil.rmtree(self.directory / "run" / "serve")
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])

    def test_a_journal_replays_with_fit_to_the_same_predictions(self):
        self.fit()
        more = rows(5, 200)
        live = self.serve("run", "--keep-journal")
        answers = self.learn(live, more[:90], 9)
        live.post("/v1/models/run/checkpoint", {})
        answers += self.learn(live, more[90:], 11)
        live.stop()
        journals = sorted(str(path) for path in (self.directory / "run" / "serve").glob("journal-*"))
        self.assertGreater(len(journals), 1)
        self.obolus("fit", "rows.csv", *journals, "--out", "replayed", "-q", "--predictions", "told.txt")
        told = (self.directory / "told.txt").read_text().split()
        self.assertEqual(told[300:], [answer["prediction"] for answer in answers])

    def test_numbers_are_served_too(self):
        rng = random.Random(6)
        made = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(400)]
        self.write("rows.csv", "u,v,price\n" + "".join(f"{u},{v},{2 * u - v}\n" for u, v in made))
        self.obolus("fit", "rows.csv", "--out", "run", "-q")
        live = self.serve()
        answer = live.post("/v1/models/run/predict", {"u": 1.0, "v": 0.5})["predictions"][0]
        self.assertAlmostEqual(answer["prediction"], 1.5, delta=0.3)
        self.assertNotIn("probabilities", answer)
        refused = live.ask("POST", "/v1/models/run/learn", {"u": 1.0, "v": 0.5, "price": "dear"})
        self.assertEqual(refused[0], 422)
        self.assertIn("dear", refused[2]["error"]["message"])
        self.assertEqual(live.get("/v1/models/run")["rows"], 400)

    def test_rows_that_were_fitted_as_json_are_served(self):
        self.write("rows.jsonl", lines_of([{"deep": {"a": r["a"]}, "words": [r["kind"], "x"], "label": r["y"]}
                                           for r in rows(7, 200)]))  # fmt: skip
        self.obolus("fit", "rows.jsonl", "--out", "run", "-q")
        live = self.serve()
        answer = live.post("/v1/models/run/learn", {"deep": {"a": 0.3}, "words": ["new", "red"], "label": "p"})
        self.assertEqual(answer["rows"], 201)
        before = live.post("/v1/models/run/predict", {"deep": {"a": 0.3}, "words": ["new", "red"]})
        live.kill()
        self.assertEqual(
            self.serve().post("/v1/models/run/predict", {"deep": {"a": 0.3}, "words": ["new", "red"]}), before
        )

    def test_labels_may_follow_later(self):
        self.fit()
        live = self.serve()
        asked = [dict(row, id=f"r{i}") for i, row in enumerate(unlabelled(rows(8, 10)))]
        answer = live.post("/v1/models/run/predict", asked)
        self.assertEqual([p["id"] for p in answer["predictions"]], [row["id"] for row in asked])
        self.assertEqual(live.get("/v1/models/run")["kept"], 10)
        told = live.post("/v1/models/run/feedback", [{"id": "r3", "label": "n"}, {"id": "unknown", "label": "p"},
                                                     {"id": "r5", "y": "p"}])  # fmt: skip
        self.assertEqual((told["learnt"], told["rows"], told["unknown"]), (2, 302, ["unknown"]))
        self.assertEqual(live.post("/v1/models/run/feedback", {"id": "r3", "label": "n"})["unknown"], ["r3"])
        # The same as if they had been learnt with their labels at once.
        after = live.post("/v1/models/run/predict", unlabelled(rows(9, 5)))
        live.stop()
        shutil.rmtree(self.directory / "run" / "serve")
        other = self.serve()
        labelled = rows(8, 10)
        self.learn(other, [dict(labelled[3], y="n"), dict(labelled[5], y="p")], 2)
        self.assertEqual(other.post("/v1/models/run/predict", unlabelled(rows(9, 5))), after)

    def test_readers_see_one_state_while_rows_are_learnt(self):
        self.fit()
        live = self.serve()
        asked = unlabelled(rows(10, 1)) * 40
        torn, done = [], threading.Event()

        def read():
            connection = live.connect()
            while not done.is_set():
                answer = live.post("/v1/models/run/predict", asked, connection=connection)
                if any(p != answer["predictions"][0] for p in answer["predictions"]):
                    torn.append(answer)
            connection.close()

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        self.learn(live, rows(11, 400), 4)
        done.set()
        for reader in readers:
            reader.join()
        self.assertEqual(torn, [])

    def test_a_request_is_learnt_whole_or_not_at_all(self):
        self.fit()
        live = self.serve()
        good = rows(12, 3)
        for bad in ({"a": "x y", "b": 1, "kind": "red", "y": "p"}, {"a": 1, "b": 1, "kind": "red"}, [1], "nothing"):
            with self.subTest(bad=bad):
                status, _, answer = live.ask("POST", "/v1/models/run/learn", [*good, bad])
                self.assertEqual(status, 422, answer)
                self.assertIn("row 4", answer["error"]["message"])
        self.assertEqual(live.get("/v1/models/run")["rows"], 300)

    def test_what_is_wrong_with_a_request_is_said(self):
        self.fit()
        live = self.serve("run", "--max-body", "2000", "--max-rows", "5")
        path = "/v1/models/run/predict"
        for method, where, body, headers, status in [
            ("GET", "/nowhere", None, {}, 404),
            ("POST", "/v1/models/other/predict", "{}", {}, 404),
            ("GET", path, None, {}, 405),
            ("DELETE", "/v1/models/run", None, {}, 405),
            ("POST", path, "{}", {"Content-Type": "text/csv"}, 415),
            ("QUERY", path, None, {}, 405),
            ("POST", path, "{", {}, 400),
            ("POST", path, "[1]", {}, 422),
            ("POST", path, '{"a": 1e40}', {}, 422),
            ("POST", path, b'{"a": "\xff"}', {}, 400),
            ("POST", path, " " * 3000, {}, 413),
            ("POST", path, "{}\n" * 6, LINES, 413),
            ("POST", path, "{}", {"Content-Encoding": "gzip"}, 415),
            ("POST", "/v1/models/run/feedback", "{}", {}, 422),
            ("POST", "/v1/models/run/feedback", "{", {}, 400),
            ("GET", "/healthz", None, {"Host": "evil.example"}, 403),
            ("GET", "/healthz", None, {"Origin": "http://evil.example"}, 403),
            ("GET", "/healthz", None, {"X-Long": "x" * 20_000}, 431),
        ]:  # fmt: skip
            with self.subTest(method=method, where=where, body=str(body)[:20], headers=str(headers)[:40]):
                got, told, answer = live.ask(method, where, body, headers)
                self.assertEqual(got, status, answer)
                self.assertEqual(answer["error"]["status"], status)
                if status == 405:
                    self.assertIn("Allow", told)
        self.assertEqual(live.get("/healthz"), {"status": "ok"})

    def test_a_body_must_have_a_length(self):
        self.fit()
        live = self.serve()
        connection = live.connect()
        connection.request("POST", "/v1/models/run/predict", iter([b"{}"]), encode_chunked=True,
                           headers={"Transfer-Encoding": "chunked"})  # fmt: skip
        self.assertEqual(connection.getresponse().status, 411)
        connection.close()

    def test_a_slow_client_is_cut_off_and_holds_up_nobody(self):
        self.fit()
        live = self.serve("run", "--connections", "4")
        slow = [socket.create_connection((live.host, live.port)) for _ in range(4)]
        for one in slow:
            one.sendall(b"POST /v1/models/run/predict HTTP/1.1\r\nHost: localhost\r\n")
        time.sleep(0.3)
        status, headers, _ = live.ask("GET", "/healthz")
        self.assertEqual((status, headers.get("Retry-After")), (503, "1"))
        began = time.monotonic()
        while live.ask("GET", "/healthz")[0] == 503:
            for one in slow:
                try:
                    one.sendall(b"X")  # a byte now and then does not help
                except OSError:
                    pass
            self.assertLess(time.monotonic() - began, 30)
            time.sleep(0.5)
        for one in slow:
            one.close()

    def test_ranges_are_ignored(self):
        self.fit()
        live = self.serve()
        for path in ("/healthz", "/openapi.json", "/"):
            whole = live.ask("GET", path)
            for asked in ("bytes=0-120000", "bytes=5-", "bytes=0-0,0-0,0-0", "bytes=-3"):
                status, _, answer = live.ask("GET", path, headers={"Range": asked})
                self.assertEqual((status, answer), (200, whole[2]), asked)

    def answers_to(self, live, text):
        """How many answers come to bytes that are sent at once, until the server closes."""
        with socket.create_connection((live.host, live.port), timeout=60) as sent:
            sent.sendall(text.replace("\n", "\r\n").replace("|", "\n").encode())
            got = b"".join(iter(lambda: sent.recv(65536), b""))
        return [status.decode() for status in re.findall(rb"HTTP/1\.1 (\d+) ", got)]

    def test_what_follows_a_body_that_was_not_read_is_no_request(self):
        self.fit()
        live = self.serve()
        second = "GET /readyz HTTP/1.1\nHost: localhost\nConnection: close\n\n"
        length = f"Content-Length: {len(second) + 4}"
        for head, status in [
            ("POST /healthz HTTP/1.1\nHost: evil\nTransfer-Encoding: chunked\n\n", "403"),
            (f"POST /nowhere HTTP/1.1\nHost: localhost\n{length}\n\n", "404"),
            (f"GET /healthz HTTP/1.1\nHost: localhost\n{length}\n\n", "200"),
            (f"GET /healthz HTTP/1.1\nHost: localhost\n{length.replace(':', ' :')}\n\n", "400"),
            (f"DELETE /v1/models HTTP/1.1\nHost: localhost\n{length}\n\n", "405"),
            ("GET /healthz HTTP/1.1\nHost: localhost\nConnection: Close\n\n", "200"),
            ("GET /healthz HTTP/1.1\nHost: localhost\nX: " + "x" * 20_000 + "\n\n", "431"),
        ]:
            with self.subTest(head=head[:60]):
                self.assertEqual(self.answers_to(live, head + second), [status])
        # A line that ends with LF alone: no header for some, one for others.
        self.assertNotIn("200", self.answers_to(live, f"GET /healthz HTTP/1.1\nHost: localhost\n{length}|\n{second}"))
        self.assertEqual(self.answers_to(live, "GET /healthz HTTP/1.1\nHost: localhost\n\n" + second), ["200", "200"])

    def test_a_checkpoint_whose_journal_cannot_follow_loses_nothing(self):
        self.fit()
        live = self.serve("run", "--durability", "interval", "--interval", "60")
        self.learn(live, rows(22, 1))
        obstacle = self.directory / "run" / "serve" / "journal-000000000000301.tmp"
        obstacle.mkdir()
        self.assertEqual(live.ask("POST", "/v1/models/run/checkpoint", {})[0], 507)
        self.assertEqual(live.ask("POST", "/v1/models/run/learn", rows(23, 1))[0], 507)
        obstacle.rmdir()
        self.assertEqual(live.post("/v1/models/run/learn", rows(23, 1))["rows"], 302)
        live.kill()
        self.assertEqual(self.serve().get("/v1/models/run")["rows"], 302)

    def test_a_stop_waits_for_what_is_learnt_a_second_time(self):
        self.fit()
        live = self.serve("run", "--checkpoint-seconds", "1000")
        more = [dict(row, words=[f"w{i * 31 % 997}" for i in range(n, n + 60)]) for n, row in enumerate(rows(24, 1500))]
        self.assertEqual(live.post("/v1/models/run/learn", lines_of(more), headers=LINES)["rows"], 1800)
        code, said = live.stop()
        self.assertEqual(code, 0, said)
        self.assertIsNone(program.STACK_TRACE.search(said), said)
        self.assertEqual([p.name for p in (self.directory / "run" / "serve").glob("journal-*")],
                         ["journal-000000000001800"])  # fmt: skip

    def test_labels_and_classes_are_bounded(self):
        self.fit()
        live = self.serve()
        new = [dict(row, y=f"c{i}") for i, row in enumerate(rows(26, 200))]
        for made in ([dict(rows(25, 1)[0], y="x" * 2000)], new):
            self.assertEqual(live.ask("POST", "/v1/models/run/learn", made)[0], 422)
        self.assertEqual(live.ask("POST", "/v1/models/run/predict", {"id": "x" * 2000})[0], 422)
        many = '{"id":"a","label":"n",' + ",".join(f'"k{i}":0' for i in range(150_000)) + "}"
        began = time.monotonic()
        live.ask("POST", "/v1/models/run/feedback", many)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(live.get("/v1/models/run")["rows"], 300)

    def test_a_missing_checkpoint_is_noticed(self):
        self.fit()
        live = self.serve()
        self.learn(live, rows(27, 3))
        live.stop()
        (self.directory / "run" / "serve" / "checkpoint").unlink()
        self.assertIn("the checkpoint is missing", self.obolus("serve", "run", code=3).stderr)

    def test_rows_of_vowpal_wabbit_take_feedback(self):
        self.write("rows.vw", "".join(f"{1 if r['y'] == 'p' else 2} |w {r['kind']}\n" for r in rows(28, 100)))
        self.obolus("fit", "rows.vw", "--out", "run", "-q")
        live = self.serve()
        live.post("/v1/models/run/predict", {"w": ["red"], "id": "k", "label": None})
        self.assertEqual(live.post("/v1/models/run/feedback", {"id": "k", "label": 2})["learnt"], 1)
        self.assertEqual(live.get("/v1/models/run")["label"], "label")

    def test_another_machine_needs_the_token(self):
        self.fit()
        self.write("token", "0123456789abcdef\n")
        live = self.serve("run", "--token-file", "token")
        self.assertEqual(live.ask("GET", "/v1/models")[0], 401)
        self.assertEqual(live.ask("GET", "/v1/models", headers={"Authorization": "Bearer wrong"})[0], 401)
        self.assertEqual(live.ask("GET", "/healthz")[0], 200)
        self.assertEqual(live.ask("POST", "/healthz", "{}")[0], 401)
        self.assertNotIn("token", "".join(live.said))
        right = {"Authorization": "Bearer 0123456789abcdef", "Host": "any.example"}
        self.assertEqual(live.ask("GET", "/v1/models", headers=right)[0], 200)
        self.write("token", "short")
        self.obolus("serve", "run", "--token-file", "token", code=2)

    def test_a_full_disk_stops_learning_and_nothing_else(self):
        self.fit()
        live = self.serve("run", "--checkpoint-seconds", "1000")
        self.learn(live, rows(13, 20), 5)
        asked = unlabelled(rows(14, 5))
        before = live.post("/v1/models/run/predict", asked)
        pid = live.process.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        for _ in range(3):
            status, _, answer = live.ask("POST", "/v1/models/run/learn", rows(15, 4))
            self.assertEqual(status, 507, answer)
        self.assertEqual(live.ask("POST", "/v1/models/run/checkpoint", {})[0], 507)
        self.assertEqual(live.post("/v1/models/run/predict", asked), before)
        self.assertIn('obolus_disk_full{model="run"} 1', live.get("/metrics"))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertEqual(live.post("/v1/models/run/learn", rows(15, 4))["rows"], 324)
        after = live.post("/v1/models/run/predict", asked)
        live.kill()
        self.assertEqual(self.serve().post("/v1/models/run/predict", asked), after)

    def test_a_term_signal_lets_requests_come_to_their_end(self):
        self.fit()
        live = self.serve()
        connection = live.connect()
        live.get("/healthz", connection=connection)  # it is accepted, and what follows fits its buffer
        connection.request("POST", "/v1/models/run/learn", lines_of(rows(16, 500)), LINES)
        time.sleep(0.05)
        live.process.send_signal(signal.SIGTERM)
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertEqual(json.loads(answer.read())["rows"], 800)
        connection.close()
        self.assertEqual(live.stop(by=None)[0], 0)
        self.assertEqual(self.serve().get("/v1/models/run")["rows"], 800)

    def test_a_model_file_predicts_and_does_not_learn(self):
        self.fit()
        live = self.serve("run", "file=run/model")
        asked = unlabelled(rows(17, 5))
        self.assertEqual(len(live.post("/v1/models/file/predict", asked)["predictions"]), 5)
        self.assertEqual(live.ask("POST", "/v1/models/file/learn", rows(18, 1))[0], 409)
        self.assertEqual([m["learns"] for m in live.get("/v1/models")["models"]], [True, False])

    def test_one_process_at_a_time_writes(self):
        self.fit()
        self.serve()
        refused = self.obolus("serve", "run", "--listen", "127.0.0.1:0", code=2)
        self.assertIn("another process", refused.stderr)

    def test_a_run_that_was_fitted_anew_is_not_taken_for_the_one_served(self):
        self.fit()
        live = self.serve()
        self.learn(live, rows(19, 3))
        live.stop()
        self.write("rows.csv", csv_of(rows(20, 310)))
        self.obolus("fit", "rows.csv", "--out", "run", "-q", "--force")
        self.assertIn("another run", self.obolus("serve", "run", "--listen", "127.0.0.1:0", code=2).stderr)

    def test_the_inference_protocol_gives_the_same_predictions(self):
        self.fit()
        live = self.serve()
        made = unlabelled(rows(21, 6))
        ours = live.post("/v1/models/run/predict", made)["predictions"]
        types = {"a": "FP64", "b": "FP64", "kind": "BYTES"}
        inputs = [{"name": name, "shape": [6], "datatype": kind, "data": [row[name] for row in made]}
                  for name, kind in types.items()]  # fmt: skip
        answer = live.post("/v2/models/run/infer", {"id": "7", "inputs": inputs})
        outputs = {output["name"]: output for output in answer["outputs"]}
        self.assertEqual(answer["id"], "7")
        self.assertEqual(outputs["prediction"]["data"], [p["prediction"] for p in ours])
        self.assertEqual(outputs["probabilities"]["shape"], [6, 2])
        flat = [q for p in ours for q in p["probabilities"].values()]
        self.assertEqual(outputs["probabilities"]["data"], flat)
        status, _, told = live.ask("POST", "/v2/models/run/infer", {"inputs": [{"name": "a"}]})
        self.assertEqual((status, type(told["error"])), (422, str))


if __name__ == "__main__":
    unittest.main()
