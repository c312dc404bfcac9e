"""docs/python.md and docs/coming-from.md: every Python block runs, and prints what the page says."""

import contextlib
import io
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections():
    """The blocks of every section that has code, as (kind, text); Python's in the lines they have on the page."""
    found = {}
    for name in ("python.md", "coming-from.md"):
        page = (DOCS / name).read_text(encoding="utf-8")
        for block in BLOCK.finditer(page):
            before, (kind, text) = page[: block.start()], block.groups()
            title = before.rpartition("\n## ")[2].partition("\n")[0]
            lines = "" if kind == "text" else "\n" * (before.count("\n") + 1)
            found.setdefault((name, title), []).append((kind, lines + text))
    return [pytest.param(*place, blocks, id=": ".join(place)) for place, blocks in found.items()]


@pytest.mark.parametrize(("name", "title", "blocks"), sections())
def test_a_section_runs_and_prints_what_it_says(name, title, blocks, tmp_path, monkeypatch):
    for needed in ("jax", "torch", "sklearn", "polars", "matplotlib"):
        if any(kind == "python" and needed in text for kind, text in blocks) and not find_spec(needed):
            pytest.skip(f"{needed} is not installed")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    printed = ""
    for kind, text in blocks:
        if kind == "text":
            assert printed == text
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, str(DOCS / name), "exec"), names)
        printed = out.getvalue()


def test_every_line_of_output_belongs_to_a_block():
    for section in sections():
        kinds = [kind for kind, _ in section.values[2]]
        assert kinds[0] == "python"
        assert ("text", "text") not in zip(kinds, kinds[1:])
