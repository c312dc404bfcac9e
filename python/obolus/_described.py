"""Classes made from the library's own lists: one per optimiser, problem and set, with the same names and options.

A class knows its options, their defaults, ranges and meanings from the list; an object holds those that were given and
writes them as a section of a config, which the library reads and checks.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple


class Option(NamedTuple):
    """An option as the library describes it."""

    name: str
    type: str
    default: str
    range: str
    help: str

    @property
    def keyword(self) -> str:
        """What Python calls it: words that Python reserves get an underscore."""
        return self.name + "_" if self.name in ("lambda", "from", "global") else self.name

    def line(self) -> str:
        """One line of a docstring."""
        kind = " ".join(filter(None, (self.type, self.range)))
        return f"{self.keyword}: {self.help} ({kind}; default {self.default or 'unset'})"


def toml_value(value: Any) -> str:
    """A value as TOML.

    >>> toml_value({"scale": 0.01, "power": -0.5})
    '{ "scale" = 0.01, "power" = -0.5 }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(k))} = {toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if hasattr(value, "item"):  # a scalar of NumPy's
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)  # nan, inf and -inf, too
    raise TypeError(
        f"got a {type(value).__name__}, expected a number, a text, a truth value, or a list or dict of them"
    )


def section(name: str, options: Mapping[str, Any]) -> str:
    """A section of a config; options that are None stay unset."""
    lines = [f"{key} = {toml_value(value)}" for key, value in options.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, ""])


class Described:
    """Something of the library by its name, with options. Subclasses are made from lists."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]
    known: ClassVar[tuple[Option, ...]]

    def __init__(self, **options: Any) -> None:
        names = {option.keyword: option.name for option in self.known}
        for key in options:
            if key not in names:
                raise TypeError(f"{type(self).__name__}: got the option {key!r}, expected one of {', '.join(names)}")
        self.options: dict[str, Any] = {names[key]: value for key, value in options.items() if value is not None}

    def with_options(self, **options: Any) -> Described:
        """A copy with some options changed."""
        given = {option.keyword: self.options[option.name] for option in self.known if option.name in self.options}
        return type(self)(**{**given, **options})

    def __repr__(self) -> str:
        given = ((option.keyword, self.options[option.name]) for option in self.known if option.name in self.options)
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in given)})"

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self) and isinstance(other, Described) and self.section_text() == other.section_text()
        )

    def __hash__(self) -> int:
        return hash(self.section_text())

    def section_text(self) -> str:
        return section(self.name, self.options)


def class_name(name: str) -> str:
    """
    >>> class_name("f2obo_sl")
    'F2oboSl'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def make_classes(
    base: type[Described], entries: Sequence[tuple[Any, ...]], more: Sequence[Option], module: str
) -> dict[str, Any]:
    """One subclass of `base` per entry of a list; `more` are options that all of them have."""
    classes: dict[str, Any] = {}
    for name, title, citation, options in entries:
        known = tuple(Option(*option) for option in options)
        known += tuple(option for option in more if option.name not in {o.name for o in known})
        doc = [title + ("" if title.endswith(".") else "."), ""]
        if citation:
            doc += [f"Source: {citation}.", ""]
        doc += ["Options:", *("    " + option.line() for option in known)]
        parameters = [
            inspect.Parameter(option.keyword, inspect.Parameter.KEYWORD_ONLY, default=None) for option in known
        ]
        made = type(
            class_name(name),
            (base,),
            {
                "__doc__": "\n".join(doc),
                "__module__": module,
                "__signature__": inspect.Signature(parameters),
                "name": name,
                "title": title,
                "citation": citation,
                "known": known,
            },
        )
        classes[made.__name__] = made
    return classes
