"""The optimisers, under the names and with the options of `obolus list optimisers`.

>>> import obolus
>>> obolus.F2obo(alpha=0.1, gamma=0.05)
F2obo(alpha=0.1, gamma=0.05)
>>> print(obolus.F2obo.title)
F²OBO: fully first-order online bilevel optimiser
"""

from obolus import _native
from obolus._described import Described, Option, make_classes


class Optimiser(Described):
    """An optimiser with its options; what is not given keeps the library's default.

    >>> import obolus
    >>> isinstance(obolus.Aobo(), obolus.Optimiser), obolus.Aobo(gamma=0.1).with_options(alpha=0.2)
    (True, Aobo(alpha=0.2, gamma=0.1))
    """


_section = next(options for name, _, _, options in _native.list_sections() if name == "[optimiser]")
_common = [option for option in (Option(*o) for o in _section) if option.name != "name"]
_classes = make_classes(Optimiser, _native.list_optimisers(), _common, __name__)
globals().update(_classes)
__all__ = ["Optimiser", *_classes]
