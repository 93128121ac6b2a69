"""A reference to a value of a high-level type: references to the arrays that represent it, as one pytree."""
from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any, Sequence

from ..extension_points import high_values
from ..representation import tree_nodes
from ..representation.aval import AbstractValue, get_aval


class HighRef:
    """Reads and writes the whole value by ``ref[...]``, and parts of it as methods of its type say.

    These are ``aval.ref_get_to_lojax(ref, index)`` and ``aval.ref_swap_to_lojax(ref, value, index)``, where ``ref._refs`` is a value of
    which references are the arrays, and ``index.indices`` says of each axis what ``start``, ``size`` and ``stride`` are.

    Attributes:
      inner_aval: the type of the value.
      parts: a reference to each array.
    """

    __slots__ = ("inner_aval", "parts")

    def __init__(self, aval: AbstractValue, parts: Sequence[Any]):
        self.inner_aval, self.parts = aval, list(parts)

    _refs = property(lambda self: self.inner_aval.raise_val(*self.parts), doc="A value made of references in place of arrays.")

    def value(self, arrays: Sequence[object]) -> Any:
        """The value that ``arrays`` represent."""
        return high_values.get()[1](self.inner_aval, arrays)

    def get(self, idx: object = ...) -> Any:
        """The value, or the part that ``idx`` names."""
        if _is_whole(idx):
            return self.value([part.get() for part in self.parts])
        return _as_one_value(self._by("ref_get_to_lojax")(self, self._index(idx)))

    def swap(self, value: object, idx: object = ...) -> Any:
        """Store ``value`` there, and return what was there.

        Raises:
          TypeError: ``value`` is of another type.
        """
        aval = get_aval(value)
        to_arrays = high_values.get()[0]
        if _is_whole(idx):
            if aval != self.inner_aval:
                raise TypeError(f"ref_swap: a value of type {aval} cannot be stored in a reference to a value of type {self.inner_aval}")
            return self.value([part.swap(x) for part, x in zip(self.parts, to_arrays(aval, value))])
        return _as_one_value(self._by("ref_swap_to_lojax")(self, aval.raise_val(*to_arrays(aval, value)), self._index(idx)))

    def set(self, value: object, idx: object = ...) -> None:
        """Store ``value`` there."""
        self.swap(value, idx)

    __getitem__ = get

    def __setitem__(self, idx: object, value: Any) -> None:
        self.swap(value, idx)

    def __repr__(self):
        return f"Ref({self.inner_aval})"

    def _by(self, method):
        found = getattr(self.inner_aval, method, None)
        if found is None:
            raise NotImplementedError(f"a part of a reference to a value of the high-level type {self.inner_aval}: the type must have a method "
                                      f"{method}; without it only the whole value can be used, by ref[...]")
        return found

    def _index(self, idx):
        shape = self.inner_aval.shape
        entries = idx if isinstance(idx, tuple) else (idx,)
        entries = entries + (slice(None),) * (len(shape) - len(entries))
        if len(entries) != len(shape):
            raise ValueError(f"too many indices, {len(entries)}, for a reference to a value of type {self.inner_aval} with {len(shape)} axes")
        return SimpleNamespace(indices=tuple(map(_entry, entries, shape)), shape=shape)


def _is_whole(idx):
    return idx is ... or idx is None or isinstance(idx, tuple) and len(idx) == 0


def _entry(entry, length):
    if not isinstance(entry, slice):
        return operator.index(entry)
    start, stop, stride = entry.indices(length)
    return SimpleNamespace(start=start, size=len(range(start, stop, stride)), stride=stride)


def _as_one_value(found):
    """``found``, which may be made of traced arrays, as a value that a traced program can pass on."""
    aval = get_aval(found)
    return high_values.get()[1](aval, aval.lower_val(found)) if aval.is_high else found


tree_nodes.register_pytree_node(HighRef, lambda ref: (ref.parts, ref.inner_aval), HighRef)
