"""The elements of an array's first axis, as iteration gives them.

They are cut on the host, where no program runs. To make an array there takes some 4 us; a program gives many at once, for less than 2 us
each, but takes some 30 ms to compile. So it is compiled once as many rows of one type were given as take that long.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import numpy as np

from jax_core.configuration import context, flags
from jax_core.programs.jit import jit
from jax_core.traces import nans
from jax_core.traces.trace import EVAL

from ..placement import mesh
from .array import ArrayImpl, host_value, host_view, is_unreduced
from .put import from_host

_MOST = 64  # rows of one program
_LARGE = 1 << 16  # bytes; nobody may want all rows of what is larger
_WORTH_COMPILING = 1 << 13  # rows
_TYPES = 256
_given: dict[tuple, int | Callable[[Any], list]] = {}
"""By shape, dtype and weak type: how many rows were given, or the program that gives them."""


def rows(x: ArrayImpl, order: Sequence[int]) -> Iterable[Any]:
    """The elements of the first axis, in ``order``. One device and a ready buffer, or parts on several: cut on the host."""
    several = len(x._sharding._internal_device_list) > 1
    if several and x.is_fully_addressable and not x.is_fully_replicated and not is_unreduced(x._sharding):
        whole = host_value(x)
        weak = x.weak_type
        return (from_host(np.asarray(whole[i]), weak, True) for i in order)
    view = host_view(x)
    if not several and 1 < len(order) <= _MOST and x.nbytes <= _LARGE and context.state.trace is EVAL:
        cut = _program(x, len(order))
        if cut is not None:
            return map(cut(x).__getitem__, order)
    if view is None or x.committed:
        return (x[i] for i in order)
    weak = x.weak_type
    return (from_host(np.asarray(view[i]), weak, True) for i in order)


def _program(x: ArrayImpl, count: int) -> Callable[[Any], list] | None:
    """What gives all rows, if there is such a program, or enough of them were given."""
    if nans.watching() or mesh.ever_used() and not mesh.get_mesh().empty:  # a row is no result to look at; under a mesh it lies on all devices
        return None
    key = x.aval.shape, x.aval.dtype, x.aval.weak_type
    before = _given.get(key, 0)
    if not isinstance(before, int):
        return before
    if before < _WORTH_COMPILING or flags.no_tracing.value:
        if len(_given) >= _TYPES:
            _given.clear()
        _given[key] = before + count
        return None

    def split_rows(x: Any) -> list:
        return [x[i] for i in range(count)]
    made = _given[key] = jit(split_rows)
    return made
