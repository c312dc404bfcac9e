"""A run that is watched: the page and its events while it runs, who may see them, and the keys of the terminal.

All traffic stays on this machine. Nothing waits for a time: only for what must happen, with a deadline.
"""

import fcntl
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time
import tomllib
import unittest
from contextlib import closing, contextmanager

import program
import streams

LONG = 2_000_000_000  # rounds that never end by themselves
DEADLINE = 60  # seconds for what should take less than one: machines are shared
EVALUATED = f"""\
[problem]
name = "quadratic"
evaluate = true
rounds = {LONG}
[optimiser]
name = "f2obo"
[metrics]
evaluate_every = 700
[log]
every = 1000
"""
COMPARISON = """\
[compare]
seeds = [1, 2]
horizons = [{T}]
[problem]
name = "quadratic"
[metrics]
gamma = 0.05
[[optimiser]]
label = "double loop"
name = "f2obo"
inner_steps = [1, 3]
[[optimiser]]
name = "aobo"
"""


def until(what, condition):
    """Waits for the condition and returns what it says."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {DEADLINE} s: {what}")


class Events:
    """A stream of server-sent events, read as a browser reads them."""

    def __init__(self, port, path="/events", last_id=None, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        asked = {"Accept": "text/event-stream", "Accept-Encoding": "gzip, deflate, br"} | (headers or {})
        if last_id is not None:
            asked["Last-Event-ID"] = str(last_id)
        self.connection.request("GET", path, headers=asked)
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.last_id = None
        self.retry = None

    def close(self):
        self.connection.close()
        self.response.close()

    def __iter__(self):
        """(kind, data, id of the event or None) until the server ends the stream."""
        fields = {}
        end = time.monotonic() + 2 * DEADLINE
        for raw in self.response:
            if time.monotonic() > end:  # a run goes on for ever: what is waited for will not come
                raise AssertionError(f"read events for {2 * DEADLINE} s")
            line = raw.decode("utf-8").rstrip("\n")
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            if "retry" in fields:
                self.retry = int(fields["retry"])
            if "id" in fields:
                self.last_id = int(fields["id"])
            if "event" in fields:
                yield fields["event"], json.loads(fields["data"]), int(fields["id"]) if "id" in fields else None
            fields = {}

    def first(self, kind):
        for found, data, _ in self:
            if found == kind:
                return data
        raise AssertionError(f"the stream ended without {kind}")


class LiveCase(program.ProgramTest):
    def setUp(self):
        super().setUp()
        streams.write_stream(streams.drifting_stream(51, 3, 4, 11), self.directory / "stream.json")

    def write_config(self, rounds=LONG, name="config.toml", **sections):
        config = tomllib.loads(program.ISSUE_CONFIG)
        config["problem"]["rounds"] = rounds
        config["log"] = {"every": 1000}
        for section, keys in sections.items():
            config.setdefault(section, {}).update(keys)
        return self.write(name, program.toml_text(config))

    @contextmanager
    def live(self, *arguments, address=()):
        """The program at work, with .port and .url; it is stopped in the end if it still runs."""
        errors = open(self.directory / "stderr.txt", "w+", encoding="utf-8")
        process = program.start([*arguments, "--live", *address], self.directory, stderr=errors)
        process.told = lambda: (self.directory / "stderr.txt").read_text(encoding="utf-8")
        try:
            ready = lambda: re.search(r"^Live: (http://\S+:(\d+)/\S*)\n", process.told(), re.M)  # noqa: E731
            found = until("the address on standard error", lambda: ready() or process.poll() is not None)
            self.assertIsInstance(found, re.Match, process.told())
            process.url, process.port = found.group(1), int(found.group(2))
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()
            errors.close()

    def stop(self, process, code=130):
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(DEADLINE), code, process.told())

    def ask(self, port, path="/", method="GET", body=None, **headers):
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode("utf-8")

    def events(self, *arguments, **options):
        events = Events(*arguments, **options)
        self.addCleanup(events.close)
        return events


class PageTest(LiveCase):
    def test_the_page_is_served_and_asks_for_its_events(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            self.assertEqual(process.url, f"http://127.0.0.1:{process.port}/")
            status, headers, body = self.ask(process.port)
            self.assertEqual(status, 200)
            self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertIn("connect-src 'self'", headers["Content-Security-Policy"])
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertIn('<script id="obolus-data" type="application/octet-stream">live</script>', body)
            self.assertNotIn("@OBOLUS_DATA@", body)
            self.assertEqual(int(headers["Content-Length"]), len(body.encode("utf-8")))
            status, headers, body = self.ask(process.port, method="HEAD")
            self.assertEqual((status, body), (200, ""))
            self.stop(process)

    def test_nothing_else_is_there_and_nothing_can_be_changed(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            for path in ["/config.toml", "/events/", "/../etc/passwd", "/%2e%2e/etc/passwd", "//", "/index.html"]:
                self.assertEqual(self.ask(process.port, path)[0], 404, path)
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]:
                for path in ["/", "/events", "/stop"]:
                    body = None if method == "OPTIONS" else "x=1"
                    status, headers, _ = self.ask(process.port, path, method, body=body)
                    self.assertEqual((status, headers.get("Allow")), (405, "GET, HEAD"), f"{method} {path}")
            self.assertIsNone(process.poll())
            self.stop(process)

    def test_a_page_of_another_site_does_not_get_in_by_its_name(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            port = process.port
            for host in ["localhost", f"localhost:{port}", "127.0.0.1:1", f"[::1]:{port}", "[::1]"]:
                self.assertEqual(self.ask(port, Host=host)[0], 200, host)
            bad = ["example.org", f"example.org:{port}", "localhost.example.org", f"127.0.0.1.example.org:{port}",
                   "localhost:x", "", "[::1]x", "0.0.0.0"]  # fmt: skip
            for host in bad:
                for path in ["/", "/events"]:
                    self.assertEqual(self.ask(port, path, Host=host)[0], 403, f"{path} for '{host}'")
            with closing(socket.create_connection(("127.0.0.1", port), DEADLINE)) as raw:  # none, and two
                raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
                self.assertIn(b" 403 ", raw.makefile("rb").readline())
            with closing(socket.create_connection(("127.0.0.1", port), DEADLINE)) as raw:
                raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n")
                self.assertIn(b" 403 ", raw.makefile("rb").readline())
            self.stop(process)

    def test_beyond_this_machine_a_token_is_needed(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run", address=["0.0.0.0:0"]) as process:
            token = re.search(r"\?token=([0-9a-f]{32})$", process.url).group(1)
            other = "0" * 31 + ("1" if token[-1] == "0" else "0")
            for path in ["/", "/events"]:
                wrong = [token[:-1], f"{token}0", other]
                for query in ["", "?token=", f"?{token}", *(f"?token={text}" for text in wrong)]:
                    status, _, body = self.ask(process.port, path + query)
                    self.assertEqual(status, 403, path + query)
                    self.assertNotIn(token, body)
            self.assertEqual(self.ask(process.port, f"/?token={token}", Host="any.example.org")[0], 200)
            events = self.events(process.port, f"/events?token={token}")
            self.assertEqual(events.status, 200)
            self.assertNotIn(token, json.dumps(events.first("reset")))
            self.stop(process)

    def test_the_seventeenth_stream_is_refused_until_one_goes(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            open_streams = [self.events(process.port) for _ in range(16)]
            self.assertEqual([events.status for events in open_streams], [200] * 16)
            self.assertEqual(self.events(process.port).status, 503)
            self.assertEqual(self.ask(process.port)[0], 200, "the page is served all the same")
            open_streams[3].close()
            until("a place", lambda: self.events(process.port).status == 200)
            open_streams[5].first("row")
            self.stop(process)

    def test_silent_and_slow_connections_do_not_keep_the_program(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            for text in [b"", b"GET / HT", b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"] * 3:  # and never read
                raw = socket.create_connection(("127.0.0.1", process.port), DEADLINE)
                self.addCleanup(raw.close)
                raw.sendall(text)
            self.events(process.port).first("row")
            start = time.monotonic()
            self.stop(process)
            self.assertLess(time.monotonic() - start, 20)


class AddressTest(LiveCase):
    def test_bad_addresses_are_refused_with_what_is_expected(self):
        self.write_config(rounds=10)
        for address in ["65536", "host:", "host:x", "host:-1", "::1", "1:2:3", "[::1", "[::1]x", "[::1]:", "[host]:80",
                        "a b", "http://localhost", "host:99999", ":80"]:  # fmt: skip
            with self.subTest(address):
                answer = self.obolus("run", "config.toml", "--out", "run", f"--live={address}", code=2)
                self.assertIn(f"--live: got '{address}'", answer.stderr)
                self.assertIn("expected PORT, HOST, HOST:PORT or [IPv6]:PORT", answer.stderr)
                self.assertFalse((self.directory / "run").exists())

    def test_the_config_may_stand_before_or_after(self):
        self.write_config(rounds=10)
        for number, arguments in enumerate([["config.toml", "--live"],
                                            ["--live", "0", "config.toml"], ["--live=[::1]:0", "config.toml"],
                                            ["config.toml", "--live", "localhost"]]):  # fmt: skip
            if "::1" in arguments[0] and not socket.has_dualstack_ipv6():
                continue
            with self.subTest(arguments):
                answer = self.obolus("run", *arguments, "--out", f"run{number}", "-q")
                host = r"\[::1\]" if "::1" in arguments[0] else r"127\.0\.0\.1"
                self.assertRegex(answer.stderr, rf"^Live: http://{host}:\d+/\n$")
        answer = self.obolus("run", "--live", "config.toml", "--out", "run", code=2)
        self.assertIn("got 'config.toml': this is a file; put the config before --live", answer.stderr)

    def test_a_host_that_is_not_known_is_named(self):
        self.write_config(rounds=10)
        answer = self.obolus("run", "config.toml", "--out", "run", "--live", "no-such-host.invalid:0", code=2)
        self.assertIn("--live: got the host 'no-such-host.invalid'", answer.stderr)
        self.assertFalse((self.directory / "run").exists())

    def test_a_port_that_is_taken_is_said_before_the_run_starts(self):
        self.write_config(rounds=10)
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = taken.getsockname()[1]
            for address in [str(port), f"127.0.0.1:{port}", f"localhost:{port}"]:
                answer = self.obolus("run", "config.toml", "--out", "run", "--live", address, code=2)
                self.assertIn(f"--live: cannot listen on 127.0.0.1:{port}: Address already in use", answer.stderr)
                self.assertFalse((self.directory / "run").exists())

    def test_two_programs_do_not_share_a_port(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            answer = self.obolus("run", "config.toml", "--out", "other", "--live", process.port, code=2)
            self.assertIn("Address already in use", answer.stderr)
            self.stop(process)

    def test_a_port_can_be_chosen(self):
        self.write_config()
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        with self.live("run", "config.toml", "--out", "run", address=[str(port)]) as process:
            self.assertEqual(process.port, port)
            self.assertEqual(self.ask(port)[0], 200)
            self.stop(process)


class RunEventsTest(LiveCase):
    def test_events_of_a_run_come_in_order(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run", "--seed", "3") as process:
            events = self.events(process.port)
            self.assertEqual(events.response.getheader("Content-Type"), "text/event-stream")
            self.assertIsNone(events.response.getheader("Content-Encoding"))
            reader = iter(events)
            kind, report, last = next(reader)
            self.assertEqual((kind, events.retry), ("reset", 1000))
            self.assert_report(report, kind="run", streams=["quadratic_file"])
            (run,) = report["runs"]
            name = {"stream": "quadratic_file", "optimiser": "f2obo", "setting": "", "seed": 3}
            self.assertEqual({key: run[key] for key in name}, name)
            self.assertEqual((run["source"], run["status"], run["horizon"]), (0, "running", LONG))
            t = self.assert_columns(run)[-1:] or [0]
            rows, stopped, seen_progress = 0, False, False
            for kind, data, number in reader:
                if number is not None:
                    self.assertGreater(number, last)
                    last = number
                if kind == "row":
                    self.assertEqual(data["run"], name)
                    self.assertGreater(data["row"]["t"], t[0])
                    t = [data["row"]["t"]]
                    rows += 1
                elif kind == "progress":
                    seen_progress = True
                    self.assertEqual((data["of"], data["unit"], data["paused"]), (LONG, "rounds", False))
                    self.assertGreaterEqual(data["seconds"], 0)
                if rows == 20 and not stopped:
                    process.send_signal(signal.SIGINT)
                    stopped = True
                if kind == "run":
                    final = data
            self.assertEqual((kind, data), ("end", {"status": "stopped"}))
            self.assertTrue(seen_progress)
            self.assertEqual(process.wait(DEADLINE), 130)
            self.assertEqual(final["status"], "stopped")
            told = re.search(r"stopped after round (\d+) of", process.told()).group(1)
            self.assertEqual(self.assert_columns(final)[-1], int(told), "the last round is shown")
            self.assertEqual(final["rounds"], int(told))

    def assert_report(self, report, kind, streams):
        self.assertEqual(report["format"], 1)
        self.assertEqual(set(report["made"]), {"obolus", "date", "command"})
        self.assertIn("--live", report["made"]["command"])
        (source,) = report["sources"]
        self.assertEqual((source["kind"], source["summary"], len(source["about"])), (kind, None, 1))
        self.assertEqual([stream["name"] for stream in source["streams"]], streams)
        self.assertTrue(tomllib.loads(source["config"]))

    def assert_columns(self, run):
        """The rounds; the columns are as long, and increasing."""
        t = run["columns"]["t"]
        self.assertEqual(t, sorted(set(t)))
        for name, values in (run["columns"] | run["evaluation"]).items():
            self.assertEqual(len(values), len(t), name)
        return t

    def test_a_late_reader_gets_all_rows_at_once(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            early, rows = self.events(process.port), []
            for kind, data, _ in early:
                if kind == "row":
                    rows.append(data["row"])
                if len(rows) == 15:
                    break
            reader = iter(self.events(process.port))
            kind, report, _ = next(reader)
            self.assertEqual(kind, "reset")
            (run,) = report["runs"]
            t = self.assert_columns(run)
            for row in rows:
                at = t.index(row["t"])
                for name, value in row.items():
                    if name not in ("evaluation", "x_values", "x_quantiles", "x_size"):  # these have no column
                        self.assertEqual(run["columns"][name][at], value, name)
            following = next(data for kind, data, _ in reader if kind == "row")
            self.assertGreater(following["row"]["t"], t[-1])
            self.stop(process)

    def test_a_lost_connection_goes_on_where_it_was(self):
        self.write_config()
        with self.live("run", "config.toml", "--out", "run") as process:
            # Two readers: what one gets in one go, the other gets in two. The first has its snapshot before the second
            # connects, or else it may miss what the second sees.
            whole = iter(self.events(process.port))
            self.assertEqual(next(whole)[0], "reset")
            cut = self.events(process.port)
            seen, last = {}, 0
            for kind, data, number in cut:
                if kind == "row":
                    seen[number] = data
                if len(seen) == 5:
                    break
            last = cut.last_id
            cut.close()
            again = self.events(process.port, last_id=last)
            for kind, data, number in again:
                self.assertNotEqual(kind, "reset")
                if number is not None:
                    self.assertGreater(number, last)
                if kind == "row":
                    seen[number] = data
                if len(seen) == 10:
                    break
            expected = {}
            for kind, data, number in whole:
                if kind == "row":
                    expected[number] = data
                if number is not None and number >= again.last_id:
                    break
            self.assertEqual(seen, {number: expected[number] for number in seen})
            left_out = [number for number in expected if number not in seen and number > min(seen)]
            self.assertEqual(left_out, [])
            for unknown in ["1", str(last + 10**12), "x", "-1", "99999999999999999999999"]:
                kind, _, _ = next(iter(self.events(process.port, last_id=unknown)))
                self.assertEqual(kind, "reset", unknown)
            self.stop(process)

    def test_every_evaluated_round_is_shown(self):
        # Some hundred times per second; only so many other rounds are shown.
        self.write("config.toml", EVALUATED)
        with self.live("run", "config.toml", "--out", "run") as process:
            evaluated, final = 0, None
            for kind, data, _ in self.events(process.port):
                if kind == "row" and "evaluation" in data["row"]:
                    evaluated += 1
                    if evaluated == 30:
                        process.send_signal(signal.SIGINT)
                if kind == "run":
                    final = data
            self.assertEqual(process.wait(DEADLINE), 130, process.told())
        t = self.assert_columns(final)
        values = next(iter(final["evaluation"].values()))
        shown = [t for t, value in zip(t, values, strict=True) if value is not None]
        self.assertEqual(shown, list(range(700, final["rounds"] + 1, 700)))

    def test_a_diverged_run_says_so(self):
        self.write_config(rounds=100000, optimiser={"alpha": 1e6})
        code = program.run(["run", "config.toml", "--out", "plain"], self.directory).returncode
        self.assertEqual(code, 4)
        self.write_config(rounds=LONG)
        with self.live("run", "config.toml", "--out", "run", "--set", "optimiser.alpha=1e6") as process:
            self.assertEqual(process.wait(DEADLINE), 4, process.told())

    def test_results_are_the_same_with_and_without(self):
        self.write_config(rounds=20000, log={"every": 1})
        self.obolus("run", "config.toml", "--out", "plain")
        with self.live("run", "config.toml", "--out", "watched") as process:
            for _ in self.events(process.port):
                pass
            self.assertEqual(process.wait(DEADLINE), 0, process.told())
        self.assert_same_trace("plain", "watched")
        first, second = ((self.directory / out / "config.toml").read_bytes() for out in ["plain", "watched"])
        self.assertEqual(first, second)


class CompareEventsTest(LiveCase):
    def cells(self, out):
        """Finished runs by name; without seconds."""
        found = {}
        for line in (self.directory / out / "cells.jsonl").read_text(encoding="utf-8").splitlines():
            cell = json.loads(line)
            if "optimiser" in cell:
                found[cell["stream"], cell["optimiser"], cell["setting"], cell["seed"]] = cell
        return found

    def assert_like_its_cell(self, run, cell):
        shown = (run["status"], run["rounds"], run["horizon"])
        self.assertEqual(shown, (cell["status"], cell["rounds"], cell["T"][-1]))
        columns, curve = run["columns"], cell["curve"]
        self.assertTrue(set(curve["t"]) <= set(columns["t"]))
        for i, t in enumerate(curve["t"]):
            at = columns["t"].index(t)
            self.assertEqual(columns["regret"][at], curve["regret"][i])
            self.assertEqual(columns["grad_f"][at], curve["f_x"][i] + curve["f_y"][i])
            self.assertEqual(columns["grad_g"][at], curve["g_x"][i] + curve["g_y"][i])
            self.assertEqual(columns["hvp"][at], curve["hvp"][i])

    def collect(self, events):
        runs, kinds, end = {}, [], None
        for kind, data, _ in events:
            kinds.append(kind)
            for run in data["runs"] if kind == "reset" else [data] if kind == "run" else []:
                runs[run["stream"], run["optimiser"], run["setting"], run["seed"]] = run
            if kind == "end":
                end = data
        return runs, kinds, end

    def test_finished_cells_come_as_runs_and_the_results_are_the_same(self):
        self.write("compare.toml", COMPARISON.format(T=3000))
        plain = self.obolus("compare", "compare.toml", "--out", "plain", "--csv")
        with self.live("compare", "compare.toml", "--out", "watched", "--csv") as process:
            runs, kinds, end = self.collect(self.events(process.port))
            csv = process.stdout.read()
            self.assertEqual(process.wait(DEADLINE), 0, process.told())
        self.assertEqual(end, {"status": "finished"})
        self.assertEqual((kinds[0], kinds[-1]), ("reset", "end"))
        cells = self.cells("watched")
        self.assertEqual(len(cells), 6)
        self.assertEqual(set(runs), set(cells))
        for name, run in runs.items():
            self.assert_like_its_cell(run, cells[name])
        untimed = lambda text: [line.rsplit(",", 1) for line in text.splitlines()]  # noqa: E731
        self.assertEqual(len(untimed(csv)), len(untimed(plain.stdout)))
        for name, cell in self.cells("plain").items():
            for part in ["curve", "horizons"]:
                del cell[part]["seconds"], cells[name][part]["seconds"]
            self.assertEqual(cell, cells[name])

    def test_a_resumed_run_shows_what_it_did_before(self):
        config = self.write_config(5000)
        self.obolus("run", config, "--out", "run", "-q")
        with self.live("run", config, "--out", "run", "--resume", "--rounds", LONG) as process:
            seen = []
            for kind, data, _ in self.events(process.port):
                if kind == "reset":
                    seen = data["runs"][0]["columns"]["t"]
                elif kind == "row":
                    seen.append(data["row"]["t"])
                if seen and seen[-1] > 5000:
                    break
            self.assertEqual(seen[:5], [1000, 2000, 3000, 4000, 5000])
            self.assertEqual(seen, sorted(seen))
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(DEADLINE), 130, process.told())

    def test_a_resumed_comparison_shows_what_was_there(self):
        self.write("compare.toml", COMPARISON.format(T=3000))
        self.obolus("compare", "compare.toml", "--out", "run", "-q")
        held = self.cells("run")
        # Half of it is taken away again: what remains is shown from the start.
        log = self.directory / "run" / "cells.jsonl"
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
        longer = COMPARISON.format(T=3000).replace("seeds = [1, 2]", "seeds = [1, 2, 3]")
        self.write("compare.toml", longer)
        with self.live("compare", "compare.toml", "--out", "run", "--resume", "-q") as process:
            runs, _, end = self.collect(self.events(process.port))
            self.assertEqual(process.wait(DEADLINE), 0, process.told())
        self.assertEqual(end, {"status": "finished"})
        self.assertEqual(len(runs), 9)
        for name, cell in held.items():
            self.assert_like_its_cell(runs[name], cell)

    def test_a_stopped_comparison_says_so(self):
        long = COMPARISON.format(T=100_000_000)
        self.write("compare.toml", long.replace("gamma = 0.05\n", "gamma = 0.05\nvariation = false\n"))
        with self.live("compare", "compare.toml", "--out", "run") as process:
            events = self.events(process.port)
            progress = events.first("progress")
            self.assertEqual((progress["unit"], progress["of"]), ("jobs", 8))
            process.send_signal(signal.SIGINT)
            _, kinds, end = self.collect(events)
            self.assertEqual(end, {"status": "stopped"})
            self.assertEqual(process.wait(DEADLINE), 130, process.told())


class Terminal:
    """A command in a terminal of its own, as its session's foreground."""

    def __init__(self, command, cwd, environment=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.text = ""
        self.process = subprocess.Popen(
            [shutil.which("setsid"), "--ctty", "--wait", *map(str, command)], env=environment,
            cwd=cwd, stdin=slave, stdout=slave, stderr=slave, preexec_fn=program._default_interrupt,
        )  # fmt: skip

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")
        return self.text

    def wait_for(self, pattern, after=0):
        """The end of the first match of what is written from `after` on."""
        try:
            return until(pattern, lambda: (m := re.compile(pattern).search(self.read(), after)) and m.end())
        except AssertionError as e:
            raise AssertionError(f"{e} in {self.text[after:][-500:]!r}") from None

    def press(self, key):
        os.write(self.master, key.encode())

    def modes(self):
        return termios.tcgetattr(self.slave)

    def wait(self):
        """The exit code; what is written meanwhile is read, lest the program wait for it."""
        until("the end of the program", lambda: (self.read(), self.process.poll() is not None)[1])
        self.read()
        return self.process.returncode


class KeysTest(LiveCase):
    def terminal(self, *arguments):
        terminal = Terminal([program.executable(), *arguments], self.directory)
        self.addCleanup(terminal.close)
        return terminal

    def test_p_pauses_p_goes_on_and_q_saves_and_stops(self):
        self.write_config(log={"every": 1000, "checkpoint_seconds": 0.01})
        terminal = self.terminal("run", "config.toml", "--out", "run")
        at = terminal.wait_for(r"round .*p pauses, q stops")
        self.assertNotEqual(terminal.modes(), terminal.before)
        terminal.press("p")
        at = terminal.wait_for(r"paused .*p resumes, q stops", at)
        rounds = lambda text: re.findall(r"round ([\d,]+) of", text)  # noqa: E731
        stood = rounds(terminal.text)[-1]
        at = terminal.wait_for(rf"round {stood} of [^\r]*paused", at)  # and the line is written again
        self.assertEqual(set(rounds(terminal.read()[at:])) | {stood}, {stood})
        terminal.press("p")
        at = terminal.wait_for(r"p pauses, q stops", at)
        terminal.wait_for(r"round (?!" + stood + r" of)[\d,]+ of [^\r]*p pauses", at)
        terminal.press("q")
        self.assertEqual(terminal.wait(), 130, terminal.text)
        self.assertIn("--resume", terminal.text)
        self.assertEqual(terminal.modes(), terminal.before)
        done = int(re.search(r"stopped after round (\d+) of", terminal.text).group(1))
        config = self.directory / "run" / "config.toml"
        self.obolus("run", config, "--out", "run", "--resume", "--rounds", done + 500, "-q")
        self.obolus("run", config, "--out", "whole", "--rounds", done + 500, "-q")
        # The round at which it was stopped is in one trace only.
        rows = {out: {row["t"]: row for row in program.trace(self.directory / out)} for out in ["run", "whole"]}
        for row in rows["run"].values():
            del row["seconds"]
        for t, row in rows["whole"].items():
            del row["seconds"]
            self.assertEqual(rows["run"][t], row)

    def test_q_while_paused_stops_and_seconds_do_not_count_the_pause(self):
        self.write_config(log={"every": 1})
        terminal = self.terminal("run", "config.toml", "--out", "run")
        at = terminal.wait_for(r"round .*p pauses")
        terminal.press("p")
        at = terminal.wait_for(r"paused", at)
        start = time.monotonic()
        for _ in range(8):
            at = terminal.wait_for(r"paused", at)  # written five times per second
        stood = time.monotonic() - start
        self.assertGreater(stood, 0.5)
        terminal.press("p")
        at = terminal.wait_for(r"p pauses", at)
        terminal.press("p")
        at = terminal.wait_for(r"paused", at)
        terminal.press("q")
        self.assertEqual(terminal.wait(), 130, terminal.text)
        seconds = [row["seconds"] for row in program.trace(self.directory / "run")]
        self.assertLess(max(b - a for a, b in zip(seconds, seconds[1:])), stood)
        self.assertEqual(terminal.modes(), terminal.before)

    def test_a_comparison_pauses_and_stops(self):
        long = COMPARISON.format(T=100_000_000)
        self.write("compare.toml", long.replace("gamma = 0.05\n", "gamma = 0.05\nvariation = false\n"))
        terminal = self.terminal("compare", "compare.toml", "--out", "run", "--threads", 2)
        at = terminal.wait_for(r"of \d+ cells.*p pauses, q stops")
        terminal.press("p")
        at = terminal.wait_for(r"paused .*p resumes", at)
        terminal.press("p")
        at = terminal.wait_for(r"p pauses", at)
        terminal.press("p")
        at = terminal.wait_for(r"paused", at)
        terminal.press("q")
        self.assertEqual(terminal.wait(), 130, terminal.text)
        self.assertIn("--resume", terminal.text)
        self.assertEqual(terminal.modes(), terminal.before)

    def test_the_browser_is_told_of_a_pause(self):
        self.write_config()
        terminal = self.terminal("run", "config.toml", "--out", "run", "--live")
        at = terminal.wait_for(r"Live: http://127.0.0.1:\d+/")
        port = int(re.search(r"Live: http://127.0.0.1:(\d+)/", terminal.text).group(1))
        events = self.events(port)
        terminal.wait_for(r"p pauses", at)
        terminal.press("p")
        self.assertTrue(next(data for kind, data, _ in events if kind == "progress" and data["paused"]))
        terminal.press("p")
        self.assertTrue(next(data for kind, data, _ in events if kind == "progress" and not data["paused"]))
        terminal.press("q")
        self.assertEqual(events.first("end"), {"status": "stopped"})
        self.assertEqual(terminal.wait(), 130, terminal.text)

    def test_the_terminal_is_as_before_however_the_program_ends(self):
        self.write_config()
        for ends in [["\x03"], ["\x03", "\x03", "\x03"], ["\x1c"], ["p", "\x03"]]:
            with self.subTest(ends):
                terminal = self.terminal("run", "config.toml", "--out", "run", "--force")
                at = terminal.wait_for(r"round .*p pauses")
                for key in ends:
                    terminal.press(key)
                    if key == "p":
                        at = terminal.wait_for("paused", at)
                self.assertNotEqual(terminal.wait(), 0)
                self.assertEqual(terminal.modes(), terminal.before)


class JobControlTest(LiveCase):
    """The program as a job of a shell that has job control."""

    def shell(self):
        environment = {"PATH": os.environ["PATH"], "PS1": "", "TERM": "dumb", "HOME": str(self.directory)}
        command = [shutil.which("bash"), "--norc", "--noprofile", "--noediting", "-i"]
        terminal = Terminal(command, self.directory, environment)
        self.addCleanup(terminal.close)
        return terminal

    def canonical(self, terminal):
        return bool(terminal.modes()[3] & termios.ICANON)

    def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(self):
        self.write_config()
        terminal = self.shell()
        obolus = program.executable()
        terminal.press(f"{obolus} run config.toml --out run\n")
        at = terminal.wait_for(r"round .*p pauses")
        self.assertFalse(self.canonical(terminal))
        terminal.press("\x1a")
        at = terminal.wait_for(r"Stopped", at)
        until("lines again", lambda: self.canonical(terminal))
        terminal.press("fg\n")
        at = terminal.wait_for(r"p pauses", at)
        until("keys again", lambda: not self.canonical(terminal))
        terminal.press("p")
        at = terminal.wait_for(r"paused", at)
        terminal.press("\x1a")
        at = terminal.wait_for(r"Stopped", at)
        terminal.press("fg\n")
        at = terminal.wait_for(r"paused", at)
        terminal.press("q")
        at = terminal.wait_for(r"--resume", at)
        terminal.press("echo code=$?\n")
        terminal.wait_for(r"code=130", at)
        self.assertTrue(self.canonical(terminal))

    def test_in_the_background_it_goes_on_and_leaves_the_terminal_alone(self):
        self.write_config()
        terminal = self.shell()
        terminal.press(f"{program.executable()} run config.toml --out run &\n")
        at = terminal.wait_for(r"round [\d,]+ of")
        self.assertTrue(self.canonical(terminal))
        terminal.press("echo q p $((6 * 7))\n")  # the shell's, not the program's
        at = terminal.wait_for(r"q p 42", at)  # computed: what was typed does not match, wherever progress lines fall
        at = terminal.wait_for(r"round [\d,]+ of", at)
        self.assertNotIn("Stopped", terminal.text)
        terminal.press("fg\n")
        until("keys", lambda: not self.canonical(terminal))
        at = len(terminal.read())
        terminal.press("q")
        terminal.wait_for(r"--resume", at)
        until("lines again", lambda: self.canonical(terminal))


if __name__ == "__main__":
    unittest.main()
