"""The built-in problems, as in `obolus list problems`.

They are made when first used, and can be asked like a problem of one's own:

>>> from obolus.problems import Quadratic
>>> p = Quadratic(dim_x=2, dim_y=3, seed=7)
>>> p.reveal(1)
>>> p.dims()
(2, 3)
>>> p.inner_gradient_y([0, 0], [0, 0, 0]).shape
(3,)
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from obolus import _native
from obolus._described import Described, Option, make_classes, section


class BuiltIn(Described):
    """A problem of the library's own: options, and the oracle itself once it is asked for.

    >>> from obolus.problems import Oscillation
    >>> isinstance(Oscillation(), BuiltIn)
    True
    """

    def problem_section(self, **more: Any) -> str:
        """Its section of a config."""
        return section("problem", {"name": self.name, **self.options, **more})

    @cached_property
    def native(self) -> _native.Problem:
        return _native.Problem(self.problem_section(), os.getcwd())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("native", "options"):
            raise AttributeError(name)
        found = getattr(self.native, name)
        if callable(found):
            self.__dict__[name] = found  # found at once from now on
        return found

    def __reduce__(self) -> Any:
        return make, (type(self), self.options)


def make(kind: type[BuiltIn], options: dict[str, Any]) -> BuiltIn:
    """A pickled problem: it is made anew, with no round current."""
    return kind(**{option.keyword: options[option.name] for option in kind.known if option.name in options})


_section = next(options for name, _, _, options in _native.list_sections() if name == "[problem]")
_common = [option for option in (Option(*o) for o in _section) if option.name in ("seed", "precision")]
_classes = make_classes(BuiltIn, _native.list_problems(), _common, __name__)
globals().update(_classes)
__all__ = ["BuiltIn", *_classes]
