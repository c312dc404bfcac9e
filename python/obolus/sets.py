"""The sets that x may be confined to, as in `obolus list sets`.

>>> import obolus
>>> obolus.Box(lower=0.0, upper=1.0)
Box(lower=0.0, upper=1.0)
"""

from obolus import _native
from obolus._described import Described, make_classes


class Set(Described):
    """A convex set for x.

    >>> import obolus
    >>> isinstance(obolus.Simplex(), obolus.Set)
    True
    """


_classes = make_classes(Set, _native.list_sets(), [], __name__)
globals().update(_classes)
__all__ = ["Set", *_classes]
