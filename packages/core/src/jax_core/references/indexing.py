"""Indices of references: which part is read or written.

An index is split into what is static (`Index`, hashable, a parameter of the equation) and operands (integers that are
known only when the program runs, arrays of integers). A part is read and written with the operators of arrays.

Only integers, arrays of integers, slices with a positive step, `ds` and ``...`` are indices: a reference is memory, so an
index must name elements that exist, in a number that is known.
"""
from __future__ import annotations

import operator
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ..extension_points import windows
from ..representation import dtypes, errors, tree_nodes
from ..representation.array import Array
from ..representation.aval import AbstractValue, get_aval
from ..representation.typing import ArrayLike
from ..traces.structural import add
from . import transforms

if TYPE_CHECKING:
    from ..representation.typing import Indexer


class Slice:
    """``size`` elements from ``start`` on, ``stride`` apart; ``start`` may be traced. Made by `ds`.

    >>> jnp.arange(6)[jax.ds(1, 2)]
    Array([1, 2], dtype=int32)
    """

    __slots__ = ("start", "size", "stride")

    def __init__(self, start: Any, size: Any, stride: int = 1):
        self.start, self.size, self.stride = start, size, stride

    @classmethod
    def from_slice(cls, index: slice, size: int) -> "Slice":
        """The elements of an axis of ``size`` that ``index``, a slice of Python, takes.

        Raises:
          ValueError: it goes backwards.

        >>> from jax.experimental import pallas as pl
        >>> pl.Slice.from_slice(slice(2, -1), 10)
        Slice(start=2, size=7, stride=1)
        """
        start, stop, step = index.indices(size)
        if step < 0:
            raise ValueError(f"Slice.from_slice: {index} goes backwards; the step must be positive")
        return cls(start, len(range(start, stop, step)), step)

    def __eq__(self, other):
        return type(other) is Slice and (self.start, self.size, self.stride) == (other.start, other.size, other.stride)

    def __hash__(self):
        return hash((self.start, self.size, self.stride))

    def __repr__(self):
        return f"Slice(start={self.start}, size={self.size}, stride={self.stride})"


tree_nodes.register_pytree_node(Slice, lambda s: ((s.start,), (None, s.size, s.stride)) if isinstance(s.start, Array) else ((), (s.start, s.size, s.stride)),
                                lambda static, start: Slice(*start, *static[len(start):]))


def ds(start: ArrayLike | None, size: int | EllipsisType = ..., stride: int | None = None) -> Slice | slice:
    """A slice of ``size`` elements from ``start`` (by default 0) on; ``start`` may be a traced integer.

    ``ds(n)`` is the slice of the first ``n`` elements, ``ds(None)`` that of all. References and arrays are indexed with it; of an array
    a traced start counts as in `lax.dynamic_slice`: the slice is moved inside of the axis. It is a pytree, without a leaf unless its start
    is an array.

    Raises:
      ValueError: a negative stride.

    >>> ref = jax.new_ref(jnp.arange(10))
    >>> ref[jax.ds(4, 3)]
    Array([4, 5, 6], dtype=int32)
    """
    if stride is not None and stride < 0:
        raise ValueError(f"jax.ds: stride must not be negative, got {stride}")
    if size is ...:
        if start is None:
            return slice(None, None, stride)
        start, size = 0, start
    return Slice(0 if start is None else start, size, 1 if stride is None else stride)


class Index:
    """The static part of an index: for each axis an int, a `Slice`, or None for an operand.

    A `Slice` whose start is None takes its start from an operand. No entries at all: the whole reference.
    """

    __slots__ = ("entries", "_hash")

    def __init__(self, entries: tuple = ()):
        self.entries = entries
        self._hash = hash(entries)

    def __eq__(self, other):
        return type(other) is Index and self.entries == other.entries

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return self.text([])

    def code(self) -> str:
        """For a kernel's compiler: for each axis ``3``, ``?`` (an operand), or ``start+size*stride`` with such a start."""
        return ",".join([
            f"{'?' if e.start is None else e.start}+{e.size}*{e.stride}" if type(e) is Slice else "?" if e is None else str(e)
            for e in self.entries])

    def text(self, operands: Sequence[str], shape: Sequence[int] = ()) -> str:
        """As a user would write it, ``[0,1:3,i]``, with names for the operands."""
        if not self.entries:
            return "[...]"
        names, parts = iter(operands), []
        for k, e in enumerate(self.entries):
            if type(e) is int:
                parts.append(str(e))
            elif e is None:
                parts.append(next(names, "?"))
            else:
                parts.append(_slice_text(e, next(names, "?") if e.start is None else None, shape[k:k + 1]))
        return f"[{','.join(parts)}]"


WHOLE = Index()


def _slice_text(s: Slice, name: str | None, length: Sequence[int]) -> str:
    step = "" if s.stride == 1 else f":{s.stride}"
    if name is not None:
        return f"{name}:{name}+{s.size * s.stride}{step}"
    stop = s.start + s.size * s.stride
    return f"{s.start or ''}:{'' if list(length) == [stop] else stop}{step}"


def parse(index: Indexer, shape: Sequence[int]) -> tuple[Index, list]:
    """The static part and the operands of ``index`` into a reference of this shape.

    Raises:
      ValueError: out of bounds, too many entries, a step below one. TypeError: not an index.
    """
    if index is None or index is ...:
        return WHOLE, []
    entries = _expanded(index if isinstance(index, tuple) else (index,), shape)
    static, operands = [], []
    for entry, n in zip(entries, shape):
        kind, dynamic = _entry(entry, n)
        static.append(kind)
        operands.extend(dynamic)
    if all(type(e) is Slice and (e.start, e.size, e.stride) == (0, n, 1) for e, n in zip(static, shape)):
        return WHOLE, []
    return Index(tuple(static)), operands


def _expanded(entries: tuple, shape: Sequence[int]) -> list:
    dots = [i for i, e in enumerate(entries) if e is ...]
    if len(dots) > 1:
        raise ValueError("a reference was indexed with more than one `...`")
    if len(entries) - len(dots) > len(shape):
        raise ValueError(f"a reference of shape {tuple(shape)} was indexed with {len(entries) - len(dots)} indices; it has "
                         f"{len(shape)} axes")
    position = dots[0] if dots else len(entries)
    rest = entries[position + len(dots):]
    missing = len(shape) - position - len(rest)
    return [*entries[:position], *[slice(None)] * missing, *rest]


def _entry(entry: Any, n: int) -> tuple[Any, list]:
    """The static part of one entry for an axis of length ``n``, and its operands."""
    if isinstance(entry, slice):
        return _static_slice(entry, n), []
    if type(entry) is Slice:
        return _sized_slice(entry, n)
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        i = int(entry)
        if not -n <= i < n:
            raise ValueError(f"index {i} is out of bounds for an axis of length {n} of a reference")
        return i % n, []
    try:
        aval = get_aval(entry)
    except TypeError:
        aval = None
    if aval is not None and aval.dtype == bool:
        raise errors.NonConcreteBooleanIndexError(entry if hasattr(entry, "_origin_message") else aval)
    if aval is None or isinstance(entry, float) or not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(f"a reference cannot be indexed with {entry!r} of type {type(entry).__name__}; use integers, arrays of "
                        "integers, slices, jax.ds or `...`")
    return None, [entry]


def _static_slice(entry: slice, n: int) -> Slice:
    step = 1 if entry.step is None else entry.step
    try:
        step = operator.index(step)
        start, stop, _ = slice(entry.start, entry.stop, max(step, 1)).indices(n)
    except Exception as error:
        raise TypeError(f"a slice of a reference has integer bounds, got {entry}; for a traced start use "
                        "jax.ds(start, size)") from error
    if step < 1:
        raise ValueError(f"a slice of a reference must have a step >= 1, got {entry}")
    return Slice(start, len(range(start, stop, step)), step)


def _sized_slice(entry: Slice, n: int) -> tuple[Slice, list]:
    size = n if entry.size is None else entry.size
    try:
        size, stride = operator.index(size), operator.index(entry.stride)
    except Exception as error:
        raise TypeError(f"jax.ds: size and stride are part of the program and must be integers, got {entry}") from error
    if stride < 1 or size < 0:
        raise ValueError(f"jax.ds: size must not be negative and stride must be >= 1, got {entry}")
    if isinstance(entry.start, (int, np.integer)):
        start = int(entry.start)
        if start < 0 or size and start + (size - 1) * stride >= n:
            raise ValueError(f"jax.ds: {entry} is out of bounds for an axis of length {n}")
        return Slice(start, size, stride), []
    return Slice(None, size, stride), [entry.start]


def composed(path: Sequence[Indexer], shape: Sequence[int]) -> tuple[Index, list] | None:
    """The static part and the operands of one index for a part of a part (and so on) of a reference of this shape.

    None where an array of integers is among the indices, or a step is no index.
    """
    if any(type(step) in transforms.KINDS for step in path):
        return None
    entries: list[Any] = [Slice(0, n) for n in shape]
    for step in path:
        kept = [k for k, e in enumerate(entries) if type(e) is Slice]
        static, operands = parse(step, [entries[k].size for k in kept])
        given = iter(operands)
        for k, inner in zip(kept, static.entries):
            outer = entries[k]
            if type(inner) is Slice:
                start = next(given) if inner.start is None else inner.start
                entries[k] = Slice(_inside(outer, start), inner.size, outer.stride * inner.stride)
                continue
            position = next(given) if inner is None else inner
            if not isinstance(position, int) and get_aval(position).shape:
                return None
            entries[k] = _inside(outer, position)
    return parse(tuple(entries), shape)


def _inside(outer: Slice, position: Any) -> Any:
    """Where in the reference the element of a slice is."""
    moved = position if outer.stride == 1 else position * outer.stride
    return moved if isinstance(outer.start, int) and outer.start == 0 else outer.start + moved


# -- the part itself -------------------------------------------------------------------------------------------------

def part_shape(shape: Sequence[int], index: Index, operands: Sequence[AbstractValue]) -> tuple[int, ...]:
    """Shape of the part of a reference of ``shape`` that the index names."""
    if not index.entries:
        return tuple(shape)
    shape = list(shape)
    for axis, e in enumerate(index.entries):
        if type(e) is Slice and e.start is None:
            shape[axis] = e.size
    entries = _without_starts(index)
    given = iter(_without_slice_starts(index, operands))
    key = tuple(_array_entry(next(given).shape) if e is None else _numpy_entry(e) for e in entries)
    # an axis of length 0 has no element for the stand-in index 0; let it have one, as its part does not depend on that
    stand_in = [max(n, 1) if e is None or type(e) is int else n for n, e in zip(shape, entries)]
    return np.broadcast_to(np.False_, stand_in)[key].shape


def _array_entry(shape):
    return np.zeros(shape, np.intp) if shape else np.intp(0)


def _numpy_entry(entry: Any) -> Any:
    if type(entry) is Slice:
        return slice(entry.start, entry.start + entry.size * entry.stride, entry.stride)
    return entry


def _without_starts(index: Index) -> list:
    """The entries, with whole axes for slices whose start is an operand (those are taken first)."""
    return [Slice(0, e.size, 1) if type(e) is Slice and e.start is None else e for e in index.entries]


def _without_slice_starts(index: Index, operands: Sequence[Any]) -> list:
    given = iter(operands)
    kept = []
    for e in index.entries:
        if e is None:
            kept.append(next(given))
        elif type(e) is Slice and e.start is None:
            next(given)
    return kept


def _windows(index: Index, operands: Sequence[Any]) -> list[tuple[int, Any, Slice]]:
    """For each slice whose start is an operand: its axis, the start, and the slice."""
    given, found = iter(operands), []
    for axis, e in enumerate(index.entries):
        if e is None:
            next(given)
        elif type(e) is Slice and e.start is None:
            found.append((axis, next(given), e))
    return found


def _read_window(value, axis, start, window):
    if window.stride == 1 and windows.value is not None:
        return windows.value.cut(value, start, window.size, axis)
    return value[_positions(axis, start, window)]


def _write_window(value, axis, start, window, part):
    if window.stride == 1 and windows.value is not None:
        return windows.value.update(value, part, start, axis)
    return value.at[_positions(axis, start, window)].set(part)


def _positions(axis, start, window) -> tuple:
    along = start + np.arange(window.size, dtype=np.int32) * np.int32(window.stride)
    return (*[slice(None)] * axis, along)


def _key(index: Index, operands: Sequence[Any]) -> tuple:
    given = iter(_without_slice_starts(index, operands))
    return tuple(next(given) if e is None else _numpy_entry(e) for e in _without_starts(index))


def read(value: Array, index: Index, operands: Sequence[object]) -> Any:
    """The part of the array ``value`` that the index names."""
    if not index.entries:
        return value
    for window in _windows(index, operands):
        value = _read_window(value, *window)
    key = _key(index, operands)
    return value if _is_everything(key, np.shape(value)) else value[key]


def write(value: object, index: Index, operands: Sequence[object], part: object) -> Any:
    """``value`` with the named part replaced."""
    return part if not index.entries else _update(value, index, operands, part, "set")


def accumulate(value: Array, index: Index, operands: Sequence[object], part: Array) -> Any:
    """``value`` with ``part`` added to the named part; elements named twice get both."""
    if not index.entries:
        return add(value, part)
    return _update(value, index, operands, part, "add")


def _update(value, index, operands, part, how):
    key = _key(index, operands)
    # numbers beyond the end name the last element, as they do where it is read; of arrays of numbers these are left out
    mode = "clip" if all(type(k) is slice or np.ndim(k) == 0 for k in key) else None

    def inside(value, within):
        if within:
            return _write_window(value, *within[0], inside(_read_window(value, *within[0]), within[1:]))
        if how == "set" and _is_everything(key, np.shape(value)):
            return part
        return getattr(value.at[key], how)(part, mode=mode)
    return inside(value, _windows(index, operands))


def _is_everything(key: tuple, shape: Sequence[int]) -> bool:
    return all(type(k) is slice and k.indices(n) == (0, n, 1) for k, n in zip(key, shape))
