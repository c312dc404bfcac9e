"""Runs as data frames, charts, notebook pages and reports."""

import base64
import re
import subprocess
import sys
import zlib

import matplotlib
import numpy as np
import pandas
import polars
import pytest

import obolus

matplotlib.use("Agg")

QUADRATIC = obolus.problems.Quadratic(dim_x=2, dim_y=3)


@pytest.fixture(scope="module")
def run():
    return obolus.run(obolus.F2obo(), QUADRATIC, rounds=20)


@pytest.fixture(scope="module")
def comparison():
    return obolus.compare({"first": obolus.F2obo(), "<b>": obolus.Aobo()}, QUADRATIC, rounds=20, seeds=[1, 2])


@pytest.mark.parametrize("library", [pandas, polars], ids=["pandas", "polars"])
def test_a_run_becomes_a_frame(run, comparison, library):
    frame = run.to_frame(library.__name__)
    assert isinstance(frame, library.DataFrame) and frame.shape == (20, len(run.columns))
    assert frame["regret"].to_numpy().tolist() == run.columns["regret"].tolist()
    whole = comparison.to_frame(library.__name__)
    assert isinstance(whole, library.DataFrame)
    assert len(whole) == sum(len(one.columns["t"]) for one in comparison.runs)
    pairs = list(zip(whole["label"].to_list(), whole["seed"].to_list()))
    assert set(pairs) == {("first", 1), ("first", 2), ("<b>", 1), ("<b>", 2)}
    # F²OBO alone has a separation: the other's rows have none.
    absent = np.isnan(whole["separation"].to_numpy())
    assert absent.tolist() == [label == "<b>" for label, _ in pairs]


def test_the_frame_is_of_the_library_that_is_imported():
    program = """
import polars, obolus
print(type(obolus.run(obolus.F2obo(), obolus.problems.Quadratic(), rounds=2).to_frame()))
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "polars" in answer.stdout


def test_an_unknown_frame_library_is_named(run):
    with pytest.raises(ValueError, match="library: got 'excel', expected one of pandas, polars, pyarrow"):
        run.to_frame("excel")


def test_a_plot_draws_the_regret_or_what_is_asked_for(run, comparison):
    axes = obolus.plot(run)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("round t", "regret")
    assert axes.lines[0].get_ydata().tolist() == run.columns["regret"].tolist()
    several = obolus.plot(comparison, "f", linewidth=3)
    assert len(several.lines) == 4 and several.get_ylabel() == "f" and several.lines[0].get_linewidth() == 3
    assert [text.get_text() for text in several.get_legend().get_texts()] == ["first", "<b>"]
    assert several.lines[0].get_color() == several.lines[1].get_color() != several.lines[2].get_color()
    assert obolus.plot(comparison.runs, ax=axes) is axes
    quiet = obolus.run(obolus.F2obo(), QUADRATIC, rounds=5, metrics={"regret": False})
    assert obolus.plot(quiet).get_ylabel() == "f"
    with pytest.raises(ValueError, match="column: got 'nonsense', expected one of t, f, g"):
        obolus.plot(run, "nonsense")
    matplotlib.pyplot.close("all")


def test_a_notebook_shows_the_chart_and_a_table(run, comparison):
    page = comparison._repr_html_()
    assert page.startswith("<svg") and page.count("<tr>") == 5 and "&lt;b&gt;" in page
    assert "<b>" not in re.sub("<svg.*</svg>", "", page, flags=re.DOTALL)
    assert f"<td>{run.regret:.5g}</td>" in run._repr_html_()
    assert repr(run) == f"<Run of f2obo: finished after 20 rounds, regret {run.regret:.4g}>"
    assert repr(comparison) == comparison.text and "first" in comparison.text


def test_a_report_is_one_file_about_all_folders(tmp_path):
    obolus.run(obolus.F2obo(), QUADRATIC, rounds=10, out=tmp_path / "own-run")
    obolus.compare([obolus.F2obo(), obolus.Aobo()], QUADRATIC, rounds=10, seeds=[1], out=tmp_path / "own-comparison")
    written = obolus.report(tmp_path / "own-run", tmp_path / "own-comparison", out=tmp_path / "r.html")
    page = written.read_text(encoding="utf-8")
    data = re.search('id="obolus-data"[^>]*>([^<]*)<', page)[1]
    told = zlib.decompress(base64.b64decode(data)).decode()
    assert written == tmp_path / "r.html" and "own-run" in told and "own-comparison" in told and "</html>" in page
    with pytest.raises(RuntimeError, match="nowhere"):
        obolus.report(tmp_path / "nowhere", out=tmp_path / "r.html")
    with pytest.raises(ValueError, match="report: got no folder"):
        obolus.report()
