"""What `pip install .` fetches by itself is what the tests' own environment was built with."""

import re
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the standard library reads TOML from 3.11 on")
def test_a_build_in_isolation_has_what_a_build_in_the_tree_has():
    import tomllib

    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    assert project["build-system"]["requires"] == project["dependency-groups"]["build"]


def test_what_the_module_needs_to_load_is_there_when_its_stubs_are_made():
    """They are made while the wheel is built, by importing the module."""
    text = PROJECT.read_text(encoding="utf-8")
    requires = re.search(r"^requires = (.*)$", text, re.MULTILINE)
    assert requires and '"nanobind-backend' in requires.group(1)


def test_the_estimators_are_there_after_a_plain_install():
    text = PROJECT.read_text(encoding="utf-8")
    dependencies = re.search(r"^dependencies = (.*)$", text, re.MULTILINE)
    assert dependencies and '"scikit-learn>=' in dependencies.group(1)
