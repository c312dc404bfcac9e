"""Every example of a docstring runs, and everything public has one."""

import doctest
import importlib
import inspect
import pkgutil
from importlib.util import find_spec

import pytest

import obolus

NEEDS = {"torch": "torch", "_torch": "torch", "jax": "jax", "_jax": "jax", "estimators": "sklearn"}
NAMES = sorted(module.name for module in pkgutil.iter_modules(obolus.__path__) if module.name != "_native")


def module_of(name):
    needed = next((package for prefix, package in NEEDS.items() if name.startswith(prefix)), None)
    if needed and not find_spec(needed):
        pytest.skip(f"{needed} is not installed")
    return importlib.import_module(f"obolus.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(module_of(name), optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


def generated(thing):
    """Classes made from the library's lists have their options as documentation, and their base an example."""
    return inspect.isclass(thing) and getattr(thing, "known", None) is not None


@pytest.mark.parametrize("name", ["", "torch", "jax", "problems"])
def test_everything_public_has_an_example(name):
    module = module_of(name) if name else obolus
    without = []
    for key in module.__all__:
        thing = getattr(module, key)
        exempt = inspect.ismodule(thing) or generated(thing) or inspect.isclass(thing) and issubclass(thing, Exception)
        if not exempt and ">>>" not in (thing.__doc__ or ""):
            without.append(key)
    assert without == []
