"""How a value inside a manual region (`shard_map`) stands to the manual mesh axes: the public form of a type's ``vma`` and ``sums``.
"""
from __future__ import annotations

import enum
from typing import Any, Collection, Hashable


class UnreducedKind(enum.Enum):
    """How the parts of an unreduced array are to be combined."""

    sum = enum.auto()
    max = enum.auto()
    min = enum.auto()


def kind_of_unreduced(unreduced: frozenset, kind: UnreducedKind | None) -> UnreducedKind | None:
    """The kind, which is a sum by default; None where nothing is unreduced.

    Raises:
      ValueError: a kind is given though nothing is unreduced.
    """
    if not unreduced and kind is not None:
        raise ValueError(f"unreduced_kind={kind} says how to reduce, but unreduced={unreduced} names no axis; name one, or "
                         "leave the kind out")
    return UnreducedKind.sum if unreduced and kind is None else kind


class ManualAxisType:
    """Over which manual mesh axes a value varies, and over which it is a sum still to be made, or the result of one.

    Args:
      varying: axes over which it varies.
      unreduced: axes over which it is a sum that is still to be made.
      reduced: axes over which it is equal as the result of such a sum.
      unreduced_kind: what the combination is if it is not a sum.

    Raises:
      TypeError: an argument is not a set.
      ValueError: an axis is in two of the sets, or ``unreduced_kind`` is given though nothing is unreduced.
    """

    __slots__ = ("varying", "unreduced", "reduced", "unreduced_kind")

    def __init__(self, *, varying: Collection[Hashable] = frozenset(), unreduced: Collection[Hashable] = frozenset(),
                 reduced: Collection[Hashable] = frozenset(), unreduced_kind: UnreducedKind | None = None):
        sets: dict[str, Any] = dict(varying=varying, unreduced=unreduced, reduced=reduced)
        for name, axes in sets.items():
            if not isinstance(axes, (set, frozenset)):
                raise TypeError(f"ManualAxisType: {name} should be a `frozenset` or `set` of axis names, got {axes!r} of type "
                                f"{type(axes).__name__}")
        for a, b in (("varying", "unreduced"), ("varying", "reduced"), ("unreduced", "reduced")):
            if sets[a] & sets[b]:
                raise ValueError(f"ManualAxisType: {a} and {b} cannot have common mesh axes. Got {a}={set(sets[a])} and "
                                 f"{b}={set(sets[b])}")
        self.varying, self.unreduced, self.reduced = frozenset(varying), frozenset(unreduced), frozenset(reduced)
        self.unreduced_kind = kind_of_unreduced(self.unreduced, unreduced_kind)

    @property
    def vur(self) -> frozenset:
        """The axes that are in one of the sets."""
        return self.varying | self.unreduced | self.reduced

    @property
    def empty(self) -> bool:
        """Whether the value is equal over all axes."""
        return not self.vur

    def invarying(self, mesh: Any) -> frozenset:
        """The manual axes of ``mesh`` over which the value is equal."""
        return frozenset(mesh.manual_axes) - self.vur

    def to_ct_mat(self) -> "ManualAxisType":
        """The type of a cotangent: unreduced and reduced change places."""
        return ManualAxisType(varying=self.varying, unreduced=self.reduced, reduced=self.unreduced)

    def update(self, **kwargs: Any) -> "ManualAxisType":
        """This type with some sets replaced."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        if not kwargs.get("unreduced", self.unreduced):
            fields["unreduced_kind"] = None
        return ManualAxisType(**{**fields, **kwargs})

    def _key(self):
        return self.varying, self.unreduced, self.reduced, self.unreduced_kind

    def __eq__(self, other):
        return isinstance(other, ManualAxisType) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        kind = self.unreduced_kind
        return (f"ManualAxisType(varying={self.varying}, unreduced={self.unreduced}, reduced={self.reduced}, "
                f"unreduced_kind={kind if kind is None else f'UnreducedKind.{kind.name}'})")
