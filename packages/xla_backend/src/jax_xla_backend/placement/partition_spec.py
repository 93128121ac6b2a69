"""`PartitionSpec`: which mesh axes each axis of an array is split over.

An entry is a mesh axis name, a tuple of names (the first is the major one), None (not split), or
`PartitionSpec.UNCONSTRAINED` (the compiler chooses). Axes beyond the last entry are not split.
"""
from __future__ import annotations

import copyreg
from typing import Any, Iterable, Iterator, Sequence

from jax_core.representation.manual_axis_type import UnreducedKind, kind_of_unreduced
from jax_core.representation.typing import AxisName


class _Unconstrained:
    """The compiler may split this axis as it likes."""

    def __repr__(self):
        return "UNCONSTRAINED"

    def __reduce__(self):
        return _unconstrained, ()


UNCONSTRAINED = _Unconstrained()


def _unconstrained():
    return UNCONSTRAINED


def _normal(entry: Any) -> Any:
    if isinstance(entry, (tuple, list)):
        if not entry:
            return None
        for axis in entry:
            if isinstance(axis, (tuple, list)):
                raise ValueError(f"PartitionSpec: an entry is a mesh axis, None, or a tuple of mesh axes, and {entry} has the {type(axis).__name__} {axis} "
                                 f"in it; write its axes beside the others")
        return entry[0] if len(entry) == 1 else tuple(entry)
    return entry


_NONE: frozenset = frozenset()
_known: dict = {}
_KNOWN_LIMIT = 1 << 14


class PartitionSpec:
    """How an array is split over the axes of a mesh.

    Args:
      partitions: one entry for each leading axis of the array.
      unreduced: mesh axes over which the array is a sum that is still to be made.
      reduced: mesh axes over which the array is replicated as the result of such a sum.
      unreduced_kind: what the combination is if it is not a sum.

    Raises:
      TypeError: ``unreduced`` or ``reduced`` is not a set.
      ValueError: None is in ``unreduced`` or ``reduced``; an axis is in more than one of ``partitions``, ``unreduced`` and ``reduced``; or
        ``unreduced_kind`` is given though nothing is unreduced.

    >>> spec = jax.P("data", None, ("x", "y"))   # axis 0 over "data", axis 1 whole, axis 2 over two mesh axes
    >>> len(spec), list(spec.axis_names())
    (3, ['data', 'x', 'y'])
    """

    __slots__ = ("_partitions", "unreduced", "reduced", "unreduced_kind", "_hash", "__weakref__")
    __module__, __qualname__ = "jax", "P"  # as which users, and pickles, find it
    UNCONSTRAINED = UNCONSTRAINED

    _partitions: tuple
    unreduced: frozenset
    reduced: frozenset
    unreduced_kind: UnreducedKind | None
    _hash: int

    def __new__(cls, *partitions: Any, unreduced: Iterable[AxisName] = _NONE, reduced: Iterable[AxisName] = _NONE,
                unreduced_kind: UnreducedKind | None = None):
        # Equal specs are one object: placements are compared at every call, and the comparison then ends at identity.
        asked = (cls, partitions, unreduced, reduced, unreduced_kind)
        try:
            return _known[asked]
        except (KeyError, TypeError):  # TypeError: a list, or a set
            pass
        self = object.__new__(cls)
        self._partitions = tuple(map(_normal, partitions))
        self.unreduced = _axis_set(unreduced, "unreduced")
        self.reduced = _axis_set(reduced, "reduced")
        self.unreduced_kind = kind_of_unreduced(self.unreduced, unreduced_kind)
        for name in ("unreduced", "reduced"):
            if getattr(self, name) & set(self.axis_names()):
                raise ValueError(f"PartitionSpec: the axes in {name}={set(getattr(self, name))} must not be among the "
                                 f"partitions {self._partitions}")
        if self.unreduced & self.reduced:
            raise ValueError(f"PartitionSpec: the axes {set(self.unreduced & self.reduced)} are both in unreduced and in reduced; a sum over an axis is "
                             "still to be made, or it is made")
        normal = (self._partitions, self.unreduced, self.reduced, self.unreduced_kind)
        self._hash = hash(normal)
        if len(_known) > _KNOWN_LIMIT:
            _known.clear()
        result = _known.setdefault((cls, *normal), self)
        try:
            _known[asked] = result
        except TypeError:
            pass
        return result

    @property
    def partitions(self) -> tuple:
        """The entries: for each leading axis a mesh axis, a tuple of several, or None."""
        return self._partitions

    def axis_names(self) -> Iterator[Any]:
        """All mesh axes that are split over, in order."""
        for entry in self._partitions:
            if isinstance(entry, tuple):
                yield from entry
            elif entry is not None and entry is not UNCONSTRAINED:
                yield entry

    def update(self, partitions: Sequence[object] | None = None, unreduced: Iterable[AxisName] | None = None,
               reduced: Iterable[AxisName] | None = None, **kwargs: Any) -> "PartitionSpec":
        """This spec with some parts replaced."""
        unreduced = self.unreduced if unreduced is None else unreduced
        return PartitionSpec(*(self._partitions if partitions is None else partitions), unreduced=unreduced,
                             reduced=self.reduced if reduced is None else reduced,
                             unreduced_kind=kwargs.get("unreduced_kind", self.unreduced_kind if unreduced else None))

    def to_ct_spec(self) -> "PartitionSpec":
        """The spec of a cotangent: unreduced and reduced change places."""
        return self.update(unreduced=self.reduced, reduced=self.unreduced)

    def to_tangent_spec(self) -> "PartitionSpec":
        """The spec of a tangent: the same."""
        return self

    def to_lo(self) -> list["PartitionSpec"]:
        """The specs of the arrays that stand for the array: its own."""
        return [self]

    def count(self, value: object) -> int:
        """How many entries are ``value``."""
        return self._partitions.count(_normal(value))

    def index(self, value: object) -> int:
        """The position of the first entry that is ``value``."""
        return self._partitions.index(_normal(value))

    def __len__(self):
        return len(self._partitions)

    def __iter__(self):
        return iter(self._partitions)

    def __getitem__(self, i):
        return self._partitions[i]

    def __add__(self, other):
        if not isinstance(other, (tuple, PartitionSpec)):
            return NotImplemented
        for spec in (self, other):
            if isinstance(spec, PartitionSpec) and (spec.unreduced or spec.reduced):
                raise TypeError(f"PartitionSpec: {self} + {other}: what is unreduced or reduced over axes cannot be joined; add the partitions, and name "
                                "these axes in the result.")
        return self.update(partitions=(*self, *other))

    def __radd__(self, other):
        return self.update(partitions=(*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __eq__(self, other):
        if isinstance(other, PartitionSpec):
            return (self._partitions == other._partitions and self.unreduced == other.unreduced
                    and self.reduced == other.reduced and self.unreduced_kind == other.unreduced_kind)
        return False

    def __hash__(self):
        return self._hash

    def __repr__(self):
        parts = ", ".join(map(repr, self._partitions)) + ("," if len(self._partitions) == 1 else "")
        sets = [f"{name}={set(getattr(self, name))}" for name in ("unreduced", "reduced") if getattr(self, name)]
        if self.unreduced_kind is not None:
            sets.append(f"unreduced_kind={self.unreduced_kind.name}")
        if not sets:
            return f"P({parts})"
        return f"P({', '.join([parts.rstrip(','), *sets] if parts else sets)})"

    def __reduce__(self):
        return copyreg.__newobj_ex__, (type(self), self._partitions, {
            "unreduced": self.unreduced, "reduced": self.reduced, "unreduced_kind": self.unreduced_kind})


def _axis_set(names, argument: str) -> frozenset:
    if not isinstance(names, (set, frozenset)):
        raise TypeError(f"PartitionSpec: {argument} must be a set or frozenset of axis names, got {names!r} of type "
                        f"{type(names).__name__}")
    if None in names:
        raise ValueError(f"PartitionSpec: {argument}={set(names)} holds None, which is no axis of a mesh")
    return frozenset(names)
