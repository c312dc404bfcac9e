"""Writes the stubs of the classes that are made from the library's lists: make_stubs.py MODULE_FOLDER FOLDER.

Run by CMake on the native module just built, so that type checkers know what it really holds. Its folder comes as an
argument: PYTHONPATH is where pip keeps what a build in isolation may use.
"""

import importlib.util
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent / "obolus"
TYPES = {"integer": "int", "true or false": "bool", "text": "str | _PathLike[str]", "number": "float"}


def described():
    """obolus._described without the package around it, which may not be there yet."""
    spec = importlib.util.spec_from_file_location("_described", HERE / "_described.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def python_type(option):
    if "schedule" in option.type:
        return "float | _Schedule | _Mapping[str, _Any]"
    if "list" in option.type:
        return "float | _Sequence[float]"
    for word, name in TYPES.items():
        if option.type.startswith(word):
            return name
    if "|" in option.type:
        return "_Literal[" + ", ".join(repr(word.strip()) for word in option.type.split("|")) + "]"
    return "_Any"


def stub(base, body, entries, more, names):
    """A module of classes made from `entries`; below `base`, if there is one."""
    top = base or "Described"
    lines = [
        "from collections.abc import Mapping as _Mapping, Sequence as _Sequence",
        "from os import PathLike as _PathLike",
        "from typing import Any as _Any, Literal as _Literal",
        "",
        "from obolus import _native",
        "from obolus._described import Described",
        "from obolus.schedules import Schedule as _Schedule",
        "",
        f"__all__ = {[*([base] if base else []), *(names.class_name(e[0]) for e in entries)]!r}",
        "",
        *([f"class {base}(Described):"] if base else []),
        *body,
    ]
    for name, title, _, options in entries:
        known = [names.Option(*o) for o in options]
        known += [o for o in more if o.name not in {k.name for k in known}]
        lines += ["", f"class {names.class_name(name)}({top}):", f'    """{title}"""']
        lines += ["    def __init__(", "        self,"] + (["        *,"] if known else [])
        lines += [f"        {o.keyword}: {python_type(o)} | None = None," for o in known] + ["    ) -> None: ..."]
    return "\n".join(lines) + "\n"


def main(module_folder, folder):
    sys.path.insert(0, module_folder)
    _native = importlib.import_module("_native")
    names: types.ModuleType = described()
    sections = {name: [names.Option(*o) for o in options] for name, _, _, options in _native.list_sections()}
    oracle = [
        "    def problem_section(self, **more: _Any) -> str: ...",
        "    @property",
        "    def native(self) -> _native.Problem: ...",
        "    def __getattr__(self, name: str) -> _Any: ...",
    ]
    written = {
        "optimisers": stub("Optimiser", ["    ..."], _native.list_optimisers(),
                           [o for o in sections["[optimiser]"] if o.name != "name"], names),
        "problems": stub("BuiltIn", oracle, _native.list_problems(),
                         [o for o in sections["[problem]"] if o.name in ("seed", "precision")], names),
        "sets": stub("Set", ["    ..."], _native.list_sets(), [], names),
    }  # fmt: skip
    functions = [
        "COLUMNS: dict[str, str]",
        "def options_of(metrics: Metrics | _Mapping[str, _Any] | None) -> dict[str, _Any]: ...",
        "def metrics_section(metrics: Metrics | _Mapping[str, _Any] | None, own: bool) -> str: ...",
    ]
    measured = [entry for entry in _native.list_sections() if entry[0] == "[metrics]"]
    written["metrics"] = stub(None, functions, [("metrics", *entry[1:]) for entry in measured], [], names)
    for name, text in written.items():
        (Path(folder) / f"{name}.pyi").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
